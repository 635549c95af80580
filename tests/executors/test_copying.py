"""Streams of tar from somebody hostile, read by either end of a copy."""

from __future__ import annotations

import io
import os
import tarfile
import threading
from pathlib import Path

import pytest

from bailiwick.executors.local import copying


def stream_of(*members: tuple[str, bytes, str]) -> bytes:
    """An archive of members: name, type, and what a link leads to."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, kind, link in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, link
            data = b"evil" if kind == tarfile.REGTYPE else b""
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return file.getvalue()


def put(data: bytes, target: Path, **more: int) -> None:
    source, sink = os.pipe()

    def write() -> None:
        with os.fdopen(sink, "wb") as file:
            try:
                file.write(data)
            except BrokenPipeError:
                return

    writing = threading.Thread(target=write)
    writing.start()
    try:
        copying.copy_in(str(target), source, **more)
    finally:
        os.close(source)
        writing.join()


def test_a_stream_is_read_to_its_end_whatever_fills_it_up(tmp_path: Path) -> None:
    """Else whoever sends it finds nobody there, and takes a copy that is whole for a broken one."""
    source, sink = os.pipe()
    with os.fdopen(sink, "wb") as file:
        file.write(stream_of(("a", tarfile.REGTYPE, "")) + bytes(512))
    try:
        copying.copy_in(str(tmp_path), source)
        assert os.read(source, 1) == b""
    finally:
        os.close(source)
    with pytest.raises(copying.CopyRefused, match="more bytes"):
        put(stream_of(("b", tarfile.REGTYPE, "")) + bytes(20_000), tmp_path, most=9_000)


REG, SYM, LNK, DIR = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE


@pytest.mark.parametrize("is_renamed", [False, True])
@pytest.mark.parametrize(
    "members",
    [
        [("../evil", REG, "")],
        [("a/../../evil", REG, "")],
        [("/tmp/evil-by-name", REG, "")],
        [("a", SYM, "../.."), ("a/evil", REG, "")],
        [("a", SYM, "/etc/passwd")],
        [("a", LNK, "../../secret")],
        [("a", LNK, "/etc/passwd")],
        [("a", tarfile.CHRTYPE, "")],
        [("a", tarfile.FIFOTYPE, "")],
        [("a", DIR, ""), ("a/b", SYM, "../../.."), ("a/b/evil", REG, "")],
    ],
)
def test_nothing_is_written_but_below_the_target(
    tmp_path: Path, members: list[tuple[str, bytes, str]], *, is_renamed: bool
) -> None:
    (tmp_path / "secret").write_text("mine")
    (tmp_path / "deep/target").mkdir(parents=True)
    target = tmp_path / "deep/target"
    with pytest.raises((copying.CopyRefused, tarfile.TarError, OSError)):
        put(stream_of(*members), target / "fresh" if is_renamed else target)
    found = {path for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink()}
    assert found == {tmp_path / "secret"}
    assert (tmp_path / "secret").read_text() == "mine"
    assert not Path("/tmp/evil-by-name").exists()


def test_more_bytes_than_are_permitted_are_refused_either_way(tmp_path: Path) -> None:
    with pytest.raises(copying.CopyRefused):
        put(stream_of(("a", REG, ""), ("b", REG, "")), tmp_path, most=7)
    (tmp_path / "large").write_bytes(b"x" * 100)
    null = os.open(os.devnull, os.O_WRONLY)
    with pytest.raises(copying.CopyRefused):
        copying.copy_out(str(tmp_path / "large"), null, most=99)
    os.close(null)


def test_what_is_no_archive_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(tarfile.TarError):
        put(b"nonsense" * 1000, tmp_path)
