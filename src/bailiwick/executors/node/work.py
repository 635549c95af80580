"""What is to be so for a lease on a node, and what its agent last saw: the values of both sides.

Rules:

- It is a state, not a message: an agent that asks again gets the same, and does nothing twice.
- What is to be so only goes forward: run, end, forget.
- Each change has a version, counted for each node and visible in order.
- A specification holds secrets. It is wiped from the row once the agent said what became of it.
- Of two agents that speak for one node the one that began later counts.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Protocol, assert_never

from bailiwick.executors.node.agents import (
    FIRST,
    AgentWord,
    known_words,
    own_version,
    words_of,
)
from bailiwick.executors.port import (
    Exited,
    JobSpec,
    JobStatus,
    Limits,
    Lost,
    LostReason,
    OutputPart,
    Running,
    Starting,
    Unstarted,
)
from bailiwick.vocab.errors import Damaged, InvalidValue
from bailiwick.vocab.jobs import JobFault

ITEMS_MAX: Final = 100
"""Leases that one answer or one report tells of."""
PIECE_BYTES_MAX: Final = 262_144
OUTPUT_KEPT_BYTES: Final = 16 * 2**20
"""Of each job's output; the machine that ran it may keep more."""


class Wish(StrEnum):
    """What is to become of a job, in the order in which it may change."""

    RUN = "run"
    END = "end"
    FORGET = "forget"


@dataclass(frozen=True, slots=True)
class Seen:
    """What an agent saw of a job; once it was ended, ``is_cleared`` says if nothing is left."""

    lease_id: int
    status: JobStatus
    is_cleared: bool | None = None
    is_forgotten: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkRow:
    """A lease on a node: what is to be so, and what was seen."""

    lease_id: int
    node: str
    version: int
    wish: Wish
    wished_ms: int
    """Since when that is wished."""
    spec: str | None = field(default=None, repr=False)
    warn_until_ms: int | None = None
    seen: Seen | None = None
    output_bytes: int = 0
    is_truncated: bool = False


class WorkStore(Protocol):
    """Where all that lasts; its calls may come from any thread."""

    def order(self, node: str, lease_id: int, *, spec: str, now_ms: int) -> None:
        """Have a job run; a lease that was ordered before is a ``Conflict``."""

    def wish(self, lease_id: int, wish: Wish, *, now_ms: int) -> WorkRow | None:
        """Have it end, or be forgotten; the row as it is then."""

    def warn(self, lease_id: int, until_ms: int | None) -> bool:
        """Have it warned, or (``None``) the warning called off; whether there is such a job."""

    def agents(self, nodes: Sequence[str]) -> Mapping[str, AgentWord]:
        """What the agents of these nodes last said of themselves, as far as they did."""

    def get(self, lease_id: int) -> WorkRow | None:
        """That lease."""

    def find(self, lease_ids: Sequence[int]) -> list[WorkRow]:
        """These leases, as far as they are there."""

    def of_node(self, node: str) -> list[int]:
        """The leases of a node that are not to be forgotten."""

    def read_output(
        self, lease_id: int, offset: int, *, limit: int, since_ms: int = 0
    ) -> OutputPart:
        """A piece of the output, as far as it has come; with ``since_ms``, of what came since."""


# -- spelling --------------------------------------------------------------------------------


def spell_spec(spec: JobSpec) -> str:
    """A specification as text; its token and environment are in it."""
    plain = {each.name: getattr(spec, each.name) for each in dataclasses.fields(spec)}
    plain["limits"] = dataclasses.asdict(spec.limits)
    plain |= {"env": dict(spec.env), "told": dict(spec.told)}
    plain["cwd"] = None if spec.cwd is None else str(spec.cwd)
    words = FIRST | words_of(spec)
    plain["limits"] = {k: v for k, v in plain["limits"].items() if f"limits.{k}" in words}
    return json.dumps({name: value for name, value in plain.items() if name in words})


def parse_spec(text: str) -> JobSpec:
    """The specification again; what is missing or wrong in it is an error.

    So is a word of a newer version: the job would not run as it was asked for.
    """
    try:
        plain = json.loads(text)
        cwd, limits = plain["cwd"], plain["limits"]
        words = {*plain, *(f"limits.{name}" for name in limits)}
        if unknown := sorted(words - known_words()):
            raise InvalidValue("agent", own_version(), f"one that understands {', '.join(unknown)}")
        return JobSpec(
            **{
                **{name: _tuple(value) for name, value in plain.items()},
                "cwd": None if cwd is None else Path(cwd),
                "limits": Limits(**{name: _tuple(value) for name, value in limits.items()}),
            }
        )
    except InvalidValue:
        raise
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Damaged("the specification of a job", "it", type(error).__name__) from None


def _tuple(value: object) -> Any:
    return tuple(value) if isinstance(value, list) else value


def spell_seen(seen: Seen) -> dict[str, Any]:
    """What was seen, in plain values with nothing left out."""
    plain: dict[str, Any] = {"lease_id": seen.lease_id, "state": "starting"}
    match seen.status:
        case Starting():
            pass
        case Unstarted(fault, note):
            plain |= {"state": "unstarted", "fault": fault.value, "note": note[:1000]}
        case Running() as found:
            plain |= {"state": "running", "pid": found.pid, "start_ticks": found.start_ticks}
            plain |= {"boot_id": found.boot_id, "is_warned": found.is_warned}
        case Exited() as found:
            plain |= {"state": "exited", "code": found.code, "signal": found.signal}
            plain |= {"ended_ms": found.ended_ms, "is_emptied": found.is_emptied}
            if found.is_out_of_memory:  # a server that knows no such word is not told it in vain
                plain["is_out_of_memory"] = True
        case Lost(reason):
            plain |= {"state": "lost", "reason": reason.value}
        case _:
            assert_never(seen.status)
    return plain | {"is_cleared": seen.is_cleared, "is_forgotten": seen.is_forgotten}


def parse_seen(plain: Mapping[str, Any]) -> Seen:
    """What was seen again; a word that is unknown is an error."""
    try:
        return Seen(
            plain["lease_id"], _status(plain), plain["is_cleared"], bool(plain["is_forgotten"])
        )
    except (KeyError, ValueError, TypeError) as error:
        raise Damaged("what was seen of a job", "it", error) from None


def _status(plain: Mapping[str, Any]) -> JobStatus:
    match plain["state"]:
        case "starting":
            return Starting()
        case "unstarted":
            return Unstarted(JobFault(plain["fault"]), plain["note"])
        case "running":
            ids = (plain["pid"], plain["start_ticks"], plain["boot_id"])
            return Running(*ids, is_warned=bool(plain["is_warned"]))
        case "exited":
            how = (plain["code"], plain["signal"], plain["ended_ms"])
            over = bool(plain.get("is_out_of_memory"))  # an older agent does not say
            return Exited(*how, is_emptied=bool(plain["is_emptied"]), is_out_of_memory=over)
        case "lost":
            return Lost(LostReason(plain["reason"]))
        case other:
            raise ValueError(other)
