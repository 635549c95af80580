"""Health: what follows from what agents find on their machines, from tests, and from time.

Rules:

- An agent tells all that is wrong with its own machine. A finding that fails closes a node that
  takes work, and what runs there has to go: for its ``health``, and the check that failed. The
  record of the finding comes before, and is the cause. A warning is told, and changes nothing.
- One cause may not empty the fleet: of all nodes no more than ``health_drain_milli`` thousandths (1
  at least) are drained for their health at one time. Beyond that a node is closed to new work only.
- A node that a window holds, that is repartitioned or that is closed already: what was found there
  is told, and its mode is left. It opens by nothing but a passed test, or an operator's word.
- A node has one record of its health in :data:`TOLD_EVERY_MS`, however often its agent changes its
  mind; more only where one closes the node. Whoever is refused for that tells it again later.
- What a test found is what is known of the machine from then on. Its agent's looks burn no GPU in:
  as long as the verdict stands, they do not take away what a failed burn-in found.
- A test that is not answered in ``test_wait_ms`` has timed out. The node stays as it is. The wait
  is anew when somebody else leads: nobody could answer while nobody led.
- With ``test_every_ms`` a node that has nothing to do is closed and tested when its last test is so
  long ago: a few at a time, none for whom room is kept there, none whose window is near, and none
  that would make too many drained nodes if it fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, assert_never

from bailiwick.kernel.events import Event
from bailiwick.kernel.fleet.events import NodeModeChanged
from bailiwick.kernel.health import commands as cmd
from bailiwick.kernel.health import events as ev
from bailiwick.kernel.health.book import EndedTest, NodeHealth, NodeTest, with_findings
from bailiwick.kernel.health.returning import begin_test, cancel_test, check_empty, rejoin
from bailiwick.kernel.slice import Apply
from bailiwick.kernel.state import State
from bailiwick.kernel.work.ending import EvictedBy, active_with_gangs, evict
from bailiwick.vocab.errors import Conflict, LimitReached, NotFound
from bailiwick.vocab.health import (
    EVICTED_BY,
    FINDINGS_MAX,
    HealthAction,
    HealthCheck,
    HealthFinding,
    HealthLevel,
    NodeTestCause,
    NodeTestOutcome,
    check_findings,
    has_failed,
)
from bailiwick.vocab.maintenance import WindowPhase
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import PreemptionReason

TOLD_EVERY_MS: Final = 60_000
"""How often a node's health is recorded at most."""

IDLE_TESTS_MAX: Final = 4
"""Nodes that are closed for a test at one time, because nobody needs them."""

LOOKED_AT: Final = 64
"""Nodes of which a tick asks whether they are idle."""

REASON: Final = PreemptionReason.OPERATOR_DRAIN

_TAKES_WORK: Final = frozenset((NodeMode.ACCEPTING, NodeMode.CORDONED))
_EMPTY: Final = frozenset((NodeMode.DRAINED, NodeMode.MAINTENANCE, NodeMode.RETURNING))
"""The modes of a node that is closed, and empty unless it lost its fence."""

_UNPASSED: Final = (NodeTestOutcome.FAILED, NodeTestOutcome.TIMED_OUT)


def decide(state: State, command: cmd.HealthCommand, now_ms: int) -> Iterator[Event]:
    """The events that follow from such a command."""
    match command:
        case cmd.ReportHealth():
            return _report(state, command, now_ms=now_ms)
        case cmd.ReportTest():
            return _tested(state, command)
        case cmd.BeginTest():
            return _test(state, command.node)
        case _:
            assert_never(command)


def most_drained(state: State) -> int:
    """How many nodes may be drained for their health at one time."""
    return max(1, len(state.ledger) * state.settings.health_drain_milli // 1_000)


def _report(state: State, command: cmd.ReportHealth, *, now_ms: int) -> Iterator[Event]:
    node, found = command.node, state.health.of(command.node)
    mode, findings = state.ledger.entry(node).mode, _with_burn_in(found, command.findings)
    # Closed, and still open: the record that closes it was never written.
    broke_off = mode is NodeMode.ACCEPTING and found.closed is not HealthAction.NONE
    same = (found.findings, found.can_test) == (findings, command.can_test)
    if same and found.told_ms is not None and not broke_off:
        return
    action = _action(state, node, findings)
    closes = action is not HealthAction.NONE and found.closed is not action
    too_soon = found.told_ms is not None and now_ms - found.told_ms < TOLD_EVERY_MS
    if too_soon and not closes and not broke_off:
        raise LimitReached(f"records of the health of {node} in {TOLD_EVERY_MS // 1000} s", 1)
    yield ev.NodeHealthChanged(node, findings, command.can_test, action)
    if action is HealthAction.DRAIN:
        yield from cancel_test(state, node)
        yield NodeModeChanged(node, mode, NodeMode.DRAINING)
        going = active_with_gangs(state, state.leases_on(node))
        by = EvictedBy(EVICTED_BY, _gravest(findings))
        yield from evict(state, going, reason=REASON, now_ms=now_ms, grace_ms=None, by=by)
    elif action is HealthAction.HOLD_BACK and mode is NodeMode.ACCEPTING:
        yield NodeModeChanged(node, mode, NodeMode.CORDONED)


def _with_burn_in(found: NodeHealth, told: tuple[HealthFinding, ...]) -> tuple[HealthFinding, ...]:
    """What an agent tells of its looks, and what a burn-in found that failed its test."""
    if found.verdict is not NodeTestOutcome.FAILED:
        return told
    burnt = tuple(each for each in found.findings if each.check is HealthCheck.BURN_IN)
    looked = [each for each in told if each.check is not HealthCheck.BURN_IN]
    return check_findings("findings", (*burnt, *looked[: FINDINGS_MAX - len(burnt)]))


def _gravest(findings: tuple[HealthFinding, ...]) -> str | None:
    """The check that is told as the cause: the gravest come first."""
    return next((each.check.value for each in findings if each.level is HealthLevel.FAIL), None)


def _action(state: State, node: str, findings: tuple[HealthFinding, ...]) -> HealthAction:
    """What is to be done with a node of which this is found."""
    mode = state.ledger.entry(node).mode
    is_anothers = node in state.maintenance.held or state.mig.find(node) is not None
    if not has_failed(findings) or mode not in _TAKES_WORK or is_anothers:
        return HealthAction.NONE
    others = len(state.health.drained - {node})
    return HealthAction.DRAIN if others < most_drained(state) else HealthAction.HOLD_BACK


# -- tests -------------------------------------------------------------------------------------


def _test(state: State, node: str) -> Iterator[Event]:
    mode = state.ledger.entry(node).mode
    state.mig.check_free(node)
    if node in state.health.tests:
        raise Conflict("node", node, "is being tested already", hint="its agent has until then")
    if not state.health.owes_test(node):
        hint = "its agent has not said that it can"
        raise Conflict("node", node, "cannot be tested", hint=hint)
    if mode not in _EMPTY and not (mode is NodeMode.ACCEPTING and _is_idle(state, node)):
        raise Conflict("node", node, "is not empty", hint="drain it first")
    check_empty(state, node)
    # One that did not pass on its way back is on it still.
    returns = mode is NodeMode.RETURNING and state.health.of(node).verdict in _UNPASSED
    yield from _begin(state, node, NodeTestCause.RETURNING if returns else NodeTestCause.ASKED)


def _begin(state: State, node: str, cause: NodeTestCause) -> Iterator[Event]:
    yield from begin_test(state, node, cause=cause)
    if state.ledger.entry(node).mode is NodeMode.ACCEPTING:
        yield NodeModeChanged(node, NodeMode.ACCEPTING, NodeMode.CORDONED)


def _tested(state: State, command: cmd.ReportTest) -> Iterator[Event]:
    node = command.node
    state.ledger.entry(node)
    test = state.health.order(node)
    if test is None:
        raise NotFound("test", node, hint="none goes on there")
    if test.id != command.test_id:
        hint = "its heartbeat tells the test that is wanted now"
        raise Conflict("test", command.test_id, "is not wanted now", hint=hint)
    failed = has_failed(command.findings)
    outcome = NodeTestOutcome.FAILED if failed else NodeTestOutcome.PASSED
    yield ev.NodeTestEnded(node, test.id, outcome, command.findings, command.took_ms)
    yield from _after_test(state, test, outcome)


def _after_test(state: State, test: NodeTest, outcome: NodeTestOutcome) -> Iterator[Event]:
    """Passed, a node takes work that is on its way to it; one that did is closed if it failed."""
    node, mode = test.node, state.ledger.entry(test.node).mode
    passed = outcome is NodeTestOutcome.PASSED
    opens = mode is NodeMode.RETURNING and test.cause is NodeTestCause.RETURNING
    if opens and passed and not _waits_for_window(state, node):
        yield NodeModeChanged(node, mode, NodeMode.ACCEPTING)
    if mode is NodeMode.CORDONED and test.reopens:
        again = passed and node not in state.maintenance.held  # by a window that came meanwhile
        yield NodeModeChanged(node, mode, NodeMode.ACCEPTING if again else NodeMode.DRAINING)


def _waits_for_window(state: State, node: str) -> bool:
    """Whether a node that comes back from one window is in the next: that opens it, when over."""
    book = state.maintenance
    on = (each.phase is not WindowPhase.PLANNED for each in book.windows_of(node))
    return node in book.releasing and any(on)


# -- time --------------------------------------------------------------------------------------


def keep_tests(state: State, *, now_ms: int, limit: int) -> Iterator[Event]:
    """End what takes too long, or has lost its node, and test who has nothing to do."""
    book = state.health
    for node in sorted(book.joining)[:limit]:  # the records that close it were never written
        yield from rejoin(state, node)
    for test in book.going_on()[:limit]:
        outcome = _end_of(state, test, now_ms=now_ms)
        if outcome is not None:
            yield ev.NodeTestEnded(test.node, test.id, outcome)
            yield from _after_test(state, test, outcome)
    if state.settings.test_every_ms:
        yield from _test_idle(state, now_ms=now_ms, limit=min(limit, LOOKED_AT))


def _end_of(state: State, test: NodeTest, *, now_ms: int) -> NodeTestOutcome | None:
    mode = state.ledger.entry(test.node).mode
    own = mode is NodeMode.CORDONED if test.reopens else mode in _EMPTY
    if not own:
        return NodeTestOutcome.CANCELLED
    return NodeTestOutcome.TIMED_OUT if now_ms >= test.due_ms else None


def _test_idle(state: State, *, now_ms: int, limit: int) -> Iterator[Event]:
    book = state.health
    running = sum(each.reopens for each in book.tests.values())
    room = min(IDLE_TESTS_MAX, most_drained(state) - len(book.drained)) - running
    for node in book.some_from(now_ms // 1_000 * limit, limit):
        if room <= 0:
            return
        if _is_due(state, node, now_ms=now_ms):
            yield from _begin(state, node, NodeTestCause.IDLE)
            room -= 1


def _is_due(state: State, node: str, *, now_ms: int) -> bool:
    """Whether a node is to be tested because nobody needs it now."""
    found, settings = state.health.of(node), state.settings
    if not found.can_test or now_ms - found.tested_ms < settings.test_every_ms:
        return False
    if node not in state.ledger or node in state.health.tests:
        return False
    entry, starts_ms = state.ledger.entry(node), state.maintenance.next_start(node)
    near = starts_ms is not None and starts_ms - now_ms <= settings.test_wait_ms
    return entry.takes_leases and not near and _is_idle(state, node)


def _is_idle(state: State, node: str) -> bool:
    """Whether nobody has a lease there, and for nobody room is kept there."""
    if state.leases_on(node):
        return False
    return all(seat.node != node for claim in state.claims.values() for seat in claim.seats)


# -- applying ----------------------------------------------------------------------------------


def _changed(state: State, event: ev.NodeHealthChanged, at_ms: int) -> None:
    book, found = state.health, state.health.of(event.node)
    closed_node = state.ledger.entry(event.node).mode is not NodeMode.ACCEPTING
    can_test = event.can_test or (found.can_test and closed_node)
    acts = event.action is not HealthAction.NONE
    now: NodeHealth = with_findings(found, event.findings, at_ms=at_ms)
    closed = event.action if acts else found.closed
    book.tell(event.node, replace(now, can_test=can_test, told_ms=at_ms, closed=closed))


def _begun(state: State, event: ev.NodeTestBegun, at_ms: int) -> None:
    reopens = state.ledger.entry(event.node).mode is NodeMode.ACCEPTING
    times = at_ms, at_ms + event.wait_ms
    test = NodeTest(event.test_id, event.node, event.cause, *times, reopens)
    state.health.tests[event.node] = test


def _ended(state: State, event: ev.NodeTestEnded, at_ms: int) -> None:
    fails = sum(each.level is HealthLevel.FAIL for each in event.findings)
    cause = state.health.tests[event.node].cause
    ended = EndedTest(event.test_id, cause, event.outcome, at_ms, event.took_ms, fails)
    state.health.end(event.node, ended, findings=event.findings)
    if event.outcome in _UNPASSED:
        state.maintenance.releasing.discard(event.node)  # it does not open by itself


APPLY: Mapping[type, Apply] = {
    ev.NodeHealthChanged: _changed,
    ev.NodeTestBegun: _begun,
    ev.NodeTestEnded: _ended,
}
TOLD_ONLY = (ev.NodeHealthChanged, ev.NodeTestBegun, ev.NodeTestEnded)
"""Of the node and its leases the records that follow tell, and they are read as they are."""
