"""What leases held, from the meter's rows; and the journal's findings, as rows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from sqlalchemy import delete

from bailiwick.journal.words import Severity
from bailiwick.kernel import ReportFinding
from bailiwick.metering import JournalMeter, Leased, Meter, Segment
from bailiwick.metering.reconcile import Attributed, attribute
from bailiwick.store import finding_rows
from bailiwick.store.finding_rows import FindingBook
from bailiwick.store.meter_rows import MeterBook
from bailiwick.store.tables import finding_state, findings
from tests.store.conftest import Place
from tests.store.test_meter_rows import RECORDS, append
from tests.support.kernel_histories import Campus, small_journal

# --- what leases held ---------------------------------------------------------------------------


def folded(until_ms: int) -> dict[int, Attributed]:
    """What every lease held, from the records alone."""
    meter = JournalMeter(Meter(logs=True))
    charged: list[Segment] = []
    for record in RECORDS:
        meter.add(record)
        charged += meter.meter.drain()
    until_ms = max(until_ms, meter.clock_ms + 1)
    running = [meter.meter.segment(row) for row in meter.meter.running(until_ms)]
    return attribute(charged, running)


def test_what_leases_held_is_the_same_from_pieces_as_from_the_whole_journal(place: Place) -> None:
    store, whole = place.open(), folded(0)
    book = MeterBook(store)
    for start in range(0, len(RECORDS), 211):
        append(store, RECORDS[start : start + 211])
        if start < len(RECORDS) // 2:
            book.keep()  # half of it is rows, the rest is only folded
    lease_ids = sorted(whole)
    assert any(not lease.is_over for lease in whole.values())
    assert any(lease.is_over for lease in whole.values())
    assert attribute(*book.of_leases(lease_ids, 0)) == whole
    some = lease_ids[::7]
    found = attribute(*book.of_leases(some, 0))
    assert found == {lease_id: whole[lease_id] for lease_id in some}
    assert attribute(*book.of_leases([10**9], 0)) == {}


def test_a_lease_that_began_this_very_millisecond_is_known(sqlite_place: Place) -> None:
    store = sqlite_place.open()
    grants = [r for r in RECORDS if r.kind.value == "admission_approved"]
    last = grants[-1]
    append(store, RECORDS[: last.seq + 1])
    charged, running = MeterBook(store).of_leases(last.body["lease_ids"], last.at_ms)
    owners = {each.owner.lease_id for each in running if isinstance(each.owner, Leased)}
    assert owners == set(last.body["lease_ids"])
    assert charged == []


# --- findings -----------------------------------------------------------------------------------


def campus_with_findings() -> Campus:
    campus = small_journal()
    for number, (tenant, project) in enumerate(
        [("lab", None), ("lab", "p"), ("lab", "q"), ("other", None), (None, None)]
    ):
        word = "quota_evasion" if number % 2 else "attribution_drift"
        scope = {"tenant": tenant, "project": project}
        command = ReportFinding(word, Severity.HIGH, f"lease:{number}", note="numbers", **scope)
        campus.do(command, "usage-check")
    return campus


def keep(place: Place, campus: Campus) -> FindingBook:
    store = place.open()
    leader = store.lead("one", "")
    assert leader is not None
    store.append(leader.epoch, 0, campus.lines)
    store.resign()
    return FindingBook(store)


def subjects(rows: Sequence[finding_rows.FindingRow]) -> list[str]:
    return [row.subject for row in rows]


def test_findings_are_folded_once_and_listed_newest_first(place: Place) -> None:
    book = keep(place, campus_with_findings())
    assert book.page(None) == []
    assert (book.advance(), book.advance()) == (5, 0)
    rows = book.page(None)
    assert subjects(rows) == [f"lease:{n}" for n in (4, 3, 2, 1, 0)]
    assert (rows[0].tenant, rows[0].note, rows[0].severity) == (None, "numbers", "high")
    assert subjects(book.page(None, limit=2)) == ["lease:4", "lease:3"]
    assert subjects(book.page(None, before=rows[1].seq, limit=2)) == ["lease:2", "lease:1"]
    assert subjects(book.page(None, finding="quota_evasion")) == ["lease:3", "lease:1"]


def test_everybody_sees_his_own_findings_only(place: Place) -> None:
    book = keep(place, campus_with_findings())
    book.advance()
    assert subjects(book.page([("lab", None)])) == ["lease:2", "lease:1", "lease:0"]
    assert subjects(book.page([("lab", "p")])) == ["lease:1"]
    assert subjects(book.page([("other", None), ("lab", "q")])) == ["lease:3", "lease:2"]
    assert book.page([]) == book.page([("nobody", None)]) == []


def test_what_is_sealed_is_known_by_word_and_subject(place: Place) -> None:
    book = keep(place, campus_with_findings())
    sealed = ("attribution_drift", "lease:0")
    asked = {sealed, ("quota_evasion", "lease:0"), ("attribution_drift", "lease:9")}
    assert book.known(asked) == set()
    book.advance()
    assert book.known(asked) == {sealed}


def test_a_table_that_was_emptied_is_folded_again_in_small_pieces(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = keep(place, campus_with_findings())
    book.advance()
    before = book.page(None)
    with place.open().changing() as connection:
        connection.execute(delete(findings))
        connection.execute(delete(finding_state))
    monkeypatch.setattr(finding_rows, "BATCH", 3)
    assert book.advance() == len(before)
    assert book.page(None) == before
