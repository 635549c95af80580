"""Whose jobs ran on whose workers of a shared Slurm, from what ``sacct`` writes."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.operators.slurm.queue.use import BookedRun, TellingPlan
from bailiwick.operators.slurm.shared.telling import (
    FIELDS,
    SharedRun,
    SharedUseTeller,
    WorkerOwners,
    parse_shared_runs,
    read_shared_runs,
)
from bailiwick.vocab.errors import InvalidValue
from bailiwick.wire.shared import USE_ROWS_MAX

T0 = 1_763_420_400
"""As ``date +%s`` says it; the accounting is asked with SLURM_TIME_FORMAT=%s."""


def mark(project: str, user: str = "ann-fa18a8", policy: str = "-") -> str:
    return f"identity=ann@lab.example;project={project};policy={policy};user={user}"


# What `sacct -aXnPD --delimiter=| -o jobid,user,account,partition,admincomment,nodelist,start,end,
# alloctres` writes: a job of two nodes, a guest, one that waits, a probe, two that were cancelled
# before they began, one that root made, and one whose mark is another account's.
PAPER = f"""\
31|ann-fa18a8|audio|audio|{mark("audio")}|worker-[0,63]|{T0}|{T0 + 60}|billing=5,cpu=5,gres/gpu=2,\
gres/gpu:hopper=2,mem=2G,node=2
32|bob-02c1d4|text|vision+day|{mark("text", "bob-02c1d4", "text-day")}|worker-62|{T0 + 30}|Unknown|\
billing=1,cpu=1,mem=100M,node=1
33|ann-fa18a8|audio|audio|{mark("audio")}|None assigned|Unknown|Unknown|
34|bw-probe|bailiwick.probe|bailiwick.probe|{mark("bailiwick.probe", "bw-probe")}|worker-0|{T0}|\
{T0 + 1}|billing=1,cpu=1,mem=1M,node=1
38|ann-fa18a8|audio|audio|{mark("audio")}|None assigned|{T0 + 9}|{T0 + 9}|
35_[1-4%2]|ann-fa18a8|audio|audio|{mark("audio")}|None assigned|None|{T0 + 9}|
36|root|audio|audio||worker-0|{T0}|{T0 + 5}|billing=1,cpu=1,mem=1M,node=1
37|ann-fa18a8|text|text|{mark("audio")}|worker-0|{T0}|{T0 + 5}|billing=1,cpu=1,mem=1M,node=1
"""


def owners() -> WorkerOwners:
    found = WorkerOwners()
    found.see(
        {
            "worker-0": ("core", T0 - 900),  # reserved: the owner record's
            "worker-62": ("vision", T0 - 500),
            "worker-63": ("audio", T0 - 500),
        }
    )
    return found


def test_runs_are_read_that_began_and_are_somebodys() -> None:
    runs = parse_shared_runs(PAPER, "|")
    assert [(run.job_id, run.project, run.nodes) for run in runs] == [
        ("31", "audio", ("worker-0", "worker-63")),
        ("32", "text", ("worker-62",)),
    ]
    assert runs[0].run == BookedRun("31", T0, T0 + 60, 5, 2)
    assert parse_shared_runs("", "|") == []


def test_use_is_by_user_and_by_whose_worker_it_was() -> None:
    found = owners().used_in(parse_shared_runs(PAPER, "|"), window=(T0, T0 + 50))
    assert found.rows == {
        ("audio", "audio", "cpu_second"): 2 * 50,  # two of five cores: on its own worker
        ("audio", "audio", "gpu_second"): 50,
        ("audio", "core", "cpu_second"): 3 * 50,
        ("audio", "core", "gpu_second"): 50,
        ("text", "vision", "cpu_second"): 20,  # a guest, which goes on
    }
    assert found.unknown == ()


@pytest.mark.parametrize(
    "wrong",
    [
        PAPER.replace("|worker-62|", "|"),
        PAPER.replace("cpu=5", "cpu=many"),
        PAPER.replace(f"|{T0}|", "|yesterday|"),
        PAPER.replace("worker-[0,63]", "worker-[0,63"),
    ],
)
def test_a_row_that_is_not_understood_is_an_error(wrong: str) -> None:
    with pytest.raises(InvalidValue):
        parse_shared_runs(wrong, "|")


def test_a_name_is_anothers_from_the_time_on_that_anothers_lease_has_it() -> None:
    found = owners()
    found.see({"worker-62": ("text", T0 + 100)}, now_s=T0 + 100)
    runs = [
        SharedRun("1", "audio", ("worker-62",), BookedRun("1", T0 + 10, T0 + 20, 1, 0)),
        SharedRun("2", "audio", ("worker-62",), BookedRun("2", T0 + 110, T0 + 125, 1, 0)),
        # Of a worker that is gone it is still known whose it was.
        SharedRun("3", "audio", ("worker-63",), BookedRun("3", T0, T0 + 1, 1, 0)),
    ]
    assert found.used_in(runs, window=(T0, T0 + 200)).rows == {
        ("audio", "audio", "cpu_second"): 1,
        ("audio", "text", "cpu_second"): 15,
        ("audio", "vision", "cpu_second"): 10,
    }
    assert found.left_s == T0 + 100


def test_what_ran_on_a_worker_that_nobody_knows_is_told_for_nobody() -> None:
    # An operator that began after worker-62 had gone, and worker-63 had come.
    found = WorkerOwners()
    found.see({"worker-63": ("text", T0 + 100)})
    runs = parse_shared_runs(PAPER, "|")
    used = found.used_in(runs, window=(T0, T0 + 50))
    assert (used.rows, used.unknown) == ({}, ("worker-0", "worker-62", "worker-63"))


runs_of = st.lists(
    st.builds(
        lambda project, nodes, start, length, cpus, gpus: SharedRun(
            "1", project, tuple(nodes), BookedRun("1", start, start + length, cpus, gpus)
        ),
        st.sampled_from(["audio", "text"]),
        st.sets(st.sampled_from(["worker-0", "worker-62", "worker-63"]), min_size=1),
        *(st.integers(0, 80), st.integers(0, 50), st.integers(1, 9), st.integers(0, 4)),
    ),
    max_size=8,
)


@given(runs_of, st.integers(1, 99))
def test_however_time_is_cut_nothing_is_lost_or_counted_twice(
    runs: list[SharedRun], cut: int
) -> None:
    found = WorkerOwners()
    found.see({"worker-0": ("core", 0), "worker-62": ("vision", 0), "worker-63": ("audio", 0)})
    whole = found.used_in(runs, window=(0, 200)).rows
    parts = [found.used_in(runs, window=window).rows for window in ((0, cut), (cut, 200))]
    keys = {key for part in parts for key in part}
    assert {key: sum(part.get(key, 0) for part in parts) for key in keys} == whole
    for unit, at in (("cpu_second", 3), ("gpu_second", 4)):
        told = sum(n for key, n in whole.items() if key[2] == unit)
        assert told == sum(each.run[at] * each.run.overlap_s(0, 200) for each in runs)


# -- telling ------------------------------------------------------------------------------------


class PaperCluster:
    """A controller with books, a kit that takes reports, and a runtime that knows how far."""

    def __init__(self, text: str = PAPER, *, backlog: int = 0, until_s: int | None = None) -> None:
        self.text, self.backlog, self.until_s = text, backlog, until_s
        self.told: list[tuple[dict[Any, int], tuple[int, int]]] = []
        self.warned: list[str] = []
        self.fails: list[Exception] = []
        self.kit = SimpleNamespace(
            log=SimpleNamespace(warning=self._warn), report_shared_use=self._report
        )

    def _warn(self, text: str, **more: Any) -> None:
        self.warned.append(f"{text} {more}")

    def _report(self, used: dict[Any, int], *, window: tuple[int, int]) -> None:
        if self.fails:
            raise self.fails.pop()
        self.told.append((dict(used), window))
        self.until_s = window[1] // 1_000

    @property
    def view(self) -> Any:
        until_ms = None if self.until_s is None else self.until_s * 1_000
        runtime = SimpleNamespace(created_ms=T0 * 1_000 - 500, owner_project="core")
        return SimpleNamespace(runtime=runtime, used_until_ms=until_ms)

    def ask_controller(self, **question: Any) -> dict[str, Any]:
        argv = question["argv"]
        if argv[0] == "sdiag":
            out = f"DBD Agent queue size: {self.backlog}\n"
        else:
            assert argv[argv.index("-o") + 1] == ",".join(FIELDS)
            delimiter = next(e for e in argv if e.startswith("--delimiter=")).partition("=")[2]
            begin, end = (argv[argv.index(word) + 1] for word in ("-S", "-E"))
            assert seconds(begin) < seconds(end)
            out = self.text.replace("|", delimiter)
        return {"code": 0, "out": out[: question["most"]], "err": ""}


def seconds(word: str) -> int:
    return int(datetime.strptime(word, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC).timestamp())


def teller(now_s: int, **plan: int) -> SharedUseTeller:
    found = SharedUseTeller(TellingPlan(**plan), now=lambda: float(now_s))
    found.owners.see({"worker-0": ("core", 0), "worker-62": ("vision", 0)})
    found.owners.see(
        {"worker-0": ("core", 0), "worker-62": ("vision", 0), "worker-63": ("audio", 0)}
    )
    return found


def test_it_is_told_hour_by_hour_from_where_the_platform_says() -> None:
    cluster = PaperCluster()
    teller(T0 + 2 * 3_600 + 100).tell(cluster)  # type: ignore[arg-type]
    windows = [window for _, window in cluster.told]
    assert windows == [
        (T0 * 1_000, (T0 + 3_600) * 1_000),
        ((T0 + 3_600) * 1_000, (T0 + 7_200) * 1_000),
    ]
    assert cluster.told[0][0]["audio", "core", "cpu_second"] == 3 * 60
    # Another operator goes on from there; what was told is not told again.
    teller(T0 + 2 * 3_600 + 200).tell(cluster)  # type: ignore[arg-type]
    assert [window for _, window in cluster.told] == windows
    teller(T0 + 3 * 3_600 + 200).tell(cluster)  # type: ignore[arg-type]
    assert cluster.told[-1][1] == ((T0 + 7_200) * 1_000, (T0 + 10_800) * 1_000)


def test_nothing_is_told_before_the_books_are_whole_and_nothing_is_lost_for_it() -> None:
    cluster = PaperCluster(backlog=2)
    one = teller(T0 + 3_700, every_s=1, window_s_max=3_600)
    one.tell(cluster)  # type: ignore[arg-type]
    assert (cluster.told, len(cluster.warned)) == ([], 1)
    cluster.backlog = 0
    cluster.fails = [InvalidValue("runtime", "main", "somebody who leads")]
    again = teller(T0 + 3_700)
    again.tell(cluster)  # type: ignore[arg-type]
    assert (cluster.told, len(cluster.warned)) == ([], 2)
    teller(T0 + 3_700).tell(cluster)  # type: ignore[arg-type]
    assert [window for _, window in cluster.told] == [(T0 * 1_000, (T0 + 3_600) * 1_000)]


def test_of_a_worker_that_has_gone_it_is_told_before_the_hour_is_over() -> None:
    cluster = PaperCluster()
    one = teller(T0 + 200)
    one.tell(cluster)  # type: ignore[arg-type]
    assert cluster.told == []
    other = teller(T0 + 200)
    other.owners.see({"worker-0": ("core", 0)}, now_s=T0 + 150)
    other.tell(cluster)  # type: ignore[arg-type]
    assert [window for _, window in cluster.told] == [(T0 * 1_000, (T0 + 170) * 1_000)]
    assert ("text", "vision", "cpu_second") in cluster.told[0][0]


def test_a_window_with_too_many_rows_is_told_in_parts() -> None:
    lines = [
        f"{n}|u{n}|p{n:04}|main|{mark(f'p{n:04}', f'u{n}')}|worker-0|{T0 + n}|{T0 + n + 1}|cpu=1\n"
        for n in range(USE_ROWS_MAX * 3)
    ]
    cluster = PaperCluster("".join(lines))
    teller(T0 + 3_700).tell(cluster, is_last=True)  # type: ignore[arg-type]
    assert all(len(used) <= USE_ROWS_MAX for used, _ in cluster.told)
    assert sum(sum(used.values()) for used, _ in cluster.told) == len(lines)
    windows = [window for _, window in cluster.told]
    assert all(one[1] == other[0] for one, other in pairwise(windows))


def test_books_with_too_many_jobs_are_read_in_parts() -> None:
    many = "".join(PAPER for _ in range(5_000))
    with pytest.raises(InvalidValue, match="fewer jobs"):
        read_shared_runs(PaperCluster(many).ask_controller, (T0, T0 + 8))
