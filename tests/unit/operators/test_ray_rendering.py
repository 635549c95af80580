"""How Ray is started: never with more than a lease holds, and from nothing but what was judged."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.operators.ray.member.rendering import (
    MIB,
    OWN_BYTES,
    PORTS,
    BadOrder,
    ClusterDoor,
    MemberHolding,
    drain_words,
    environment,
    head_words,
    is_loopback,
    own_loopback,
    parse_cluster,
    port_blocks,
    split_memory,
    worker_words,
)

TOKEN = "0123456789abcdef" * 4
AGENTS = (
    "dashboard-agent-listen-",
    "dashboard-agent-grpc-",
    "runtime-env-agent-",
    "metrics-export-",
)
numbers = st.integers(1, 2**40)
hosts = st.one_of(st.ip_addresses(v=4).map(str), numbers.map(own_loopback))
clusters = st.builds(
    ClusterDoor, numbers, hosts, port=st.integers(1024, 65_527), token=st.just(TOKEN)
)
held = st.builds(
    MemberHolding,
    numbers,
    hosts,
    cpus=st.integers(0, 256),
    mem_mib=st.integers(1, 1 << 21),
    gpus=st.integers(0, 16),
    store_percent=st.integers(5, 60),
)


def number_of(words: list[str], name: str) -> int:
    (found,) = [word for word in words if word.startswith(f"--{name}=")]
    return int(found.partition("=")[2])


@given(held, clusters)
def test_a_worker_is_never_told_more_than_its_lease_holds(
    member: MemberHolding, at: ClusterDoor
) -> None:
    try:
        words = worker_words("ray", member, cluster=at, temp="/tmp/x", port=14_000)
    except BadOrder:
        return
    memory = number_of(words, "memory") + number_of(words, "object-store-memory")
    assert memory + OWN_BYTES[False] <= member.mem_mib * MIB
    assert number_of(words, "num-cpus") == member.cpus
    assert number_of(words, "num-gpus") == member.gpus
    assert is_loopback(member.host) == is_loopback(at.host)
    assert "--head" not in words


@given(held, clusters)
def test_a_head_takes_no_tasks_and_each_of_its_ports_is_its_own(
    member: MemberHolding, at: ClusterDoor
) -> None:
    try:
        words = head_words("ray", member, cluster=at, temp="/tmp/x")
    except BadOrder:
        return
    assert number_of(words, "num-cpus") == 0
    assert number_of(words, "num-gpus") == 0
    own = ("", "dashboard-", "ray-client-server-", *AGENTS)
    ports = [number_of(words, f"{each}port") for each in own]
    assert sorted({*ports}) == ports
    assert ports[-1] < at.port + PORTS


@given(held, clusters, st.integers(1024, 65_527))
def test_the_ports_of_agents_are_told_so_that_nobody_waits_for_them(
    member: MemberHolding, at: ClusterDoor, port: int
) -> None:
    try:
        words = worker_words("ray", member, cluster=at, temp="/tmp/x", port=port)
    except BadOrder:
        return
    ports = [number_of(words, f"{each}port") for each in AGENTS]
    assert len({*ports}) == len(AGENTS)
    assert all(port <= each < port + PORTS for each in ports)


@given(held, clusters)
def test_a_token_is_in_no_command(member: MemberHolding, at: ClusterDoor) -> None:
    told: list[str] = []
    with suppress(BadOrder):
        told += head_words("ray", member, cluster=at, temp="/tmp/x")
        told += worker_words("ray", member, cluster=at, temp="/tmp/x", port=14_000)
    assert not any(TOKEN in word for word in told)
    assert not any(TOKEN in word for word in drain_words("ray", at, within_s=5))


@given(st.integers(1, 1 << 22), st.booleans(), st.integers(5, 60))
def test_memory_is_split_without_rest_below_zero_or_refused(
    mem_mib: int, is_head: bool, percent: int
) -> None:
    try:
        store, heap = split_memory(mem_mib, is_head=is_head, store_percent=percent)
    except BadOrder:
        return
    assert store >= 75 * MIB
    assert heap >= 64 * MIB
    assert store + heap + OWN_BYTES[is_head] <= mem_mib * MIB


@given(clusters)
def test_a_cluster_that_is_passed_on_is_the_same(cluster: ClusterDoor) -> None:
    assert parse_cluster(cluster.plain()) == cluster


@given(
    st.sampled_from(["head_id", "host", "port", "token"]),
    st.one_of(st.none(), st.text(), st.integers(max_value=0), st.booleans(), st.lists(st.text())),
)
def test_what_is_passed_on_otherwise_is_refused(name: str, value: object) -> None:
    told = {"head_id": 1, "host": "10.0.0.5", "port": 14_000, "token": TOKEN, name: value}
    with pytest.raises(BadOrder):
        parse_cluster(told)
    told.pop(name)
    with pytest.raises(BadOrder):
        parse_cluster(told)


@given(numbers, numbers)
def test_members_on_one_machine_have_addresses_and_ports_of_their_own(one: int, other: int) -> None:
    if one % (1 << 22) != other % (1 << 22):
        assert own_loopback(one) != own_loopback(other)
    assert is_loopback(own_loopback(one))
    blocks = port_blocks(one)
    assert len({*blocks}) == len(blocks)
    assert all(first >= 1024 and first + PORTS <= 20_000 for first in blocks)


def test_a_lease_token_is_not_in_what_tasks_find() -> None:
    cluster = ClusterDoor(1, "10.0.0.5", 14_000, TOKEN)
    base = {"BAILIWICK_LEASE_TOKEN": "secret", "HOME": "/x", "PATH": "/bin"}
    found = environment(base, cluster, ray="/opt/ray/bin/ray")
    assert "secret" not in found.values()
    assert found["PATH"] == "/opt/ray/bin:/bin"
    assert (found["RAY_AUTH_MODE"], found["RAY_AUTH_TOKEN"]) == ("token", TOKEN)
