"""Holds what `make dist` promises of the archive and the wheels, by looking into them."""

from __future__ import annotations

import email
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.metadata import Metadata
from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

import hatch_build
from tests.package.building import ROOT, Dist, run

BESIDE_THE_PACKAGE = {"hatch_build.py", "pyproject.toml", "README.md", "LICENSE", ".gitignore"}


def _ours() -> set[str]:
    """Every file of the package that git knows or would know, and the web as it was built."""
    git = ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "src/bailiwick"]
    names = subprocess.run(git, capture_output=True, text=True, check=True).stdout.splitlines()
    built = (ROOT / "src/bailiwick/server/web").rglob("*")
    web = {path.relative_to(ROOT).as_posix() for path in built if path.is_file()}
    return {name for name in names if (ROOT / name).exists()} | web


def _names(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


def _modules(names: set[str]) -> set[str]:
    """What a wheel holds beside its own description."""
    return {name for name in names if ".dist-info/" not in name}


def _expected() -> set[str]:
    """Everything but the C sources, from the package's folder on."""
    names = {name.removeprefix("src/") for name in _ours()}
    return {name for name in names if "/compiled/" not in name}


def _text(wheel: Path, name: str) -> str:
    (path,) = (each for each in _names(wheel) if each.endswith(f".dist-info/{name}"))
    return zipfile.ZipFile(wheel).read(path).decode()


def test_the_archive_holds_what_a_wheel_is_made_from_and_nothing_else(dist: Dist) -> None:
    with tarfile.open(dist.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names == _ours() | BESIDE_THE_PACKAGE | {"PKG-INFO"}


def test_the_pure_wheel_holds_the_whole_package_and_nothing_else(dist: Dist) -> None:
    held = _modules(_names(dist.pure))
    assert held == _expected()
    assert "bailiwick/py.typed" in held
    assert "bailiwick/store/migrations/versions/v0001_journal.py" in held


def test_the_wheel_for_this_platform_adds_the_compiled_core_and_nothing_else(dist: Dist) -> None:
    if dist.platform is None:
        pytest.skip(f"no compiler works here: {dist.said}")
    suffix = f"_compiled{os.path.basename(hatch_build.module_of(ROOT, hatch_build.ENGINE))[9:]}"
    cores = {f"{folder.relative_to('src')}/{suffix}" for folder in hatch_build.FOLDERS}
    assert _modules(_names(dist.platform)) == _expected() | cores


def test_each_wheel_says_what_it_is_for(dist: Dist) -> None:
    tags = {path: parse_wheel_filename(path.name)[3] for path in (dist.pure, dist.best)}
    assert {str(tag) for tag in tags[dist.pure]} == {"py3-none-any"}
    assert email.message_from_string(_text(dist.pure, "WHEEL"))["Root-Is-Purelib"] == "true"
    if dist.platform is not None:
        (tag,) = tags[dist.platform]
        assert tag in set(sys_tags())
        assert tag.interpreter == tag.abi == f"cp{sys.version_info[0]}{sys.version_info[1]}"
        assert (
            email.message_from_string(_text(dist.platform, "WHEEL"))["Root-Is-Purelib"] == "false"
        )


def test_the_description_is_one_that_an_index_accepts(dist: Dist) -> None:
    found = Metadata.from_email(_text(dist.best, "METADATA"), validate=True)
    assert found.description_content_type == "text/markdown"
    assert found.description is not None
    assert found.description.strip() == (ROOT / "README.md").read_text(encoding="utf-8").strip()
    assert found.license_expression == "Apache-2.0"
    assert {"server", "agent", "capability"} <= set(found.provides_extra or [])


def test_the_command_is_installed(dist: Dist) -> None:
    assert "bailiwick = bailiwick.cli.main:main" in _text(dist.pure, "entry_points.txt")


def test_the_same_sources_give_the_same_bytes_wherever_they_lie(dist: Dist, tmp_path: Path) -> None:
    with tarfile.open(dist.sdist) as archive:
        archive.extractall(tmp_path)
        time_s = str(int(max(member.mtime for member in archive.getmembers())))
    (root,) = tmp_path.iterdir()
    for path in root.rglob("*.py"):
        os.utime(path, (1, 1))
        path.chmod(0o600)
    environment = {**os.environ, "BAILIWICK_PURE": "1", "SOURCE_DATE_EPOCH": time_s}
    out = tmp_path / "out"
    again = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    assert run(again, cwd=root, env=environment).returncode == 0
    assert (out / dist.pure.name).read_bytes() == dist.pure.read_bytes()


def test_files_bear_the_time_of_the_commit(dist: Dist) -> None:
    git = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    told = subprocess.run(git, capture_output=True, text=True, check=True).stdout
    with tarfile.open(dist.sdist) as archive:
        assert {int(member.mtime) for member in archive.getmembers()} == {int(told)}


# --- what goes wrong ---------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of all that is built from, without its history, and an older build in dist/."""
    root = tmp_path / "a tree"
    for name in sorted(_ours() | BESIDE_THE_PACKAGE | {"setup/dist.py"}):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    (root / "dist").mkdir()
    (root / "dist" / OLDER).touch()
    return root


OLDER = "bailiwick-0.0.9-py3-none-any.whl"


def _build(tree: Path, *, time_s: str, python: tuple[str, ...] = ()) -> tuple[int, str, list[str]]:
    """Build the copy; how it ended, what it complained of and what is in dist/."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": time_s}
    done = run([sys.executable, *python, str(tree / "setup/dist.py")], env=environment)
    return done.returncode, done.stderr, [path.name for path in (tree / "dist").iterdir()]


def test_a_build_that_fails_leaves_what_was_there(tree: Path) -> None:
    if not shutil.which("cc"):
        pytest.skip("no C compiler here")
    (tree / hatch_build.ENGINE / "compiled" / "arena.c").write_text("not C at all")
    code, told, left = _build(tree, time_s="1700000000")
    assert (code, left) == (1, [OLDER])
    assert "cannot build the package: hatchling build --target wheel failed" in told
    assert "arena.c:1:1: error" in told


def test_without_a_history_the_time_must_be_told(tree: Path) -> None:
    told = "no git history to take the time from: set SOURCE_DATE_EPOCH"
    assert _build(tree, time_s="") == (1, f"cannot build the package: {told}\n", [OLDER])


def test_without_hatchling_one_line_says_so(tree: Path) -> None:
    code, told, left = _build(tree, time_s="1700000000", python=("-I", "-S"))
    assert (code, told.count("\n"), left) == (1, 1, [OLDER])
    assert "hatchling is not installed for this Python" in told


def test_a_build_replaces_older_ones(tree: Path) -> None:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "CC": "false"}
    done = run([sys.executable, str(tree / "setup/dist.py")], env=environment)
    assert done.returncode == 0
    assert "so there is none for this platform: the pure one serves it" in done.stdout
    names = sorted(path.name for path in (tree / "dist").iterdir())
    assert [name[-7:] for name in names] == ["any.whl", ".tar.gz"]
    assert OLDER not in names
