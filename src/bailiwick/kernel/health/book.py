"""What is known of each machine's health: findings, what was done for them, and its tests.

Rules:

- A machine whose agent said that it can test is tested before it takes work again. That its agent
  cannot any more is believed while the node takes work; else a closed node could say so, and open.
  It is also believed of an agent that did not answer when an operator opens the node all the same:
  an older one, which took the place of one that could, never says so.
- A node is *unfit* while a finding fails it, or it was closed for one. It is fit again when a test
  passed, when its findings are gone and it takes work, or when an operator opened it.
- Of a machine that is gone everything is kept, so that it is known when it comes back; of the
  oldest such machines beyond :data:`AWAY_MAX` nothing is.
- How a test ended counts until the node's mode changes: one that was tested, closed and is to come
  back again is tested again.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from bailiwick.kernel.health.spelling import read_findings, spell_findings
from bailiwick.vocab.errors import Conflict
from bailiwick.vocab.health import (
    HealthAction,
    HealthFinding,
    NodeTestCause,
    NodeTestOutcome,
    has_failed,
)
from bailiwick.vocab.transitions import NodeMode

AWAY_MAX: Final = 100_000
"""Machines that are gone, and of which it is kept how they were."""

TESTS_KEPT: Final = 3
"""The last tests of a node that are remembered."""


@dataclass(frozen=True, slots=True)
class NodeTest:
    """A test that goes on."""

    id: int
    node: str
    cause: NodeTestCause
    begun_ms: int
    due_ms: int
    reopens: bool = False
    """Whether the node took work, and was closed for the test alone."""


@dataclass(frozen=True, slots=True)
class EndedTest:
    """A test that is over."""

    id: int
    cause: NodeTestCause
    outcome: NodeTestOutcome
    ended_ms: int
    took_ms: int | None
    fails: int
    """How many of its findings failed the node."""


@dataclass(frozen=True, slots=True)
class NodeHealth:
    """One machine."""

    findings: tuple[HealthFinding, ...] = ()
    can_test: bool = False
    told_ms: int | None = None
    """When its agent's word was last recorded."""
    failed_ms: int | None = None
    """Since when something fails it; nothing while nothing does."""
    closed: HealthAction = HealthAction.NONE
    """What was done with the node for its health; it stands until the node takes work again."""
    verdict: NodeTestOutcome | None = None
    """How the last test ended, if the node's mode has not changed since."""
    tests: tuple[EndedTest, ...] = ()
    """The last tests, the newest first."""

    @property
    def is_unfit(self) -> bool:
        """Whether nothing but a test, or an operator's word, lets it take work."""
        return has_failed(self.findings) or self.closed is not HealthAction.NONE

    @property
    def tested_ms(self) -> int:
        """When it was last tested to an end."""
        ends = (e.ended_ms for e in self.tests if e.outcome is not NodeTestOutcome.CANCELLED)
        return next(ends, 0)


UNKNOWN: Final = NodeHealth()
"""A machine of which nobody has said anything."""


class HealthBook:
    """The health of all machines of one state."""

    def __init__(self) -> None:
        self.nodes: dict[str, NodeHealth] = {}
        self.tests: dict[str, NodeTest] = {}
        """The tests that go on."""
        self.away: dict[str, None] = {}
        """Machines that are gone, the longest first."""
        self.drained: set[str] = set()
        self.held_back: set[str] = set()
        """Nodes that are there and were drained, or only closed, for their health."""
        self.joining: set[str] = set()
        """Machines that joined, and that no record has closed yet, as one has to."""
        self._names: list[str] = []

    # -- asking ------------------------------------------------------------------------------

    def of(self, node: str) -> NodeHealth:
        """What is known of a machine."""
        return self.nodes.get(node, UNKNOWN)

    def owes_test(self, node: str) -> bool:
        """Whether a node that comes back is tested first."""
        return self.of(node).can_test

    def stays_back(self, node: str) -> bool:
        """Whether a node that comes back by itself, or by time, does not take work at once."""
        found = self.of(node)
        return found.can_test or found.is_unfit

    def stays_closed(self, node: str) -> bool:
        """Whether a node that comes back takes no work until somebody says so."""
        found = self.of(node)
        return found.is_unfit and not found.can_test

    def order(self, node: str) -> NodeTest | None:
        """The test that a node's agent is to carry out now."""
        return self.tests.get(node)

    def check_free(self, node: str) -> None:
        """Refuse what would take a node from under its test."""
        if node in self.tests:
            hint = "wait, or let it take work as it is: bailiwick node uncordon NODE --untested"
            raise Conflict("node", node, "is being tested", hint=hint)

    def going_on(self) -> list[NodeTest]:
        """The tests that go on, the oldest first."""
        return sorted(self.tests.values(), key=lambda each: each.id)

    def some_from(self, start: int, count: int) -> Iterator[str]:
        """So many known machines, from one of them on and round: whoever looks at a few sees all
        in time."""
        names = self._names
        for at in range(min(count, len(names))):
            yield names[(start + at) % len(names)]

    # -- being told, by ``apply`` ------------------------------------------------------------

    def tell(self, node: str, now: NodeHealth) -> None:
        """A machine is so now."""
        if node not in self.nodes:
            insort(self._names, node)
        self.nodes[node] = now
        here = node not in self.away
        for those, action in (
            (self.drained, HealthAction.DRAIN),
            (self.held_back, HealthAction.HOLD_BACK),
        ):
            (those.add if here and now.closed is action else those.discard)(node)

    def note_mode(self, node: str, mode: NodeMode) -> None:
        """A node came to be in this mode."""
        self.joining.discard(node)
        found = self.nodes.get(node)
        if found is None:
            return
        if mode is NodeMode.ACCEPTING:
            silent = found.verdict is NodeTestOutcome.TIMED_OUT
            can_test = found.can_test and not silent
            found = replace(found, can_test=can_test, closed=HealthAction.NONE)
        self.tell(node, replace(found, verdict=None))

    def resume(self, *, at_ms: int, wait_ms: int) -> None:
        """Somebody leads again: until now no agent could tell how its test went."""
        for node, test in self.tests.items():
            self.tests[node] = replace(test, due_ms=max(test.due_ms, at_ms + wait_ms))

    def end(self, node: str, ended: EndedTest, *, findings: tuple[HealthFinding, ...]) -> NodeTest:
        """A test is over; what it found is what is known of the machine, if it found out."""
        test, found = self.tests.pop(node), self.of(node)
        now = replace(found, tests=(ended, *found.tests)[:TESTS_KEPT], verdict=ended.outcome)
        if ended.outcome in (NodeTestOutcome.PASSED, NodeTestOutcome.FAILED):
            now = with_findings(now, findings, at_ms=ended.ended_ms)
        if test.reopens and ended.outcome in (NodeTestOutcome.FAILED, NodeTestOutcome.TIMED_OUT):
            now = replace(now, closed=HealthAction.DRAIN)
        self.tell(node, now)
        return test

    def join(self, node: str) -> None:
        """A machine is there, and takes work unless its next record says otherwise."""
        self.away.pop(node, None)
        found = self.nodes.get(node)
        if found is not None:
            self.tell(node, replace(found, verdict=None))
        if self.stays_back(node):
            self.joining.add(node)

    def leave(self, node: str) -> None:
        """A machine is gone."""
        self.tests.pop(node, None)
        self.joining.discard(node)
        if node not in self.nodes:
            return
        self.away[node] = None
        self.tell(node, self.nodes[node])
        while len(self.away) > AWAY_MAX:
            oldest = next(iter(self.away))
            del self.away[oldest], self.nodes[oldest]
            del self._names[bisect_left(self._names, oldest)]

    # -- a snapshot --------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """All that does not follow from something else; nothing where there is nothing."""
        if not (self.nodes or self.tests):
            return {}
        nodes = {node: _health_row(self.nodes[node]) for node in self._names}
        tests = [
            [each.id, each.node, each.cause.value, each.begun_ms, each.due_ms, int(each.reopens)]
            for each in self.going_on()
        ]
        rows = {"nodes": nodes, "tests": tests, "away": list(self.away)}
        return rows | {"joining": sorted(self.joining)}

    def load(self, plain: dict[str, Any]) -> None:
        """Take up what :meth:`dump` told."""
        self.away = dict.fromkeys(plain.get("away", ()))
        self.joining = set(plain.get("joining", ()))
        for node, row in plain.get("nodes", {}).items():
            self.tell(node, _health_of(row))
        for number, node, cause, begun_ms, due_ms, reopens in plain.get("tests", ()):
            times = begun_ms, due_ms, bool(reopens)
            self.tests[node] = NodeTest(number, node, NodeTestCause(cause), *times)


def with_findings(
    found: NodeHealth, findings: tuple[HealthFinding, ...], *, at_ms: int
) -> NodeHealth:
    """The same machine, of which this is found now."""
    since = at_ms if found.failed_ms is None else found.failed_ms
    return replace(found, findings=findings, failed_ms=since if has_failed(findings) else None)


def _health_row(found: NodeHealth) -> list[Any]:
    tests = [
        [e.id, e.cause.value, e.outcome.value, e.ended_ms, e.took_ms, e.fails] for e in found.tests
    ]
    verdict = None if found.verdict is None else found.verdict.value
    told = spell_findings(found.findings), int(found.can_test), found.told_ms, found.failed_ms
    return [*told, found.closed.value, verdict, tests]


def _health_of(row: list[Any]) -> NodeHealth:
    findings, can_test, told_ms, failed_ms, closed, verdict, tests = row
    return NodeHealth(
        read_findings(findings),
        bool(can_test),
        told_ms,
        failed_ms,
        HealthAction(closed),
        None if verdict is None else NodeTestOutcome(verdict),
        tuple(EndedTest(e[0], NodeTestCause(e[1]), NodeTestOutcome(e[2]), *e[3:]) for e in tests),
    )
