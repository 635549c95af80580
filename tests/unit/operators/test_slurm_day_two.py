"""What the Slurm app's operator makes of faults, versions and backups; nothing of Slurm runs."""

from __future__ import annotations

import io
import json
import tarfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from bailiwick.operators.slurm.__main__ import pack
from bailiwick.operators.slurm.faults import FREE_BYTES_LEAST, ClusterFault, find_faults
from bailiwick.operators.slurm.manifest import SlurmOffer, manifest_of, pack_member
from bailiwick.operators.slurm.member.accounting_backup import check_brought, write_piece
from bailiwick.operators.slurm.member.home import Home, MemberError
from bailiwick.operators.slurm.questions import MemberPrograms
from bailiwick.operators.slurm.wanted import CONTROLLER, ClusterWish


def told(*daemons: str, down: str = "", key: str = "a", **more: Any) -> dict[str, Any]:
    rows = {each: {"is_up": each != down, "told": "it ended with 1"} for each in daemons}
    return {"daemons": rows, "key": key, "free_bytes": FREE_BYTES_LEAST, "silent": [], **more}


def test_what_causes_the_rest_is_said_first() -> None:
    answers: dict[str, dict[str, Any] | str] = {
        CONTROLLER: told("munged", "slurmctld", down="slurmctld", silent=["worker-1"]),
        "worker-0": told("munged", "slurmd", down="slurmd", free_bytes=FREE_BYTES_LEAST - 1),
        "worker-1": told("munged", "slurmd", key="b"),
        "worker-2": "its machine is gone",
    }
    assert [(each.fault, each.member) for each in find_faults(answers)] == [
        (ClusterFault.MEMBER_AWAY, "worker-2"),
        (ClusterFault.DISK_FULL, "worker-0"),
        (ClusterFault.MUNGE_KEY_DIFFERS, "worker-1"),
        (ClusterFault.CONTROLLER_DEAD, CONTROLLER),
        (ClusterFault.WORKER_DOWN, "worker-0"),
        (ClusterFault.NODE_SILENT, "worker-1"),
    ]
    assert find_faults({CONTROLLER: told("munged"), "worker-0": told("munged", "slurmd")}) == []


def test_a_member_is_brought_the_program_of_its_own_version(tmp_path: Path) -> None:
    for version, program in (("1.0.0", b"one"), ("1.1.0", b"two")):
        pack(tmp_path / version, SlurmOffer(version=version), program=program)
    programs = MemberPrograms.read(b"own", [tmp_path / "1.0.0", tmp_path / "1.1.0"])
    found = [programs.of(version) for version in ("1.0.0", "1.1.0", "1.2.0")]
    assert found == [b"one", b"two", b"own"]


def test_a_version_says_from_which_it_may_be_reached() -> None:
    made = json.loads(manifest_of(SlurmOffer(version="1.1.0", upgrades_from=("1.0.0",))))
    assert made["upgrades"] == [{"from": "1.0.0", "to": "1.1.0"}]
    assert manifest_of(SlurmOffer(), b"other") != manifest_of(SlurmOffer(), pack_member())


def test_parameters_that_were_applied_are_written_down_as_they_were() -> None:
    wish = ClusterWish(port=21_000, storage="/srv/state", key_generation=3)
    assert ClusterWish.parse(wish.spell()) == wish
    assert ClusterWish().spell() == {}


def archive_of(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


def bring(home: Home, data: bytes) -> None:
    write_piece(home, 0, data=data[:10])
    write_piece(home, 10, data=data[10:])
    check_brought(home, sha256(data).hexdigest())


def test_only_a_whole_backup_of_an_accounting_is_restored(tmp_path: Path) -> None:
    home = Home(tmp_path)
    how = json.dumps({"t": "CREATE TABLE `t` (`id` int)"}).encode()
    whole = archive_of({"tables.json": how, "t.rows": b"1\n"})
    bring(home, whole)
    bad = {
        "no gzip": b"x" * 50,
        "cut off": whole[:-20],
        "no tables": archive_of({"t.rows": b"1\n"}),
        "no rows": archive_of({"tables.json": how}),
        "no table": archive_of({"tables.json": b'{"t": "DROP DATABASE slurm"}', "t.rows": b""}),
        "a path": archive_of({"tables.json": how.replace(b'"t"', b'"../t"'), "../t.rows": b""}),
    }
    for data in bad.values():
        with pytest.raises(MemberError, match="no backup of an accounting"):
            bring(home, data)
    write_piece(home, 0, data=whole)
    with pytest.raises(MemberError, match="as a whole"):
        check_brought(home, sha256(b"other").hexdigest())
    with pytest.raises(MemberError, match="begins at 7"):
        write_piece(home, 7, data=b"x")
