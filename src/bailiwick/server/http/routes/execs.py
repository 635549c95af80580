"""Programs inside jobs: parse, call one service, spell the answer."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated

from fastapi import Path

from bailiwick.kernel import Done as KernelDone
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Changing, Here
from bailiwick.server.http.params import PathName, PathNumber
from bailiwick.server.http.spelling import spell_done
from bailiwick.services.jobs import execs
from bailiwick.services.jobs.execs import AgentCall, ExecHouse, TypedPart, WrittenPart
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.execs import ExecConnect, ExecCopy, ExecOutcome, ExecWish, Terminal
from bailiwick.wire import execs as wire
from bailiwick.wire.answers import Done

PathExec = Annotated[str, Path(pattern="^[0-9a-f]{32}$", description="The program's id.")]


def house_of(asked: Asked) -> ExecHouse:
    """What entering needs, of what this server has."""
    parts = asked.house.parts
    return ExecHouse(
        jobs=parts.jobs, desk=parts.execs, executor_of=parts.executor_of, ending=parts.ending
    )


@answers("job.exec")
async def open_exec(asked: Changing, job_id: PathNumber, *, body: wire.NewExec) -> wire.Exec:
    """Run a program inside a job that runs, with what the job has and nothing more."""

    def ask() -> ExecWish:
        copied = body.copy_files
        copy = None if copied is None else ExecCopy(copied.direction, copied.path)
        return ExecWish(tuple(body.command), _terminal(body.terminal), copy, body.attach)

    found = await execs.open_exec(
        asked, house_of(asked), job_id=job_id, member=body.member, ask=ask
    )
    return wire.Exec(exec_id=found.exec_id, job_id=job_id, lease_id=found.lease_id, node=found.node)


@answers("job.exec_type")
async def type_in(
    asked: Changing, job_id: PathNumber, *, exec_id: PathExec, body: wire.ExecInput
) -> wire.ExecTaken:
    """What its caller typed, from an offset on; the answer says up to where there was room."""

    def ask() -> TypedPart:
        terminal = _terminal(body.terminal)
        data = _bytes(body.data)
        return TypedPart(offset=body.offset, data=data, is_closed=body.is_closed, terminal=terminal)

    taken = await execs.type_in(asked, house_of(asked), job_id=job_id, exec_id=exec_id, ask=ask)
    return wire.ExecTaken(next_offset=taken)


@answers("job.exec_read")
async def read_exec(
    asked: Here, job_id: PathNumber, *, exec_id: PathExec, body: wire.ExecQuestion
) -> wire.ExecOutput:
    """What the program wrote from an offset on; ``wait_s`` holds the answer back."""
    found = await execs.read_exec(
        asked,
        house_of(asked),
        job_id=job_id,
        exec_id=exec_id,
        offset=body.offset,
        wait_s=body.wait_s,
    )
    outcome = found.outcome
    pieces = [
        wire.ExecPiece(stream=stream, data=base64.b64encode(data).decode())
        for stream, data in found.pieces
    ]
    return wire.ExecOutput(
        next_offset=found.next_offset,
        pieces=pieces,
        has_begun=found.has_begun,
        end=None if outcome is None else outcome.end,
        exit_code=None if outcome is None else outcome.code,
        signal=None if outcome is None else outcome.signal,
        note="" if outcome is None else outcome.note,
    )


@answers("job.exec_end")
async def end_exec(asked: Changing, job_id: PathNumber, *, exec_id: PathExec) -> Done:
    """End the program, if it has not ended; its exit is then not waited for."""
    await execs.end_exec(asked, house_of(asked), job_id=job_id, exec_id=exec_id)
    return spell_done(KernelDone(None))


@answers("node.execs")
async def due_execs(asked: Here, node: PathName, *, body: wire.NodeExecsQuestion) -> wire.NodeExecs:
    """What is to be run inside jobs of a node; ``wait_s`` holds the answer back."""
    call = AgentCall(node=node, life=body.life, wait_s=body.wait_s)
    found = await execs.due_execs(asked, house_of(asked), desk=asked.desk, call=call)
    items = [
        wire.NodeExec(
            exec_id=each.exec_id,
            lease_id=each.lease_id,
            command=list(each.wish.argv),
            terminal=_spell(each.wish.terminal),
            attach=each.wish.is_attach,
            copy_files=_spell_copy(each.wish.copy),
            connect=_spell_connect(each.wish.connect),
        )
        for each in found
    ]
    return wire.NodeExecs(node=node, items=items)


@answers("node.exec_typed")
async def pull_typed(
    asked: Here, node: PathName, *, exec_id: PathExec, body: wire.NodeTypedQuestion
) -> wire.NodeTyped:
    """What was typed into a program of a node, from an offset on; ``wait_s`` holds it back."""
    call = AgentCall(node=node, life=body.life, exec_id=exec_id, wait_s=body.wait_s)
    found = await execs.pull_typed(
        asked, house_of(asked), desk=asked.desk, call=call, offset=body.offset
    )
    if found is None:
        return wire.NodeTyped(data="", is_closed=True, terminal=None, is_over=True)
    return wire.NodeTyped(
        data=base64.b64encode(found.data).decode(),
        is_closed=found.is_closed,
        terminal=_spell(found.terminal),
        is_over=False,
    )


@answers("node.exec_wrote")
async def push_written(
    asked: Changing, node: PathName, *, exec_id: PathExec, body: wire.NodeWritten
) -> wire.NodeWrittenTaken:
    """What a program of a node wrote, or how it ended; ``wait_s`` waits for room."""
    call = AgentCall(node=node, life=body.life, exec_id=exec_id, wait_s=body.wait_s)

    def ask() -> WrittenPart:
        outcome = None
        if body.end is not None:
            outcome = ExecOutcome(body.end, body.exit_code, body.signal, body.note)
        data = _bytes(body.data)
        return WrittenPart(offset=body.offset, stream=body.stream, data=data, outcome=outcome)

    taken = await execs.push_written(asked, house_of(asked), desk=asked.desk, call=call, ask=ask)
    return wire.NodeWrittenTaken(next_offset=taken, is_over=taken is None)


def _terminal(told: wire.ExecTerminal | None) -> Terminal | None:
    return None if told is None else Terminal(told.rows, told.columns, told.term)


def _spell(found: Terminal | None) -> wire.ExecTerminal | None:
    if found is None:
        return None
    return wire.ExecTerminal(rows=found.rows, columns=found.columns, term=found.term)


def _spell_copy(found: ExecCopy | None) -> wire.ExecCopy | None:
    return None if found is None else wire.ExecCopy(direction=found.direction, path=found.path)


def _spell_connect(found: ExecConnect | None) -> wire.ExecConnect | None:
    return None if found is None else wire.ExecConnect(port=found.port, file=found.file)


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise InvalidValue("data", "(not shown)", "bytes in base64") from None
