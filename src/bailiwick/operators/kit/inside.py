"""Programs that an operator runs inside its members: words in, words out, through the platform.

No member listens for its operator and no operator listens for members: both reach the server, and
it lets the one run a program in the other (``scheduler.job.exec``). What goes in and comes out is
kept nowhere; that it was run is sealed, with its first words. So a secret goes in by stdin.
"""

from __future__ import annotations

import base64
import time
from dataclasses import dataclass
from typing import Final

from bailiwick.client import Client
from bailiwick.client.http_client import Places
from bailiwick.vocab.errors import Unavailable
from bailiwick.vocab.execs import ExecStream
from bailiwick.wire.actions.execs import JOB_EXEC, JOB_EXEC_END, JOB_EXEC_READ, JOB_EXEC_TYPE
from bailiwick.wire.execs import ExecInput, ExecQuestion, NewExec

_PIECE_BYTES: Final = 48 * 1_024
_POLL_S: Final = 20
_ROUND_S: Final = 0.05
OUTPUT_BYTES_MAX: Final = 4 * 2**20


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program inside a member ended, and what it wrote."""

    code: int
    out: bytes
    err: bytes


def run_inside(
    client: Client, job_id: int, *, argv: list[str], data: bytes = b"", wait_s: float = 120.0
) -> Ran:
    """Run a program inside a job to its end; one that takes too long is ended."""
    made = client.send(JOB_EXEC, path={"job_id": job_id}, body=NewExec(command=argv))
    path: Places = {"job_id": job_id, "exec_id": made.exec_id}
    until, sent, read, is_told = time.monotonic() + wait_s, 0, 0, False
    found = {ExecStream.STDOUT: b"", ExecStream.STDERR: b""}
    while time.monotonic() < until:
        if not is_told:
            piece = data[sent : sent + _PIECE_BYTES]
            is_last = sent + len(piece) == len(data)
            body = ExecInput(offset=sent, data=base64.b64encode(piece).decode(), is_closed=is_last)
            taken = client.send(JOB_EXEC_TYPE, path=path, body=body).next_offset
            is_told, sent = is_last and taken == len(data), taken
        question = ExecQuestion(offset=read, wait_s=_POLL_S if is_told else 0)
        told = client.send(JOB_EXEC_READ, path=path, body=question)
        for each in told.pieces:
            found[each.stream] += base64.b64decode(each.data)
        read = told.next_offset
        if told.end is not None:
            code = told.exit_code if told.exit_code is not None else -(told.signal or 255)
            if told.exit_code is None and told.signal is None:
                raise Unavailable(f"job {job_id}", f"{told.end}: {told.note}")
            return Ran(code, found[ExecStream.STDOUT], found[ExecStream.STDERR])
        if sum(len(each) for each in found.values()) > OUTPUT_BYTES_MAX:
            break
        if not is_told:
            time.sleep(_ROUND_S)
    client.send(JOB_EXEC_END, path=path)
    raise Unavailable(f"job {job_id}", f"{argv[0]} wrote too much, or took over {wait_s:g} s")
