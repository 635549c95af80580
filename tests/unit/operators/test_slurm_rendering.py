"""Configurations of the Slurm app: no value adds a line, and nobody has more than he holds."""

from __future__ import annotations

import string
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.operators.kit.packing import digest_of
from bailiwick.operators.slurm.manifest import pack_member
from bailiwick.operators.slurm.orders import order_for
from bailiwick.operators.slurm.rendering import render, render_worker
from bailiwick.operators.slurm.wanted import (
    CONTROLLER,
    PORTS,
    WORKERS_MAX,
    Cluster,
    ClusterWish,
    HeldGpu,
    Worker,
    feature_of,
    worker_index,
)
from bailiwick.vocab.errors import BailiwickError, InvalidValue

KINDS = st.sampled_from(["hopper", "ampere", "ada"])
GPUS = st.lists(
    st.builds(HeldGpu, KINDS, st.integers(0, 15)), max_size=8, unique_by=lambda gpu: gpu.index
)


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    numbers = draw(st.sets(st.integers(0, WORKERS_MAX - 1), max_size=6))
    workers = [
        Worker(
            f"worker-{number}",
            f"10.0.0.{number + 1}",
            host=f"n{number}",
            cpus=draw(st.integers(1, 256)),
            mem_mib=draw(st.integers(1, 10**6)),
            gpus=tuple(draw(GPUS)),
            features=draw(st.sampled_from([(), ("rack-1",), ("rack-2", "east")])),
        )
        for number in sorted(numbers)
    ]
    return Cluster(
        instance_id=draw(st.integers(0, 10_000)),
        account="vision",
        user="job",
        address="10.0.0.1",
        host="n0",
        wish=ClusterWish(pretend_gpus=draw(st.booleans())),
        workers=tuple(workers),
    )


def nodes_in(text: str) -> dict[str, dict[str, str]]:
    """A naive reading of the lines of nodes."""
    found = {}
    for line in text.splitlines():
        if line.startswith("NodeName="):
            words = dict(word.split("=", 1) for word in line.split())
            found[words.pop("NodeName")] = words
    return found


@given(clusters())
def test_every_worker_has_exactly_what_its_lease_holds(cluster: Cluster) -> None:
    nodes = nodes_in(render(cluster)["slurm.conf"])
    there = {worker.key: worker for worker in cluster.workers}
    assert list(nodes) == [f"worker-{number}" for number in range(WORKERS_MAX)]
    for key, words in nodes.items():
        worker = there.get(key)
        assert words["State"] == ("FUTURE" if worker is None else "UNKNOWN")
        if worker is not None:
            assert (int(words["CPUs"]), int(words["RealMemory"])) == (worker.cpus, worker.mem_mib)
            counted = [item.split(":") for item in words.get("Gres", "").split(",") if item]
            assert sum(int(item[2]) for item in counted) == len(worker.gpus)
            assert {item[1] for item in counted} == {gpu.kind for gpu in worker.gpus}
            assert {*worker.features} <= {*words.get("Feature", "").split(",")}


@given(clusters())
def test_no_two_daemons_have_one_address_and_port(cluster: Cluster) -> None:
    nodes = nodes_in(render(cluster)["slurm.conf"])
    ports = [int(words["Port"]) for words in nodes.values()]
    ports += [cluster.port, cluster.port + 1]
    assert len({*ports}) == len(ports)
    assert all(cluster.port <= port < cluster.port + PORTS for port in ports)


@given(clusters())
def test_each_worker_is_told_of_its_own_devices_and_has_no_password(cluster: Cluster) -> None:
    for worker in cluster.workers:
        files = render_worker(cluster, worker.key)
        assert set(files) == {"slurm.conf", "gres.conf", "cgroup.conf", "task_prolog"}
        lines = [line for line in files["gres.conf"].splitlines() if line.startswith("NodeName=")]
        assert all(line.startswith(f"NodeName={worker.key} ") for line in lines)
        assert len(lines) == len(worker.gpus)
        assert "PASSWORD" not in "".join(files.values())


@pytest.mark.parametrize(
    ("told", "seen"),
    [
        ({"SLURM_STEP_GPUS": "0", "CUDA_VISIBLE_DEVICES": "0"}, "5"),
        ({"SLURM_JOB_GPUS": "0,1", "CUDA_VISIBLE_DEVICES": "0,1"}, "5,7"),
        ({"SLURM_JOB_GPUS": "0,1", "CUDA_VISIBLE_DEVICES": "1"}, "7"),
        ({"SLURM_JOB_GPUS": "0", "CUDA_VISIBLE_DEVICES": "9"}, "none"),
        ({"SLURM_JOB_GPUS": "0", "CUDA_VISIBLE_DEVICES": "$(reboot)"}, ""),
        ({"CUDA_VISIBLE_DEVICES": "0"}, ""),
        ({}, ""),
    ],
)
def test_a_job_sees_the_machines_numbers_of_its_own_gpus(told: dict[str, str], seen: str) -> None:
    gpus = (HeldGpu("hopper", 7), HeldGpu("hopper", 5))
    worker = Worker("worker-0", "10.0.0.1", host="n0", cpus=1, mem_mib=1, gpus=gpus)
    cluster = Cluster(
        instance_id=1,
        account="vision",
        user="job",
        address="10.0.0.1",
        host="n0",
        wish=ClusterWish(),
        workers=(worker,),
    )
    script = render_worker(cluster, "worker-0")["task_prolog"]
    env = {"PATH": "/usr/bin:/bin", **told}
    done = subprocess.run(["sh", "-c", script], env=env, capture_output=True, text=True, check=True)
    assert f"export CUDA_VISIBLE_DEVICES={seen}" in done.stdout.splitlines()


@given(clusters(), st.binary(min_size=128, max_size=128), st.binary(min_size=128, max_size=128))
def test_a_revision_is_the_same_for_the_same_and_another_for_another_key(
    cluster: Cluster, one: bytes, other: bytes
) -> None:
    first = order_for(cluster, CONTROLLER, munge_key=one)
    assert first == order_for(cluster, CONTROLLER, munge_key=one)
    second = order_for(cluster, CONTROLLER, munge_key=other)
    assert (first["revision"] == second["revision"]) == (one == other)


@given(
    st.sampled_from(["host", "address", "feature", "account", "partition", "storage", "kind"]),
    st.text(alphabet=string.printable, max_size=12),
)
def test_a_value_that_is_not_one_plain_word_is_refused(what: str, text: str) -> None:
    """Whatever is taken stands alone: it adds no line, no key and no second value."""
    told: dict[str, str] = {what: text}
    try:
        worker = Worker(
            "worker-0",
            told.get("address", "10.0.0.1"),
            host=told.get("host", "n0"),
            cpus=1,
            mem_mib=1,
            gpus=(HeldGpu(told.get("kind", "hopper"), 0),),
            features=(told.get("feature", "east"),),
        )
        wish = ClusterWish(
            partition=told.get("partition", "main"), storage=told.get("storage", "/srv/x")
        )
        cluster = Cluster(
            instance_id=1,
            account=told.get("account", "vision"),
            user="job",
            address="10.0.0.1",
            host="n0",
            wish=wish,
            workers=(worker,),
        )
    except InvalidValue:
        return
    assert what == "storage" or not set(text) & set(" \t\r\n\x0b\x0c=,#\\\"'()@/")
    assert not set(text) & set(" \t\r\n\x0b\x0c=#\\\"'()@")
    lines = render(cluster)["slurm.conf"].splitlines()
    plain = render(
        Cluster(
            instance_id=1,
            account="vision",
            user="job",
            address="10.0.0.1",
            host="n0",
            wish=ClusterWish(),
            workers=(
                Worker("worker-0", "1.1.1.1", host="n0", cpus=1, mem_mib=1, gpus=worker.gpus),
            ),
        )
    )["slurm.conf"].splitlines()
    assert [line.partition("=")[0] for line in lines] == [line.partition("=")[0] for line in plain]


@pytest.mark.parametrize(
    "parameters",
    [
        {"other": 1},
        {"port": "80"},
        {"port": 80},
        {"port": True},
        {"kill_wait_s": 0},
        {"storage": "srv"},
        {"storage": "/srv/a b"},
        {"partition": "a b"},
        {"pretend_gpus": 1},
    ],
)
def test_parameters_that_nobody_knows_or_could_keep_are_refused(
    parameters: dict[str, object],
) -> None:
    with pytest.raises(BailiwickError):
        ClusterWish.parse(parameters)


def test_parameters_that_are_left_out_have_their_defaults() -> None:
    assert ClusterWish.parse({}) == ClusterWish()
    assert ClusterWish.parse({"kill_wait_s": 5}).kill_wait_s == 5


@pytest.mark.parametrize(
    "key", ["worker", "worker-", "worker-01", "worker-64", "controller", "w-1"]
)
def test_a_worker_is_known_by_its_number_alone(key: str) -> None:
    with pytest.raises(InvalidValue):
        worker_index(key)


def test_a_fact_becomes_a_word_or_nothing() -> None:
    assert feature_of("nvlink/0") == "nvlink-0"
    assert feature_of("///") is None


def test_the_program_is_the_same_bytes_each_time() -> None:
    assert pack_member() == pack_member()
    assert digest_of(pack_member()).startswith("sha256:")
