"""Health of machines: agents tell what they found, operators have nodes tested and opened.

Rules:

- A node's agent tells of its own machine alone, and answers for its own test.
- Who may drain a node may have it tested, and may let it take work untested.
- Findings and tests are told to who may read the whole fleet, as notes are.
"""

from __future__ import annotations

from dataclasses import dataclass

from bailiwick.iam import FLEET
from bailiwick.kernel import BeginTest, ChangeMode, Done, OpenNode, ReportHealth, ReportTest
from bailiwick.kernel.health.book import HealthBook, NodeHealth, NodeTest
from bailiwick.kernel.health.returning import leads_to
from bailiwick.phrases.health.tickets import CaseTest, NodeCase, ticket_text, ticket_title
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.foreseeing.changes import ModeForeseen, foresee_node
from bailiwick.vocab.health import HealthFinding
from bailiwick.vocab.transitions import NodeMode, RevokeState

Findings = tuple[HealthFinding, ...]


@dataclass(frozen=True, slots=True)
class KnownHealth:
    """What is known of a machine, and the test that goes on there."""

    known: NodeHealth
    test: NodeTest | None


def health_of(book: HealthBook, node: str) -> KnownHealth | None:
    """What is known of a machine; nothing if its agent has never told anything."""
    known = book.nodes.get(node)
    return None if known is None else KnownHealth(known, book.order(node))


async def report_health(
    caller: Caller, node: str, *, can_test: bool, tell: Deferred[Findings]
) -> Done:
    """A node's agent tells all that is wrong with its machine; what is known changes nothing."""
    caller.require_node(node)
    return await caller.change(ReportHealth(node, tell(), can_test))


async def report_test(
    caller: Caller, node: str, *, test_id: int, took_ms: int, tell: Deferred[Findings]
) -> Done:
    """A node's agent tells what its test found; passed, the node takes work again."""
    caller.require_node(node)
    return await caller.change(ReportTest(node, test_id, tell(), took_ms))


async def begin_test(caller: Caller, node: str) -> Done:
    """Have a node tested now that is empty; one that takes work is closed meanwhile."""
    caller.require(FLEET)
    return await caller.change(BeginTest(node))


async def open_node(
    caller: Caller, node: str, *, untested: bool
) -> tuple[Done, NodeMode, ModeForeseen | None]:
    """Let a node take leases again, tested first if it can be; the mode that it has then.

    A dry run tells which mode that would be, and what would follow.
    """
    caller.require(FLEET)
    command = OpenNode(node, untested or None)
    done = await caller.change(command)
    if not caller.dry_run:
        return done, await caller.read(lambda view: view.state.ledger.entry(node).mode), None
    mode = await caller.read(lambda view: leads_to(view.state, command))
    return done, mode, await foresee_node(caller, ChangeMode(node, mode))


async def read_ticket(caller: Caller, node: str) -> tuple[str, str]:
    """The title and the text of a ticket about a machine."""
    caller.require(FLEET)
    case = await caller.read(lambda view: case_of(view, node))
    return ticket_title(case), ticket_text(case)


def case_of(view: View, node: str) -> NodeCase:
    """What is known of a machine now, and nothing of who has work there."""
    state = view.state
    entry, found = state.ledger.entry(node), state.health.of(node)
    leases, test = state.leases_on(node), state.health.order(node)
    labels = {**entry.capacity.labels, **entry.given}
    return NodeCase(
        node=node,
        now_ms=view.now_ms,
        mode=entry.mode,
        findings=found.findings,
        failed_ms=found.failed_ms,
        closed=found.closed,
        models=tuple(gpu.model or "" for gpu in entry.capacity.gpus),
        labels=tuple(f"{key}={value}" for key, value in sorted(labels.items())),
        leases=len(leases),
        ending=sum(state.phase(each) is not RevokeState.ACTIVE for each in leases),
        tests=tuple(CaseTest(each.outcome, each.ended_ms, each.took_ms) for each in found.tests),
        due_ms=None if test is None else test.due_ms,
        can_test=found.can_test,
        is_told=found.told_ms is not None,
    )
