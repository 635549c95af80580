"""The report at the end of a run: what happened on the campus, for a person to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from bailiwick import Denied, EndCause, PreemptionReason
from bailiwick.demo import charts, phrases
from bailiwick.demo.books import Audit, CampusBooks, Moment, NodeNote, Puzzle
from bailiwick.demo.fleet import HOUR_MS, LABS, price_micros_per_hour
from bailiwick.demo.tables import (
    denials_text,
    evictions_table,
    generations_table,
    plain_table,
    tenants_note,
    tenants_table,
)
from bailiwick.journal import Changed, Verified
from bailiwick.phrases.amounts import credits, gpus, plural
from bailiwick.phrases.estimates import ESTIMATES
from bailiwick.phrases.remedies import remedy_beside
from bailiwick.phrases.states import FALLEN

URGENT_MOMENTS = 4
SOON_MS = 5 * 60_000
WIDTH_MAX = 100
REASONS = len(PreemptionReason)


def print_report(console: Console, books: CampusBooks, *, days: int, seed: int) -> None:
    """Print everything, no wider than is comfortable to read."""
    width = min(console.width, WIDTH_MAX)
    for title, body in _sections(books, width, days=days, seed=seed):
        console.print()
        if title:
            console.print(Rule(Text(title, style="bold"), align="left", style="dim"), width=width)
        console.print(body, width=width, highlight=False)


def _sections(
    books: CampusBooks, width: int, *, days: int, seed: int
) -> Iterator[tuple[str, RenderableType]]:
    letters = dict(zip("abcdefghijklmnopqrstuvwxyz", _remarkable(books), strict=False))
    yield "", _headline(books, days)
    gains = tenants_table(books, wide=width >= WIDTH_MAX)
    yield "Who got what", Group(gains, tenants_note(books))
    yield "On which GPUs", generations_table(books)
    yield "GPUs leased over time", _charts(books, width, letters=letters, days=days)
    yield "What happened", _moments(letters)
    yield "Who was denied, and why", denials_text(books, width)
    yield "Who evicted whom", evictions_table(books)
    yield "What became of the nodes", _nodes(books)
    if books.puzzle is not None:
        yield "Why does it wait?", _puzzle(books.puzzle, width)
    if books.audit is not None:
        yield "", _closing(books.audit, days=days, seed=seed)


# --- headline and close -------------------------------------------------------------------------


def _headline(books: CampusBooks, days: int) -> Text:
    tenants = books.tenants.values()
    asked, granted = sum(t.asked for t in tenants), sum(t.granted for t in tenants)
    refused = sum(t.refused for t in tenants)
    soon = phrases.percent(sum(w <= SOON_MS for t in tenants for w in t.waits_ms), granted)
    devices = sum(books.samples[0].total.values()) // 1000
    used, there = sum(b.gpu_micros.total() for b in tenants), books.capacity_micros
    part = phrases.percent(used, there)
    numbers = used, books.idle_micros, books.closed_micros, there
    leased, idle, closed, existed = (phrases.gpu_hours(each) for each in numbers)
    reasons = len({e.word for e in books.evictions} - {EndCause.NODE_DEPARTED})
    saved = sum(e.saved for e in books.evictions)
    owed, bills = sum(t.owed_micros for t in tenants), sum(t.owed_micros > 0 for t in tenants)
    head = f"{len(LABS)} tenants shared {books.nodes} nodes and {devices} GPUs for {days} days."
    text = Text(head, style="bold")
    for line in (
        f"{asked:,} requests: {granted:,} granted ({soon} within {phrases.duration(SOON_MS)}), "
        f"{refused:,} refused, {asked - granted - refused:,} still waiting.",
        f"{len(books.evictions):,} jobs were evicted, for {reasons} of {REASONS} reasons; "
        f"{saved:,} had saved their work.",
        f"GPU-hours: {leased} leased ({part}) + {idle} idle + {closed} closed = {existed} in all.",
        f"{bills} bills come to {credits(owed)}.",
    ):
        text.append(f"\n{line}", style="not bold")
    return text


def _findings(audit: Audit) -> Iterator[str]:
    """What an auditor found who had nothing but the journal's bytes."""
    match audit.verdict:
        case Verified(count=count):
            yield f"{count:,} sealed records, read back and verified; replayed to the same state."
        case finding:
            yield f"The journal of this run is damaged: {finding}"
    yield f"{audit.agreed} of {audit.invoices} bills come out of it again, to the last byte."
    match audit.tampered:
        case Verified():
            yield "A changed byte was not found."
        case Changed(seq=seq):
            yield f"One byte changed in record {seq:,}: found there."
        case finding:
            yield f"One byte changed: {finding}"


def _closing(audit: Audit, *, days: int, seed: int) -> Group:
    head = Text("\n".join(_findings(audit)), style="bold")
    head.append("\nThe root of the tree over all records:", style="not bold")
    head.append(f"\n{audit.root}", style="not bold")
    same = f"The same days and seed ({days} and {seed}) give the same line anywhere. To try next:"
    table = Table.grid(padding=(0, 3, 0, 0))
    for command, what in (
        (f'make demo ARGS="--days {days} --seed {seed + 1}"', "another history"),
        ('make demo ARGS="--journal campus.jsonl"', "keep the sealed records"),
        (".venv/bin/bailiwick journal verify campus.jsonl", "and check them again"),
        (".venv/bin/bailiwick invoice recompute campus.jsonl", "and every bill"),
    ):
        table.add_row(f"  {command}", Text(what, style="dim"))
    return Group(head, Text(same, style="dim"), table)


# --- what happened ------------------------------------------------------------------------------


def _remarkable(books: CampusBooks) -> list[Moment]:
    """Every eviction but the everyday ones, and the largest of those, in order of time."""
    everyday = [m for m in books.moments if m.word is PreemptionReason.PRIORITY_PREEMPTION]
    largest = sorted(everyday, key=lambda m: (-len(m.evictions), -m.gpu_milli, m.at_ms))
    others: dict[tuple[int, str], Moment] = {}
    for moment in books.moments:
        key = moment.at_ms, str(moment.word)
        if not moment.evictions or moment in everyday:
            continue
        others[key] = _together(others[key], moment) if key in others else moment
    return sorted([*others.values(), *largest[:URGENT_MOMENTS]], key=lambda m: m.at_ms)


def _together(one: Moment, other: Moment) -> Moment:
    """The same thing done to two nodes at the same time, as one."""
    return replace(
        one,
        subject=f"{one.subject} {other.subject}",
        gpu_milli=one.gpu_milli + other.gpu_milli,
        evictions=one.evictions + other.evictions,
    )


def _moments(letters: dict[str, Moment]) -> Group:
    lines: list[RenderableType] = []
    for letter, moment in letters.items():
        head = Text(f"{letter}  {phrases.moment(moment.at_ms)}  ")
        head.append(f"{moment.word:<28}", style="cyan").append(f" {_cause(moment)}")
        lines += [head, Padding(Text(_outcome(moment), style="dim"), (0, 0, 0, 14))]
    return Group(*lines)


def _log_table() -> Table:
    table = plain_table(("", "l"), ("", "l"), ("", "l"))
    table.show_header = False
    table.columns[-1].no_wrap = False
    return table


_CAUSES = {
    PreemptionReason.OPERATOR_DRAIN: "{} is drained",
    PreemptionReason.OPERATOR_MIG_PROFILE_CHANGE: "{} is repartitioned",
    PreemptionReason.MAINTENANCE_WINDOW: "firmware of {}",
    PreemptionReason.POLICY_VIOLATION_RECOVERY: "{} fails attestation",
    PreemptionReason.QUOTA_REBALANCE: "{} gets a lower quota",
    PreemptionReason.BURST_CREDIT_EXHAUSTED: "{} ran above quota too long",
    PreemptionReason.BUDGET_EXHAUSTED: "{} has spent its grant",
    PreemptionReason.COST_CAP_EVICTION: "{} caps its bill",
    EndCause.NODE_DEPARTED: "{} dies",
}


def _cause(moment: Moment) -> str:
    if moment.job is None:
        return _CAUSES[moment.word].format(_series(moment.subject.split()))
    request = moment.job.request
    members = f"{request.gang_size} x " if request.gang_size > 1 else ""
    what = f"{members}{gpus(request.gpu_milli_total)}"
    return f"{moment.subject}, {request.priority}: {what}"


def _outcome(moment: Moment) -> str:
    owners = Counter(e.job.kind.tenant for e in moment.evictions)
    jobs = ", ".join(f"{name} {count}" for name, count in sorted(owners.items()))
    saved = sum(e.saved for e in moment.evictions)
    lost = sum(e.lost_gpu_micros for e in moment.evictions)
    total = len(moment.evictions)
    kept = "saved" if saved == total == 1 else "all saved" if saved == total else f"{saved} saved"
    loss = f", {phrases.gpu_hours(lost)} GPU-h lost" if lost else ""
    fence = ", one teardown fenced" if any(e.fenced for e in moment.evictions) else ""
    ended = f"{plural(total, 'job')} ended ({jobs}), {gpus(moment.gpu_milli)}"
    depth = f", cascade depth {moment.depth}" if moment.depth > 1 else ""
    return f"{ended}; {kept}{loss}{fence}{depth}"


def _nodes(books: CampusBooks) -> Table:
    table = _log_table()
    for at_ms, nodes, what in _chapters(books.notes):
        table.add_row(phrases.moment(at_ms), nodes, what)
    return table


def _chapters(notes: list[NodeNote]) -> list[tuple[int, str, str]]:
    """Notes of one node at one time joined; the same told of several nodes becomes one line."""
    joined: dict[tuple[int, str], str] = {}
    for note in notes:
        key = note.at_ms, note.node
        joined[key] = _chain(joined.get(key, ""), note.what)
    told: dict[tuple[int, str, str], tuple[int, list[str]]] = {}
    for (at_ms, node), what in joined.items():
        same = at_ms // 1_800_000, node.rpartition("-")[0], what
        told.setdefault(same, (at_ms, []))[1].append(node)
    return [(at, _series(nodes), what) for (_, _, what), (at, nodes) in told.items()]


def _chain(before: str, after: str) -> str:
    """``a → b`` and ``b → c`` read ``a → b → c``."""
    if not before:
        return after
    last = before.rpartition(" ")[2]
    if after.startswith(f"{last} → "):
        return before + after[len(last) :]
    return f"{before}; {after}"


def _series(nodes: list[str]) -> str:
    """One name, or the first and the last number of several."""
    ordered = sorted(nodes)
    last = ordered[-1].rpartition("-")[2]
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]}..{last}"


# --- charts and the puzzle ----------------------------------------------------------------------


def _charts(books: CampusBooks, width: int, *, letters: dict[str, Moment], days: int) -> Group:
    columns = charts.chart_width(width)
    marks = [(letter, moment.at_ms) for letter, moment in letters.items()]
    return Group(
        *charts.line_chart(books.samples, columns),
        charts.time_axis(books.samples, columns),
        *charts.generation_rows(books.samples, columns),
        charts.mark_row(marks, days * 24 * HOUR_MS, width=columns),
    )


def _puzzle(puzzle: Puzzle, width: int) -> Group:
    request, entry = puzzle.job.request, puzzle.entry
    waited = phrases.duration(puzzle.at_ms - puzzle.job.arrives_ms)
    facts = Table.grid(padding=(0, 2, 0, 0))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column()
    facts.add_row("request", f"{puzzle.job.name}: {phrases.asks(request)}")
    facts.add_row("", f"asked {phrases.moment(puzzle.job.arrives_ms)}, waiting for {waited}, "
                  f"number {entry.position} of {puzzle.waiting} in the queue")  # fmt: skip
    for label, blocker in zip(("first blocker", "then"), entry.blockers, strict=False):
        facts.add_row(label, _blocker(blocker))
    advice, estimate = entry.remedy, entry.estimate
    told = remedy_beside(advice.word, value=advice.amount, unit=advice.unit)
    facts.add_row("remedy", Text(str(advice.word), style="cyan").append(f"  {told}", "default"))
    when = "" if estimate.starts_ms is None else f"{phrases.moment(estimate.starts_ms)}: "
    because = f"  {when}{ESTIMATES[estimate.basis]}"
    facts.add_row("may start", Text(str(estimate.basis), style="cyan").append(because, "default"))
    price = credits(price_micros_per_hour(request))
    facts.add_row("price", f"{price} an hour")
    return Group(Padding(facts, (0, 0, 1, 0)), _fallen(puzzle, width))


def _blocker(denied: Denied) -> Text:
    text = Text(str(denied.reason), style="cyan")
    text.append(f"  {denied.detail.code}", style="cyan")
    return text.append(f"  {phrases.denial(denied.detail)}", style="default")


def _fallen(puzzle: Puzzle, width: int) -> Table:
    entry = puzzle.entry
    table = plain_table((f"of {puzzle.nodes} nodes", "r"), ("fell at", "l"), ("", "l"), ("", "l"))
    room = 24 if width >= WIDTH_MAX else 14
    for word, count in entry.fallen.items():
        part = charts.bar(count / puzzle.nodes, room).rstrip("░") or "▏"
        words = Text(str(word), style="cyan"), Text(part, style="green")
        table.add_row(str(count), *words, FALLEN[word])
    fit = "could hold one member now" if puzzle.job.request.gang_size > 1 else "could hold it now"
    table.add_row(str(entry.fitting), "none", "", fit)
    return table
