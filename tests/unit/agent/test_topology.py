"""Memory nodes, cache domains and control groups, from trees in the kernel's formats."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.agent.machine.files import RootFiles
from bailiwick.agent.machine.limits import MachineLimits, read_limits
from bailiwick.agent.machine.topology import MachineCache, NumaNode, read_gpu_node, read_topology
from bailiwick.agent.words import SourceState, Unreadable
from tests.support.machine_trees import CPU, NODE, PCI, cache, files_of, two_sockets, write_tree

GROUP = "sys/fs/cgroup"


def test_two_sockets_are_read_from_real_files(tmp_path: Path) -> None:
    found = read_topology(RootFiles(write_tree(tmp_path, two_sockets())))
    assert found.cpus_online == tuple(range(8))
    assert found.numa_nodes == (
        NumaNode(0, (0, 1, 2, 3), 2**30, (10, 32)),
        NumaNode(1, (4, 5, 6, 7), 2**31, (32, 10)),
    )
    assert found.cache_domains == tuple(
        MachineCache(3, n, 32 * 2**20, (2 * n, 2 * n + 1)) for n in range(4)
    )
    assert (found.numa, found.cache) == (SourceState.READ, SourceState.READ)


def test_a_machine_that_tells_nothing_has_no_topology_and_says_so() -> None:
    found = read_topology(files_of({}))
    assert (found.cpus_online, found.numa_nodes, found.cache_domains) == ((), (), ())
    assert (found.numa, found.cache) == (SourceState.ABSENT, SourceState.ABSENT)


def test_a_cpu_that_is_offline_is_not_asked_for_its_caches() -> None:
    texts = two_sockets() | {f"{CPU}/online": "0-1\n"}
    assert [domain.cpus for domain in read_topology(files_of(texts)).cache_domains] == [(0, 1)]


def test_without_an_l3_the_l2_is_the_domain_and_without_an_id_there_is_none() -> None:
    texts = {f"{CPU}/online": "0-1"} | cache(0, shared="0-1", number=0)
    texts |= cache(1, shared="0-1", number=0)
    kept = {path: text for path, text in texts.items() if "index3" not in path}
    kept = {path: text for path, text in kept.items() if not path.endswith(("/id", "/size"))}
    found = read_topology(files_of(kept)).cache_domains
    assert found == (MachineCache(2, None, 0, (0,)), MachineCache(2, None, 0, (1,)))


def test_a_node_of_memory_alone_has_no_cpus() -> None:
    texts = {f"{NODE}/node0/cpulist": "0\n", f"{NODE}/node2/cpulist": "\n"}
    found = read_topology(files_of(texts))
    assert found.numa_nodes == (NumaNode(0, (0,), 0), NumaNode(2, (), 0))


@pytest.mark.parametrize(
    "wrong",
    [
        {f"{NODE}/node1/cpulist": "3-7\n"},  # CPU 3 is in node 0 already
        {f"{NODE}/node1/cpulist": "lots"},
        {f"{NODE}/node1/meminfo": "MemFree: 1 kB"},
        {f"{NODE}/node1/distance": "10\n"},
        {f"{NODE}/node1/distance": "10 -1\n"},
        {f"{NODE}/node7/other": ""},
    ],
)
def test_malformed_nodes_are_left_out_whole_and_the_caches_stay(wrong: dict[str, str]) -> None:
    found = read_topology(files_of(two_sockets() | wrong))
    assert (found.numa, found.numa_nodes) == (SourceState.MALFORMED, ())
    assert (found.cache, len(found.cache_domains)) == (SourceState.READ, 4)


@pytest.mark.parametrize(
    "wrong",
    [
        {f"{CPU}/cpu2/cache/index3/shared_cpu_list": "1-2\n"},  # CPU 1 is in the first already
        {f"{CPU}/cpu2/cache/index3/shared_cpu_list": "0-1\n"},  # without itself
        {f"{CPU}/cpu2/cache/index3/level": "99\n"},
        {f"{CPU}/cpu2/cache/index3/size": "much\n"},
        {f"{CPU}/cpu2/cache/index3/id": "-1\n"},
        {f"{CPU}/cpu2/cache/index9/type": "Data"},
    ],
)
def test_malformed_caches_are_left_out_whole_and_the_nodes_stay(wrong: dict[str, str]) -> None:
    found = read_topology(files_of(two_sockets() | wrong))
    assert (found.cache, found.cache_domains) == (SourceState.MALFORMED, ())
    assert (found.numa, len(found.numa_nodes)) == (SourceState.READ, 2)


def test_a_cache_that_its_own_cpu_does_not_share_is_malformed() -> None:
    texts = {f"{CPU}/online": "0"} | cache(0, shared="5", number=0)
    assert read_topology(files_of(texts)).cache is SourceState.MALFORMED


def test_a_gpu_is_on_the_node_that_its_pci_device_names() -> None:
    files = files_of(two_sockets())
    topology = read_topology(files)
    assert read_gpu_node(files, "0000:10:00.0", topology=topology) == 0
    assert read_gpu_node(files, "0000:11:00.0", topology=topology) == 1
    assert read_gpu_node(files, "0000:12:00.0", topology=topology) is None


def test_a_gpu_without_a_node_is_on_the_only_one_if_there_is_only_one() -> None:
    unknown = {f"{PCI}/0000:10:00.0/numa_node": "-1\n"}
    two = files_of(two_sockets() | unknown)
    one = files_of({f"{NODE}/node3/cpulist": "0\n"} | unknown)
    assert read_gpu_node(two, "0000:10:00.0", topology=read_topology(two)) is None
    assert read_gpu_node(one, "0000:10:00.0", topology=read_topology(one)) == 3


@pytest.mark.parametrize("text", ["2\n", "", "-2", "x"])
def test_a_gpu_on_a_node_that_cannot_be_is_unreadable(text: str) -> None:
    files = files_of(two_sockets() | {f"{PCI}/0000:10:00.0/numa_node": text})
    with pytest.raises(Unreadable):
        read_gpu_node(files, "0000:10:00.0", topology=read_topology(files))


def test_the_narrowest_group_on_the_way_up_holds() -> None:
    texts = {
        "proc/self/cgroup": "0::/a/b\n",
        f"{GROUP}/a/b/cpu.max": "max 100000\n",
        f"{GROUP}/a/b/memory.max": "1000000\n",
        f"{GROUP}/a/cpu.max": "250000 100000\n",
        f"{GROUP}/a/memory.max": "2000000\n",
    }
    assert read_limits(files_of(texts)) == MachineLimits(2500, 1_000_000, SourceState.READ)


def test_a_container_that_cannot_see_its_group_reads_the_root_of_what_is_mounted() -> None:
    texts = {
        "proc/self/cgroup": "0::/../../elsewhere\n",
        f"{GROUP}/cpu.max": "50000 100000\n",
        f"{GROUP}/memory.max": "max\n",
    }
    assert read_limits(files_of(texts)) == MachineLimits(500, None, SourceState.READ)


def test_the_older_hierarchy_is_understood() -> None:
    texts = {
        "proc/self/cgroup": "4:memory:/box\n3:cpu,cpuacct:/box\n1:name=systemd:/\n",
        f"{GROUP}/cpu,cpuacct/box/cpu.cfs_quota_us": "150000\n",
        f"{GROUP}/cpu,cpuacct/box/cpu.cfs_period_us": "100000\n",
        f"{GROUP}/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
        f"{GROUP}/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
        f"{GROUP}/memory/box/memory.limit_in_bytes": "1000000\n",
        f"{GROUP}/memory/memory.limit_in_bytes": "9223372036854771712\n",
    }
    assert read_limits(files_of(texts)) == MachineLimits(1500, 1_000_000, SourceState.READ)


def test_no_group_is_no_limit() -> None:
    assert read_limits(files_of({})) == MachineLimits(None, None, SourceState.ABSENT)
    alone = {"proc/self/cgroup": "0::/\n"}
    assert read_limits(files_of(alone)) == MachineLimits(None, None, SourceState.ABSENT)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cpu.max", "max\n"),
        ("cpu.max", "0 100000"),
        ("cpu.max", "-5 100000"),
        ("cpu.max", "100000 0"),
        ("cpu.max", "much 100000"),
        ("memory.max", "-1\n"),
        ("memory.max", ""),
    ],
)
def test_a_malformed_limit_is_told_and_not_used(name: str, text: str) -> None:
    texts = {"proc/self/cgroup": "0::/\n", f"{GROUP}/{name}": text}
    assert read_limits(files_of(texts)) == MachineLimits(None, None, SourceState.MALFORMED)


def test_a_malformed_list_of_groups_is_told() -> None:
    assert read_limits(files_of({"proc/self/cgroup": "x"})).state is SourceState.MALFORMED


TEXTS = st.one_of(
    st.text(max_size=20),
    st.text(alphabet="0123456789-, \n", max_size=20),
    st.sampled_from(["0-7\n", "0\n", "-1\n", "3\n", "max 100000\n", "0::/a/../b\n", "9" * 19]),
)
PATHS = sorted({*two_sockets(), f"{GROUP}/cpu.max", f"{GROUP}/memory.max", f"{NODE}/node2/cpulist"})


@given(st.dictionaries(st.sampled_from(PATHS), TEXTS, max_size=6), st.sets(st.sampled_from(PATHS)))
def test_whatever_the_files_say_each_cpu_is_in_one_place_at_most(
    wrong: dict[str, str], gone: set[str]
) -> None:
    texts = {path: text for path, text in (two_sockets() | wrong).items() if path not in gone}
    files = files_of(texts)
    found, limits = read_topology(files), read_limits(files)
    for groups in (found.numa_nodes, found.cache_domains):
        cpus = [cpu for group in groups for cpu in group.cpus]
        assert len(cpus) == len(set(cpus))
        assert all(0 <= cpu < 8192 for cpu in cpus)
    assert limits.cpu_milli is None or limits.cpu_milli >= 1
    assert limits.mem_bytes is None or 0 <= limits.mem_bytes < 2**53
    try:
        node = read_gpu_node(files, "0000:10:00.0", topology=found)
    except Unreadable:
        return
    assert node is None or not found.numa_nodes or node in {n.index for n in found.numa_nodes}
