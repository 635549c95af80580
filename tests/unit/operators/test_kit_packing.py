"""A member's program: the same bytes from the same sources, begun only if it is what was named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bailiwick.operators.kit.packing import BOOTSTRAP, DELIVER, PROGRAM, digest_of, pack

MAIN = "import sys\n\ndef main():\n    print('begun', *sys.argv[1:])\n"


def program_of(folder: Path, *, times: int = 0) -> bytes:
    package = folder / "member"
    package.mkdir()
    for name, text in (("main.py", MAIN), ("__init__.py", ""), ("__main__.py", "raise OSError")):
        (package / name).write_text(text)
        os.utime(package / name, (times, times))
    return pack(package)


def test_the_same_sources_give_the_same_bytes_whenever_they_were_written(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    assert program_of(tmp_path / "one") == program_of(tmp_path / "other", times=10**9)


def test_a_member_waits_for_its_own_program_and_begins_nothing_else(tmp_path: Path) -> None:
    program = program_of(tmp_path)
    words = [sys.executable, "-c", BOOTSTRAP, "run", "head"]
    environ = {"APP_ARTIFACT": digest_of(program), "PATH": os.environ["PATH"]}
    (tmp_path / PROGRAM).write_bytes(program.replace(b"begun", b"other"))
    with subprocess.Popen(words, cwd=tmp_path, env=environ, stdout=subprocess.PIPE) as member:
        try:
            for piece in (program[:100], program):
                subprocess.run(DELIVER, cwd=tmp_path, input=piece, check=True)
            assert member.stdout is not None
            assert member.stdout.read() == b"begun run head\n"
        finally:
            member.kill()
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []
