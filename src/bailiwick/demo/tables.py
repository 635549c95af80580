"""The tables of the report: who got what, who was denied, who evicted whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bailiwick import HardwareGeneration
from bailiwick.demo import phrases
from bailiwick.demo.books import CampusBooks, DenialBook, TenantBook
from bailiwick.demo.charts import bar
from bailiwick.demo.driver import SETTINGS
from bailiwick.demo.fleet import LABS

EVICTION_ROWS = 16


def plain_table(*columns: tuple[str, str], pad: int = 2) -> Table:
    """An airy table without lines; each column is its heading and ``l`` or ``r``."""
    table = Table(box=None, padding=(0, pad, 0, 0), header_style="dim", pad_edge=False)
    for heading, side in columns:
        table.add_column(heading, justify="right" if side == "r" else "left", no_wrap=True)
    return table


# --- who got what -------------------------------------------------------------------------------


def tenants_table(books: CampusBooks, *, wide: bool) -> Table:
    """One row per tenant: what it asked for, got, waited, suffered."""
    columns = [("tenant", "l"), ("asked", "r"), ("granted", "r")]
    columns += [("refused", "r")] if wide else []
    columns += [
        ("GPU-h", "r"),
        ("credits", "r"),
        ("wait p50", "r"),
        ("p95", "r"),
        ("evicted", "r"),
    ]
    columns += [("GPU quota in use" if wide else "quota in use", "l")]
    table = plain_table(*columns, pad=2 if wide else 1)
    for name, book in books.tenants.items():
        table.add_row(*_tenant_row(book, evicted=books.suffered(name), name=name, wide=wide))
    everyone = TenantBook()
    for book in books.tenants.values():
        everyone.asked += book.asked
        everyone.granted += book.granted
        everyone.refused += book.refused
        everyone.waits_ms.extend(book.waits_ms)
        everyone.gpu_micros.update(book.gpu_micros)
        everyone.owed_micros += book.owed_micros
    total = _tenant_row(everyone, evicted=len(books.evictions), name="all", wide=wide)
    table.add_row(*total, style="bold")
    return table


def tenants_note(books: CampusBooks) -> Text:
    """What the columns have no room for."""
    expired = sum(book.expired for book in books.tenants.values())
    return Text(
        f"{books.renewals:,} renewals; {expired:,} leases ran to the end of their term (expired); "
        f"{len(books.reservations):,} requests were promised a start while others went ahead.",
        style="dim",
    )


def _tenant_row(book: TenantBook, *, evicted: int, name: str, wide: bool) -> list[RenderableType]:
    used = sum(book.gpu_micros.values())
    row: list[RenderableType] = [name, f"{book.asked:,}", f"{book.granted:,}"]
    row += [f"{book.refused:,}"] if wide else []
    row += [phrases.gpu_hours(used), f"{book.owed_micros / 10**6:,.0f}"]
    row += [*_waits(sorted(book.waits_ms)), f"{evicted:,}"]
    if book.quota_use:
        use = sum(book.quota_use) / len(book.quota_use)
        gauge = Text(bar(use, 11 if wide else 7), style="green")
        row.append(gauge.append(f" {phrases.percent(use):>4}", style="default"))
    return row


def _waits(waits: Sequence[int]) -> tuple[str, str]:
    if not waits:
        return "·", "·"
    return phrases.duration(int(median(waits))), phrases.duration(waits[len(waits) * 95 // 100])


def generations_table(books: CampusBooks) -> Table:
    """GPU-hours of each tenant on each generation."""
    families = list(books.samples[0].total)
    columns = [("GPU-hours", "l"), *((_short(f), "r") for f in families), ("all", "r")]
    table = plain_table(*columns, pad=3)
    sums: Counter[HardwareGeneration] = Counter()
    for lab in LABS:
        used = books.tenants[lab.name].gpu_micros
        sums.update(used)
        cells = (phrases.gpu_hours(used[f]) if used[f] else "·" for f in families)
        table.add_row(lab.name, *cells, phrases.gpu_hours(sum(used.values())))
    everything = (phrases.gpu_hours(sums[f]) for f in families)
    table.add_row("all", *everything, phrases.gpu_hours(sum(sums.values())), style="bold")
    return table


def _short(family: HardwareGeneration) -> str:
    """A heading: the word without its maker, which would widen every column."""
    return family.value.partition("_")[2]


# --- who was denied -----------------------------------------------------------------------------


def denials_text(books: CampusBooks, width: int) -> Group:
    """Every word of denial under its reason, with counts, owners and one example."""
    parts: list[RenderableType] = []
    previous = None
    order = sorted(
        books.denials.items(), key=lambda row: (row[0][0].rank, -row[1].requests.total())
    )
    for (reason, word), book in order:
        if reason is not previous:
            verdict = "waiting may help" if reason.is_transient else "waiting cannot help: refused"
            line = Text(f"{reason}", style="bold").append(f"  {verdict}", style="not bold dim")
            parts.extend([Text(""), line] if parts else [line])
            previous = reason
        parts.extend(_denial_lines(word, book, width))
    return Group(*parts)


def _denial_lines(word: str, book: DenialBook, width: int) -> Iterable[RenderableType]:
    count = book.requests.total()
    head = Text("  ").append(f"{word:<30}", style="cyan").append(f"{count:>6,}  ")
    yield head.append(_owners(book.requests, width - 40))
    example = f"{book.job.name}, {phrases.moment(book.at_ms)}: {phrases.denial(book.denied.detail)}"
    yield Padding(Text(example, style="dim"), (0, 0, 0, 6))


def _owners(counts: Counter[str], width: int) -> str:
    """``name count`` of the largest, as many as fit, and how many more there are."""
    ranked = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    shown: list[str] = []
    for index, (name, count) in enumerate(ranked):
        rest = len(ranked) - index - 1
        more = f", {rest} more" if rest else ""
        if shown and len(", ".join([*shown, f"{name} {count}"])) + len(more) > width:
            return ", ".join(shown) + f", {rest + 1} more"
        shown.append(f"{name} {count}")
    return ", ".join(shown)


# --- who evicted whom ---------------------------------------------------------------------------


def evictions_table(books: CampusBooks) -> Group:
    """Victims by whom, for which reason, and what it cost them."""
    table = plain_table(
        ("whose work", "l"), ("ended by", "l"), ("reason", "l"), ("jobs", "r"),
        ("saved", "r"), ("GPU-h lost", "r"),
    )  # fmt: skip
    rows: dict[tuple[str, str, str], list[int]] = {}
    for eviction in books.evictions:
        key = eviction.job.kind.tenant, eviction.by, str(eviction.word)
        row = rows.setdefault(key, [0, 0, 0])
        row[0] += 1
        row[1] += eviction.saved
        row[2] += eviction.lost_gpu_micros
    ranked = sorted(rows.items(), key=lambda item: (-item[1][0], item[0]))
    for key, (jobs, saved, lost) in ranked[:EVICTION_ROWS]:
        table.add_row(*key, str(jobs), str(saved or "·"), phrases.gpu_hours(lost) if lost else "·")
    rest = ranked[EVICTION_ROWS:]
    tails = [_rest_of_pairs([row for _, row in rest])] if rest else []
    deepest = max((moment.depth for moment in books.moments), default=0)
    most = SETTINGS.max_cascade_depth
    tails.append(f"deepest cascade of evictions: {deepest}, at most {most} allowed")
    return Group(table, *(Text(tail, style="dim") for tail in tails))


def _rest_of_pairs(rows: Sequence[Sequence[int]]) -> str:
    jobs, lost = sum(row[0] for row in rows), sum(row[2] for row in rows)
    return f"and {len(rows)} more such pairs: {jobs} jobs, {phrases.gpu_hours(lost)} GPU-h lost"
