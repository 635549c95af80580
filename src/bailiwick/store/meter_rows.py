"""The meter of one database's journal: folded as it grows, kept with every stretch it charged.

Rules:

- What was charged by records and how far the fold has come are committed together. After a crash
  the fold goes on from there: what was not committed is charged again by the same records, since
  nobody was told of it. Of two that keep at once, one does; the other begins again from its row.
- Asking folds what is new in memory; only the leader keeps, now and then (:meth:`MeterBook.keep`).
- What a period's accounts used is the stretches that are kept, those that are not kept yet, and
  what still runs. It is the same, unit by unit, as folding the whole journal; a test says so.
- A meter that cannot be read (another version's), or that does not add up as it was kept, is folded
  again from the beginning.
- Before anything is kept, and before anything is told that an invoice could be made of, it is
  checked that owners are capacity x time for every share; and of what is kept, that the stretches
  are what was charged: none is missing, none is there twice. If not, that is our own bug, and
  nothing is kept or told.
"""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from sqlalchemy import Connection, delete, insert, select, update

from bailiwick.journal import Record, RecordRefused, parse_record
from bailiwick.metering import Account, JournalMeter, Meter, MeterFinding, Segment, Use
from bailiwick.metering.core import LogRow, UsedRow
from bailiwick.metering.meter import FIRST_LEASE
from bailiwick.metering.snapshot import read_meter, write_meter
from bailiwick.metering.told.between import SharedUseKey, SharedUseReport
from bailiwick.metering.told.book import ToldReport, ToldSeries
from bailiwick.metering.windows import Window, cut_windows
from bailiwick.runtime.feed import StoredLines
from bailiwick.runtime.follower import Follower
from bailiwick.store.sql_store import SqlStore
from bailiwick.store.tables import meter_segments, meter_state
from bailiwick.vocab.errors import Damaged, InvalidValue, InvariantBroken
from bailiwick.vocab.words import ResourceKind

BATCH: Final = 1_000
"""Records that are read at once."""
FOLD_S: Final = 600.0
PENDING_MAX: Final = 50_000
"""Stretches that a replica that does not keep remembers before it looks at what is kept."""
_ASK_MAX = 500
_COLUMNS = [each for each in meter_segments.c if each.name != "number"]
_NAMES = tuple(each.name for each in _COLUMNS)


@dataclass(frozen=True, slots=True)
class MeteredUsage:
    """What was used, of how many records that is, and by which leases."""

    uses: list[Use]
    size: int
    leases: dict[Account, set[int]] = field(default_factory=dict)
    """The leases of each account that held something then."""
    running: set[int] = field(default_factory=set)
    """Every lease that holds something now, whoever's it is."""
    told: list[tuple[ToldSeries, ToldReport]] = field(default_factory=list)
    """What apps told of their use that counts then, whoever's it is."""
    used: list[tuple[SharedUseKey, SharedUseReport]] = field(default_factory=list)
    """What projects used on whose workers that counts then, whoever's it is."""


class MeterBook:
    """The meter of one store; any thread may ask, one at a time."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self._turn = threading.RLock()
        self._kept = 0
        self._segments = 0
        self._measured: list[int] = []
        """What was charged of each share when it was kept last."""
        self._replaced: int | None = None
        """How far a meter had come that cannot be read, and is folded again from the beginning."""
        self._findings: list[MeterFinding] = []
        self._meter: JournalMeter | None = None
        lines = StoredLines(store)
        self._follower = Follower(self, lines, name="the meter", batch=BATCH, shared=True)

    @contextmanager
    def current(self) -> Iterator[JournalMeter]:
        """The meter with everything that is durable now folded in; it must not be kept."""
        with self._turn:
            yield self._advance()

    def keep(self) -> tuple[int, int]:
        """Keep what is folded; how many records and how many stretches that were."""
        with self._turn:
            meter = self._advance()
            rows = list(meter.meter.core.log or ())
            records = meter.size - self._kept
            if not records:
                return 0, 0
            meter.check()
            measured = self._check_rows(meter, rows)
            body = zlib.compress(json.dumps(write_meter(meter), separators=(",", ":")).encode(), 1)
            with self._store.changing() as connection:
                if not self._claim(connection):
                    self._meter = None  # another has kept meanwhile: begin again from there
                    return 0, 0
                _put_rows(connection, rows, first=self._segments)
                self._segments += len(rows)
                state = {"size": meter.size, "segments": self._segments, "body": body}
                connection.execute(update(meter_state).values(state))
            self._kept, self._measured = meter.size, measured
            self._forget_rows(meter)
            return records, len(rows)

    def findings(self) -> list[MeterFinding]:
        """What did not fit since this was last asked."""
        with self._turn:
            self._advance()
            found, self._findings = self._findings, []
            return found

    def uses(self, wanted: Callable[[Account], bool], windows: Sequence[Window]) -> MeteredUsage:
        """What such accounts used in each window."""
        with self._turn:
            meter = self._advance()
            meter.check()
            numbers = _accounts(meter, wanted)
            sums: dict[tuple[int, int], UsedRow] = {}
            found = MeteredUsage([], meter.size)
            until_ms = windows[-1][1]
            for row in chain(self._rows(meter, numbers, windows), meter.meter.running(until_ms)):
                if row[2] in numbers and row[4] < until_ms and row[5] > windows[0][0]:
                    cut_windows(sums, row, windows=windows)
                    found.leases.setdefault(numbers[row[2]], set()).add(row[3] - FIRST_LEASE)
            found.running.update(meter.leases)
            found.told.extend(meter.told.counted_in(windows[0][0], until_ms))
            found.used.extend(meter.used.counted_in(windows[0][0], until_ms))
            found.uses.extend(
                Use(numbers[account], meter.meter.lines[account].kind, *windows[window], *row)
                for (account, window), row in sorted(sums.items())
            )
            return found

    def trace(
        self,
        wanted: Callable[[Account], bool],
        window: Window,
        *,
        kind: ResourceKind | None = None,
        limit: int,
    ) -> list[Segment]:
        """The stretches of such accounts (of one kind) that reach into a window, oldest first."""
        with self._turn:
            meter = self._advance()
            lines = meter.meter.lines
            found = _accounts(meter, wanted).items()
            numbers = {n: payer for n, payer in found if kind is None or lines[n].kind is kind}
            running = (row for row in meter.meter.running(window[1]) if row[2] in numbers)
            there = chain(self._rows(meter, numbers, [window]), running)
            rows = [row for row in there if row[4] < window[1] and row[5] > window[0]]
            rows.sort(key=lambda row: (row[4], row[6], row[3], row[0]))
            return [meter.meter.segment(row) for row in rows[:limit]]

    def of_leases(
        self, lease_ids: Sequence[int], until_ms: int
    ) -> tuple[list[Segment], list[Segment]]:
        """Every stretch that these leases held: charged, and what still runs, until then.

        What runs is told up to a moment past the last record at least, so that none is missed.
        """
        with self._turn:
            meter = self._advance()
            holders = {lease_id + FIRST_LEASE for lease_id in lease_ids}
            until_ms = max(until_ms, meter.clock_ms + 1)
            charged = chain(self._held(sorted(holders)), meter.meter.core.log or ())
            running = (row for row in meter.meter.running(until_ms) if row[3] in holders)
            segment = meter.meter.segment
            return (
                [segment(row) for row in charged if row[3] in holders],
                [segment(row) for row in running],
            )

    # -- folding -----------------------------------------------------------------------------

    def begin(self, size: int) -> int:
        """How far the meter has come; it is loaded if there is none, or if too much is not kept."""
        del size
        meter = self._meter
        if meter is None or len(meter.meter.core.log or ()) > PENDING_MAX:
            meter = self._load(meter)
        return meter.size

    def take(self, first: int, lines: Sequence[bytes]) -> int:
        """Meter these."""
        meter = self._held_meter()
        for seq, line in enumerate(lines, first):
            self._findings += meter.add(self._parse(line, seq))
        return meter.size

    def _advance(self) -> JournalMeter:
        self._follower.current(FOLD_S)
        self.begin(0)  # with an empty journal nobody has asked for it yet
        return self._held_meter()

    def _held_meter(self) -> JournalMeter:
        if self._meter is None:
            raise InvariantBroken("a meter that was not loaded")
        return self._meter

    def _load(self, held: JournalMeter | None) -> JournalMeter:
        """From what is kept; the one that is held, if it knows more already."""
        with self._store.reading() as connection:
            row = connection.execute(select(meter_state)).one_or_none()
        size, segments, body = (0, 0, b"") if row is None else (row.size, row.segments, row.body)
        if held is not None and size <= self._kept:
            return held
        self._kept, self._segments, self._replaced = size, segments, None
        meter = _read_kept(body)
        if meter is None:
            self._kept, self._segments, self._replaced = 0, 0, size
            meter = JournalMeter(Meter(logs=True))
        self._meter, self._measured = meter, meter.meter.core.measured()
        return meter

    def _check_rows(self, meter: JournalMeter, rows: Sequence[LogRow]) -> list[int]:
        """What was charged of each share by now, if the stretches since the last time say so."""
        measured = meter.meter.core.measured()
        told = self._measured + [0] * (len(measured) - len(self._measured))
        for pool, amount, _, _, from_ms, to_ms, _, _ in rows:
            told[pool] += amount * (to_ms - from_ms)
        for pool, (charged, kept) in enumerate(zip(measured, told, strict=True)):
            if charged != kept:
                share = meter.meter.shares[pool]
                raise InvariantBroken(f"the stretches of {share} are not what was charged of it")
        return measured

    def _parse(self, line: bytes, seq: int) -> Record:
        try:
            return parse_record(line.removesuffix(b"\n"))
        except RecordRefused as error:
            where = f"record {seq} of {self._store.where}"
            raise Damaged("journal", where, error) from error

    def _claim(self, connection: Connection) -> bool:
        """Whether nobody else has kept anything since; until the transaction ends, nobody can."""
        size = connection.scalar(select(meter_state.c.size).with_for_update())
        if size is None:
            values = {"id": 1, "size": 0, "segments": 0, "body": b""}
            connection.execute(insert(meter_state).values(values))
            size = 0
        if self._replaced is not None and size == self._replaced:
            connection.execute(delete(meter_segments))  # of a meter that nobody can read
            self._replaced, size = None, 0
        return bool(size == self._kept)

    def _forget_rows(self, meter: JournalMeter) -> None:
        if meter.meter.core.log is not None:
            meter.meter.core.log.clear()

    # -- asking ------------------------------------------------------------------------------

    def _rows(
        self, meter: JournalMeter, accounts: Iterable[int], windows: Sequence[Window]
    ) -> Iterator[LogRow]:
        """Stretches of these accounts that may reach into the windows: kept, then not kept yet."""
        numbers, c = sorted(accounts), meter_segments.c
        for start in range(0, len(numbers), _ASK_MAX):
            these = c.account.in_(numbers[start : start + _ASK_MAX])
            spans = (c.to_ms > windows[0][0], c.from_ms < windows[-1][1], c.to_seq < self._kept)
            with self._store.reading() as connection:
                query = select(*_COLUMNS).where(these, *spans).order_by(c.number)
                for row in connection.execute(query):
                    yield (row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7])
        known = set(numbers)
        yield from (row for row in meter.meter.core.log or () if row[2] in known)

    def _held(self, holders: Sequence[int]) -> Iterator[LogRow]:
        """Stretches of these holders that are kept."""
        c = meter_segments.c
        for start in range(0, len(holders), _ASK_MAX):
            these = c.holder.in_(holders[start : start + _ASK_MAX])
            query = select(*_COLUMNS).where(these, c.to_seq < self._kept).order_by(c.number)
            with self._store.reading() as connection:
                for row in connection.execute(query):
                    yield (row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7])


def _read_kept(body: bytes) -> JournalMeter | None:
    """The meter that was kept, if there is one that can be read and that adds up."""
    try:
        meter = read_meter(json.loads(zlib.decompress(body)), logs=True) if body else None
        if meter is not None:
            meter.check()
    except (zlib.error, ValueError, InvalidValue, InvariantBroken):
        return None  # not our bug here: it was checked before it was kept, so somebody changed it
    return meter


def _accounts(meter: JournalMeter, wanted: Callable[[Account], bool]) -> dict[int, Account]:
    lines = enumerate(meter.meter.lines)
    payers = ((number, line.payer) for number, line in lines)
    return {n: payer for n, payer in payers if isinstance(payer, Account) and wanted(payer)}


def _put_rows(connection: Connection, rows: Sequence[LogRow], *, first: int) -> None:
    if rows:
        named = [
            {"number": number, **dict(zip(_NAMES, row, strict=True))}
            for number, row in enumerate(rows, first)
        ]
        connection.execute(insert(meter_segments), named)
