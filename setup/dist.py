"""Builds what people install: `make dist` puts a source archive and two wheels into dist/.

    .venv/bin/python setup/dist.py [FOLDER]

Rules:

- The wheels are built from the archive, unpacked elsewhere: what is missing from it is noticed
  here, and this folder's own compiled core stays as it is.
- One wheel holds the compiled core and is for this platform and Python; the other is pure and for
  every one. Where no compiler works, the first is left out, and a line says why.
- The same commit gives the same bytes: file times are the commit's.
- All or nothing: FOLDER gets the new files only when all were built, and keeps no older ones.

Needs hatchling (requirements/build.txt); downloads nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class DistFailed(Exception):
    """A step failed; the message says which, and what it printed."""


def main(arguments: list[str]) -> int:
    """Build everything, and say what was built."""
    if len(arguments) > 1 or any(word.startswith("-") for word in arguments):
        print("usage: dist.py [FOLDER]", file=sys.stderr)
        return 2
    folder = Path(arguments[0] if arguments else ROOT / "dist").resolve()
    try:
        if find_spec("hatchling") is None:
            raise DistFailed("hatchling is not installed for this Python; `make setup` does that")
        with tempfile.TemporaryDirectory(prefix="bailiwick-dist-") as scratch:
            made = build_all(Path(scratch))
            put_in_place(made, folder)
    except (DistFailed, OSError) as error:
        print(f"cannot build the package: {error}", file=sys.stderr)
        return 1
    return 0


def build_all(scratch: Path) -> list[Path]:
    """The archive and the wheels, in a folder of their own."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": commit_time()}
    environment.pop("BAILIWICK_PURE", None)
    out = scratch / "out"
    say("building the source archive")
    sdist = hatchling("sdist", ROOT, out=out, environment=environment)
    say("building the pure wheel from it")
    pure = hatchling(
        "wheel",
        unpack(sdist, scratch / "pure"),
        out=out,
        environment=environment | {"BAILIWICK_PURE": "1"},
    )
    say("building the wheel for this platform from it")
    # In a folder of its own: without a compiler it is the pure one again.
    own = hatchling(
        "wheel",
        unpack(sdist, scratch / "platform"),
        out=scratch / "platform-out",
        environment=environment,
    )
    if own.name == pure.name:
        print("    so there is none for this platform: the pure one serves it", flush=True)
        return [sdist, pure]
    return [sdist, pure, own]


def commit_time() -> str:
    """When the last commit was made, in seconds: the time of every file in the archives."""
    named = os.environ.get("SOURCE_DATE_EPOCH")
    if named:
        return named
    git = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    try:
        told = subprocess.run(git, capture_output=True, text=True, check=False)
    except OSError:
        told = None
    if told is None or told.returncode != 0:
        raise DistFailed("no git history to take the time from: set SOURCE_DATE_EPOCH")
    return told.stdout.strip()


def hatchling(target: str, root: Path, *, out: Path, environment: dict[str, str]) -> Path:
    """Build one target of the project at ``root``; the file it made."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "-d", str(out)]
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise DistFailed(f"hatchling build --target {target} failed\n{done.stdout}{done.stderr}")
    for line in done.stderr.splitlines():
        if line.startswith("==> ") and "BAILIWICK_PURE" not in environment:
            print(f"    {line[4:]}", flush=True)  # why there is no compiled core
    suffix = ".tar.gz" if target == "sdist" else ".whl"
    return max(out.glob(f"*{suffix}"), key=lambda path: path.stat().st_mtime_ns)


def unpack(sdist: Path, folder: Path) -> Path:
    """The one folder in the archive, unpacked here."""
    with tarfile.open(sdist) as archive:
        if hasattr(tarfile, "data_filter"):  # since Python 3.11.4; Debian 12 has 3.11.2
            archive.extraction_filter = tarfile.data_filter
        archive.extractall(folder)
    (root,) = folder.iterdir()
    return root


def put_in_place(made: list[Path], folder: Path) -> None:
    """Have the folder hold these files of ours, and no others."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("bailiwick-*"):
        if old.name.endswith((".whl", ".tar.gz")):
            old.unlink()
    for path in made:
        shutil.copyfile(path, folder / path.name)
        print(f"    {folder / path.name} ({path.stat().st_size / 1e6:.1f} MB)", flush=True)


def say(what: str) -> None:
    """One line for the person who waits."""
    print(f"==> {what}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
