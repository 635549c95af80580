"""The command line as tests meet it: in this process, or in one of its own.

Rules:

- ``call`` is the same as ``run`` in all that a command can see or do: arguments, environment,
  directory, input, output, exit code. It only spares starting Python and loading the same modules
  again, which is most of the time that a short command takes.
- ``run`` is for what is about the process: how it is installed and starts, what it loads, what
  becomes of it. Each group of commands has a test that uses it.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bailiwick.cli.main import main
from tests.support.waiting import WAIT_S

COMMAND = Path(sys.executable).with_name("bailiwick")
"""As it is installed."""

Ended = subprocess.CompletedProcess[str]


def run(*arguments: object, given: str = "", cwd: Path | None = None, **env: str) -> Ended:
    """How a command ends in a process of its own."""
    return subprocess.run(
        [str(COMMAND), *map(str, arguments)],
        input=given,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=WAIT_S,
        cwd=cwd,
        env={**os.environ, **env},
    )


def call(*arguments: object, given: str = "", cwd: Path | None = None, **env: str) -> Ended:
    """How a command ends in this process."""
    words = [*map(str, arguments)]
    out, err = io.BytesIO(), io.BytesIO()
    with pytest.MonkeyPatch.context() as patch, _time_zone():
        for name, value in env.items():
            patch.setenv(name, value)
        if cwd is not None:
            patch.chdir(cwd)
        patch.setattr(sys, "stdin", _text(io.BytesIO(given.encode())))
        printed, told = _text(out), _text(err)
        patch.setattr(sys, "stdout", printed)
        patch.setattr(sys, "stderr", told)
        time.tzset()
        with pytest.raises(SystemExit) as ended:
            main(words)
        printed.flush()
        told.flush()
    code = ended.value.code
    return subprocess.CompletedProcess(
        ["bailiwick", *words],
        code if isinstance(code, int) else int(code is not None),
        out.getvalue().decode(),
        err.getvalue().decode(),
    )


def log_out(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Have commands of this process know no login, of whoever runs the tests or of other tests."""
    for name in [*os.environ]:
        if name.startswith("BAILIWICK_"):
            patch.delenv(name)
    patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))


@contextmanager
def server_with_providers(folder: Path, settings: str, *, port: int) -> Iterator[str]:
    """The code of the administrator of a server in its own process, with this file."""
    (folder / "providers.toml").write_text(settings)
    words = ["up", "--data-dir", str(folder / "data"), "--port", str(port), "--no-node"]
    process = subprocess.Popen(
        [str(COMMAND), *words, "--providers", str(folder / "providers.toml")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )
    try:
        assert process.stdout is not None
        # Ends when it says how to log in, or with the process.
        told = (line.split() for line in process.stdout)
        yield next((words[-1] for words in told if words[:2] == ["bailiwick", "login"]), "")
    finally:
        process.terminate()
        process.communicate(timeout=WAIT_S)


def _text(raw: io.BytesIO) -> io.TextIOWrapper:
    return io.TextIOWrapper(raw, encoding="utf-8", newline="\n")


@contextmanager
def _time_zone() -> Iterator[None]:
    """What a command's environment says of it is forgotten afterwards."""
    before = os.environ.get("TZ")
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("TZ", None)
        else:
            os.environ["TZ"] = before
        time.tzset()
