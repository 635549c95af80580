"""Health of nodes: have one tested, a ticket about it, and what ``node show`` tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from bailiwick.cli.nodes.chosen import EveryNode, NodeNames, NodeStep, Selector, choose, for_each
from bailiwick.cli.nodes.modes import NodeName
from bailiwick.cli.shared.ask import Ask, path_word, verb
from bailiwick.cli.shared.screen import printable
from bailiwick.phrases.health.sentences import CLOSED, told_end, told_finding, told_findings
from bailiwick.phrases.times import moment
from bailiwick.vocab.health import HealthAction, HealthFinding

if TYPE_CHECKING:
    from bailiwick.wire.health import HealthStanding


def add_health_verbs(nodes: typer.Typer) -> None:
    """What ``bailiwick node`` does with the health of machines."""
    verb(nodes, "test", changes=True)(have_tested)
    verb(nodes, "ticket")(show_ticket)


def have_tested(
    ask: Ask, node: NodeNames = None, *, selector: Selector = None, every: EveryNode = False
) -> None:
    """Have the agent of an empty node test its machine now: all checks, and a burn-in of its GPUs.

    A node that takes work, and has none, is closed meanwhile. One that is returning takes work when
    it has passed.

    Example: bailiwick node test n1
    """
    from bailiwick.wire.actions.nodes import NODE_TEST

    step = NodeStep(NODE_TEST, lambda name: f"node {name} is being tested")
    for_each(ask, choose(ask, node, selector=selector, every=every), step=step)


def show_ticket(ask: Ask, node: NodeName) -> None:
    """A text about a machine for whoever repairs it: findings, tests, and what to do next.

    It names no tenant.

    Example: bailiwick node ticket n1
    """
    from bailiwick.wire.actions.nodes import NODE_TICKET

    found = ask.client.send(NODE_TICKET, path={"node": path_word("NODE", node)})

    def draw() -> None:
        for line in found.text.splitlines():
            typer.echo(printable(line))

    ask.printer.thing(found, name=found.title, draw=draw)


def health_rows(found: HealthStanding) -> list[tuple[str, str]]:
    """What is told of a machine's health, as rows."""
    facts = [
        HealthFinding(e.check, e.level, e.gpu, e.value, e.limit, e.code) for e in found.findings
    ]
    since = "" if found.failed_ms is None else f", since {moment(found.failed_ms)}"
    closed = "" if found.closed is HealthAction.NONE else f"; {CLOSED[found.closed]}"
    rows = [("health", f"{told_findings(facts)}{since}{closed}")]
    rows += [(f"  {each.level.value}", told_finding(each)) for each in facts]
    if found.test is not None:
        until = moment(found.test.due_ms)
        rows.append(("test", f"goes on ({found.test.cause.value}), at most until {until}"))
    if found.tests:
        last = found.tests[0]
        told = told_end(last.outcome, ended_ms=last.ended_ms, took_ms=last.took_ms)
        rows.append(("last test", told))
    elif found.test is None:
        rows.append(("last test", "none yet" if found.can_test else "its agent cannot test"))
    return rows
