"""Holds what hatch_build.py promises, on a small extension of the same shape as the real one."""

from __future__ import annotations

import importlib.util
import os
import re
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
    """A repository root with a C core in each folder."""
    monkeypatch.delenv("BAILIWICK_PURE", raising=False)
    monkeypatch.delenv("CC", raising=False)
    for folder in hatch_build.FOLDERS:
        sources = tmp_path / folder / "compiled"
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
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            "-nostdinc",
            r"fatal error: \w+\.h: No such file",
        ),  # a compiler, and no C library's headers
        ("-E", "file too short|invalid ELF|ELF"),  # what it makes is no module
    ],
)
def test_a_compiler_that_cannot_build_an_empty_module_is_a_reason_and_not_a_fault(
    tree: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, told: str
) -> None:
    hatch_build.build_in_place(tree)
    header = tree / hatch_build.ENGINE / "compiled" / "answer.h"
    os.utime(header)
    monkeypatch.setenv("CC", f"cc {arguments}")
    with pytest.raises(hatch_build.NotCompiled, match=rf"cc cannot build .* here: .*({told})"):
        hatch_build.build_in_place(tree)
    assert _built(tree) == []


def test_a_compiler_that_only_complains_is_a_reason_in_its_own_words(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "Python.h").touch()
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tree))
    cc = tree / "cc"
    cc.write_text("#!/bin/sh\necho 'xcrun: error: no developer tools were found' >&2\nexit 1\n")
    cc.chmod(0o755)
    monkeypatch.setenv("CC", str(cc))
    with pytest.raises(hatch_build.NotCompiled, match="here: xcrun: error: no developer tools"):
        hatch_build.build_in_place(tree)


@needs_compiler
def test_a_module_that_does_not_load_is_never_put_in_place(tree: Path) -> None:
    source = tree / hatch_build.ENGINE / "compiled" / "core.c"
    wanted = SOURCE.replace("PyMODINIT_FUNC", "int nobody_defines(void);\nPyMODINIT_FUNC")
    source.write_text(wanted.replace("if (", "if (nobody_defines() && "))
    with pytest.raises(hatch_build.CompileFailed, match="undefined symbol: nobody_defines"):
        hatch_build.build_in_place(tree)
    assert _built(tree) == []


@needs_compiler
def test_the_module_does_not_tell_where_it_was_built(tree: Path) -> None:
    module = hatch_build.build_in_place(tree)
    assert os.fsencode(tree) not in module.read_bytes()


def test_a_folder_that_cannot_be_written_to_is_a_reason_and_not_a_fault(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # a root user may write everywhere
    with pytest.raises(hatch_build.NotCompiled, match="cannot be written to"):
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


# --- the script, as `make run` calls it ---------------------------------------------------------


def _run(tree: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a copy of the script by an interpreter that has the standard library and nothing else."""
    script = tree / "hatch_build.py"
    if not script.exists():
        shutil.copy2(hatch_build.__file__, script)
    return subprocess.run(
        [sys.executable, "-I", "-S", str(script)],
        cwd="/",
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@needs_compiler
def test_the_script_says_in_one_line_with_what_it_built_and_nothing_if_all_is_current(
    tree: Path,
) -> None:
    first = _run(tree)
    assert (first.returncode, first.stderr) == (0, "")
    assert re.fullmatch(
        r"==> compiled core: built with \S+ \d+\.\d[\d.]* \(\d+\.\d s\)\n", first.stdout
    )
    for folder in hatch_build.FOLDERS:
        assert _load_answer(hatch_build.module_of(tree, folder)) == 42
    second = _run(tree)
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")


@needs_compiler
def test_the_script_leaves_all_twins_of_one_kind(tree: Path) -> None:
    _run(tree)
    (tree / hatch_build.METER / "compiled" / "core.c").unlink()
    assert "no C sources" in _run(tree).stdout
    assert not any(hatch_build.module_of(tree, folder).exists() for folder in hatch_build.FOLDERS)


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        ({"BAILIWICK_PURE": "1"}, "BAILIWICK_PURE=1"),
        ({"PATH": "", "CC": ""}, "no C compiler found"),
    ],
)
def test_the_script_says_in_one_line_why_the_pure_twin_is_used(
    tree: Path, environment: dict[str, str], reason: str
) -> None:
    done = _run(tree, **environment)
    told = f"==> {reason}: the pure-Python twin of the compiled core will be used\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, told, "")


@needs_compiler
def test_the_script_fails_with_what_the_compiler_said_of_our_sources(tree: Path) -> None:
    (tree / hatch_build.METER / "compiled" / "core.c").write_text("not C at all")
    done = _run(tree)
    assert (done.returncode, done.stdout) == (1, "")
    assert "core.c:1:1: error: unknown type name" in done.stderr
    assert done.stderr.endswith("BAILIWICK_PURE=1 does without it.\n")
