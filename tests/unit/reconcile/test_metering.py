"""The leader keeps the meter, and seals what does not fit in it exactly once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bailiwick.fleet.node import NodeCapacity
from bailiwick.journal import Record, parse_record
from bailiwick.kernel import DepartNode, Envelope, RegisterNode, Submit
from bailiwick.metering import Account
from bailiwick.reconcile.metering import ACTOR, KeepMeter
from bailiwick.runtime.replica import Replica, Role
from bailiwick.runtime.runner import Runner
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.store import open_store
from bailiwick.store.meter_rows import MeterBook
from bailiwick.store.sql_store import SqlStore
from bailiwick.vocab.values import GIB, TenantId
from tests.support.waiting import WAIT_S
from tests.unit.reconcile.test_departures import HandClock


class Cell:
    """A leader on a clock that is moved by hand, and the store it leads."""

    def __init__(self, folder: Path) -> None:
        self.clock, self.folder = HandClock(), str(folder)
        self.store: SqlStore = open_store(self.folder)
        self.runner = Runner(Replica(self.store, self.clock, name="one"), wait_s=WAIT_S)
        self.runner.start()
        assert self.runner.wait_for(Role.LEADING, wait_s=WAIT_S)

    def do(self, command: object) -> None:
        self.runner.execute(Envelope(command))  # type: ignore[arg-type]

    def records(self) -> list[Record]:
        return [parse_record(line[:-1]) for line in self.store.read(0, 10_000)]

    def lose_a_node_late(self) -> None:
        """A lease that begins after what turns out to be its node's last proof of life."""
        self.do(RegisterNode("n1", NodeCapacity(cpu_cores=8, mem_bytes=GIB)))
        self.clock.moment += 60_000
        self.do(Submit(PlacementRequest(tenant=TenantId("lab"), cpu_cores=2)))
        self.clock.moment += 5_000
        self.do(DepartNode("n1", last_seen_ms=self.clock.moment - 20_000))


@pytest.fixture
def cell(tmp_path: Path) -> Iterator[Cell]:
    made = Cell(tmp_path)
    try:
        yield made
    finally:
        made.runner.stop()


def findings(cell: Cell) -> list[tuple[str, str]]:
    found = [record for record in cell.records() if record.kind == "finding_reported"]
    assert {record.actor for record in found} <= {ACTOR}
    return [(str(each.body["finding"]), str(each.body["subject"])) for each in found]


def test_what_is_metered_is_kept_and_everything_that_fits_is_no_finding(cell: Cell) -> None:
    cell.do(RegisterNode("n1", NodeCapacity(cpu_cores=8, mem_bytes=GIB)))
    cell.do(Submit(PlacementRequest(tenant=TenantId("lab"), cpu_cores=2)))
    cell.clock.moment += 10_000
    duty = KeepMeter(cell.runner, MeterBook(cell.store))
    assert duty.once() == len(cell.records())
    assert duty.once() == 0
    now_ms = cell.clock.moment
    used = MeterBook(cell.store).uses(_is_lab, [(0, now_ms)]).uses
    assert [(use.kind.value, use.used) for use in used] == [("cpu_milli", 2_000 * 10_000)]
    assert findings(cell) == []


def test_what_does_not_fit_is_sealed_once_even_if_the_leader_dies_before_it_keeps(
    cell: Cell,
) -> None:
    cell.lose_a_node_late()
    book = MeterBook(cell.store)
    duty = KeepMeter(cell.runner, book)
    book.keep = lambda: (0, 0)  # type: ignore[method-assign]  # it dies before that
    duty.once()
    sealed = findings(cell)
    assert ("late", "1") in sealed
    again = KeepMeter(cell.runner, MeterBook(cell.store))
    again.once()
    again.once()
    assert findings(cell) == sealed


def _is_lab(account: Account) -> bool:
    return account.tenant == "lab"
