"""Health of nodes: parse, call one service, spell the answer."""

from __future__ import annotations

from collections.abc import Iterable

from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import PathName
from bailiwick.server.http.spelling import spell_done
from bailiwick.server.problems import Trouble
from bailiwick.services import health
from bailiwick.services.health import KnownHealth
from bailiwick.vocab.errors import LimitReached
from bailiwick.vocab.health import HealthFinding
from bailiwick.wire import health as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.problem import EdgeCode


@answers("node.health_report")
async def report_health(asked: Changing, node: PathName, *, body: wire.HealthReport) -> Done:
    """Say all that is wrong with a machine; what fails it closes the node, and empties it."""
    try:
        done = await health.report_health(
            asked, node, can_test=body.can_test, tell=lambda: _found(body.findings)
        )
    except LimitReached as full:  # its agent tells it again in a while
        raise Trouble(EdgeCode.RATE_LIMITED, str(full)) from None
    return spell_done(done)


@answers("node.test_report")
async def report_test(asked: Changing, node: PathName, *, body: wire.NodeTestReport) -> Done:
    """Say what the test of a machine found; passed, a node that comes back takes work."""
    return spell_done(
        await health.report_test(
            asked,
            node,
            test_id=body.test_id,
            took_ms=body.took_ms,
            tell=lambda: _found(body.findings),
        )
    )


@answers("node.test")
async def begin_test(asked: Changing, node: PathName) -> Done:
    """Have an empty node tested; its number is the answer's `seq`."""
    return spell_done(await health.begin_test(asked, node))


@answers("node.ticket")
async def read_ticket(asked: Here, node: PathName) -> wire.NodeTicket:
    """A text about a machine for whoever repairs it; it names no tenant."""
    title, text = await health.read_ticket(asked, node)
    return wire.NodeTicket(node=node, title=title, text=text)


def spell_health(found: KnownHealth) -> wire.HealthStanding:
    """What is known of a machine, on the wire."""
    known, test = found.known, found.test
    return wire.HealthStanding(
        findings=[_finding(each) for each in known.findings],
        failed_ms=known.failed_ms,
        can_test=known.can_test,
        closed=known.closed,
        test=None
        if test is None
        else wire.RunningTest(
            test_id=test.id, cause=test.cause, begun_ms=test.begun_ms, due_ms=test.due_ms
        ),
        tests=[
            wire.PastTest(
                test_id=each.id,
                cause=each.cause,
                outcome=each.outcome,
                ended_ms=each.ended_ms,
                took_ms=each.took_ms,
                fails=each.fails,
            )
            for each in known.tests
        ],
    )


def _finding(each: HealthFinding) -> wire.NodeFinding:
    return wire.NodeFinding(
        check=each.check,
        level=each.level,
        gpu=each.gpu,
        value=each.value,
        limit=each.limit,
        code=each.code,
    )


def _found(rows: Iterable[wire.NodeFinding]) -> tuple[HealthFinding, ...]:
    return tuple(
        HealthFinding(row.check, row.level, row.gpu, row.value, row.limit, row.code) for row in rows
    )
