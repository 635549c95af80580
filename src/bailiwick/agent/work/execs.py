"""Programs inside this node's jobs: the agent asks what is to be run, and moves the bytes.

Rules:

- The agent only ever asks: what was typed is pulled, what was written is pushed, both by offsets.
- A program ends when the server says that it is over, does not know it, or is away for too long;
  and when the agent ends. Jobs go on without any of that.
- So many at once, and no more: the others are refused, with that word.
"""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, TypeVar

from bailiwick.agent.heartbeat import Away
from bailiwick.agent.server import HttpServer
from bailiwick.agent.work.jobs import PAUSE_S_LEAST, PAUSE_S_MOST
from bailiwick.agent.work.wishes import Superseded
from bailiwick.client.bodies import make_body
from bailiwick.client.errors import Misunderstood, Refusal, Unreachable
from bailiwick.executors.execs import Enterable, ExecOver, Typed, pump
from bailiwick.vocab.errors import BailiwickError, ErrorCode
from bailiwick.vocab.execs import (
    ExecConnect,
    ExecCopy,
    ExecEnd,
    ExecOutcome,
    ExecStream,
    ExecWish,
    Terminal,
)
from bailiwick.wire import execs as wire
from bailiwick.wire.actions import execs as actions

R = TypeVar("R")

EXECS_MAX: Final = 32
POLL_S: Final = 20
HELD_BACK_S: Final = 40.0
AWAY_S: Final = 30.0
"""How long a server may be away before its programs are ended."""
PUSH_WAIT_S: Final = 10
PIECE_BYTES: Final = 49_152
NOTE_CHARS: Final = 1000


@dataclass(frozen=True, slots=True)
class DueExec:
    """A program that is to run inside a job."""

    exec_id: str
    lease_id: int
    wish: ExecWish


class ExecServer(Protocol):
    """What this part wants of a server; each raises ``Away`` or ``Superseded``."""

    def due(self, *, wait_s: int) -> list[DueExec]:
        """What is to be run; held back until there is something."""

    def typed(self, exec_id: str, offset: int, *, wait_s: int) -> Typed | None:
        """What was typed from there on; ``None`` once it is over."""

    def wrote(self, exec_id: str, offset: int, *, part: tuple[ExecStream, bytes]) -> int | None:
        """Tell what was written; up to where it was taken, or ``None`` once it is over."""

    def ended(self, exec_id: str, offset: int, *, outcome: ExecOutcome) -> None:
        """Tell how it ended."""


class HttpExecs:
    """One connection of an agent that began at ``life``, for one thread."""

    def __init__(
        self, server: str, token_file: Path, *, node: str, life: int, ca_file: str | None = None
    ) -> None:
        self._http = HttpServer(server, token_file, ca_file=ca_file, timeout_s=HELD_BACK_S)
        self._node, self._life = node, life

    def due(self, *, wait_s: int) -> list[DueExec]:
        """What is to be run; held back until there is something."""
        body = make_body(wire.NodeExecsQuestion, life=self._life, wait_s=wait_s)
        path = {"node": self._node}
        told = _asked(lambda: self._http.client().send(actions.NODE_EXECS, path=path, body=body))
        return [
            DueExec(
                each.exec_id,
                each.lease_id,
                _wish(each),
            )
            for each in told.items
        ]

    def typed(self, exec_id: str, offset: int, *, wait_s: int) -> Typed | None:
        """What was typed from there on; ``None`` once it is over."""
        body = make_body(wire.NodeTypedQuestion, life=self._life, offset=offset, wait_s=wait_s)
        path = {"node": self._node, "exec_id": exec_id}
        told = _asked(
            lambda: self._http.client().send(actions.NODE_EXEC_TYPED, path=path, body=body)
        )
        if told.is_over:
            return None
        return Typed(base64.b64decode(told.data), told.is_closed, _terminal(told.terminal))

    def wrote(self, exec_id: str, offset: int, *, part: tuple[ExecStream, bytes]) -> int | None:
        """Tell what was written; up to where it was taken, or ``None`` once it is over."""
        stream, data = part
        return self._send(
            exec_id, offset=offset, stream=stream.value, data=base64.b64encode(data).decode()
        )

    def ended(self, exec_id: str, offset: int, *, outcome: ExecOutcome) -> None:
        """Tell how it ended."""
        told = {"exit_code": outcome.code, "signal": outcome.signal}
        more = {name: value for name, value in told.items() if value is not None}
        note = outcome.note[:NOTE_CHARS]
        self._send(exec_id, offset=offset, end=outcome.end.value, note=note, **more)

    def _send(self, exec_id: str, **told: object) -> int | None:
        body = make_body(wire.NodeWritten, life=self._life, wait_s=PUSH_WAIT_S, **told)
        path = {"node": self._node, "exec_id": exec_id}
        answer = _asked(
            lambda: self._http.client().send(actions.NODE_EXEC_WROTE, path=path, body=body)
        )
        return None if answer.is_over else answer.next_offset


class ServerEnd:
    """The far end of one program: the server, through two connections."""

    def __init__(self, exec_id: str, connect: Callable[[], ExecServer]) -> None:
        self._exec_id, self._offset = exec_id, 0
        self._pulling, self._pushing = connect(), connect()

    def pull(self, offset: int, *, wait_s: float) -> Typed:
        """What was typed; held back until there is something."""
        found = _patiently(lambda: self._pulling.typed(self._exec_id, offset, wait_s=int(wait_s)))
        if found is None:
            raise ExecOver
        return found

    def push(self, stream: ExecStream, data: bytes) -> None:
        """Let the server have it; waits while it has no room."""
        start, end = self._offset, self._offset + len(data)
        while self._offset < end:  # until it has it, or it is over
            piece = data[self._offset - start :][:PIECE_BYTES]
            taken = _patiently(
                lambda piece=piece: self._pushing.wrote(  # type: ignore[misc]
                    self._exec_id, self._offset, part=(stream, piece)
                )
            )
            if taken is None:
                raise ExecOver
            self._offset = taken

    def finish(self, outcome: ExecOutcome) -> None:
        """The program has ended."""
        _patiently(lambda: self._pushing.ended(self._exec_id, self._offset, outcome=outcome))


class ExecAgent:
    """Runs what is to run inside this node's jobs."""

    def __init__(
        self, executor: Enterable, connect: Callable[[], ExecServer], *, say: Callable[[str], None]
    ) -> None:
        self._executor, self._connect, self._say = executor, connect, say
        self._lock = threading.Lock()
        self._running: set[str] = set()

    def run(self, stop: threading.Event) -> None:
        """Go on until told to stop, or until another agent counts."""
        server, pause_s = self._connect(), 0.0
        while not stop.is_set():  # until told to stop
            try:
                due = server.due(wait_s=POLL_S)
            except Superseded:
                return
            except Away:
                pause_s = min(max(2 * pause_s, PAUSE_S_LEAST), PAUSE_S_MOST)
                stop.wait(pause_s)
                continue
            pause_s = 0.0
            for each in due:
                self._begin(each)
            if due:
                stop.wait(0.05)  # until they say that they were taken up

    def _begin(self, due: DueExec) -> None:
        with self._lock:
            if due.exec_id in self._running:
                return
            is_full = len(self._running) >= EXECS_MAX
            self._running.add(due.exec_id)
        threading.Thread(
            target=self._serve, args=(due,), kwargs={"is_full": is_full}, name="exec", daemon=True
        ).start()

    def _serve(self, due: DueExec, *, is_full: bool) -> None:
        far = ServerEnd(due.exec_id, self._connect)
        try:
            if is_full:
                note = f"this machine runs {EXECS_MAX} already"
                far.finish(ExecOutcome(ExecEnd.NOT_BEGUN, note=note))
                return
            try:
                inside = self._executor.enter(due.lease_id, due.wish)
            except (BailiwickError, OSError) as error:
                far.finish(ExecOutcome(ExecEnd.NOT_BEGUN, note=str(error)))
                return
            pump(inside, far)
        except ExecOver:
            pass
        except BailiwickError as error:
            self._say(f"a program inside the job of lease {due.lease_id} was ended: {error}")
        finally:
            with self._lock:
                self._running.discard(due.exec_id)


def _patiently(ask: Callable[[], R]) -> R:
    """An answer of a server that may be away for a while."""
    until = time.monotonic() + AWAY_S
    while True:  # bounded by ``until``
        try:
            return ask()
        except Superseded:
            raise ExecOver from None
        except Away:
            if time.monotonic() >= until:
                raise ExecOver from None
            time.sleep(PAUSE_S_LEAST)


def _asked(ask: Callable[[], R]) -> R:
    try:
        return ask()
    except (Unreachable, Misunderstood) as error:
        raise Away(str(error)) from None
    except Refusal as refusal:
        if refusal.problem.code is ErrorCode.CONFLICT:
            raise Superseded from None
        raise Away(str(refusal)) from None


def _wish(told: wire.NodeExec) -> ExecWish:
    copied = told.copy_files
    copy = None if copied is None else ExecCopy(copied.direction, copied.path)
    asked = told.connect
    connect = None if asked is None else ExecConnect(asked.port, asked.file)
    return ExecWish(tuple(told.command), _terminal(told.terminal), copy, told.attach, connect)


def _terminal(told: wire.ExecTerminal | None) -> Terminal | None:
    return None if told is None else Terminal(told.rows, told.columns, told.term)
