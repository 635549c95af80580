"""The fold of what projects used on whose workers of a shared runtime, and what that is worth.

Rules:

- A report has all that was used in a window that is over. So what its sources held, and who had a
  part, stands in records before it; no later record changes it.
- Of a source no more is taken than the leases of its workers in the runtime held in that window. Of
  what is more, every user's part is cut in the same proportion: nobody knows whose is wrong. Of who
  had no part in the runtime then, nothing is taken. What is not taken is a finding, and stays with
  the report.
- What is taken is worth what the rule said that was accepted when the window began; so a change
  never counts backwards. Use of one's own workers is worth nothing.
- A report counts at the last millisecond of its window, as what instances tell.

>>> share_out([6, 3], held=6), share_out([2, 1], held=9)
([4, 2], [2, 1])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from bailiwick.metering.records import FoldedRecord, MeterFinding, MeterFindingWord
from bailiwick.metering.told.book import KEEP_MS, ToldBook
from bailiwick.vocab.clock_repair import ClockRepair
from bailiwick.vocab.shared import AttachmentPhase

_IN: Final = (AttachmentPhase.ATTACHED, AttachmentPhase.DETACHING)


class SharedUseKey(NamedTuple):
    """Who used what of whom, in which runtime."""

    tenant: str
    runtime_id: int
    runtime: str
    app: str
    user: str
    source: str
    unit: str


class SharedUseReport(NamedTuple):
    """So much was told of ``from_ms <= t < to_ms``; ``beyond`` of it is not taken."""

    from_ms: int
    to_ms: int
    quantity: int
    beyond: int
    rate: int
    """Micros for one of the unit; 0: it is not settled."""
    rule_seq: int
    """The record of the rule that says so; 0: of none."""
    seq: int

    @property
    def counts_ms(self) -> int:
        """When it counts."""
        return self.to_ms - 1

    @property
    def taken(self) -> int:
        """How much of it is taken."""
        return self.quantity - self.beyond

    @property
    def micros(self) -> int:
        """What its user owes its source."""
        return self.taken * self.rate


class SettlementRule(NamedTuple):
    """What a unit is worth from a time on."""

    at_ms: int
    seq: int
    rates: Mapping[str, int]


class PartSpan(NamedTuple):
    """From when to when a project had a part in a runtime."""

    project: str
    from_ms: int
    to_ms: int | None = None


def share_out(quantities: Sequence[int], *, held: int) -> list[int]:
    """What is taken of each, so that all of it is no more than was held."""
    told = sum(quantities)
    return [each if told <= held else each * held // told for each in quantities]


class SharedUseBook:
    """Every report of a journal about use between projects, and what it is held against."""

    def __init__(self, told: ToldBook) -> None:
        self._told = told
        self.series: dict[SharedUseKey, list[SharedUseReport]] = {}
        self.rules: dict[int, list[SettlementRule]] = {}
        """By runtime, the oldest first."""
        self.parts: dict[int, list[PartSpan]] = {}
        """By runtime."""

    def see(self, record: FoldedRecord, at_ms: int) -> list[MeterFinding]:
        """One more record; what does not fit about it."""
        meaning = _MEANINGS.get(record.kind)
        return [] if meaning is None else meaning(self, record, at_ms)

    def counted_in(self, from_ms: int, to_ms: int) -> list[tuple[SharedUseKey, SharedUseReport]]:
        """The reports that count in a period."""
        return [
            (key, report)
            for key, reports in self.series.items()
            for report in reports
            if from_ms <= report.counts_ms < to_ms
        ]

    # -- what each record means --------------------------------------------------------------

    def _attached(self, record: FoldedRecord, at_ms: int) -> list[MeterFinding]:
        number, project = record.body["runtime_id"], str(record.project)
        is_in = record.body["phase"] in _IN
        kept = [
            each
            for each in self.parts.get(number, ())
            if each.to_ms is None or each.to_ms >= at_ms - KEEP_MS
        ]
        last = [each for each in kept if each.project == project and each.to_ms is None]
        if is_in and not last:
            kept.append(PartSpan(project, at_ms))
        elif not is_in:
            kept = [each._replace(to_ms=at_ms) if each in last else each for each in kept]
        self.parts[number] = kept
        return []

    def _ruled(self, record: FoldedRecord, at_ms: int) -> list[MeterFinding]:
        pairs = (each.split("=", 1) for each in record.body["rates"])
        rates = {unit: int(micros) for unit, micros in pairs}
        rule = SettlementRule(at_ms, record.seq, rates)
        self.rules.setdefault(record.body["runtime_id"], []).append(rule)
        return []

    def _repaired(self, record: FoldedRecord, at_ms: int) -> list[MeterFinding]:
        del at_ms
        repair = ClockRepair(record.body["before_ms"], record.body["after_ms"])
        for reports in self.series.values():
            reports[:] = [
                each._replace(from_ms=repair.past(each.from_ms), to_ms=repair.past(each.to_ms))
                for each in reports
            ]
        for rules in self.rules.values():
            rules[:] = [each._replace(at_ms=repair.past(each.at_ms)) for each in rules]
        for parts in self.parts.values():
            parts[:] = [
                PartSpan(
                    each.project,
                    repair.past(each.from_ms),
                    None if each.to_ms is None else repair.past(each.to_ms),
                )
                for each in parts
            ]
        return []

    def _reported(self, record: FoldedRecord, at_ms: int) -> list[MeterFinding]:
        del at_ms
        body: Mapping[str, Any] = record.body
        lists = (body[name] for name in ("users", "sources", "units", "quantities"))
        rows: list[tuple[str, str, str, int]] = list(zip(*lists, strict=True))
        taken, found = self._taken(record, rows)
        number, window = body["runtime_id"], (body["from_ms"], body["to_ms"])
        rule = self._rule_at(number, window[0])
        for (user, source, unit, quantity), kept in zip(rows, taken, strict=True):
            rate = 0 if user == source else rule.rates.get(unit, 0)
            key = SharedUseKey(
                str(record.tenant), number, body["runtime"], body["app"], user, source, unit
            )
            report = SharedUseReport(
                *window, quantity, quantity - kept, rate, rule.seq if rate else 0, record.seq
            )
            self.series.setdefault(key, []).append(report)
        return found

    def _taken(
        self, record: FoldedRecord, rows: Sequence[tuple[str, str, str, int]]
    ) -> tuple[list[int], list[MeterFinding]]:
        """How much of each row is taken, and where it is less than was told."""
        body = record.body
        window = body["from_ms"], body["to_ms"]
        taken, found = [quantity for *_, quantity in rows], []
        word, name = MeterFindingWord.TOLD_BEYOND_HELD, f"{body['app']}/{body['runtime']}"
        for at, (user, source, unit, quantity) in enumerate(rows):
            if not self._had_part(body["runtime_id"], user, window):
                taken[at] = 0
                subject = f"{name}/{user} on {source}/{unit}"
                found.append(MeterFinding(word, record.seq, subject, wanted=quantity, found=0))
        for source, unit in sorted({(source, unit) for _, source, unit, _ in rows}):
            of = [at for at, row in enumerate(rows) if row[1:3] == (source, unit)]
            told = sum(taken[at] for at in of)
            held = self._told.workers_held(body["instance_id"], source, unit=unit, window=window)
            if told <= held:
                continue
            for at, kept in zip(of, share_out([taken[at] for at in of], held=held), strict=True):
                taken[at] = kept
            subject = f"{name}/{source}/{unit}"
            found.append(MeterFinding(word, record.seq, subject, wanted=told, found=held))
        return taken, found

    def _had_part(self, number: int, project: str, window: tuple[int, int]) -> bool:
        return any(
            each.project == project
            and each.from_ms < window[1]
            and (each.to_ms is None or each.to_ms > window[0])
            for each in self.parts.get(number, ())
        )

    def _rule_at(self, number: int, at_ms: int) -> SettlementRule:
        """What was in force then."""
        known = [each for each in self.rules.get(number, ()) if each.at_ms <= at_ms]
        return known[-1] if known else SettlementRule(0, 0, {})


_MEANINGS: Final[Mapping[str, Callable[[SharedUseBook, FoldedRecord, int], list[MeterFinding]]]] = {
    "shared_attachment_changed": SharedUseBook._attached,
    "shared_settlement_set": SharedUseBook._ruled,
    "shared_use_told": SharedUseBook._reported,
    "clock_repaired": SharedUseBook._repaired,
}


# -- as plain data -------------------------------------------------------------------------------


def write_used(book: SharedUseBook) -> dict[str, Any]:
    """All of it, as lists, words and integers."""
    return {
        "series": [[*key, [[*each] for each in rows]] for key, rows in book.series.items()],
        "rules": [
            [number, [[at_ms, seq, [*map(list, rates.items())]] for at_ms, seq, rates in rules]]
            for number, rules in book.rules.items()
        ],
        "parts": [[number, [[*each] for each in parts]] for number, parts in book.parts.items()],
    }


def read_used(plain: Mapping[str, Any], told: ToldBook) -> SharedUseBook:
    """What :func:`write_used` wrote."""
    book = SharedUseBook(told)
    for *key, rows in plain["series"]:
        book.series[SharedUseKey(*key)] = [SharedUseReport(*row) for row in rows]
    for number, rules in plain["rules"]:
        book.rules[number] = [SettlementRule(at, seq, dict(rates)) for at, seq, rates in rules]
    for number, parts in plain["parts"]:
        book.parts[number] = [PartSpan(*row) for row in parts]
    return book
