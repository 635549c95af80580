"""Resolves pyproject.toml into the hashed lock files under requirements/: `make lock`.

Rules:

- Versions already locked stay unless pyproject.toml forbids them; ``--upgrade`` moves all of them.
- A later file is held to the versions of the earlier ones, so that .venv can grow from one to the
  next. The files are for every platform and every Python we support, and name no address.
- The first lines say how much a machine with nothing downloads, for the person who waits for it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import parse_wheel_filename

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ROOT / "requirements"
PYTHON = (3, 11)
MACHINES = ("x86_64", "aarch64")
FILES = {
    "runtime": [],
    "server": ["--extra", "server"],
    "dev": ["--extra", "dev"],
    "tpm2": ["--extra", "tpm2"],
    "ray": ["--extra", "ray"],
}
"""Of the project itself, each held to the one before."""
GROUPS = {
    "build": "dev",
    "uv": None,
    "fuzz": None,
    "fuzz-build": "dev",
    "docs": "dev",
    "openapi-client": None,
    "node": None,
    "tpm2-build": "tpm2",
}
"""Of a dependency group, and which file it is held to."""
HEAD_TRIES = 8


def main(arguments: list[str]) -> int:
    """Write every lock file."""
    before = None
    for name, what in FILES.items():
        held = ["--constraints", lock_of(before)] if before else []
        write(name, [*arguments, "pyproject.toml", *what, *held])
        before = name
    for name, holder in GROUPS.items():
        held = ["--constraints", lock_of(holder)] if holder else []
        write(name, [*arguments, "--group", name, *held])
    return 0


def lock_of(name: str) -> str:
    return f"requirements/{name}.txt"


def write(name: str, what: list[str]) -> None:
    """One lock file, with its size on top."""
    print(f"==> {lock_of(name)}", flush=True)
    path = ROOT / lock_of(name)
    compile_to(path, what)
    path.write_text(f"# download: {sizes(what)}\n{path.read_text()}")


def compile_to(path: Path, what: list[str], *, is_plain: bool = True) -> None:
    """Let uv resolve."""
    form = ["--generate-hashes", "--custom-compile-command", "make lock"] if is_plain else []
    command = ["uv", "pip", "compile", "-q", "--universal", "--python-version", "3.11"]
    command += ["--no-emit-index-url", *form, "--output-file", str(path), *what]
    subprocess.run(command, cwd=ROOT, check=True)


def sizes(what: list[str]) -> str:
    """What each kind of machine downloads. Not every index tells sizes, so each file is asked."""
    described = ROOT / "build" / "pylock.toml"
    described.parent.mkdir(exist_ok=True)
    described.unlink(missing_ok=True)
    compile_to(described, [each for each in what if each != "--upgrade"], is_plain=False)
    packages = tomllib.loads(described.read_text())["packages"]
    told = []
    for machine in MACHINES:
        best = [choose_wheel(package, machine) for package in packages if is_for_linux(package)]
        with ThreadPoolExecutor(HEAD_TRIES) as pool:
            total = sum(pool.map(size_of, filter(None, best)))
        told.append(f"{machine} {total / 1e6:.1f} MB")
    return ", ".join(told)


def is_for_linux(package: dict[str, str]) -> bool:
    """Whether a machine of ours needs it at all; uv writes down for which platforms it is."""
    return not re.search(
        r"(sys_platform|os_name) == '(win32|nt|darwin|cygwin|emscripten)'",
        package.get("marker", ""),
    )


def tags_of(machine: str) -> list[Tag]:
    """What such a machine accepts, best first."""
    platforms = [f"manylinux_2_{minor}_{machine}" for minor in range(36, 16, -1)]
    platforms += [f"manylinux2014_{machine}", f"linux_{machine}"]
    return [
        *cpython_tags(PYTHON, platforms=platforms),
        *compatible_tags(PYTHON, "cp311", platforms),
    ]


def choose_wheel(package: dict[str, object], machine: str) -> str | None:
    """The address of the wheel that such a machine would take."""
    wheels = {wheel["url"].rsplit("/", 1)[1]: wheel["url"] for wheel in package.get("wheels", [])}
    offered = {name: parse_wheel_filename(name.replace("%2B", "+"))[3] for name in wheels}
    for tag in tags_of(machine):
        for name, tags in offered.items():
            if tag in tags:
                return wheels[name]
    return None


def size_of(address: str) -> int:
    """How long a file is."""
    with urllib.request.urlopen(urllib.request.Request(address, method="HEAD"), timeout=60) as head:
        return int(head.headers["content-length"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
