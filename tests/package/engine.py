"""A container engine with a store of its own, and a base image made of this machine's own files.

Rules:

- No registry is asked. The base is this very Python with the libraries it needs and a shell: what
  the image files name (a slim Debian with Python) in the few parts that our build uses.
- Images and containers lie in a folder of the test's; at the end nothing of them is left.
- An engine that cannot build or run here is a reason to skip, told in the engine's own words.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.package.building import run
from tests.support.tools import need

BASE = "localhost/bailiwick-test-base"
ALWAYS_THERE = ("libgcc_s", "libstdc++", "libpthread", "libdl", "librt", "libutil", "libresolv")
"""Libraries that wheels for Linux may expect of every system."""
PROGRAMS = ("sh", "mkdir", "chown", "chmod", "cat", "id")
LEFT_OUT = {"test", "tests", "idlelib", "tkinter", "turtledemo", "__pycache__", "site-packages"}
LEFT_OUT |= {"dist-packages", "lib2to3"}
WAYS_TO_RUN: tuple[tuple[list[str], list[str]], ...] = (
    ([], []),
    # A host that may not raise its limits, or whose control groups are of both versions at once.
    (["--runtime", "runc"], ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000"]),
)


class Engine:
    """Podman, on a store in one folder."""

    def __init__(self, folder: Path) -> None:
        need("podman")
        self._podman, self._folder = "podman", folder
        self._globals: list[str] = []
        self._options: list[str] = []
        told = self.call("info")
        if told.returncode != 0:
            pytest.skip(f"podman does not work here: {_last_line(told)}")

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        """One command of the engine."""
        store = ["--root", str(self._folder / "root"), "--runroot", str(self._folder / "run")]
        files = ["--cgroup-manager", "cgroupfs", "--events-backend", "file"]
        return run([self._podman, *store, *files, *self._globals, *words])

    def load_base(self) -> None:
        """Make the base image."""
        archive = self._folder / "base.tar"
        write_base(archive)
        # What pip needs to know here, and nothing of it in the image files.
        settings = [f"ENV {key}={value}" for key, value in _pip_settings().items()]
        changes = [word for setting in settings for word in ("--change", setting)]
        done = self.call("import", *changes, str(archive), BASE)
        assert done.returncode == 0, done.stderr
        archive.unlink()

    def build(self, context: Path, file: Path, *, tag: str) -> subprocess.CompletedProcess[str]:
        """Build an image on the base; no namespaces are needed for its steps."""
        bases = ["--build-arg", f"BASE={BASE}", "--build-arg", f"BUILD_BASE={BASE}"]
        how = ["--isolation", "chroot", "--network", "host", "--format", "docker", "--layers=false"]
        return self.call("build", *how, *bases, "-f", str(file), "-t", tag, str(context))

    def find_way_to_run(self) -> None:
        """See how containers can be run here; where they cannot, the test ends here."""
        told = ""
        for before, options in WAYS_TO_RUN:
            if before and shutil.which(before[1], path=f"/usr/sbin:{os.environ['PATH']}") is None:
                told += f"; {before[1]} is not installed"
                continue
            self._globals, self._options = before, options
            done = self.run(BASE, "python3", "-c", "print('runs')")
            if done.stdout == "runs\n":
                return
            told += f"; {_last_line(done)}"
        self._globals, self._options = [], []
        pytest.skip(f"podman can build here, but not run: {told[2:]}")

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a container on this machine's network; ``words`` are options, image and command."""
        return self.call("run", "--rm", "--network", "host", *self._options, *words)

    def start(self, name: str, *words: str) -> None:
        """Run one in the background."""
        options = ["--name", name, "--network", "host", *self._options]
        done = self.call("run", "--detach", *options, *words)
        assert done.returncode == 0, done.stderr

    def close(self) -> None:
        """Leave nothing behind."""
        self.call("rm", "--all", "--force", "--time", "0")
        self.call("rmi", "--all", "--force")
        self.call("volume", "rm", "--all", "--force")
        for kept in (self._folder / "root").glob("*"):
            if kept.is_mount():  # the overlay driver's own, which outlives each command
                run(["umount", str(kept)])
        shutil.rmtree(self._folder, ignore_errors=True)


def engine_with_base() -> Iterator[Engine]:
    """An engine with the base loaded, until the test is over."""
    # Short: podman takes at most 50 characters.
    folder = Path(tempfile.mkdtemp(prefix="bw-oci-"))
    try:
        engine = Engine(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    try:
        engine.load_base()
        yield engine
    finally:
        engine.close()


def _pip_settings() -> dict[str, str]:
    names = ("PIP_CERT", "PIP_INDEX_URL", "PIP_PROXY", "PIP_DEFAULT_TIMEOUT")
    return {name: os.environ[name] for name in names if name in os.environ}


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    return ([line for line in done.stderr.splitlines() if line.strip()] or ["no reason given"])[-1]


# --- a root file system from what is here ------------------------------------------------------


def write_base(archive: Path) -> None:
    """Python in /usr/local, a shell and a few programs, their libraries, and certificates."""
    stdlib = Path(sysconfig.get_path("stdlib"))
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    python = Path(os.path.realpath(sys.executable))
    programs = [Path(found) for name in PROGRAMS if (found := shutil.which(name))]
    extensions = [*(stdlib / "lib-dynload").glob("*.so")]
    with tarfile.open(archive, "w") as tar:
        _add_skeleton(tar)
        tar.add(stdlib, f"usr/local/lib/{version}", filter=_without_ballast)
        tar.add(python, f"usr/local/bin/{version}")
        _add_link(tar, "usr/local/bin/python3", to=version)
        for program in programs:
            tar.add(os.path.realpath(program), f"usr/bin/{program.name}")
        for library in sorted(_libraries([python, *programs, *extensions])):
            tar.add(os.path.realpath(library), f"{str(library).lstrip('/')}")
        # Debian keeps the wheels of ensurepip apart from Python.
        for folder in ("/usr/share/python-wheels", "/etc/ssl/certs", "/usr/share/ca-certificates"):
            if Path(folder).is_dir():
                tar.add(folder, folder.lstrip("/"))


def _add_skeleton(tar: tarfile.TarFile) -> None:
    """What every system has; /bin and /lib are where Debian 12 has them."""
    for name in ("usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "usr/local/bin", "etc", "var/lib"):
        _add_folder(tar, name, mode=0o755)
    for name in ("tmp", "var/tmp"):
        _add_folder(tar, name, mode=0o1777)
    for name in ("proc", "sys", "dev", "root", "run", "opt"):
        _add_folder(tar, name, mode=0o755)
    for name in ("bin", "sbin", "lib", "lib64"):
        _add_link(tar, name, to=f"usr/{name}")
    for name, text in {"passwd": "root:x:0:0::/root:/bin/sh\n", "group": "root:x:0:\n"}.items():
        _add_text(tar, f"etc/{name}", text)


def _add_folder(tar: tarfile.TarFile, name: str, *, mode: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, mode
    tar.addfile(entry)


def _add_link(tar: tarfile.TarFile, name: str, *, to: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = tarfile.SYMTYPE, to
    tar.addfile(entry)


def _add_text(tar: tarfile.TarFile, name: str, text: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(text), 0o644
    tar.addfile(entry, io.BytesIO(text.encode()))


def _without_ballast(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    name = Path(entry.name).name
    if name in LEFT_OUT or name.startswith("config-") or name.endswith(".a"):
        return None
    entry.uid = entry.gid = 0
    return entry


def _libraries(binaries: list[Path]) -> set[Path]:
    """Every shared library that these need, and the loader, where the loader looks for them."""
    found: set[Path] = set()
    for at in range(0, len(binaries), 50):
        told = subprocess.run(
            ["ldd", *map(str, binaries[at : at + 50])], capture_output=True, text=True, check=False
        )
        for line in told.stdout.splitlines():
            path = line.partition("=>")[2].strip() or line.strip()
            name = path.partition(" (0x")[0]
            if name.startswith("/") and not name.endswith(":"):
                found.add(_in_usr(Path(name)))
    beside_libc = next(path.parent for path in found if path.name.startswith("libc.so"))
    for name in ALWAYS_THERE:
        found |= set(beside_libc.glob(f"{name}.so.[0-9]*"))
    return found


def _in_usr(path: Path) -> Path:
    """The name without the links /lib and /lib64, which an archive cannot add files below."""
    first = path.parts[1]
    return Path("/usr", *path.parts[1:]) if first in ("lib", "lib64") else path
