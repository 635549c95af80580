"""The lock files: a wheel of every package for every machine we promise, hashes, no addresses."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
MACHINES = ("x86_64", "aarch64")
PYTHONS = ("3.11", "3.12", "3.13")

WITHOUT_A_WHEEL = {
    "tpm2.txt": {"tpm2-pytss": "has none at all: built from source, on machines with libtss2-dev"},
    "fuzz.txt": {"atheris": "has one for x86_64; elsewhere built with clang (setup/test_tools.py)"},
}
"""What has no wheel somewhere, and what is done about it. `make run` needs none of these."""
PYTHONS_OF = {"nagini.txt": ("3.11",)}
"""Nagini knows Python 3.11 at most, and lives in an environment of its own."""


def versions(lock: Path) -> dict[str, str]:
    """Each package's version."""
    return dict(re.findall(r"^([\w.-]+)==([^\s;]+)", lock.read_text(), re.MULTILINE))


def resolve(lock: Path, machine: str, *, python: str) -> subprocess.CompletedProcess[str]:
    """Have uv choose wheels for such a machine, by the lock's hashes, and install nothing."""
    uv = ROOT / ".venv" / "bin" / "uv"
    command = [str(uv) if uv.exists() else shutil.which("uv") or "uv", "pip", "install"]
    command += ["--dry-run", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    command += ["--python-platform", f"{machine}-manylinux_2_28", "--python-version", python]
    for name in WITHOUT_A_WHEEL.get(lock.name, {}):
        command += ["--no-binary", name]
    command += ["--no-config", "--target", "build/nowhere", "-r", str(lock)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_every_locked_package_has_a_wheel(lock: Path, machine: str) -> None:
    for python in PYTHONS_OF.get(lock.name, PYTHONS):
        done = resolve(lock, machine, python=python)
        assert done.returncode == 0, f"{lock.name}, {machine}, Python {python}: {done.stderr}"


def test_a_package_without_a_wheel_for_arm64_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(f"{__name__}.WITHOUT_A_WHEEL", {})
    lock = ROOT / "requirements" / "fuzz.txt"
    assert resolve(lock, "x86_64", python="3.11").returncode == 0
    refused = resolve(lock, "aarch64", python="3.11")
    assert refused.returncode != 0
    assert "atheris" in refused.stderr


def test_the_environment_for_developing_grows_from_the_one_for_running() -> None:
    run, dev = (versions(ROOT / "requirements" / name) for name in ("server.txt", "dev.txt"))
    assert {name: dev.get(name) for name in run} == run


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_a_lock_file_has_hashes_and_names_no_address(lock: Path) -> None:
    text = lock.read_text()
    assert versions(lock)
    for block in re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]:
        assert "--hash=sha256:" in block, block.splitlines()[0]
    assert "://" not in text
