"""The way back: a node that is to take work again is tested first, where that can be.

Rules:

- A machine whose agent can test goes back as far as ``returning``, and its test begins; passed, it
  takes work. This is so whoever brings it back: an operator, the end of a window or of a
  repartitioning, or the machine itself, which was gone and has joined again.
- Whoever moves a node to ``returning`` by hand wants a last look: nothing begins, and no test opens
  it before he has.
- One that cannot be tested goes all the way as an operator says. By itself, or by time, it stays in
  ``returning`` if it is unfit.
- A test loads every GPU, so it begins on an empty node. A mode alone does not tell that: one that
  lost its fence came into maintenance with what still runs there.
- What is draining or cordoned only opens at once, as long as the node is fit. One that is unfit has
  to be empty first, and goes round by ``returning``.
- An operator may let a node take work untested. Nobody else may, and nothing else does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from bailiwick.kernel.events import Event
from bailiwick.kernel.fleet.commands import ChangeMode, OpenNode
from bailiwick.kernel.fleet.events import NodeModeChanged
from bailiwick.kernel.health.events import NodeTestBegun, NodeTestEnded
from bailiwick.kernel.state import State
from bailiwick.vocab.errors import Conflict
from bailiwick.vocab.health import NodeTestCause, NodeTestOutcome
from bailiwick.vocab.transitions import WAYS_OPEN, NodeMode, check_mode_change

_ROUND: Final = (NodeMode.DRAINING, NodeMode.DRAINED, NodeMode.RETURNING)
_TO_TEST: Final = {
    NodeMode.ACCEPTING: _ROUND,
    NodeMode.CORDONED: _ROUND,
    NodeMode.DRAINING: _ROUND[1:],
    NodeMode.DRAINED: _ROUND[2:],
    NodeMode.MAINTENANCE: _ROUND[2:],
    NodeMode.RETURNING: (),
}
"""By mode, the modes through which a node comes to be tested."""

_HALF_OPEN: Final = frozenset({NodeMode.DRAINING, NodeMode.CORDONED})
"""The modes in which something of others may run, and from which a node opens in one step."""

_ENDS_TEST: Final = frozenset({NodeMode.DRAINING, NodeMode.FENCE_LOST})


def open_node(state: State, command: OpenNode) -> Iterator[Event]:
    """Every edge on the way back to taking leases, or to the test before; who is to go from there
    still goes."""
    node, entry = command.node, state.ledger.entry(command.node)
    state.mig.check_free(node)
    way = WAYS_OPEN[entry.mode]
    if not way:
        check_mode_change(entry.mode, NodeMode.ACCEPTING)  # it has no such edge, and says which
    if entry.quarantined:
        hint = "bailiwick node lift, once it has proven itself"
        raise Conflict("node", node, "is quarantined", hint=hint)
    if command.untested:
        yield from cancel_test(state, node)
    else:
        state.health.check_free(node)
    if command.untested or not _must_test(state, node, entry.mode):
        yield from walk(node, entry.mode, way=way)
        return
    if entry.mode in _HALF_OPEN and state.leases_on(node):
        hint = "have it drained first, or take it as it is: bailiwick node uncordon NODE --untested"
        raise Conflict("node", node, "is closed for its health, and not empty", hint=hint)
    check_empty(state, node)
    yield from walk(node, entry.mode, way=_TO_TEST[entry.mode])
    yield from begin_test(state, node, cause=NodeTestCause.RETURNING)


def check_empty(state: State, node: str) -> None:
    """Refuse an agent's work on a closed node where somebody's may still run."""
    if state.leases_on(node):
        hint = "bailiwick node show lists them: let them end, or bailiwick lease clear-fence"
        raise Conflict("node", node, "still holds leases", hint=hint)


def leads_to(state: State, command: OpenNode) -> NodeMode:
    """Where a node would be that is opened now: on its way, if its test comes before work."""
    mode = state.ledger.entry(command.node).mode
    is_tested = not command.untested and _must_test(state, command.node, mode)
    return NodeMode.RETURNING if is_tested else NodeMode.ACCEPTING


def _must_test(state: State, node: str, before: NodeMode) -> bool:
    """Whether a test stands between a node in this mode and work."""
    found = state.health.of(node)
    if not found.can_test or (before in _HALF_OPEN and not found.is_unfit):
        return False
    return before is not NodeMode.RETURNING or found.verdict is not NodeTestOutcome.PASSED


def check_mode(state: State, command: ChangeMode, *, before: NodeMode) -> None:
    """Refuse to move a node by hand to where only a passed test brings it."""
    if command.mode is not NodeMode.ACCEPTING:
        return
    state.health.check_free(command.node)
    if _must_test(state, command.node, before):
        hint = "bailiwick node uncordon NODE tests it; with --untested it takes work as it is"
        raise Conflict("node", command.node, "has not passed its test", hint=hint)


def before_mode(state: State, node: str, *, after: NodeMode) -> Iterator[Event]:
    """A node that is moved away from its test by hand is not tested any more."""
    if after in _ENDS_TEST:
        yield from cancel_test(state, node)


def come_back(state: State, node: str) -> Iterator[Event]:
    """A node goes back by itself, as far as it may; one that drains and is unfit drains on."""
    mode = state.ledger.entry(node).mode
    if not state.health.stays_back(node):
        yield from walk(node, mode, way=WAYS_OPEN[mode])
        return
    if mode in _HALF_OPEN:
        if not state.health.of(node).is_unfit:
            yield from walk(node, mode, way=WAYS_OPEN[mode])
        return
    yield from _to_test(state, node, mode)


def rejoin(state: State, node: str) -> Iterator[Event]:
    """A machine that was gone is there again: it is closed, and tested before it takes work."""
    if state.health.stays_back(node):
        yield from _to_test(state, node, NodeMode.ACCEPTING)


def _to_test(state: State, node: str, mode: NodeMode) -> Iterator[Event]:
    yield from walk(node, mode, way=_TO_TEST.get(mode, ()))
    if mode in _TO_TEST and state.health.owes_test(node):
        yield from begin_test(state, node, cause=NodeTestCause.RETURNING)


def walk(node: str, before: NodeMode, *, way: Iterable[NodeMode]) -> Iterator[Event]:
    """A node goes through these modes."""
    for after in way:
        yield NodeModeChanged(node, before, after)
        before = after


def begin_test(state: State, node: str, *, cause: NodeTestCause) -> Iterator[Event]:
    """A node's agent is to test its machine, if it is not at it already."""
    if state.health.order(node) is None:
        yield NodeTestBegun(node, state.size, cause, state.settings.test_wait_ms)


def cancel_test(state: State, node: str) -> Iterator[Event]:
    """The test that goes on there is off, if there is one."""
    test = state.health.order(node)
    if test is not None:
        yield NodeTestEnded(node, test.id, NodeTestOutcome.CANCELLED)
