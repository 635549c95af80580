"""Holds what hatch_build.py promises, on a small extension of the same shape as the real one."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import hatch_build

HEADER = "#define ANSWER 42\n"
SOURCE = """
#include <Python.h>
#include "answer.h"
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_compiled", .m_size = -1};
PyMODINIT_FUNC PyInit__compiled(void) {
    PyObject *made = PyModule_Create(&module);
    if (made != NULL && PyModule_AddIntConstant(made, "answer", ANSWER) < 0) {
        Py_CLEAR(made);
    }
    return made;
}
"""

HAS_COMPILER = bool(shutil.which("cc")) and Path(sysconfig.get_path("include"), "Python.h").exists()
needs_compiler = pytest.mark.skipif(not HAS_COMPILER, reason="no C compiler or no Python.h")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository root with a C core in it."""
    monkeypatch.delenv("BAILIWICK_PURE", raising=False)
    monkeypatch.delenv("CC", raising=False)
    sources = tmp_path / hatch_build.ENGINE / "compiled"
    sources.mkdir(parents=True)
    (sources / "answer.h").write_text(HEADER)
    (sources / "core.c").write_text(SOURCE)
    return tmp_path


def _load_answer(module: Path) -> int:
    spec = importlib.util.spec_from_file_location("_compiled", module)
    assert spec is not None
    return int(importlib.util.module_from_spec(spec).answer)


def _built(tree: Path) -> list[Path]:
    """Whatever the build left beside its sources."""
    return [path for path in (tree / hatch_build.ENGINE).iterdir() if path.is_file()]


@needs_compiler
def test_the_module_is_built_once_and_again_only_when_a_header_changes(tree: Path) -> None:
    module = hatch_build.build_in_place(tree)
    assert _load_answer(module) == 42
    first = module.stat()
    assert hatch_build.build_in_place(tree).stat() == first
    header = tree / hatch_build.ENGINE / "compiled" / "answer.h"
    os.utime(header, ns=(first.st_mtime_ns + 1, first.st_mtime_ns + 1))
    assert hatch_build.build_in_place(tree).stat().st_mtime_ns > first.st_mtime_ns
    assert _built(tree) == [module]


@needs_compiler
def test_sources_that_do_not_compile_stop_the_build_and_leave_nothing(tree: Path) -> None:
    hatch_build.build_in_place(tree)
    (tree / hatch_build.ENGINE / "compiled" / "core.c").write_text("not C at all")
    with pytest.raises(hatch_build.CompileFailed):
        hatch_build.build_in_place(tree)
    assert _built(tree) == []


@needs_compiler
def test_asking_for_the_pure_twin_removes_the_compiled_one(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hatch_build.build_in_place(tree)
    monkeypatch.setenv("BAILIWICK_PURE", "1")
    with pytest.raises(hatch_build.NotCompiled, match="BAILIWICK_PURE"):
        hatch_build.build_in_place(tree)
    assert _built(tree) == []


def test_a_missing_compiler_is_a_reason_and_not_a_fault(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sysconfig, "get_config_var", {"CC": "gcc -pthread"}.get)
    with pytest.raises(hatch_build.NotCompiled, match="no C compiler"):
        hatch_build.build_in_place(tree)


@needs_compiler
def test_a_missing_header_of_python_is_a_reason_and_not_a_fault(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tree))
    with pytest.raises(hatch_build.NotCompiled, match=r"no Python\.h"):
        hatch_build.build_in_place(tree)


def test_no_sources_is_a_reason_and_not_a_fault(tmp_path: Path) -> None:
    with pytest.raises(hatch_build.NotCompiled):
        hatch_build.build_in_place(tmp_path)


def test_the_script_builds_from_wherever_it_is_called(tree: Path) -> None:
    shutil.copy(hatch_build.__file__, tree)
    done = subprocess.run(
        [sys.executable, str(tree / "hatch_build.py")],
        cwd="/",
        env={**os.environ, "BAILIWICK_PURE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.count("\n"), done.stderr) == (0, 1, "")
    assert "pure-Python twin" in done.stdout
