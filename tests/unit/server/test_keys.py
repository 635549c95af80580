"""Key files: made once, whole, for every replica that starts."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bailiwick.server.keys import load_key, load_or_create_key
from bailiwick.vocab.errors import InvalidValue


def test_replicas_that_start_together_share_one_key_and_never_see_half_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data" / "capability.key"
    seen: list[bytes] = []

    def slowly(handle: int) -> None:
        # What another replica finds while this one's key is on its way to the disk.
        seen.append(path.read_bytes() if path.exists() else b"none")

    monkeypatch.setattr(os, "fsync", slowly)
    with ThreadPoolExecutor(8) as replicas:
        keys = list(
            replicas.map(lambda n: load_or_create_key(path, lambda: b"%064d" % n), range(8))
        )
    assert len(set(keys)) == 1
    assert set(seen) <= {b"none", keys[0]}
    assert b"none" in seen
    assert os.listdir(path.parent) == [path.name]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_key_that_is_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "authority.pem"
    assert load_or_create_key(path, lambda: b"first") == b"first"
    assert load_or_create_key(path, lambda: b"second") == b"first"


def test_an_empty_key_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "authority.pem"
    path.touch(mode=0o600)
    with pytest.raises(InvalidValue, match="1 to 4096 bytes"):
        load_key(path)
    with pytest.raises(InvalidValue, match="1 to 4096 bytes"):
        load_or_create_key(path, lambda: b"new")
