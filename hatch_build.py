"""Builds the compiled twins (scheduler, meter): the C files of each folder into one module.

Rules:

- No compiler or no Python.h is not a fault: one line says that the pure-Python twin is used, and
  why.
- A compiler that refuses our sources is a fault, and the build stops. BAILIWICK_PURE=1 asks for the
  pure-Python twin outright.
- What lies beside the sources is current or absent: a stale module is never left to be imported.

Hatchling calls it for wheels and editable installs; `python hatch_build.py` builds in place.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ENGINE = Path("src/bailiwick/scheduler/engine")
METER = Path("src/bailiwick/metering")
FLAGS = ["-O3", "-fPIC", "-shared", "-std=c11", "-Wall", "-Wextra", "-fvisibility=hidden"]


class NotCompiled(Exception):
    """The pure-Python twin will be used; the message says why."""


class CompileFailed(Exception):
    """The compiler is there and refused the sources."""


class CompiledTwinHook(BuildHookInterface):  # type: ignore[type-arg]
    """Hatchling's entry: builds in place, then tells the wheel about the file."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile; a wheel (not an editable install) that holds the result is for one platform."""
        root = Path(self.root)
        try:
            modules = [build_in_place(root, folder) for folder in (ENGINE, METER)]
        except NotCompiled as reason:
            print(describe(reason), file=sys.stderr)
            return
        if version == "standard":
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            # git ignores the files, so hatchling would leave them out unless they are named.
            names = [f"/{module.relative_to(root).as_posix()}" for module in modules]
            build_data["artifacts"].extend(names)


def build_in_place(root: Path, package: Path = ENGINE) -> Path:
    """Return the path of a package's current extension module, compiling it if need be."""
    module = root / package / f"_compiled{sysconfig.get_config_var('EXT_SUFFIX')}"
    folder = root / package / "compiled"
    sources = sorted(folder.glob("*.c"))
    try:
        if os.environ.get("BAILIWICK_PURE") == "1":
            raise NotCompiled("BAILIWICK_PURE=1")
        if not sources:
            raise NotCompiled(f"no C sources in {package / 'compiled'}")
        # The folder's own time changes when a source is added, removed or renamed.
        inputs = [folder, *sources, *folder.glob("*.h"), Path(__file__)]
        if not is_current(module, inputs=inputs):
            compile_module(module, sources=sources)
    except (NotCompiled, CompileFailed):
        module.unlink(missing_ok=True)
        raise
    return module


def is_current(module: Path, *, inputs: list[Path]) -> bool:
    """Say whether the module exists and is no older than anything it is made from."""
    return module.exists() and all(
        module.stat().st_mtime_ns >= path.stat().st_mtime_ns for path in inputs
    )


def compile_module(module: Path, *, sources: list[Path]) -> None:
    """Run the compiler once over all sources and put the module in place in one step."""
    unfinished = module.with_name(f".{module.name}.{os.getpid()}")
    command = [*find_compiler(), *FLAGS, f"-I{find_headers()}", *map(str, sources)]
    try:
        if subprocess.run([*command, "-o", str(unfinished)], check=False).returncode != 0:
            raise CompileFailed(f"failed: {shlex.join(command)}")
        # Replacing, not rewriting: a process that has the old module loaded keeps its own copy.
        unfinished.replace(module)
    finally:
        unfinished.unlink(missing_ok=True)


def find_compiler() -> list[str]:
    """Return the command of the first compiler that is there: $CC, the interpreter's own, cc."""
    wanted = [os.environ.get("CC"), sysconfig.get_config_var("CC"), "cc"]
    for command in filter(None, wanted):
        if shutil.which(shlex.split(command)[0]):
            return shlex.split(command)
    raise NotCompiled("no C compiler found")


def find_headers() -> Path:
    """Return the folder of the running interpreter's Python.h."""
    folder = Path(sysconfig.get_path("include"))
    if not (folder / "Python.h").exists():
        raise NotCompiled(f"no Python.h for Python {sysconfig.get_python_version()}")
    return folder


def describe(reason: NotCompiled) -> str:
    """Return the one line a person reads when nothing was compiled."""
    return f"bailiwick: the pure-Python twins of the compiled cores will be used ({reason})"


def main() -> int:
    """Build in place, from wherever it is called."""
    try:
        for folder in (ENGINE, METER):
            build_in_place(Path(__file__).resolve().parent, folder)
    except NotCompiled as reason:
        print(describe(reason))
    except CompileFailed as fault:
        print(f"bailiwick: {fault}\nBAILIWICK_PURE=1 does without it.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
