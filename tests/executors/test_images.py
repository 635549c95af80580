"""Images: unpacked as they are meant, within their root, and run as a job's root."""

from __future__ import annotations

import json
import os
import stat
import tarfile
from pathlib import Path

import pytest

from bailiwick.executors.images.layers import ImageBounds
from bailiwick.executors.images.unpacked import Images
from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.executors.local.modes import Apart, JobMode, can_sandbox, image_plan
from bailiwick.executors.port import Exited, JobSpec, fault_of
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.jobs import JobFault
from tests.support.oci_images import archive, folder, layer, link, pack, programs, row
from tests.support.waiting import until


def images_of(
    tmp_path: Path, *layers: bytes, bounds: ImageBounds | None = None, **how: object
) -> Images:
    """A folder of images with one, called ``tools``."""
    pack(tmp_path / "images/tools", *layers, **how)  # type: ignore[arg-type]
    return Images(tmp_path / "images", tmp_path / "cache", bounds=bounds)


def files_of(root: Path) -> dict[str, bytes]:
    """Every file below a folder, but those that each root gets."""
    found = (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    told = {path.relative_to(root).as_posix(): path.read_bytes() for path in found}
    return {name: data for name, data in told.items() if data}


def test_layers_lie_over_each_other_and_whiteouts_take_away(tmp_path: Path) -> None:
    low = layer(
        folder("a"), row("a/old", b"1"), row("a/kept", b"2"), row("b", b"3"), row("c/x", b"4")
    )
    high = layer(row("a/.wh.old"), row("b", b"5"), row("c/new", b"6"), row("c/.wh..wh..opq"))
    root = images_of(tmp_path, low, high).unpacked("tools").root
    assert files_of(root) == {"a/kept": b"2", "b": b"5", "c/new": b"6"}


@pytest.mark.parametrize("zipped", [True, False])
def test_an_archive_and_a_folder_are_the_same_image_unpacked_once(
    tmp_path: Path, zipped: bool
) -> None:
    made = layer(row("hello", b"world"))
    digest = pack(tmp_path / "images/one", made, zipped=zipped, env=("PATH=/bin", "A=1=2", "bad"))
    archive(tmp_path / "images/one", tmp_path / "images/two.tar")
    images = Images(tmp_path / "images", tmp_path / "cache")
    one, two = images.unpacked("one"), images.unpacked(f"two:latest@{digest}")
    assert one == two
    assert one.env == {"PATH": "/bin", "A": "1=2"}
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [digest.partition(":")[2]]


def test_no_set_user_bit_and_no_owner_is_taken_over(tmp_path: Path) -> None:
    rows = (row("su", b"#!", mode=0o6755, uid=0), folder("d", 0o1777), row("secret", b"s", mode=0))
    root = images_of(tmp_path, layer(*rows)).unpacked("tools").root
    modes = {name: stat.S_IMODE((root / name).stat().st_mode) for name in ("su", "d", "secret")}
    assert modes == {"su": 0o755, "d": 0o777, "secret": 0o400}
    assert (root / "su").stat().st_uid == os.getuid()


@pytest.mark.parametrize("target", ["/etc", "../../../../etc", "/usr/../../etc"])
def test_a_link_leads_to_another_place_of_the_image(tmp_path: Path, target: str) -> None:
    made = layer(link("way", target), row("way/planted", b"x"), folder("usr"))
    root = images_of(tmp_path, made).unpacked("tools").root
    assert files_of(root) == {"etc/planted": b"x"}
    assert not Path("/etc/planted").exists()


HOSTILE = {
    "up": [row("../out", b"x")],
    "deep": [row("a/../../out", b"x")],
    "absolute": [row("/out", b"x")],
    "device": [row("null", type=tarfile.CHRTYPE, devmajor=1, devminor=3)],
    "block": [row("disk", type=tarfile.BLKTYPE, devmajor=8)],
    "pipe": [row("pipe", type=tarfile.FIFOTYPE)],
    "hard link out": [row("l", type=tarfile.LNKTYPE, linkname="../../index.json")],
    "hard link to a link": [
        link("s", "/etc/passwd"),
        row("l", type=tarfile.LNKTYPE, linkname="s"),
    ],
    "circle": [link("a", "b"), link("b", "a"), row("a/x", b"x")],
    "file as folder": [row("a", b"x"), row("a/b", b"x")],
    "whiteout of nothing": [row(".wh.")],
    "whiteout of the parent": [row("a/.wh...")],
    "long name": [row("x" * 300, b"x")],
}


@pytest.mark.parametrize("rows", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_layer_is_refused_and_nothing_is_left(
    tmp_path: Path, rows: list[tuple[tarfile.TarInfo, bytes]]
) -> None:
    images = images_of(tmp_path, layer(*rows))
    before = sorted(path for path in tmp_path.rglob("*"))
    with pytest.raises(InvalidValue) as refused:
        images.unpacked("tools")
    assert fault_of(refused.value) is JobFault.IMAGE_NOT_USABLE
    cache = tmp_path / "cache"
    assert sorted(path for path in tmp_path.rglob("*") if path != cache) == before


def test_what_it_unpacks_to_is_bounded_and_not_what_it_says(tmp_path: Path) -> None:
    bomb = layer(row("zeros", bytes(5_000_000)))
    assert len(bomb) > 1_000_000
    few = ImageBounds(bytes_max=1_000_000)
    with pytest.raises(InvalidValue, match="at most 1000000 bytes"):
        images_of(tmp_path / "a", bomb, bounds=few).unpacked("tools")
    many = layer(*(row(f"f{number}") for number in range(50)))
    with pytest.raises(InvalidValue, match="at most 20 files"):
        images_of(tmp_path / "b", many, bounds=ImageBounds(entries_max=20)).unpacked("tools")


def test_a_blob_that_is_not_what_its_digest_says_is_refused(tmp_path: Path) -> None:
    images = images_of(tmp_path, layer(row("x", b"x")))
    index = json.loads((tmp_path / "images/tools/index.json").read_text())
    blobs = tmp_path / "images/tools/blobs/sha256"
    manifest = blobs / index["manifests"][0]["digest"].partition(":")[2]
    changed = json.loads(manifest.read_text())["layers"][0]["digest"].partition(":")[2]
    (blobs / changed).write_bytes(b"other")
    with pytest.raises(InvalidValue, match="a blob that is what"):
        images.unpacked("tools")


@pytest.mark.parametrize(
    "name", ["../tools", "/etc", "no-such", "tools:other", "tools@sha256:" + "0" * 64, "A B", ""]
)
def test_a_name_that_means_no_image_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidValue):
        images_of(tmp_path, layer(row("x", b"x"))).unpacked(name)


def test_a_layer_packed_by_zstd_is_refused_with_what_to_do(tmp_path: Path) -> None:
    made = layer(row("x", b"x"))
    pack(tmp_path / "images/tools", made, media="application/vnd.oci.image.layer.v1.tar+zstd")
    images = Images(tmp_path / "images", tmp_path / "cache")
    with pytest.raises(InvalidValue, match="not by zstd") as refused:
        images.unpacked("tools")
    assert fault_of(refused.value) is JobFault.IMAGE_NOT_USABLE


def test_nothing_is_put_through_a_link_of_the_image(tmp_path: Path) -> None:
    made = layer(link("var", "/etc"), folder("opt"), link("opt/jobs", "/etc"), row("opt/x", b"x"))
    root = images_of(tmp_path, made).unpacked("tools").root
    own = [(tmp_path, Path("/var/lib/jobs/1/work"), True), (tmp_path, Path("/opt/jobs/1"), True)]
    plan = image_plan(root, own, tmp=tmp_path, apart=Apart(), devices=())
    assert not any(path in ("/var", "/opt/jobs") for path, _ in plan["links"])
    assert "/opt" in plan["empty"]
    assert (str(root / "opt/x"), "/opt/x", False) in plan["shown"]
    assert not any(path == "/opt" for _, path, _ in plan["shown"])


def test_only_a_sandbox_runs_images(tmp_path: Path) -> None:
    executor = LocalExecutor(tmp_path / "jobs", apart=Apart(mode=JobMode.TRUSTED))
    with pytest.raises(InvalidValue, match="sandbox") as refused:
        executor.start(JobSpec(1, argv=("true",), token="t", image="tools"))
    assert fault_of(refused.value) is JobFault.IMAGE_NOT_USABLE


def test_a_job_runs_in_its_image_and_sees_nothing_of_the_machine(tmp_path: Path) -> None:
    if not can_sandbox():
        pytest.skip("this machine and user cannot have a sandbox")
    rows = programs("sh", "ls")
    marks = [row("etc/mark", b"of the image\n"), folder("var/tmp"), folder("root")]
    pack(tmp_path / "images/tools", layer(*rows, *marks), env=("PATH=/bin", "COLOUR=blue"))
    executor = LocalExecutor(tmp_path / "jobs", apart=Apart(mode=JobMode.SANDBOX))
    text = (
        "read mark < /etc/mark; echo $mark $COLOUR; ls /; ls /usr /home 2>/dev/null;"
        "echo mine > made && read mine < made && echo $mine; echo no > /etc/new || echo read-only"
    )
    argv = ("sh", "-c", text)
    executor.start(JobSpec(7, argv=argv, token="t", image="tools", owner="lab/p"))
    try:
        ended = until(lambda: isinstance(executor.status(7), Exited), "the job is over")
        assert ended
        told = executor.read_output(7, 0).data.decode()
    finally:
        executor.tear_down(7)
    assert told.startswith("of the image blue\n")
    assert "mine\n" in told
    assert "read-only" in told
    assert "bailiwick" not in told
    status = executor.status(7)
    assert isinstance(status, Exited)
    assert status.code == 0
