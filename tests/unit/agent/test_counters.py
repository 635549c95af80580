"""What the kernel counts for a lease's processes: process tables and control groups made by hand,
and, once, the real ones of this machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bailiwick.agent.machine.counters import (
    Counted,
    Machine,
    ProcessTime,
    count_leases,
    count_processes,
    descendants,
    parse_stat,
)
from bailiwick.agent.words import Unreadable

NOW = 10**12
KIB = 1024


class Tree:
    """A machine's files under a folder; a hundred ticks are a second."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("proc/uptime", "1000.00 1.00\n")
        self.machine = Machine(root, hz=100)

    def write(self, path: str, text: str | bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def process(
        self,
        pid: int,
        parent: int = 1,
        *,
        times: tuple[int, int, int, int] = (0, 0, 0, 0),
        start: int = 90_000,
        lease: str | None = None,
        name: bytes = b"job",
        anon_kib: int | None = None,
        groups: str = "0::/\n",
    ) -> None:
        head = b"%d (%s) S %d 1 1 0 -1 0 0 0 0 0 " % (pid, name, parent)
        spelled = " ".join(map(str, times)).encode()
        self.write(f"proc/{pid}/stat", head + spelled + b" 20 0 1 0 %d 0 0" % start)
        mark = "" if lease is None else f"BAILIWICK_LEASE_ID={lease}\0"
        self.write(f"proc/{pid}/environ", f"PATH=/bin\0{mark}HOME=/\0")
        self.write(f"proc/{pid}/cgroup", groups)
        if anon_kib is not None:
            rollup = f"Rss: 9 kB\nPss_Anon: {anon_kib:>8} kB\nPss_File: 7 kB\nSwapPss: {1:>8} kB\n"
            self.write(f"proc/{pid}/smaps_rollup", rollup)

    def count(self) -> dict[int, Counted]:
        return count_leases(self.machine, now_ms=NOW)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_the_time_of_a_tree_is_that_of_the_living_and_of_all_that_they_waited_for(
    tree: Tree,
) -> None:
    tree.process(10, lease="7", times=(100, 50, 200, 25), start=90_000, anon_kib=100)
    tree.process(11, 10, lease="7", times=(10, 0, 0, 0), start=95_000, anon_kib=50)
    tree.process(12, 1, lease="8", times=(1, 0, 0, 0), start=99_000)
    tree.process(13, 1, times=(500, 500, 500, 500))
    found = tree.count()
    assert found.keys() == {7, 8}
    assert found[7].cpu_ms == 3_850
    assert found[7].mem_bytes == (100 + 50 + 2) * KIB
    assert found[7].from_ms == NOW - 100_000
    assert found[7].pids == (10, 11)
    assert found[8] == Counted(10, None, NOW - 10_000, (12,))


def test_a_process_that_wiped_its_environment_belongs_to_whom_it_stems_from(tree: Tree) -> None:
    tree.process(10, lease="7", times=(100, 0, 0, 0))
    tree.process(11, 10, times=(200, 0, 0, 0))
    tree.process(12, 11, times=(300, 0, 0, 0), lease="9")
    found = tree.count()
    assert (found[7].cpu_ms, found[9].cpu_ms) == (3_000, 3_000)


def test_a_name_of_any_bytes_hides_nothing(tree: Tree) -> None:
    tree.process(10, lease="7", times=(100, 0, 0, 0), name=b"\xff) S 1 1 (\n")
    assert tree.count()[7].cpu_ms == 1_000


@pytest.mark.parametrize("lease", ["", "0", "07", "-1", "7 ", "x", "9" * 17, "７"])
def test_a_mark_that_is_no_lease_is_none(tree: Tree, lease: str) -> None:
    tree.process(10, lease=lease)
    assert tree.count() == {}


def test_a_cgroup_of_the_unified_hierarchy_tells_what_the_tree_cannot(tree: Tree) -> None:
    tree.process(10, lease="7", times=(1, 0, 0, 0), groups="0::/jobs/lease-7/made-by-job\n")
    tree.write("sys/fs/cgroup/jobs/lease-7/cpu.stat", "usage_usec 9000999\nuser_usec 1\n")
    tree.write("sys/fs/cgroup/jobs/lease-7/memory.peak", "4096\n")
    tree.write("sys/fs/cgroup/jobs/lease-7/made-by-job/cpu.stat", "usage_usec 5\n")
    found = tree.count()[7]
    assert (found.cpu_ms, found.mem_bytes) == (9_000, 4_096)


def test_the_older_hierarchies_are_understood(tree: Tree) -> None:
    groups = "5:memory:/lease-7\n4:cpu,cpuacct:/lease-7\n0::/\n"
    tree.process(10, lease="7", times=(1, 0, 0, 0), groups=groups)
    tree.write("sys/fs/cgroup/cpu,cpuacct/lease-7/cpuacct.usage", "9000999999\n")
    tree.write("sys/fs/cgroup/memory/lease-7/memory.max_usage_in_bytes", "8192\n")
    found = tree.count()[7]
    assert (found.cpu_ms, found.mem_bytes) == (9_000, 8_192)


@pytest.mark.parametrize("path", ["/", "/lease-8", "/lease-70", "/xlease-7", "/../lease-7"])
def test_a_group_that_is_not_the_leases_own_is_not_believed(tree: Tree, path: str) -> None:
    tree.process(10, lease="7", times=(1, 0, 0, 0), groups=f"0::{path}\n")
    (tree.root / "sys/fs/cgroup").mkdir(parents=True)
    tree.write(f"sys/fs/cgroup/{path}/cpu.stat", "usage_usec 9000000\n")
    assert tree.count()[7].cpu_ms == 10


def test_a_group_without_a_peak_leaves_memory_to_the_processes(tree: Tree) -> None:
    tree.process(10, lease="7", groups="0::/lease-7\n", anon_kib=3)
    tree.write("sys/fs/cgroup/lease-7/cpu.stat", "usage_usec 1000\n")
    assert tree.count()[7].mem_bytes == 4 * KIB


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("cpu.stat", "usage_usec x\n"),
        ("cpu.stat", "usage_usec -5\n"),
        ("cpu.stat", "nothing 5\n"),
        ("memory.peak", "max\n"),
    ],
)
def test_a_group_that_tells_nonsense_is_refused_not_guessed(
    tree: Tree, file: str, text: str
) -> None:
    tree.process(10, lease="7", groups="0::/lease-7\n")
    tree.write("sys/fs/cgroup/lease-7/cpu.stat", "usage_usec 1000\n")
    tree.write(f"sys/fs/cgroup/lease-7/{file}", text)
    with pytest.raises(Unreadable):
        tree.count()


@pytest.mark.parametrize(
    "line", [b"", b"7", b"7 (a) S", b"7 (a) S 1 1 1 0 -1 0 0 0 0 0 -5 0 0 0 20 0 1 0 1"]
)
def test_a_line_of_the_process_table_is_read_strictly(line: bytes) -> None:
    with pytest.raises(Unreadable):
        parse_stat(line, hz=100)


def test_a_process_that_ends_meanwhile_is_passed_over(tree: Tree) -> None:
    tree.process(10, lease="7", times=(100, 0, 0, 0))
    (tree.root / "proc/11").mkdir()
    assert tree.count()[7].cpu_ms == 1_000


def test_a_table_that_goes_round_in_a_circle_ends(tree: Tree) -> None:
    tree.process(10, 11)
    tree.process(11, 10)
    assert tree.count() == {}
    table = tree.machine.processes()
    assert {each.pid for each in descendants(table, 10)} == {10, 11}


def test_what_one_above_has_waited_for_counts_where_there_is_no_group(tree: Tree) -> None:
    tree.process(10, lease="7", times=(100, 0, 0, 0))
    members = list(tree.machine.processes().values())
    found = count_processes(tree.machine, members, lease_id=7, now_ms=NOW, waited_ms=500)
    assert found.cpu_ms == 1_500


def test_without_any_process_nothing_but_what_was_waited_for_is_told(tree: Tree) -> None:
    found = count_processes(tree.machine, [], lease_id=7, now_ms=NOW, waited_ms=500)
    assert found == Counted(500, None, NOW, ())


def test_this_machine_counts_a_child_that_was_waited_for_and_one_that_lives() -> None:
    burn = "import time\nwhile time.process_time() < 0.3: pass\n"
    program = (
        f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {burn!r}])\n{burn}"
        "kept = b'x' * (32 << 20)\nprint('ready', flush=True)\nsys.stdin.read()\n"
    )
    env = {**os.environ, "BAILIWICK_LEASE_ID": "123456789"}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        now_ms = time.time_ns() // 1_000_000
        found = count_leases(Machine(), now_ms=now_ms)[123456789]
        assert found.pids == (process.pid,)
        assert 560 <= found.cpu_ms <= 60_000  # ticks of 10 ms, twice rounded down
        assert 0 <= now_ms - found.from_ms <= 600_000
        assert found.mem_bytes is None or found.mem_bytes >= 32 << 20
        process.communicate(b"")


def test_a_process_time_is_its_own_and_what_it_waited_for() -> None:
    assert ProcessTime(1, 0, 5, 7, 0).cpu_ms == 12
