"""Progress is for a person at a terminal: a log gets none, whatever colours are wanted."""

from __future__ import annotations

import sys
import time

import pytest

from bailiwick.cli.shared import progress


def work() -> None:
    """Take longer than it takes until progress is told."""
    lines = progress.NowAndThen()
    lines._told -= 2
    lines("so far")
    with progress.progress(2) as step, progress.patience() as tell:
        for _ in range(2):
            step("a step")
            tell("a thing")
            time.sleep(0.15)


def test_no_log_gets_any(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(progress, "PROGRESS_AFTER_S", -1.0)
    work()
    assert capsys.readouterr() == ("", "")


def test_a_person_at_a_terminal_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "PROGRESS_AFTER_S", -1.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    lines = progress.NowAndThen()
    lines._told -= 2
    lines("so far")
    assert capsys.readouterr().err == "so far\n"
