"""Which nodes still live, from when each was last heard of; what to record of one that does not.

Rules:

- A node beats every ``beat_ms``. It is late once it has missed a beat, and departed once it has
  been silent for ``timeout_ms`` (by default three beats of ten seconds).
- Both times are the listener's own: when a beat arrived, not when its sender says it was sent.
- Silence counts only while somebody listened. After a restart or a change of leader every node has
  a whole time-out to be heard again, else one outage of ours would end all the fleet's work.
- Whatever the time-out, usage ends at the last proof of life: that is what a departure tells.
- A listener's clock that went back makes nobody late.

>>> check_liveness({"a": 95_000, "b": 85_000, "c": 70_000}, 100_000)
(Departed(node='c', last_seen_ms=70000, silent_ms=30000), \
Late(node='b', last_seen_ms=85000, beats_missed=1), Alive(node='a', last_seen_ms=95000))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_amount, check_integer, check_name

BEAT_MS = 10_000
BEATS_MISSED_MAX = 3
TIMEOUT_MS = BEAT_MS * BEATS_MISSED_MAX
_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class HeartbeatRule:
    """How often a node beats, and how long it may be silent before it is gone."""

    beat_ms: int = BEAT_MS
    timeout_ms: int = TIMEOUT_MS

    def __post_init__(self) -> None:
        check_integer("beat_ms", self.beat_ms, low=1, high=_DAY_MS)
        check_integer("timeout_ms", self.timeout_ms, low=1, high=_DAY_MS)
        if self.timeout_ms < 2 * self.beat_ms:
            # One beat that is a moment late would be a departure.
            raise InvalidValue("timeout_ms", self.timeout_ms, f"at least {2 * self.beat_ms}")


DEFAULT_RULE = HeartbeatRule()


@dataclass(frozen=True, slots=True)
class Alive:
    """Heard of within one beat."""

    node: str
    last_seen_ms: int


@dataclass(frozen=True, slots=True)
class Late:
    """At least one beat is missing; there is still time."""

    node: str
    last_seen_ms: int
    beats_missed: int


@dataclass(frozen=True, slots=True)
class Departed:
    """Silent for the whole time-out; ``last_seen_ms`` is the last proof of life, to be recorded."""

    node: str
    last_seen_ms: int
    silent_ms: int


Liveness: TypeAlias = Alive | Late | Departed


def check_liveness(
    last_seen_ms: Mapping[str, int],
    now_ms: int,
    *,
    listening_since_ms: int = 0,
    rule: HeartbeatRule = DEFAULT_RULE,
) -> tuple[Liveness, ...]:
    """How each node stands, the longest silent first.

    ``listening_since_ms`` is when this listener began to hear beats at all.
    """
    check_amount("now_ms", now_ms)
    check_amount("listening_since_ms", listening_since_ms)
    for node, seen in last_seen_ms.items():
        check_name("node", node)
        check_amount(f"last_seen_ms[{node}]", seen)
    order = sorted(last_seen_ms.items(), key=lambda row: (row[1], row[0]))
    return tuple(
        _stands(node, seen, silent_ms=max(0, now_ms - max(seen, listening_since_ms)), rule=rule)
        for node, seen in order
    )


def _stands(node: str, seen: int, *, silent_ms: int, rule: HeartbeatRule) -> Liveness:
    if silent_ms >= rule.timeout_ms:
        return Departed(node, seen, silent_ms)
    if silent_ms >= rule.beat_ms:
        return Late(node, seen, silent_ms // rule.beat_ms)
    return Alive(node, seen)


def plan_departures(
    last_seen_ms: Mapping[str, int],
    now_ms: int,
    *,
    listening_since_ms: int = 0,
    rule: HeartbeatRule = DEFAULT_RULE,
) -> tuple[Departed, ...]:
    """The nodes to be recorded as departed now, the longest silent first."""
    judged = check_liveness(last_seen_ms, now_ms, listening_since_ms=listening_since_ms, rule=rule)
    return tuple(each for each in judged if isinstance(each, Departed))


def next_departure_ms(
    last_seen_ms: Mapping[str, int],
    *,
    listening_since_ms: int = 0,
    rule: HeartbeatRule = DEFAULT_RULE,
) -> int | None:
    """The first moment at which a node can be gone if nothing more is heard; none without nodes."""
    if not last_seen_ms:
        return None
    return max(min(last_seen_ms.values()), listening_since_ms) + rule.timeout_ms
