"""How one replica stands, on the wire."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from bailiwick.wire.base import Model
from bailiwick.wire.words import ChangeNounWord, JobModeWord


class Leader(Model):
    """Who leads, and where he is reached."""

    name: str
    address: str
    epoch: int


class ClusterState(Model):
    """A cluster on which jobs run, as this process last found it."""

    cluster: str
    """The word of its executor, and where it is if that was said."""
    state: Literal["not_asked", "reachable", "unreachable"]
    """Only the leader asks; ``not_asked`` is what everybody else says."""
    nodes: int
    """Machines of it that took part when it last answered."""
    asked_ms: int | None
    answered_ms: int | None
    trouble: str
    """For a person, if it did not answer."""


class ReplicaState(Model):
    """One server process: what it does, how far its journal is, and how old its answers may be."""

    name: str
    address: str
    role: Literal["starting", "following", "leading"]
    leader: Leader | None
    epoch: int
    size: int
    """Records in the journal."""
    age_ms: int
    clock_ms: int
    nodes: int
    leases: int
    waiting: int
    digest: str | None
    """Of the whole state; replicas of the same size have the same."""
    job_mode: JobModeWord | None = None
    """How jobs are kept apart on this machine; none if it runs no jobs."""
    host_members: bool = False
    """Whether members of apps that were granted it run on this machine's host."""
    agents: dict[str, int] = Field(default_factory=dict)
    """How many nodes run jobs with their own agent, by how those keep them apart."""
    clusters: list[ClusterState] = Field(default_factory=list)
    """Those that this process was told to run jobs on."""


class Words(Model):
    """Sentences for closed words, the same that the command line says: list, word, sentence.

    A sentence with names in braces is to be filled in with the numbers beside its word:
    `{name}`, `{name:how}` (`count`, `money`, `span`, `moment`, `soon`, `scope`, `leases`,
    `amount UNIT`, `plural NOUN`), `{a-b:how}` for a difference that is never below zero, and
    `[name?text|otherwise]` or `[name=word?text|otherwise]` for one of two texts.
    """

    words: dict[str, dict[str, str]]


class Changed(Model):
    """What may have become old for who asked: nouns alone.

    With `missed` the place that was gone on from is not known any more: all may be old.
    """

    nouns: list[ChangeNounWord]
    missed: bool = False


class Health(Model):
    """Whether the process, or the state behind it, is there."""

    status: Literal["ok"]
