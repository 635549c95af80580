"""A person's terminal, or three files, tied to a program inside a job.

Rules:

- What is typed goes out as it is, and what the program writes comes out as it is. On a terminal the
  program's own terminal does the rest: echo, line editing, Ctrl-C, Ctrl-D.
- The terminal is as it was afterwards, whatever happens.
- The exit status is the program's; 128 and the number for a signal. If it is over for another
  reason, that is said on stderr.
- Without a terminal Ctrl-C ends the program.
"""

from __future__ import annotations

import base64
import contextlib
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import typer

from bailiwick.cli import ExitCode
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.execs import TERM, ExecEnd, ExecOutcome, ExecStream

if TYPE_CHECKING:
    from bailiwick.cli.shared.ask import Ask
    from bailiwick.wire.execs import Exec, ExecOutput, ExecTerminal

WAIT_S: Final = 15
CHUNK_BYTES: Final = 32_768
LOOK_S: Final = 0.25
FULL_S: Final = 0.1
INTERRUPTED: Final = 130

_WHY: Final = {
    ExecEnd.NOT_BEGUN: "it could not be run",
    ExecEnd.JOB_OVER: "the job is over",
    ExecEnd.ENDED: "it was ended",
    ExecEnd.CALLER_GONE: "the server took you for gone and ended it",
    ExecEnd.TIME_OVER: "it ran for as long as it may, and was ended",
    ExecEnd.LOST: "the server or the node lost it",
}


def terminal_here() -> ExecTerminal:
    """What this terminal is like; an error if there is none."""
    from bailiwick.wire.execs import ExecTerminal

    if not sys.stdin.isatty():
        raise InvalidValue("--tty", True, "a terminal on stdin; without one leave -t out")
    size, term = os.get_terminal_size(sys.stdin.fileno()), os.environ.get("TERM", TERM)
    known = term if term.replace("-", "").replace(".", "").isalnum() else TERM
    return ExecTerminal(rows=max(1, size.lines), columns=max(1, size.columns), term=known)


def attach(ask: Ask, opened: Exec, *, has_input: bool, is_terminal: bool) -> int:
    """Stay until the program is over; its exit status."""
    over = threading.Event()
    typing = _Typing(ask, opened, over, is_terminal=is_terminal)
    with _raw(is_terminal), _resizing(typing, is_terminal=is_terminal):
        if has_input:
            threading.Thread(target=typing.run, name="typing", daemon=True).start()
        else:
            typing.close()
        try:
            outcome = _copy(ask, opened)
        except KeyboardInterrupt:
            end_exec(ask, opened)
            return INTERRUPTED
        finally:
            over.set()
    return int(ExitCode.FAULT) if tell_why(outcome) else outcome.exit_status


def tell_why(outcome: ExecOutcome) -> bool:
    """Say on stderr why it is over, unless its program ended by itself; whether that was said."""
    if outcome.end not in _WHY:
        return False
    note = f": {outcome.note}" if outcome.note else ""
    typer.echo(f"bailiwick: {_WHY[outcome.end]}{note}", err=True)
    return True


def _copy(ask: Ask, opened: Exec) -> ExecOutcome:
    """Write out what the program writes, until it is over."""
    files = {ExecStream.STDOUT: sys.stdout.buffer, ExecStream.STDERR: sys.stderr.buffer}

    def write(found: ExecOutput) -> None:
        for piece in found.pieces:
            files[piece.stream].write(base64.b64decode(piece.data))
            files[piece.stream].flush()

    return read_exec(ask, opened, keep=write)


def read_exec(ask: Ask, opened: Exec, *, keep: Callable[[ExecOutput], None]) -> ExecOutcome:
    """Read what the program writes, until it is over."""
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.execs import JOB_EXEC_READ
    from bailiwick.wire.execs import ExecQuestion

    path, offset = path_of(opened), 0
    while True:  # until the program is over
        body = make_body(ExecQuestion, offset=offset, wait_s=WAIT_S)
        found: ExecOutput = ask.client.send(JOB_EXEC_READ, path=path, body=body)
        keep(found)
        offset = found.next_offset
        if found.end is not None:
            return ExecOutcome(found.end, found.exit_code, found.signal, found.note)


def end_exec(ask: Ask, opened: Exec) -> None:
    """End it, if it has not ended."""
    from bailiwick.wire.actions.execs import JOB_EXEC_END

    with contextlib.suppress(Exception):  # it ends by itself once nobody asks for it
        ask.client.send(JOB_EXEC_END, path=path_of(opened))


def sender_of(ask: Ask, opened: Exec) -> _Typing:
    """What sends bytes to a program that has no terminal."""
    return _Typing(ask, opened, threading.Event(), is_terminal=False)


def path_of(opened: Exec) -> dict[str, str | int]:
    """Where it is."""
    return {"job_id": opened.job_id, "exec_id": opened.exec_id}


class _Typing:
    """What is typed, over a connection of its own."""

    def __init__(self, ask: Ask, opened: Exec, over: threading.Event, *, is_terminal: bool) -> None:
        from bailiwick.cli.shared.session import connect, need_token

        self._client = connect(need_token(ask.session))
        self._opened, self._over, self._is_terminal = opened, over, is_terminal
        self._offset = 0
        self._is_resized = False

    def resized(self) -> None:
        """The terminal has another size."""
        self._is_resized = True

    def close(self) -> None:
        """Nothing is typed at all."""
        self.send(b"", is_closed=True)

    def run(self) -> None:
        """Until nothing more can be typed."""
        from bailiwick.client.errors import Misunderstood, Refusal, Unreachable

        stdin = sys.stdin.fileno()
        try:
            while not self._over.is_set():  # until the program is over
                if self._is_resized:
                    self._is_resized = False
                    self.send(b"", terminal=terminal_here())
                if not select.select([stdin], [], [], LOOK_S)[0]:
                    continue
                data = os.read(stdin, CHUNK_BYTES)
                self.send(data, is_closed=not data)
                if not data:
                    return
        except (Refusal, Unreachable, Misunderstood, OSError):
            return  # whoever reads is told why

    def send(
        self, data: bytes, *, is_closed: bool = False, terminal: ExecTerminal | None = None
    ) -> None:
        """Have it passed on, all of it."""
        from bailiwick.client.bodies import make_body
        from bailiwick.wire.actions.execs import JOB_EXEC_TYPE
        from bailiwick.wire.execs import ExecInput

        path, end = path_of(self._opened), self._offset + len(data)
        while True:  # until there was room for all of it, or it is over
            text = base64.b64encode(data[len(data) - (end - self._offset) :]).decode()
            told: dict[str, object] = {"offset": self._offset, "data": text}
            if terminal is not None:
                told["terminal"] = terminal.model_dump()
            body = make_body(ExecInput, **told, is_closed=is_closed)
            taken = self._client.send(JOB_EXEC_TYPE, path=path, body=body).next_offset
            self._offset, before = min(taken, end), self._offset
            if self._offset >= end or self._over.is_set():
                return
            if self._offset == before:
                self._over.wait(FULL_S)


@contextlib.contextmanager
def _raw(is_wanted: bool) -> Iterator[None]:
    """Have every key passed on as it is, for as long as this lasts."""
    if not is_wanted:
        yield
        return
    import termios
    import tty

    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    tty.setraw(fd, termios.TCSADRAIN)  # what was typed ahead is not lost
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)


@contextlib.contextmanager
def _resizing(typing: _Typing, *, is_terminal: bool) -> Iterator[None]:
    if not is_terminal:
        yield
        return
    told: Callable[..., None] = lambda *_: typing.resized()  # noqa: E731
    before = signal.signal(signal.SIGWINCH, told)
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, before)
