"""``bailiwick invoice`` in the test's own process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from bailiwick.cli.main import main


class Ended(NamedTuple):
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str


Cli = Callable[..., Ended]


@pytest.fixture(name="invoice")
def invoice_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Cli:
    """``bailiwick invoice`` in this process, with a wide screen and nobody logged in."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def run(*arguments: object) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main(["invoice", *map(str, arguments)])
        told = capsys.readouterr()
        code = ended.value.code
        return Ended(code if isinstance(code, int) else 0, told.out, told.err)

    return run
