"""Cgroups: where one is used, what is written into it, and what stands in for it.

The tree is a plain directory that holds the files a cgroup has; a machine that permits real ones
runs the jobs of the other tests in them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.executors.local.limits import Cgroup, common_rlimits, find_cgroup, plan_rlimits
from bailiwick.executors.local.limits_v1 import COUNTED, NEEDED, ROOT, find_v1
from bailiwick.executors.port import LimitedBy, Limits, UsedInAll
from tests.executors.conftest import HASTY
from tests.executors.jobs import ended, python, said, shell

FILES = ("cpu.max", "memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cgroup.kill")


@pytest.fixture
def cgroup(tmp_path: Path) -> Cgroup:
    path = tmp_path / "lease-1"
    path.mkdir()
    for name in FILES:
        (path / name).touch()
    (path / "cgroup.events").write_text("populated 0\nfrozen 0\n")
    return Cgroup(path)


def content(cgroup: Cgroup) -> dict[str, str]:
    return {name: text for name in FILES if (text := (cgroup.path / name).read_text())}


def test_each_limit_is_written_in_the_words_of_the_kernel(cgroup: Cgroup) -> None:
    cgroup.apply_limits(Limits(mem_bytes=2**30, cpu_milli=1500, pids_max=64))
    assert content(cgroup) == {
        "memory.max": "1073741824",
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "cpu.max": "150000 100000",
        "pids.max": "64",
    }


def test_a_tiny_share_of_a_core_is_the_least_the_kernel_takes(cgroup: Cgroup) -> None:
    cgroup.apply_limits(Limits(cpu_milli=1))
    assert content(cgroup) == {"cpu.max": "1000 100000"}


def test_no_limit_writes_nothing_and_killing_writes_one_word(cgroup: Cgroup) -> None:
    cgroup.apply_limits(Limits())
    assert content(cgroup) == {}
    cgroup.kill()
    assert content(cgroup) == {"cgroup.kill": "1"}


def test_whether_anything_lives_is_asked_of_the_kernel(cgroup: Cgroup) -> None:
    assert not cgroup.is_populated()
    events = cgroup.path / "cgroup.events"
    events.write_text("populated 1\nfrozen 0\n")
    assert cgroup.is_populated()
    with pytest.raises(FileExistsError):
        cgroup.make()
    events.write_text("something else\n")
    assert cgroup.is_populated()  # what is not understood is not free
    events.unlink()
    assert not Cgroup(cgroup.path / "gone").is_populated()


@pytest.mark.parametrize("offered", ["", "hugetlb", "cpu memory", "cpu memory pids"])
def test_a_place_that_cannot_hold_jobs_is_not_used(tmp_path: Path, offered: str) -> None:
    # The last one offers all, but a directory made below it is no cgroup.
    (tmp_path / "cgroup.controllers").write_text(offered)
    (tmp_path / "cgroup.subtree_control").write_text("")
    assert find_cgroup(tmp_path) is None
    assert find_cgroup(tmp_path / "nowhere") is None
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


def test_without_a_cgroup_a_job_runs_under_rlimits_and_says_so(tmp_path: Path) -> None:
    executor = LocalExecutor(tmp_path / "jobs", cgroup=tmp_path / "nowhere")
    started = executor.start(shell(1, "true", limits=Limits(cpu_milli=100, mem_bytes=2**30)))
    assert started.limited_by is LimitedBy.RLIMIT
    assert started.unenforced == ("cpu_milli",)
    ended(executor, 1)


OF_OTHERS = "echo oom_kill 2 > {}/memory.events; exit 3"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("echo oom_kill 3 > {}/memory.events; kill -9 $$", (None, 9, True)),
        ("echo oom_kill 3 > {}/memory.events; exit 137", (137, None, True)),
        ("kill -9 $$", (None, 9, False)),  # by whom is not known
        (OF_OTHERS, (3, None, False)),
        ("echo nonsense > {}/memory.events; exit 3", (3, None, False)),
    ],
)
def test_who_was_ended_for_its_memory_is_asked_of_its_control_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, found: tuple[object, ...]
) -> None:
    group = tmp_path / "cgroup" / "lease-1"

    def make(cgroup: Cgroup) -> None:
        cgroup.path.mkdir(parents=True)
        for name in FILES:
            (cgroup.path / name).touch()
        (cgroup.path / "memory.events").write_text("low 0\noom_kill 2\n")

    monkeypatch.setattr(Cgroup, "make", make)
    executor = LocalExecutor(tmp_path / "jobs")
    monkeypatch.setattr(executor, "_parent", group.parent)
    started = executor.start(shell(1, text.format(group)))
    assert started.limited_by is LimitedBy.CGROUP_V2
    end = ended(executor, 1)
    assert (end.code, end.signal, end.is_out_of_memory) == found


@pytest.fixture
def delegated() -> Iterator[dict[str, Path]]:
    """Groups of version 1 of our own, as systemd would delegate them; skipped where none can be."""
    own = {name: ROOT / name / f"bailiwick-test-{os.getpid()}" for name in (*NEEDED, COUNTED)}
    try:
        for path in own.values():
            path.mkdir()
            os.setxattr(path, "trusted.delegate", b"1")
    except OSError:
        pytest.skip("no control groups of version 1 can be made here")
    yield own
    for path in own.values():
        Cgroup(path).remove()


def test_version_1_holds_a_job_to_its_limits_and_tells_who_was_killed_for_memory(
    tmp_path: Path, delegated: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_v1({name: delegated[name] for name in NEEDED[:2]}) is None
    parent = find_v1(delegated)
    executor = LocalExecutor(tmp_path / "jobs", waits=HASTY)
    monkeypatch.setattr(executor, "_parent", parent)
    limits = Limits(mem_bytes=64 * 2**20, cpu_milli=500, pids_max=20)
    greedy = "x = []\nwhile True: x.append(bytearray(2**22))"
    started = executor.start(python(1, greedy, limits=limits))
    assert (started.limited_by, started.unenforced) == (LimitedBy.CGROUP_V1, ())
    end = ended(executor, 1)
    assert (end.signal, end.is_out_of_memory) == (9, True)
    used = executor.usage(1)
    assert isinstance(used, UsedInAll)
    assert used.mem_peak_bytes is not None
    assert 2**25 < used.mem_peak_bytes <= 64 * 2**20
    text = "i=0; while [ $i -lt 40 ]; do sleep 1000 & i=$((i+1)); done; echo all; wait"
    executor.start(shell(2, text, limits=limits))
    said(executor, 2, "annot fork")
    group = delegated["pids"] / "lease-2"
    assert int((group / "pids.current").read_text()) <= 20
    assert (delegated["cpu"] / "lease-2" / "cpu.cfs_quota_us").read_text() == "50000\n"
    executor.start(shell(3, "exit 3", limits=limits))
    end = ended(executor, 3)
    assert (end.code, end.is_out_of_memory) == (3, False)
    for lease_id in (1, 2, 3):
        assert executor.tear_down(lease_id)
        assert not (delegated["memory"] / f"lease-{lease_id}").exists()


def test_groups_that_nobody_delegated_are_not_used(delegated: dict[str, Path]) -> None:
    os.removexattr(delegated["pids"], "trusted.delegate")
    assert find_v1(delegated) is None
    assert find_v1(delegated | {"systemd": delegated["cpu"]}) is not None


def test_rlimits_stand_in_for_what_they_can() -> None:
    limits = Limits(mem_bytes=1000, cpu_milli=500, pids_max=10, cpu_s=60)
    plan, unenforced = plan_rlimits(limits, others=300, is_root=False)
    assert dict(plan) == {
        "RLIMIT_CORE": 0,
        "RLIMIT_CPU": 60,
        "RLIMIT_DATA": 1000,
        "RLIMIT_NPROC": 310,
    }
    assert unenforced == ("cpu_milli",)
    assert plan_rlimits(limits, others=0, is_root=True)[1] == ("pids_max", "cpu_milli")
    pinned = Limits(cpu_milli=2000, cores=(0, 1))
    assert plan_rlimits(pinned, others=0, is_root=False)[1] == ()
    assert common_rlimits(Limits()) == (("RLIMIT_CORE", 0),)
