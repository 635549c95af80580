"""The fold of what apps tell: every report, and by how much it is more than was held.

Rules:

- A report is about time that is over. So all that began or ended in it stands in records before it,
  and what was held is known when the report is folded; no later record changes it.
- A report counts at the last millisecond of its window, all of it: in that period, and at the
  prices of that time. So however time is cut into periods, each report is in one of them.
- Two bounds hold. A report is no more than was held in its window; and all that was taken of a
  unit of an instance, whichever of its components told it, is no more than the instance has held
  until then. So telling one hour under many names comes to that hour. Whoever tells the truth is
  above neither.
- What is more than was held is a finding, and stays with the report.
- Leases of members that have ended are known for as long as something can be told of their time;
  after that what they held is a sum.

>>> ToldBook().counted_in(0, 10)
[]
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from bailiwick.metering.records import FoldedRecord, MeterFinding, MeterFindingWord
from bailiwick.metering.told.bounds import HeldSpan, beyond, held_in, span_of, weight_of
from bailiwick.vocab.app_uses import member_use_in
from bailiwick.vocab.apps import MemberPart
from bailiwick.vocab.clock_repair import ClockRepair
from bailiwick.vocab.values import MILLI

KEEP_MS: Final = 8 * 86_400_000
"""So long after its end a lease is still known: longer than a report may be late."""


class ToldSeries(NamedTuple):
    """Whose use of which unit."""

    tenant: str
    project: str | None
    instance_id: int
    app: str
    unit: str


class ToldReport(NamedTuple):
    """So much was told of ``from_ms <= t < to_ms``; ``beyond`` of it is more than was held."""

    from_ms: int
    to_ms: int
    quantity: int
    beyond: int
    seq: int

    @property
    def counts_ms(self) -> int:
        """When it counts."""
        return self.to_ms - 1


class MemberHold(NamedTuple):
    """A member's lease, where it is, whose it is and what of."""

    node: str
    span: HeldSpan
    project: str | None = None
    is_worker: bool = False
    """Whether it does the work of the app, and does not steer it."""
    cpu_milli: int = 0
    gpu_milli: int = 0

    def of_unit(self, unit: str) -> HeldSpan:
        """The same, as it counts for a unit: a unit of cores or of GPUs by just those."""
        what = unit.partition("_")[0]
        by_word = {"cpu": max(self.cpu_milli, MILLI), "gpu": self.gpu_milli}
        return self.span._replace(weight=by_word.get(what, self.span.weight))


class ToldBook:
    """Every report of a journal, and what the members of instances hold."""

    def __init__(self) -> None:
        self.series: dict[ToldSeries, list[ToldReport]] = {}
        self._taken: dict[ToldSeries, int] = {}
        """What was told and not beyond what was held."""
        self.holds: dict[int, dict[int, MemberHold]] = {}
        """By instance, and by lease."""
        self._open: dict[int, int] = {}
        """Of which instance a lease is that has not ended."""
        self._ended_ones: deque[tuple[int, int]] = deque()
        """Instance and lease of those that have, the oldest first."""
        self.past: dict[int, int] = {}
        """What leases of an instance held that are known no more: thousandths x milliseconds."""

    def see(self, record: FoldedRecord, at_ms: int) -> MeterFinding | None:
        """One more record; what does not fit about it, if anything."""
        meaning = _MEANINGS.get(record.kind)
        return None if meaning is None else meaning(self, record, at_ms)

    def counted_in(self, from_ms: int, to_ms: int) -> list[tuple[ToldSeries, ToldReport]]:
        """The reports that count in a period."""
        return [
            (series, report)
            for series, reports in self.series.items()
            for report in reports
            if from_ms <= report.counts_ms < to_ms
        ]

    def tell(self, series: ToldSeries, report: ToldReport) -> None:
        """One more report."""
        self.series.setdefault(series, []).append(report)
        self._taken[series] = self._taken.get(series, 0) + report.quantity - report.beyond

    def hold(self, instance_id: int, lease_id: int, *, hold: MemberHold) -> None:
        """A lease is a member's of this instance."""
        self.holds.setdefault(instance_id, {})[lease_id] = hold
        if hold.span.to_ms is None:
            self._open[lease_id] = instance_id
        else:
            self._ended_ones.append((instance_id, lease_id))

    def workers_held(
        self, instance_id: int, project: str, *, unit: str, window: tuple[int, int]
    ) -> int:
        """How much of a unit of time a project's workers in an instance held, in whole ones."""
        holds = self.holds.get(instance_id, {}).values()
        own = [each.of_unit(unit) for each in holds if each.is_worker and each.project == project]
        span_ms = span_of(unit)
        held = held_in(own, from_ms=window[0], to_ms=window[1])
        return 0 if span_ms is None else held // (span_ms * MILLI)

    # -- what each record means --------------------------------------------------------------

    def _granted(self, record: FoldedRecord, at_ms: int) -> None:
        labels = record.body.get("job_labels")
        use = None if labels is None else member_use_in(labels)
        if use is None:
            return
        held = record.body["resources"]
        span, is_worker = HeldSpan(weight_of(held), at_ms), use.part is MemberPart.WORKLOAD
        amounts = held.get("cpu_milli", 0), held.get("gpu_milli", 0)
        for lease_id, node in zip(record.body["lease_ids"], record.body["nodes"], strict=True):
            if lease_id not in self._open:
                hold = MemberHold(node, span, record.project, is_worker, *amounts)
                self.hold(use.instance_id, lease_id, hold=hold)

    def _ended(self, record: FoldedRecord, at_ms: int) -> None:
        self._end(record.body["lease_id"], at_ms)

    def _end(self, lease_id: int, at_ms: int) -> None:
        instance_id = self._open.pop(lease_id, None)
        if instance_id is None:
            return
        known = self.holds[instance_id][lease_id]
        ended = known._replace(span=known.span._replace(to_ms=at_ms))
        self.hold(instance_id, lease_id, hold=ended)
        self._forget(at_ms - KEEP_MS)

    def _forget(self, before_ms: int) -> None:
        while self._ended_ones:
            instance_id, lease_id = self._ended_ones[0]
            to_ms = self.holds[instance_id][lease_id].span.to_ms
            if to_ms is None or to_ms >= before_ms:
                return
            self._ended_ones.popleft()
            span = self.holds[instance_id].pop(lease_id).span
            held = span.weight * max(to_ms - span.from_ms, 0)
            self.past[instance_id] = self.past.get(instance_id, 0) + held
            if not self.holds[instance_id]:
                del self.holds[instance_id]

    def _departed(self, record: FoldedRecord, at_ms: int) -> None:
        for lease_id in record.body.get("lease_ids", ()):
            self._end(lease_id, at_ms)
        if record.body.get("leases_left", 0):
            return
        node = record.body["node"]
        for lease_id, instance_id in [*self._open.items()]:
            if self.holds[instance_id][lease_id].node == node:
                self._end(lease_id, at_ms)

    def _repaired(self, record: FoldedRecord, at_ms: int) -> None:
        del at_ms
        repair = ClockRepair(record.body["before_ms"], record.body["after_ms"])
        for reports in self.series.values():
            reports[:] = [
                each._replace(from_ms=repair.past(each.from_ms), to_ms=repair.past(each.to_ms))
                for each in reports
            ]
        for holds in self.holds.values():
            for lease_id, hold in holds.items():
                weight, from_ms, to_ms = hold.span
                ended_ms = None if to_ms is None else repair.past(to_ms)
                span = HeldSpan(weight, repair.past(from_ms), ended_ms)
                holds[lease_id] = hold._replace(span=span)

    def _reported(self, record: FoldedRecord, at_ms: int) -> MeterFinding | None:
        del at_ms
        body: Mapping[str, Any] = record.body
        number, app, unit = body["instance_id"], body["app"], body["unit"]
        from_ms, to_ms, quantity = body["from_ms"], body["to_ms"], body["quantity"]
        spans = [hold.span for hold in self.holds.get(number, {}).values()]
        series = ToldSeries(str(record.tenant), record.project, number, app, unit)
        before = self._taken.get(series, 0)
        ever = self.past.get(number, 0) + held_in(spans, from_ms=0, to_ms=to_ms)
        more = max(
            beyond(unit, quantity, held=held_in(spans, from_ms=from_ms, to_ms=to_ms)),
            min(beyond(unit, before + quantity, held=ever), quantity),
        )
        report = ToldReport(from_ms, to_ms, quantity, more, record.seq)
        self.tell(series, report)
        if not more:
            return None
        word, subject = MeterFindingWord.TOLD_BEYOND_HELD, f"{app}/{number}/{unit}"
        return MeterFinding(word, record.seq, subject, wanted=quantity, found=quantity - more)


_MEANINGS: Final[Mapping[str, Callable[[ToldBook, FoldedRecord, int], MeterFinding | None]]] = {
    "admission_approved": ToldBook._granted,
    "lease_released": ToldBook._ended,
    "lease_expired": ToldBook._ended,
    "lease_preempted": ToldBook._ended,
    "lease_fenced": ToldBook._ended,
    "fence_cleared": ToldBook._ended,
    "node_departed": ToldBook._departed,
    "clock_repaired": ToldBook._repaired,
    "app_usage_reported": ToldBook._reported,
}


# -- as plain data -------------------------------------------------------------------------------


def write_told(book: ToldBook) -> dict[str, Any]:
    """All of it, as lists, words and integers."""
    return {
        "series": [[*series, [[*each] for each in rows]] for series, rows in book.series.items()],
        # In the order of their ends, as they are forgotten.
        "holds": sorted(
            (
                [instance_id, lease_id, hold.node, *hold.span, *hold[2:]]
                for instance_id, holds in book.holds.items()
                for lease_id, hold in holds.items()
            ),
            key=lambda row: (row[5] is not None, row[5] or 0, row[1]),
        ),
        "past": [[instance_id, held] for instance_id, held in book.past.items()],
    }


def read_told(plain: Mapping[str, Any]) -> ToldBook:
    """What :func:`write_told` wrote."""
    book = ToldBook()
    for *series, rows in plain["series"]:
        for row in rows:
            book.tell(ToldSeries(*series), ToldReport(*row))
    for instance_id, lease_id, node, weight, from_ms, to_ms, *rest in plain["holds"]:
        hold = MemberHold(node, HeldSpan(weight, from_ms, to_ms), *rest)
        book.hold(instance_id, lease_id, hold=hold)
    book.past.update(plain["past"])
    return book
