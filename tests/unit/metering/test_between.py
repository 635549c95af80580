"""Use of workers between projects: of who had a part, no more than was held, at what was said."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.metering.records import MeterFinding, MeterFindingWord
from bailiwick.metering.told.between import (
    SharedUseBook,
    SharedUseReport,
    read_used,
    share_out,
    write_used,
)
from bailiwick.metering.told.book import ToldBook, read_told, write_told
from bailiwick.vocab.app_uses import MemberUse
from bailiwick.vocab.apps import ControlPlaneScope, MemberPart, OperatingMode

SECOND, HOUR = 1_000, 3_600_000
PROJECTS = ("audio", "text", "vision")
UNITS = ("cpu_second", "gpu_second")
Rows = list[tuple[str, str, str, int]]


class Told(NamedTuple):
    seq: int
    at_ms: int
    kind: str
    body: Mapping[str, Any]
    project: str | None = None
    tenant: str = "lab"
    moves_shares: bool = False


class Journal:
    """Records about one runtime (number 3, instance 7), folded as they are written."""

    def __init__(self) -> None:
        self.told = ToldBook()
        self.book = SharedUseBook(self.told)
        self.now_ms, self.seq = 0, 0
        self.leases = 0
        self.findings: list[MeterFinding] = []

    def add(self, kind: str, project: str | None = None, **body: Any) -> list[MeterFinding]:
        record = Told(self.seq, self.now_ms, kind, body, project)
        self.seq += 1
        self.told.see(record, self.now_ms)
        found = self.book.see(record, self.now_ms)
        self.findings += found
        return found

    def lend(
        self, project: str, *, cpus: int = 1, gpus: int = 0, part: MemberPart = MemberPart.WORKLOAD
    ) -> int:
        self.leases += 1
        use = MemberUse(
            *(7, "hub", OperatingMode.TENANT_DEDICATED, ControlPlaneScope.TENANT, "metal", part)
        )
        self.add(
            "admission_approved",
            project,
            resources={"cpu_milli": cpus * 1_000, "gpu_milli": gpus * 1_000},
            lease_ids=(self.leases,),
            nodes=("n1",),
            job_labels=tuple(f"{key}={value}" for key, value in use.labels().items()),
        )
        return self.leases

    def end(self, lease_id: int) -> None:
        self.add("lease_released", lease_id=lease_id)

    def part(self, project: str, phase: str = "attached") -> None:
        self.add("shared_attachment_changed", project, runtime_id=3, runtime="main", phase=phase)

    def settle(self, **rates: int) -> int:
        told = tuple(f"{unit}={micros}" for unit, micros in rates.items())
        self.add("shared_settlement_set", runtime_id=3, runtime="main", rates=told)
        return self.seq - 1

    def tell(self, rows: Rows, window: tuple[int, int]) -> list[MeterFinding]:
        names = ("users", "sources", "units", "quantities")
        lists = {name: tuple(row[at] for row in rows) for at, name in enumerate(names)}
        what = {"runtime_id": 3, "runtime": "main", "app": "hub", "instance_id": 7}
        return self.add("shared_use_told", **what, **lists, from_ms=window[0], to_ms=window[1])

    def reports(self) -> dict[tuple[str, str, str], list[SharedUseReport]]:
        return {key[4:]: rows for key, rows in self.book.series.items()}


def attached(*projects: str) -> Journal:
    found = Journal()
    for project in projects:
        found.part(project)
    return found


# -- what is taken ------------------------------------------------------------------------------


def test_of_a_source_no_more_is_taken_than_its_workers_held() -> None:
    found = attached("audio", "text", "vision")
    found.lend("vision", cpus=2, gpus=4)
    found.lend("vision", cpus=8, part=MemberPart.CONTROL_PLANE)  # which nobody's jobs run on
    found.lend("audio", cpus=99)
    found.now_ms = 10 * SECOND
    rows = [("audio", "vision", "cpu_second", 12), ("text", "vision", "cpu_second", 4)]
    assert found.tell(rows, (0, 8 * SECOND)) == []
    (finding,) = found.tell(rows, (8 * SECOND, 10 * SECOND))
    told = finding.word, finding.subject, finding.wanted, finding.found
    assert told == (MeterFindingWord.TOLD_BEYOND_HELD, "hub/main/vision/cpu_second", 16, 4)
    taken = {key[0]: [row.taken for row in rows] for key, rows in found.reports().items()}
    assert taken == {"audio": [12, 3], "text": [4, 1]}, "all are cut in the same proportion"


def test_cores_are_held_against_cores_and_gpus_against_gpus() -> None:
    found = attached("audio", "vision")
    found.lend("vision", cpus=64, gpus=1)
    found.now_ms = SECOND
    rows = [("audio", "vision", "cpu_second", 64), ("audio", "vision", "gpu_second", 2)]
    (finding,) = found.tell(rows, (0, SECOND))
    assert (finding.subject, finding.found) == ("hub/main/vision/gpu_second", 1)


def test_a_worker_that_was_taken_back_counts_for_the_time_that_it_was_there() -> None:
    found = attached("audio", "vision")
    lease = found.lend("vision")
    found.now_ms = 3 * SECOND
    found.end(lease)
    found.now_ms = 10 * SECOND
    found.tell([("audio", "vision", "cpu_second", 5)], (0, 10 * SECOND))
    ((report,),) = found.reports().values()
    assert (report.quantity, report.taken) == (5, 3)


def test_of_who_had_no_part_then_nothing_is_taken() -> None:
    found = attached("vision")
    found.lend("vision")
    found.now_ms = 5 * SECOND
    found.part("audio", "requested")
    (finding,) = found.tell([("audio", "vision", "cpu_second", 2)], (0, 5 * SECOND))
    assert (finding.subject, finding.found) == ("hub/main/audio on vision/cpu_second", 0)
    found.part("audio")
    found.now_ms = 9 * SECOND
    found.part("audio", "detaching")  # its jobs are on their way out, and still its own
    found.now_ms = 10 * SECOND
    found.part("audio", "detached")
    found.now_ms = 20 * SECOND
    rows = [("audio", "vision", "cpu_second", 2)]
    assert found.tell(rows, (5 * SECOND, 10 * SECOND)) == []
    assert len(found.tell(rows, (10 * SECOND, 12 * SECOND))) == 1
    taken = [row.taken for row in found.reports()["audio", "vision", "cpu_second"]]
    assert taken == [0, 2, 0], "what it used while it was there stays"


# -- what it is worth ---------------------------------------------------------------------------


def test_a_window_is_worth_what_was_accepted_when_it_began() -> None:
    found = attached("audio", "vision")
    found.lend("vision")
    rows = [("audio", "vision", "cpu_second", 1), ("vision", "vision", "cpu_second", 1)]
    found.now_ms = 2 * SECOND + 1
    first = found.settle(cpu_second=10)
    found.now_ms = 5 * SECOND
    found.settle(gpu_second=3)
    found.now_ms = 9 * SECOND
    for begin in (0, 2, 4, 6):
        found.tell(rows, (begin * SECOND, (begin + 2) * SECOND))
    owed = found.reports()["audio", "vision", "cpu_second"]
    assert [row.micros for row in owed] == [0, 0, 10, 0]
    assert [row.rule_seq for row in owed] == [0, 0, first, 0]
    own = found.reports()["vision", "vision", "cpu_second"]
    assert [row.micros for row in own] == [0, 0, 0, 0], "nobody owes himself"


amounts = st.integers(1, 50)
told_rows = st.dictionaries(
    st.tuples(st.sampled_from(PROJECTS), st.sampled_from(PROJECTS), st.sampled_from(UNITS)),
    amounts,
    max_size=8,
).map(lambda found: [(*key, quantity) for key, quantity in sorted(found.items())])
stories = st.lists(
    st.one_of(
        st.tuples(st.just("tell"), told_rows),
        st.tuples(
            st.just("part"), st.sampled_from(PROJECTS), st.sampled_from(("attached", "detached"))
        ),
        st.tuples(st.just("lend"), st.sampled_from(PROJECTS), st.integers(1, 3), st.integers(0, 2)),
        st.tuples(st.just("settle"), st.dictionaries(st.sampled_from(UNITS), st.integers(1, 9))),
    ),
    max_size=14,
)


def go_on(found: Journal, story: list[Any]) -> Journal:
    for what, *rest in story:
        found.now_ms += 3 * SECOND
        match what:
            case "tell":
                found.tell(rest[0], (found.now_ms - 3 * SECOND, found.now_ms))
            case "part":
                found.part(*rest)
            case "lend":
                found.lend(rest[0], cpus=rest[1], gpus=rest[2])
            case _:
                found.settle(**rest[0])
    return found


def play(story: list[Any]) -> Journal:
    return go_on(attached(*PROJECTS), story)


@given(stories)
def test_whatever_is_told_what_projects_owe_one_another_sums_to_nothing(story: list[Any]) -> None:
    found = play(story)
    balances = dict.fromkeys(PROJECTS, 0)
    for (user, source, _), rows in found.reports().items():
        for row in rows:
            assert 0 <= row.taken <= row.quantity
            assert row.micros == 0 or user != source
            balances[user] += row.micros
            balances[source] -= row.micros
    assert sum(balances.values()) == 0


@given(stories)
def test_what_is_taken_of_a_source_is_never_more_than_it_held(story: list[Any]) -> None:
    found = play(story)
    windows = {(row.from_ms, row.to_ms) for rows in found.reports().values() for row in rows}
    for window in windows:
        for source in PROJECTS:
            for unit in UNITS:
                taken = sum(
                    row.taken
                    for key, rows in found.reports().items()
                    for row in rows
                    if key[1:] == (source, unit) and (row.from_ms, row.to_ms) == window
                )
                held = found.told.workers_held(7, source, unit=unit, window=window)
                assert taken <= held


@given(stories, st.integers(0, 14))
def test_a_book_that_is_read_back_goes_on_the_same(story: list[Any], at: int) -> None:
    whole, again = play(story), play(story[:at])
    again.told = read_told(json.loads(json.dumps(write_told(again.told))))
    again.book = read_used(json.loads(json.dumps(write_used(again.book))), again.told)
    go_on(again, story[at:])
    assert again.book.series == whole.book.series
    assert again.findings == whole.findings


@given(st.lists(amounts, max_size=6), st.integers(0, 300))
def test_shares_are_whole_in_proportion_and_never_above(told: list[int], held: int) -> None:
    found = share_out(told, held=held)
    assert sum(found) <= max(held, 0) or sum(told) <= held
    assert all(0 <= kept <= each for kept, each in zip(found, told, strict=True))
    if sum(told) <= held:
        assert found == told
    else:
        assert sum(found) > held - len(told), "but for what is not whole, all of it is given"
