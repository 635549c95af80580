"""Builds the compiled twins (scheduler, meter): the C files of each folder into one module.

Rules:

- A machine that cannot compile is not a fault: no compiler, no Python.h, no C library, a compiler
  that cannot build even an empty module. One line says that the pure-Python twin is used, and why.
- A compiler that works and refuses our sources is a fault, and the build stops. BAILIWICK_PURE=1
  asks for the pure-Python twin outright.
- What lies beside the sources is current or absent: a stale module is never left to be imported,
  and one that does not load is never put there.

Hatchling calls it for wheels and editable installs; `python hatch_build.py` builds in place, and
needs nothing but the standard library.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
else:
    try:
        from hatchling.builders.hooks.plugin.interface import BuildHookInterface
    except ModuleNotFoundError:  # nobody but hatchling asks for the class
        BuildHookInterface = object

ENGINE = Path("src/bailiwick/scheduler/engine")
METER = Path("src/bailiwick/metering")
FOLDERS = (ENGINE, METER)
FLAGS = ["-O3", "-fPIC", "-std=c11", "-Wall", "-Wextra", "-fvisibility=hidden"]
COMPILE_S_MAX = 600
"""A compiler that takes longer hangs: on a slow machine ours needs half a minute."""

EMPTY_MODULE = """
#include <stdlib.h>
#include <string.h>
#include <Python.h>
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_compiled", .m_size = -1};
PyMODINIT_FUNC PyInit__compiled(void) { return PyModule_Create(&module); }
"""
LOAD = """
import importlib.machinery, importlib.util, sys
loader = importlib.machinery.ExtensionFileLoader("_compiled", sys.argv[1])
importlib.util.module_from_spec(importlib.util.spec_from_loader("_compiled", loader))
"""


class NotCompiled(Exception):
    """The pure-Python twin will be used; the message says why."""


class CompileFailed(Exception):
    """The compiler works and refused the sources, or what it made of them does not load."""


class CompiledTwinHook(BuildHookInterface):  # type: ignore[type-arg]
    """Hatchling's entry: builds in place, then tells the wheel about the file."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile; a wheel (not an editable install) that holds the result is for one platform."""
        root = Path(self.root)
        try:
            modules = [build_in_place(root, folder) for folder in FOLDERS]
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
    module = module_of(root, package)
    try:
        if os.environ.get("BAILIWICK_PURE") == "1":
            raise NotCompiled("BAILIWICK_PURE=1")
        sources = sorted((root / package / "compiled").glob("*.c"))
        if not sources:
            raise NotCompiled(f"no C sources in {package / 'compiled'}")
        if not is_current(root, package):
            if not os.access(module.parent, os.W_OK):
                raise NotCompiled(f"{module.parent} cannot be written to")
            compile_module(module, sources=sources)
    except (NotCompiled, CompileFailed):
        module.unlink(missing_ok=True)
        raise
    return module


def module_of(root: Path, package: Path) -> Path:
    """Where the extension module of a package lies, whether it is there or not."""
    return root / package / f"_compiled{sysconfig.get_config_var('EXT_SUFFIX')}"


def is_current(root: Path, package: Path) -> bool:
    """Say whether the module exists and is no older than anything it is made from."""
    module, folder = module_of(root, package), root / package / "compiled"
    # The folder's own time changes when a source is added, removed or renamed.
    inputs = [folder, *folder.glob("*.c"), *folder.glob("*.h"), Path(__file__)]
    return module.exists() and all(
        module.stat().st_mtime_ns >= path.stat().st_mtime_ns for path in inputs
    )


def compile_module(module: Path, *, sources: list[Path]) -> None:
    """Run the compiler once over all sources and put the module in place in one step."""
    compiler, headers = find_compiler(), find_headers()
    unfinished = module.with_name(f".{module.name}.{os.getpid()}")
    try:
        told = try_compile(compiler, headers, sources=sources, out=unfinished)
        if told is not None:
            check_compiler(compiler, headers)
            raise CompileFailed(told)
        # Replacing, not rewriting: a process that has the old module loaded keeps its own copy.
        unfinished.replace(module)
    finally:
        unfinished.unlink(missing_ok=True)


def try_compile(
    compiler: list[str], headers: Path, *, sources: list[Path], out: Path
) -> str | None:
    """Compile, link and load; what was said if that failed, or nothing."""
    # From their own folder and by their names alone: no path of this machine gets into the module.
    names = [source.name for source in sources]
    command = [*compiler, *FLAGS, *link_flags(), f"-I{headers}", *names, "-o", str(out)]
    told = _run(command, folder=sources[0].parent)
    if told is None:
        # Made for another machine or C library, or with a name that nobody defines.
        told = _run([sys.executable, "-I", "-c", LOAD, str(out)], folder=out.parent)
    return None if told is None else f"failed: {shlex.join(command)}\n{told}"


def check_compiler(compiler: list[str], headers: Path) -> None:
    """Raise if the compiler cannot build an empty module either: then the machine is to blame."""
    with tempfile.TemporaryDirectory(prefix="bailiwick-compiler-") as folder:
        source = Path(folder, "empty.c")
        source.write_text(EMPTY_MODULE)
        told = try_compile(compiler, headers, sources=[source], out=Path(folder, "empty.so"))
    if told is not None:
        raise NotCompiled(f"{compiler[0]} cannot build an empty module here: {first_error(told)}")


def first_error(told: str) -> str:
    """The line of a compiler's output that says what is wrong."""
    lines = [line.strip() for line in told.splitlines()[1:] if line.strip()] or ["no reason given"]
    faults = [line for line in lines if re.search(r"error|cannot|not found|no such", line, re.I)]
    return (faults or lines)[0]


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


def link_flags() -> list[str]:
    """How this system wants a module of Python linked: names of the interpreter stay open."""
    if sys.platform == "darwin":
        return ["-bundle", "-undefined", "dynamic_lookup"]
    return ["-shared"]


def name_compiler() -> str:
    """The compiler as a person knows it: `gcc 12.2.0`."""
    compiler = find_compiler()
    told = subprocess.run(
        [compiler[0], "--version"], capture_output=True, text=True, errors="replace", check=False
    )
    version = re.search(r"\d+\.\d+(\.\d+)?", told.stdout)
    return " ".join([Path(compiler[0]).name, *([version[0]] if version else [])])


def describe(reason: NotCompiled) -> str:
    """Return the one line a person reads when nothing was compiled."""
    return f"==> {reason}: the pure-Python twin of the compiled core will be used"


def main() -> int:
    """Build in place, from wherever it is called; silent if all is current."""
    root, began = Path(__file__).resolve().parent, time.monotonic()
    pure = os.environ.get("BAILIWICK_PURE") == "1"
    if not pure and all(is_current(root, folder) for folder in FOLDERS):
        return 0
    try:
        for folder in FOLDERS:
            build_in_place(root, folder)
    except NotCompiled as reason:
        for folder in FOLDERS:
            module_of(root, folder).unlink(missing_ok=True)  # all twins of one kind
        print(describe(reason))
    except CompileFailed as fault:
        print(f"bailiwick: {fault}\nBAILIWICK_PURE=1 does without it.", file=sys.stderr)
        return 1
    else:
        spent_s = time.monotonic() - began
        print(f"==> compiled core: built with {name_compiler()} ({spent_s:.1f} s)")
    return 0


def _run(command: list[str], *, folder: Path) -> str | None:
    """Run a step of the build; what it said if it failed, or nothing. Warnings are passed on."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=COMPILE_S_MAX,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    told = (done.stdout + done.stderr).strip()
    if done.returncode != 0:
        return told or f"{command[0]} ended with {done.returncode}"
    if told:
        print(told, file=sys.stderr)
    return None


if __name__ == "__main__":
    sys.exit(main())
