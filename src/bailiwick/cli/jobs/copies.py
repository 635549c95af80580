"""Files between this machine and a running job, as a stream of tar.

Rules:

- What comes is judged here too: a name that is absolute or goes up, a link that leads out, a
  device, and more bytes than are permitted end the copy, whoever sent it.
- Nothing is followed out of what is copied: links travel as links.
"""

from __future__ import annotations

import base64
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.jobs.attached import end_exec, read_exec, sender_of, tell_why
from bailiwick.executors.local import copying
from bailiwick.vocab.execs import ExecOutcome, ExecStream

if TYPE_CHECKING:
    from bailiwick.cli.shared.ask import Ask
    from bailiwick.wire.execs import Exec, ExecOutput

CHUNK_BYTES: Final = 49_152


class _Side:
    """What one end does meanwhile, in a thread of its own."""

    def __init__(self, act: Callable[[], None], fd: int) -> None:
        self._act, self._fd = act, fd
        self.failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="tar", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._act()
        except Exception as error:  # told by who waits for it
            self.failure = error
        finally:
            os.close(self._fd)

    def join(self) -> None:
        """Wait until it is done."""
        self._thread.join()


def copy_here(ask: Ask, opened: Exec, *, local: str) -> int:
    """Put what the job sends under that name; the exit code."""
    source, sink = os.pipe()
    side = _Side(lambda: copying.copy_in(local, source), source)
    taken = 0

    def keep(found: ExecOutput) -> None:
        nonlocal taken
        for piece in found.pieces:
            data = base64.b64decode(piece.data)
            if piece.stream is ExecStream.STDERR:
                sys.stderr.buffer.write(data)
                continue
            taken += len(data)
            while data:  # a pipe takes some at a time
                data = data[os.write(sink, data) :]

    outcome = None
    try:
        with suppress(BrokenPipeError):  # it was refused here: that is told below
            outcome = read_exec(ask, opened, keep=keep)
    finally:
        os.close(sink)
        side.join()
        end_exec(ask, opened)
    if outcome is not None and outcome.exit_status and not taken:  # the job's side has said why
        tell_why(outcome)
        return int(ExitCode.FAULT)
    return _told(local, side, outcome)


def copy_there(ask: Ask, opened: Exec, *, local: str) -> int:
    """Send what is under that name; the exit code."""
    source, sink = os.pipe()
    side = _Side(lambda: copying.copy_out(local, sink), sink)
    sender = sender_of(ask, opened)
    try:
        while data := os.read(source, CHUNK_BYTES):
            sender.send(data)
        side.join()
        if side.failure is None:
            sender.send(b"", is_closed=True)
    finally:
        os.close(source)
        if side.failure is not None:
            end_exec(ask, opened)

    def keep(found: ExecOutput) -> None:
        for piece in found.pieces:
            sys.stderr.buffer.write(base64.b64decode(piece.data))

    return _told(local, side, read_exec(ask, opened, keep=keep))


def _told(local: str, side: _Side, outcome: ExecOutcome | None) -> int:
    """Say what went wrong, if anything did; the exit code."""
    if side.failure is not None:
        why = getattr(side.failure, "strerror", None) or str(side.failure)
        typer.echo(f"bailiwick: {local}: {why}", err=True)
        return int(ExitCode.FAULT)
    if outcome is None:
        typer.echo(f"bailiwick: {local}: it was not taken to its end", err=True)
        return int(ExitCode.FAULT)
    tell_why(outcome)
    return int(ExitCode.FAULT) if outcome.exit_status else 0
