"""MIG profiles on the wire: what is to be made of GPUs, how far that has come, what an agent does.

An agent's own answer has its inventory with it: :class:`bailiwick.wire.fleet.MigReport`.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bailiwick.vocab.mig import PROFILES_MAX, MigFailure, MigPhase
from bailiwick.wire.base import GraceMs, Model, Within

Profile = Annotated[
    str, Field(pattern=r"^[0-9]{1,2}g\.[0-9]{1,4}gb([+-][a-z]{1,8}(\.[a-z]{1,8})?)?$")
]
Device = Annotated[int, Within(0, 15)]
Failure = Annotated[MigFailure, Field(strict=False)]


class MigWish(Model):
    """Which GPUs of a node are to be divided into which instances; without ``profiles``, whole.

    The node is emptied first, with ``grace_ms`` for what runs there. Then its agent has
    ``wait_ms``.
    """

    gpus: Annotated[list[Device], Field(min_length=1, max_length=16)]
    profiles: Annotated[list[Profile], Field(max_length=PROFILES_MAX)] = Field(default_factory=list)
    grace_ms: GraceMs | None = None
    wait_ms: Annotated[int, Within(60_000, 86_400_000)] = 900_000


class MigOrder(Model):
    """What a node's agent is to make of its GPUs now; it answers with the same ``change_id``."""

    change_id: int
    gpus: list[int]
    profiles: list[str]


class NodeMig(MigOrder):
    """How far a change of a node's MIG profiles has come, or why it failed.

    ``due_ms`` is until when its agent has to answer, once the node is empty.
    """

    phase: Annotated[MigPhase, Field(strict=False)]
    begun_ms: int
    due_ms: int | None = None
    cause: Failure | None = None
