"""``bailiwick plan``: what would happen to a job, before anything does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, assert_never

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.shared.ask import Ask
from bailiwick.cli.shared.denials import phrase_denial, phrase_estimate
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.options import JobOptions, ask_of, wish_of
from bailiwick.cli.shared.screen import make_console, print_rows, printable
from bailiwick.phrases.amounts import money, plural, span
from bailiwick.phrases.reasons import phrase_rule
from bailiwick.phrases.times import moment
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import MILLI
from bailiwick.wire import answers as ans

if TYPE_CHECKING:
    from bailiwick.wire.answers import Plan, Victim
    from bailiwick.wire.base import ClosingRule
    from bailiwick.wire.jobs import NewJob

command = typer.Typer(add_completion=False)

NO_SUCH_HARDWARE: Final = "no_such_hardware"
ONLY_EXECUTORS: Final = (
    "without --on a job lands only on machines that run jobs themselves (executor=local or node); "
    "bailiwick lease request asks for any node"
)

# What follows the command's first word is the command's own, options too.
OWN_ARGUMENTS = {"allow_interspersed_args": False}


@command.command(
    help="What would happen to a job, before anything does: where it would run, who would have to "
    "go, what it costs.\n\nEnds with 0 if it would run, 4 if it would wait, 3 if it would be "
    "refused.\n\nbailiwick plan --gpus 2 --mem 64GiB -- python train.py",
    context_settings=OWN_ARGUMENTS,
)
@with_options(JobOptions)
def plan(options: JobOptions) -> None:
    """Tell what would happen."""
    run_plan(ask_of(options, dry_run=True), options)


def run_plan(ask: Ask, options: JobOptions) -> None:
    """Ask what would happen, tell it, and end as it would."""
    from bailiwick.wire.actions.jobs import JOB_SUBMIT

    body = new_job(options, ask, needs_command=False)
    found = ask.client.plan(JOB_SUBMIT, body=body)
    if isinstance(found, ans.WouldRefuse) and found.denied.detail == NO_SUCH_HARDWARE:
        typer.echo(f"bailiwick: {ONLY_EXECUTORS}", err=True)
    tell_plan(ask, found, ttl_ms=body.ttl_ms)


def tell_plan(ask: Ask, found: Plan, *, ttl_ms: int) -> None:
    """Print a plan and end as it would."""

    def draw() -> None:
        draw_plan(found)
        typer.echo(f"time limit: {phrase_limit(ttl_ms)}")

    ask.printer.thing(found, name=found.plan, draw=draw)
    codes = {"queue": ExitCode.PENDING, "refuse": ExitCode.DENIED}
    raise typer.Exit(codes.get(found.plan, ExitCode.DONE))


def new_job(options: JobOptions, ask: Ask, *, needs_command: bool = True) -> NewJob:
    """The job that was meant."""
    from bailiwick.client.bodies import make_body
    from bailiwick.tools.job_files.words import body_of
    from bailiwick.wire.jobs import NewJob

    wish = wish_of(options, ask)
    if "command" not in wish:
        if needs_command:
            raise InvalidValue("CMD", None, "what to run: bailiwick submit -- python train.py")
        wish["command"] = ["true"]
    return make_body(NewJob, **body_of(wish))


def draw_plan(plan: Plan, *, rules: bool = True) -> None:
    """A plan for people; without ``rules`` if those were told already."""
    from bailiwick.wire import answers as ans

    match plan:
        case ans.WouldGrant():
            typer.echo(f"would run at once on {_places(plan.nodes)}")
        case ans.WouldPreempt():
            count = len(plan.victims)
            leases = "1 lease has" if count == 1 else f"{count} leases have"
            typer.echo(
                f"would run on {_places(plan.nodes)} after {leases} to go, "
                f"by {moment(plan.until_ms)}"
            )
            _draw_victims(plan.victims)
            if plan.victims and plan.loss_ratio_milli != MILLI:
                typer.echo(_told_ratio(plan.loss_ratio_milli))
        case ans.WouldQueue():
            why = "others are before it" if plan.denied is None else phrase_denial(plan.denied)
            typer.echo(f"would wait: {why}")
            typer.echo(f"may start: {phrase_estimate(plan.estimate)}")
        case ans.WouldRefuse():
            typer.echo(f"would be refused: {phrase_denial(plan.denied)}")
        case _:
            assert_never(plan)
    if rules and isinstance(plan, ans.WouldQueue | ans.WouldRefuse):
        draw_rules(plan.rules, plan.rules_more)
    typer.echo(f"price: {phrase_price(plan.price)}")


def draw_rules(rules: Sequence[ClosingRule], more: int) -> None:
    """How many nodes are closed by what, for people: a rule, a booking, or maintenance."""
    if not rules:
        return
    rows = [(f"{each.nodes:,}", phrase_rule(each.rule)) for each in rules]
    print_rows(
        make_console(), ("nodes", "by*"), rows=rows, title="Closed to it now", numbers=("nodes",)
    )
    if more:
        typer.echo(f"and by {plural(more, 'more rule')}")


def _told_ratio(milli: int | None) -> str:
    """How far from the cheapest the victims may be.

    >>> _told_ratio(1_301)
    'at most 1.31 times as dear as the cheapest that would do'
    """
    if milli is None:
        return "there may be cheaper ones that would do"
    times = -(-milli // 10)
    return f"at most {times // 100}.{times % 100:02} times as dear as the cheapest that would do"


def _draw_victims(victims: list[Victim]) -> None:
    rows = [
        (
            "-" if each.lease_id is None else f"lease-{each.lease_id}",
            each.tenant,
            each.priority.value,
            each.lease_class.value,
        )
        for each in victims
    ]
    print_rows(
        make_console(),
        ("lease", "tenant", "priority", "class"),
        rows=rows,
        title="Would have to go",
    )
    typer.echo("")


def _places(nodes: list[str]) -> str:
    counts: dict[str, int] = {}
    for node in nodes:
        counts[node] = counts.get(node, 0) + 1
    return ", ".join(f"{node} ({n} members)" if n > 1 else node for node, n in counts.items())


def phrase_limit(ttl_ms: int) -> str:
    """How long something may run.

    >>> phrase_limit(3_600_000)
    '1h; what still runs then is ended (--ttl sets it)'
    """
    return f"{span(ttl_ms)}; what still runs then is ended (--ttl sets it)"


def phrase_price(price: ans.Price) -> str:
    """What an hour and the whole term cost."""
    name = printable(price.currency)
    hour, total = money(price.micros_per_hour), money(price.micros_total)
    return f"{hour} {name} an hour, {total} {name} for the whole term"
