"""Journals of an earlier kernel are read: what it decided stays, and this one goes on from there.

Its claims kept whole nodes, it knew no clock's bounds and no ceilings, and renewed whatever was
asked (``tests/vectors/kernel/README.md``).
"""

from __future__ import annotations

import gzip
from hashlib import sha256
from pathlib import Path

import pytest

from bailiwick.journal import Record, parse_record
from bailiwick.journal.findings import Verified
from bailiwick.journal.verify import verify_lines
from bailiwick.kernel import Envelope, Kernel, Tick, decode, digest_of, encode
from bailiwick.metering import JournalMeter
from bailiwick.whatif.reader import read_history

FOLDER = Path(__file__).parents[2] / "vectors" / "kernel" / "earlier"
NAMES = sorted(path.name.removesuffix(".journal.gz") for path in FOLDER.glob("*.journal.gz"))

_ENDS = {"lease_released", "lease_expired", "lease_preempted", "fence_cleared"}


@pytest.fixture(scope="module", params=NAMES)
def lines(request: pytest.FixtureRequest) -> list[bytes]:
    data = gzip.decompress((FOLDER / f"{request.param}.journal.gz").read_bytes())
    return data.splitlines(keepends=True)


@pytest.fixture(scope="module")
def records(lines: list[bytes]) -> list[Record]:
    return [parse_record(line[:-1]) for line in lines]


def replayed(lines: list[bytes]) -> Kernel:
    """A kernel that has verified and read the journal, and would write on."""
    found = verify_lines(lines)
    assert isinstance(found, Verified), found
    kernel = Kernel()
    kernel.follow([parse_record(line[:-1]) for line in lines], found.anchor)
    return kernel


def test_there_are_some() -> None:
    assert NAMES == [
        "bookings-155",
        "bookings-174",
        "bursts-22",
        "busy-5-guarded",
        "busy-7",
        "cells-177",
        "money-3",
        "people-9",
        "windows-150",
    ]


@pytest.mark.parametrize(
    "name", ["bookings-155", "bookings-174", "bursts-22", "cells-177", "windows-150"]
)
def test_the_state_is_what_it_was_byte_for_byte(name: str) -> None:
    journal, snapshot = (
        gzip.decompress((FOLDER / f"{name}.{kind}.gz").read_bytes())
        for kind in ("journal", "snapshot")
    )
    assert encode(replayed(journal.splitlines(keepends=True)).state) == snapshot
    assert encode(decode(snapshot, sha256(snapshot).hexdigest())) == snapshot


def test_who_holds_what_and_who_waits_is_what_the_records_say(
    lines: list[bytes], records: list[Record]
) -> None:
    leases, waiting = set[int](), set[int]()
    for record in records:
        body = record.body
        if record.kind == "admission_approved":
            leases.update(body["lease_ids"])
            waiting.discard(body.get("entry_id", 0))
        elif record.kind in _ENDS:
            leases.discard(body["lease_id"])
        elif record.kind == "node_departed":
            leases.difference_update(body.get("lease_ids", ()))
        elif record.kind == "request_queued":
            waiting.add(body["entry_id"])
        elif record.kind == "request_cancelled":
            waiting.discard(body["entry_id"])
    state = replayed(lines).state
    assert set(state.leases) == leases
    assert set(state.line.entries) == waiting


def test_it_goes_on_from_there_and_its_snapshot_is_read_back(lines: list[bytes]) -> None:
    kernel, twin = replayed(lines), replayed(lines)
    data = encode(kernel.state)
    assert encode(decode(data, sha256(data).hexdigest())) == data
    more = list[bytes]()
    for _ in range(20):
        more += kernel.execute(Envelope(Tick()), kernel.state.clock_ms + 30_000).lines
    twin.follow([parse_record(line[:-1]) for line in more], kernel.chain.anchor())
    assert digest_of(twin.state) == digest_of(kernel.state)


def test_a_what_if_reads_it(records: list[Record]) -> None:
    history = read_history(records)
    assert len(history.happened) == len(records)


def test_the_meter_reads_it(records: list[Record]) -> None:
    meter = JournalMeter()
    for record in records:
        assert meter.add(record) == ()
    meter.check()
