"""``bailiwick explain``: why something waits, was refused, or ended, and what would help.

Rules:

- A request is explained as ``submit`` would make it, which lands only where jobs can be run; with
  ``--lease`` as ``lease request`` would.
- ``--rules`` asks no server: it prints the table that every one of this version decides by.
- First what must be cleared first, then every obstacle with its numbers, then how many nodes fell
  at which filter, what would help, the position, and an estimate that is marked as one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from bailiwick.cli.shared.ask import Ask
from bailiwick.cli.shared.denials import phrase_denial, phrase_estimate, phrase_remedy
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.options import ExplainOptions, ask_of, typed_words, wish_of
from bailiwick.cli.shared.output import Columns, Format
from bailiwick.cli.shared.screen import make_console, owner, print_rows, printable
from bailiwick.cli.shared.units import parse_id
from bailiwick.executors.registry import labels_for
from bailiwick.phrases.amounts import amount, span
from bailiwick.phrases.estimates import phrase_position
from bailiwick.phrases.health.sentences import told_eviction
from bailiwick.phrases.reasons import REASONS, phrase_turn
from bailiwick.phrases.states import FILTERS
from bailiwick.phrases.times import age, clock, moment
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.words import FilterReason

if TYPE_CHECKING:
    from bailiwick.wire.base import Page
    from bailiwick.wire.decisions import Explanation
    from bailiwick.wire.denials import Denial
    from bailiwick.wire.work import JournalRecord, QueueEntry, Remedy

command = typer.Typer(add_completion=False)

_KINDS = ("job", "lease", "entry")
_UNREAD = frozenset({"command", "key", "digest"})
"""Facts that only tell one thing from another; nobody reads them."""
_TOLD_OF_EVICTION = frozenset({"reason", "preemptor", "rule"})
_YEAR_2000_MS = 946_684_800_000


@command.command(
    help="Why a job, a lease or a waiting request is where it is, or why a request would not run."
    "\n\nbailiwick explain job-7; bailiwick explain lease-12; bailiwick explain --gpus 8;"
    " bailiwick explain --rules"
)
@with_options(ExplainOptions)
def explain(options: ExplainOptions) -> None:
    """Explain one thing."""
    if options.rules:
        explain_rules()
        return
    ask = ask_of(options)
    target = options.target
    if target is None:
        if not typed_words(options):
            raise InvalidValue("TARGET", None, "job-7, lease-12, entry-3, or a request's options")
        _explain_wish(ask, options)
        return
    kind = "job" if target.isdecimal() else target.partition("-")[0]
    if kind not in _KINDS:
        raise InvalidValue("TARGET", target, "job-7, lease-12, entry-3 or options as for submit")
    if kind == "job":
        from bailiwick.cli.commands.job import explain_job
        from bailiwick.cli.jobs.addresses import find_job

        explain_job(ask, find_job(ask, target).job)
        return
    number = parse_id(kind, target)
    match kind:
        case "entry":
            explain_entry(ask, number)
        case _:
            explain_lease(ask, number)


def explain_rules() -> None:
    """Who may evict whom: the table by which the scheduler decides."""
    from bailiwick.phrases.evictions import HEADINGS, eviction_rows

    print_rows(make_console(), HEADINGS, rows=eviction_rows(), title="Who may evict whom")
    typer.echo("Who may evict at all is the setting preempt_from: bailiwick settings show")


def _explain_wish(ask: Ask, options: ExplainOptions) -> None:
    from bailiwick.client.bodies import make_body
    from bailiwick.tools.job_files.words import body_of
    from bailiwick.wire.actions.leases import REQUEST_EXPLAIN
    from bailiwick.wire.work import LeaseRequest

    fields = body_of(wish_of(options, ask), is_job=False)
    if not options.lease:
        asked = dict(text.partition("=")[::2] for text in fields.get("labels", ()))
        told = labels_for(options.on, asked)
        fields["labels"] = [f"{key}={value}" for key, value in sorted(told.items())]
    body = make_body(LeaseRequest, **fields)
    found = ask.client.send(REQUEST_EXPLAIN, body=body)
    ask.printer.thing(found, name=found.plan.plan, draw=lambda: _draw_explanation(found))
    if ask.output is Format.TABLE and not options.lease and FilterReason.LABELS in found.fallen:
        typer.echo(
            "a job needs a node that runs jobs, and without --on one that runs them itself; "
            "--lease asks for a lease alone",
            err=True,
        )


def explain_entry(ask: Ask, number: int) -> None:
    """Why a request waits."""
    from bailiwick.wire.actions.leases import QUEUE_READ

    found = ask.client.send(QUEUE_READ, path={"entry_id": number})
    ask.printer.thing(found, name=f"entry-{number}", draw=lambda: draw_entry(found))


def explain_lease(ask: Ask, number: int) -> None:
    """What became of a lease."""
    draw_lease(ask, number, page=read_lease(ask, number))


def read_lease(ask: Ask, number: int) -> Page[JournalRecord]:
    """What is recorded about a lease."""
    from bailiwick.wire.actions.leases import LEASE_EXPLAIN

    return ask.client.pages(LEASE_EXPLAIN, path={"lease_id": number})


def failure_in(page: Page[JournalRecord]) -> str | None:
    """Which check the machine failed, if that is why the lease had to go."""
    told = (told_eviction(record.body) for record in page.items)
    return next((each for each in told if each is not None), None)


def draw_lease(ask: Ask, number: int, *, page: Page[JournalRecord]) -> None:
    """What is recorded about a lease, for people."""
    columns: Columns[JournalRecord] = Columns(
        ("at", "what", "by", "details*"),
        lambda r: (clock(r.at_ms), r.kind, r.actor, told_record(r)),
        lambda r: str(r.seq),
        empty=f"nothing is recorded about lease-{number}",
    )
    ask.printer.rows(page, columns)


def told_record(record: JournalRecord) -> str:
    """A record's facts in one line."""
    return told_facts(record.body)


def told_facts(facts: Mapping[str, object]) -> str:
    """Facts in one line; an obstacle in words, before the rest of the facts."""
    from bailiwick.client.bodies import denial_in

    body = {name: value for name, value in facts.items() if name not in _UNREAD}
    denied = denial_in(body)
    why = ""
    if denied is not None:
        why = f"{REASONS[denied.reason]}: {phrase_denial(denied)}; "
        body = {name: value for name, value in body.items() if name not in denied.model_fields_set}
    failed = told_eviction(body)
    if failed is not None:
        why = f"{failed}; "
        body = {name: value for name, value in body.items() if name not in _TOLD_OF_EVICTION}
    rest = ", ".join(f"{name} {_fact(name, value)}" for name, value in body.items())
    return printable(f"{why}{rest}".removesuffix("; "))


def _fact(name: str, value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case dict():
            return " + ".join(amount(str(unit), each) for unit, each in value.items()) or "none"
        case list():
            return " ".join(str(each) for each in value)
        case int() if name in ("ttl_ms", "grace_ms"):
            return span(value)
        case int() if name.endswith("_ms") and value > _YEAR_2000_MS:
            return clock(value)
        case _:
            return str(value)


def draw_entry(found: QueueEntry) -> None:
    """Why a request waits, for people."""
    from bailiwick.cli.commands.plan import draw_rules

    typer.echo(
        f"entry-{found.entry_id} of {owner(found.tenant, found.project)} waits since "
        f"{moment(found.submitted_ms)}, {phrase_position(found.position, found.is_further)}"
    )
    if found.job_labels:
        typer.echo(f"labelled {', '.join(found.job_labels)}")
    if found.raised:
        typer.echo(f"raised by {found.raised} after waiting {age(found.submitted_ms)}")
    if found.slips:
        typer.echo(f"its reserved start moved later {found.slips} times")
    first = min(found.blockers, key=lambda b: b.reason.rank, default=None)
    _draw_first(first, phrase_turn(found.position))
    _draw_obstacles(found.blockers, first)
    _draw_nodes(found.fallen, found.fitting)
    draw_rules(found.rules, found.rules_more)
    _draw_help(found.remedy)
    typer.echo(f"may start: {phrase_estimate(found.estimate)}")


def _draw_explanation(found: Explanation) -> None:
    from bailiwick.cli.commands.plan import draw_plan, draw_rules

    _draw_first(found.blocker, "nothing stands in its way")
    _draw_obstacles(found.blockers, found.blocker)
    _draw_nodes(found.fallen, found.fitting)
    draw_rules(found.rules, found.rules_more)
    if found.blocker is not None:
        _draw_help(found.remedy)
    typer.echo("")
    draw_plan(found.plan, rules=False)


def _draw_first(first: Denial | None, otherwise: str) -> None:
    if first is None:
        typer.echo(f"first: {otherwise}")
        return
    typer.echo(f"first: {REASONS[first.reason]}: {phrase_denial(first)}")


def _draw_obstacles(blockers: Sequence[Denial], first: Denial | None) -> None:
    others = [each for each in blockers if each != first]
    if others:
        rows = [(each.reason.value, each.detail, phrase_denial(each)) for each in others]
        print_rows(
            make_console(), ("reason", "rule", "in words*"), rows=rows, title="Also in the way"
        )


def _draw_nodes(fallen: Mapping[FilterReason, int], fitting: int) -> None:
    rows = [(f"{count:,}", FILTERS[word], word.value) for word, count in fallen.items()]
    rows.append((f"{fitting:,}", "would fit now", ""))
    print_rows(
        make_console(), ("nodes", "that*", "filter"), rows=rows, title="Nodes", numbers=("nodes",)
    )


def _draw_help(remedy: Remedy) -> None:
    typer.echo(f"\nwhat would help: {phrase_remedy(remedy)}")
