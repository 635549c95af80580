"""A program run inside a member's process room: what an operator tells its members, and asks them.

Nothing has to listen on a network for it, and no file has to be shared: the platform carries the
words, to whichever node the member is on, and seals who asked. So secrets can go this way.

Rules:

- The program gets all that is given on its input, then the end of it.
- Time and output are bounded. What runs for longer is ended.
- However it ended is an answer; only that it could not be asked at all is an error.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from bailiwick.client import Client, ClientError
from bailiwick.client.http_client import Places
from bailiwick.vocab.execs import ExecEnd, ExecOutcome, ExecStream
from bailiwick.wire.actions.execs import JOB_EXEC, JOB_EXEC_END, JOB_EXEC_READ, JOB_EXEC_TYPE
from bailiwick.wire.execs import ExecInput, ExecQuestion, NewExec

OUTPUT_BYTES_MAX: Final = 1 << 20
WITHIN_S: Final = 60.0
_PIECE_BYTES: Final = 32_768
_WAIT_S: Final = 15
_FULL_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class RanInside:
    """How a program inside a member ended, and what it wrote."""

    outcome: ExecOutcome
    stdout: bytes = b""
    stderr: bytes = b""

    @property
    def is_well(self) -> bool:
        """Whether it ended by itself, with 0."""
        return self.outcome.end is ExecEnd.EXITED and self.outcome.code == 0

    @property
    def why(self) -> str:
        """For a person: how it ended, and its last line on stderr."""
        lines = self.stderr.decode("utf-8", "replace").strip().splitlines()
        said = self.outcome.note or (lines[-1][:200] if lines else "")
        code = "" if self.outcome.code is None else f" {self.outcome.code}"
        return f"{self.outcome.end.value}{code}{': ' if said else ''}{said}"


def run_inside(
    client: Client,
    job_id: int,
    *,
    command: Sequence[str],
    given: bytes = b"",
    within_s: float = WITHIN_S,
) -> RanInside:
    """Run a program inside a job that runs, and wait for its end."""
    until = time.monotonic() + within_s
    opened = client.send(JOB_EXEC, body=NewExec(command=[*command]), path={"job_id": job_id})
    path: Places = {"job_id": job_id, "exec_id": opened.exec_id}
    is_over = False
    try:
        _type(client, path, given=given, until=until)
        ran = _read(client, path, until=until)
        is_over = ran.outcome.end is not ExecEnd.ENDED
        return ran
    finally:
        if not is_over:
            with suppress(ClientError):  # it ends by itself once nobody asks for it
                client.send(JOB_EXEC_END, path=path)


def _type(client: Client, path: Places, *, given: bytes, until: float) -> None:
    """Have all of it passed on; a program that is over needs no more."""
    sent = 0
    while time.monotonic() < until:  # until there was room for all of it
        piece = given[sent : sent + _PIECE_BYTES]
        is_last = sent + len(piece) >= len(given)
        body = ExecInput(offset=sent, data=base64.b64encode(piece).decode(), is_closed=is_last)
        taken = min(client.send(JOB_EXEC_TYPE, body=body, path=path).next_offset, len(given))
        if is_last and taken >= len(given):
            return
        if taken == sent:
            time.sleep(_FULL_S)
        sent = taken


def _read(client: Client, path: Places, *, until: float) -> RanInside:
    """What it wrote, until it is over, for too long, or too much."""
    wrote = {each: bytearray() for each in ExecStream}
    offset, note = 0, "it took too long"
    while (left := until - time.monotonic()) > 0:
        body = ExecQuestion(offset=offset, wait_s=max(1, min(_WAIT_S, int(left))))
        found = client.send(JOB_EXEC_READ, body=body, path=path)
        for piece in found.pieces:
            wrote[piece.stream] += base64.b64decode(piece.data)
        offset = found.next_offset
        if found.end is not None:
            outcome = ExecOutcome(found.end, found.exit_code, found.signal, found.note)
            return _ran(outcome, wrote)
        if sum(map(len, wrote.values())) > OUTPUT_BYTES_MAX:
            note = f"it wrote more than {OUTPUT_BYTES_MAX} bytes"
            break
    return _ran(ExecOutcome(ExecEnd.ENDED, note=note), wrote)


def _ran(outcome: ExecOutcome, wrote: dict[ExecStream, bytearray]) -> RanInside:
    return RanInside(outcome, bytes(wrote[ExecStream.STDOUT]), bytes(wrote[ExecStream.STDERR]))
