"""What the Slurm app's operator makes of what it sees, notes and keeps."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from bailiwick.operators.kit.packing import BOOTSTRAP, digest_of
from bailiwick.operators.slurm.keys import ClusterKeys
from bailiwick.operators.slurm.manifest import SlurmOffer, manifest_of, pack_member
from bailiwick.operators.slurm.notes import ClusterNotes, MemberNote
from bailiwick.operators.slurm.seeing import MemberAtWork, see_cluster, see_worker
from bailiwick.operators.slurm.wanted import CONTROLLER, ClusterWish, HeldGpu
from bailiwick.vocab.errors import BailiwickError, InvalidValue
from bailiwick.wire.fleet import Gpu, Held, Node
from bailiwick.wire.instances import Instance
from bailiwick.wire.work import Lease

GIB = 2**30
WISH = ClusterWish()


def node(name: str, *, gpus: int = 4) -> Node:
    kinds = ["nvidia_hopper"] * gpus
    told: dict[str, Any] = {
        "node": name,
        "mode": "active",
        "quarantined": False,
        "takes_leases": True,
        "liveness": "live",
        "last_seen_ms": 0,
        "attestation": "unattested",
        "attested_ms": None,
        "claims": {},
        "resources": {"cpu_milli": 64_000, "mem_bytes": 64 * GIB, "gpu_milli": 1_000 * gpus},
        "gpus": [{"generation": kind, "fabric": "nvlink 0"} for kind in kinds],
        "labels": ["region=east", "rack=7"],
    }
    return Node.model_construct(**told | {"gpus": [Gpu.model_validate(e) for e in told["gpus"]]})


def lease(
    name: str, *, cpu_milli: int = 2_500, devices: tuple[int, ...] = (), milli: int = 0
) -> Lease:
    held = {"cpu_milli": cpu_milli, "mem_bytes": 3 * GIB, "gpu_milli": milli}
    found = {"lease_id": 1, "node": name, "devices": list(devices)}
    return Lease.model_construct(**found, resources=Held.model_validate(held))


def seen(name: str, **held: Any) -> MemberAtWork:
    told = {"host": f"host-{name}", "user": "job", "outward": f"10.0.0.{name[-1]}"}
    return MemberAtWork(1, lease(name, **held), node(name), told)


def instance() -> Instance:
    return Instance.model_construct(instance_id=7, project="vision")


def test_a_worker_offers_what_its_lease_holds_and_no_more() -> None:
    worker = see_worker("worker-0", seen("n1", devices=(1, 3), milli=2_000), address="10.0.0.1")
    assert (worker.cpus, worker.mem_mib) == (2, 3 * 1_024)
    assert worker.gpus == (HeldGpu("hopper", 1), HeldGpu("hopper", 3))
    assert worker.features == ("east", "n1", "nvlink-0")


def test_part_of_a_gpu_is_refused() -> None:
    with pytest.raises(InvalidValue, match="whole GPUs"):
        see_worker("worker-0", seen("n1", devices=(1,), milli=500), address="10.0.0.1")


def test_members_of_one_machine_meet_at_loopback_and_others_where_they_say() -> None:
    near = see_cluster(instance(), {CONTROLLER: seen("n1"), "worker-0": seen("n1")}, wish=WISH)
    assert {near.address, *(each.address for each in near.workers)} == {"127.0.0.1"}
    far = see_cluster(instance(), {CONTROLLER: seen("n1"), "worker-0": seen("n2")}, wish=WISH)
    assert [far.address, *(each.address for each in far.workers)] == ["10.0.0.1", "10.0.0.2"]
    known = seen("n2")
    known.node.labels.append("address=10.9.9.9")
    told = see_cluster(instance(), {CONTROLLER: seen("n1"), "worker-0": known}, wish=WISH)
    assert told.workers[0].address == "10.9.9.9", "the platform knows better"


def test_notes_are_read_as_they_were_written_and_odd_ones_are_dropped() -> None:
    members = {"controller": MemberNote(1, "a"), "worker-0": MemberNote(2, "b", is_proved=True)}
    notes = ClusterNotes(members, "x", {"port": 21_000})
    assert ClusterNotes.read(notes.spell()) == notes
    odd = {"members": {"worker-0": [1]}, "base": 3, "parameters": "x"}
    assert ClusterNotes.read(odd) == ClusterNotes()
    assert ClusterNotes.read({"members": 7}) == ClusterNotes()


def test_a_key_is_made_once_kept_private_rotated_and_forgotten(tmp_path: Path) -> None:
    keys = ClusterKeys(tmp_path / "keys")
    first = keys.munge_key(7)
    assert len(first) == 128
    assert ClusterKeys(tmp_path / "keys").munge_key(7) == first
    assert keys.munge_key(8) != first
    for path in (tmp_path / "keys").iterdir():
        assert path.stat().st_mode & 0o777 == 0o600
        assert len(base64.b64decode(path.read_text())) == 128
    second = keys.munge_key(7, 2)
    assert second not in (first, keys.munge_key(78, 2))
    keys.forget(7, but=2)
    assert keys.munge_key(7, 2) == second
    assert keys.munge_key(7) != first, "what was before is gone"
    for number in (7, 8):
        keys.forget(number)
    assert [path.name for path in (tmp_path / "keys").iterdir()] == ["instance-78-key-2.munge"]
    keys.forget(78)
    assert list((tmp_path / "keys").iterdir()) == []
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o700


def test_the_manifest_names_the_program_and_the_size_of_a_worker() -> None:
    text = manifest_of(SlurmOffer(cpus=8, gpus="nvidia_hopper:4"))
    assert digest_of(pack_member()) in text
    assert '"generation": "nvidia_hopper"' in text
    assert len(BOOTSTRAP) <= 1_000
    with pytest.raises(BailiwickError):
        manifest_of(SlurmOffer(gpus="four"))
