"""What may be asked of programs inside jobs: to open one, type, read what it wrote, and end it.

Rules:

- A job of another is not there, and neither is a program that another opened: same answer.
- Only a job that runs is entered. One whose executor lets nobody in is a ``Conflict`` that says so.
- A member on the host, and a member of a shared runtime, is entered by that runtime's operator
  alone, and only with the program that its role names for that.
- The agent's end is asked by the node itself alone, with its own token.
- Whoever waits holds no thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from bailiwick.executors.execs import Enterable, ExecOver, Typed
from bailiwick.executors.node.executor import NodeExecutor
from bailiwick.executors.port import Executor
from bailiwick.iam import Scope
from bailiwick.kernel.apps.shared.book import SharedRuntime
from bailiwick.kernel.work.execs.commands import (
    WORD_CHARS_MAX,
    WORDS_MAX,
    NoteExecStarted,
    NoteFilesCopied,
)
from bailiwick.ports import JobRow
from bailiwick.runtime.replica import View
from bailiwick.runtime.waiting import await_set
from bailiwick.services.apps.member_jobs import MemberSight, member_of, runtime_of
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.jobs.channel import ExecChannel, Written
from bailiwick.services.jobs.exec_desk import Exec, ExecDesk
from bailiwick.services.jobs.jobs import Jobs
from bailiwick.services.jobs.output import as_member
from bailiwick.services.jobs.use_cases import kept_jobs, require_job
from bailiwick.services.work import NodeDesk, require_self
from bailiwick.vocab.apps import Privilege
from bailiwick.vocab.errors import Conflict, Unavailable
from bailiwick.vocab.execs import ExecEnd, ExecOutcome, ExecStream, ExecWish, Terminal
from bailiwick.vocab.jobs import JobPhase

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecHouse:
    """What entering needs: the jobs, those who run them, and what is open."""

    jobs: Jobs | None
    desk: ExecDesk | None
    executor_of: Callable[[str], Executor | None]
    ending: asyncio.Event | None

    @property
    def open(self) -> ExecDesk:
        """Those that are open here."""
        if self.desk is None:
            raise Unavailable("programs inside jobs", "this server keeps no jobs")
        return self.desk


async def open_exec(
    caller: Caller, house: ExecHouse, *, job_id: int, member: int, ask: Deferred[ExecWish]
) -> Exec:
    """Run a program inside a job; it has begun once something is read of it."""
    jobs = kept_jobs(house.jobs)
    job = await require_inside(caller, jobs, job_id=job_id)
    wish, desk = ask(), house.open
    before = desk.repeated(caller.principal.name, caller.key)
    if before is not None:
        return before
    job = await asyncio.to_thread(as_member, jobs, job, rank=member)
    lease_id, node = running_at(job)
    await _check_member(caller, job, wish)
    if wish.is_attach and not job.interactive:
        raise Conflict("job", job_id, "is not interactive: nobody is attached to it")
    executor = way_in(house, jobs, node=node, job_id=job_id)
    desk.check_room(caller.principal.name)
    made = Exec(
        exec_id=desk.new_id(),
        opener=caller.principal.name,
        key=caller.key,
        tenant=job.tenant,
        project=job.project,
        job_id=job_id,
        lease_id=lease_id,
        node=node,
        wish=wish,
        correlation_id=caller.correlation_id,
    )
    await caller.change(_note(made, job))
    if not caller.dry_run:
        desk.begin(made, executor)
    return made


async def require_inside(caller: Caller, jobs: Jobs, *, job_id: int) -> JobRow:
    """That job, if the caller may enter it: a runtime's operator, its members alone."""
    if caller.principal.runtime_id is None:
        return await require_job(caller, jobs, job_id=job_id)
    job = await asyncio.to_thread(jobs.book.get, job_id)

    def find(view: View) -> SharedRuntime | None:
        return None if job is None else runtime_of(view, job)

    runtime = await caller.locate(find)
    caller.for_runtime(runtime.id)
    caller.require(Scope(runtime.tenant, runtime.project))
    assert job is not None  # it was located
    return job


async def _check_member(caller: Caller, job: JobRow, wish: ExecWish) -> None:
    """Refuse to enter what only a runtime's operator may, and anything but what it asks with."""

    def look(view: View) -> tuple[MemberSight | None, SharedRuntime | None]:
        return member_of(view, job), runtime_of(view, job)

    found, runtime = await caller.lookup(look)
    if found is None:
        return
    if runtime is not None and caller.principal.runtime_id == runtime.id:
        if not (wish.is_plain and found.role.ask and wish.argv == found.role.ask):
            why = "is a member: its operator runs what the role names to ask it, and nothing else"
            raise Conflict("job", job.job_id, why)
    elif runtime is not None:
        why = f"is a member of the shared runtime {runtime.name}: only its operator is let in"
        raise Conflict("job", job.job_id, why)
    elif found.role.privileges is Privilege.HOST:
        raise Conflict("job", job.job_id, "is a member that has the host: nobody is let in")


def _note(made: Exec, job: JobRow) -> NoteExecStarted | NoteFilesCopied:
    """What is sealed before it begins."""
    wish = made.wish
    if wish.copy is not None:
        return NoteFilesCopied(
            tenant=job.tenant,
            project=job.project,
            job_id=made.job_id,
            exec_id=made.exec_id,
            direction=wish.copy.direction,
            path=wish.copy.path.encode("utf-8", "replace").decode(),
        )
    return NoteExecStarted(
        tenant=job.tenant,
        project=job.project,
        job_id=made.job_id,
        lease_id=made.lease_id,
        exec_id=made.exec_id,
        argv=told_argv(job.command if wish.is_attach else wish.argv),
        terminal=wish.terminal is not None,
    )


def told_argv(argv: tuple[str, ...]) -> tuple[str, ...]:
    """A command as it is sealed: cut where it is long, and with nothing that cannot be spelled.

    >>> told_argv(("echo", "x" * 300))[1][-4:]
    'x...'
    """
    words = [word.encode("utf-8", "replace").decode() for word in argv[:WORDS_MAX]]
    most = WORD_CHARS_MAX - 3
    return tuple(word if len(word) <= WORD_CHARS_MAX else word[:most] + "..." for word in words)


def running_at(job: JobRow) -> tuple[int, str]:
    """Its lease and its node, if it runs."""
    if job.phase is not JobPhase.RUNNING or job.lease_id is None or job.node is None:
        why = f"is {job.phase}: only a job that runs can be entered"
        raise Conflict("job", job.job_id, why)
    return job.lease_id, job.node


def way_in(house: ExecHouse, jobs: Jobs, *, node: str, job_id: int) -> Enterable | None:
    """This machine's executor, or none if the node's agent is to do it; else it is refused."""
    found = house.executor_of(node)
    if node == jobs.node and isinstance(found, Enterable):
        return found
    if isinstance(found, NodeExecutor):
        return None
    if found is None:
        raise Unavailable(f"job {job_id}", f"it runs on {node}, which this server does not reach")
    raise Conflict("job", job_id, f"runs on {node}, whose executor lets nobody in")


async def find_exec(caller: Caller, house: ExecHouse, *, job_id: int, exec_id: str) -> Exec:
    """That one, if it is the caller's own and he may still enter the job."""
    await require_inside(caller, kept_jobs(house.jobs), job_id=job_id)
    found = house.open.get(exec_id)
    if found is None or found.job_id != job_id or found.opener != caller.principal.name:
        raise caller.refuse_hidden("not_found")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedPart:
    """What a caller typed from an offset on, and what became of his terminal."""

    offset: int
    data: bytes
    is_closed: bool = False
    terminal: Terminal | None = None


async def type_in(
    caller: Caller, house: ExecHouse, *, job_id: int, exec_id: str, ask: Deferred[TypedPart]
) -> int:
    """Pass on what was typed; up to where there was room."""
    found = await find_exec(caller, house, job_id=job_id, exec_id=exec_id)
    part = ask()
    if caller.dry_run:
        return part.offset
    if part.terminal is not None:
        found.channel.resize(part.terminal)
    return found.channel.type(part.offset, part.data, is_closed=part.is_closed)


async def read_exec(
    caller: Caller, house: ExecHouse, *, job_id: int, exec_id: str, offset: int, wait_s: int
) -> Written:
    """What the program wrote; the answer is held back until there is something."""
    found = await find_exec(caller, house, job_id=job_id, exec_id=exec_id)

    def look() -> Written | None:
        written = found.channel.read(offset)
        return written if written.pieces or written.outcome is not None else None

    held = await _held(found.channel, look, wait_s=wait_s, ending=house.ending)
    return found.channel.read(offset) if held is None else held


async def end_exec(caller: Caller, house: ExecHouse, *, job_id: int, exec_id: str) -> None:
    """End it, if it has not ended."""
    found = await find_exec(caller, house, job_id=job_id, exec_id=exec_id)
    if not caller.dry_run:
        found.channel.finish(ExecOutcome(ExecEnd.ENDED))


# -- the agent's end -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCall:
    """Which agent asks, about which program if about one, and how long it waits."""

    node: str
    life: int
    exec_id: str = ""
    wait_s: int = 0


async def due_execs(
    caller: Caller, house: ExecHouse, *, desk: NodeDesk, call: AgentCall
) -> list[Exec]:
    """What is to be run inside jobs of a node; held back until there is something."""
    await _enter(caller, desk, call)
    loop, changed = asyncio.get_running_loop(), asyncio.Event()
    until = loop.time() + call.wait_s

    def wake() -> None:
        loop.call_soon_threadsafe(changed.set)

    with house.open.listening(call.node, wake):
        while True:  # bounded by ``wait_s``, and by the server's own ending
            changed.clear()
            found = house.open.due(call.node)
            left_s = until - loop.time()
            if found or left_s <= 0 or (house.ending is not None and house.ending.is_set()):
                return found
            await await_set(changed, min(1.0, left_s))


async def pull_typed(
    caller: Caller, house: ExecHouse, *, desk: NodeDesk, call: AgentCall, offset: int
) -> Typed | None:
    """What was typed for a program of a node; ``None`` once it is over."""
    found = await _of_node(caller, house, desk=desk, call=call)
    if found is None:
        return None
    channel = found.channel
    channel.begin()
    try:
        held = await _held(
            channel, lambda: channel.pull(offset), wait_s=call.wait_s, ending=house.ending
        )
    except ExecOver:
        return None
    return held or Typed(b"")


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenPart:
    """What a program of a node wrote from an offset on, or how it ended."""

    offset: int
    stream: ExecStream = ExecStream.STDOUT
    data: bytes = b""
    outcome: ExecOutcome | None = None


async def push_written(
    caller: Caller,
    house: ExecHouse,
    *,
    desk: NodeDesk,
    call: AgentCall,
    ask: Deferred[WrittenPart],
) -> int | None:
    """Take what a program of a node wrote; up to where, or ``None`` once it is over."""
    found = await _of_node(caller, house, desk=desk, call=call)
    part = ask()
    if found is None or caller.dry_run:
        return None
    channel = found.channel
    channel.begin()

    def take() -> int | None:
        taken = channel.push(part.offset, part.stream, data=part.data)
        return taken if taken > part.offset or not part.data else None

    try:
        taken = await _held(channel, take, wait_s=call.wait_s, ending=house.ending)
    except ExecOver:
        return None
    if part.outcome is not None:
        channel.finish(part.outcome)
    return part.offset if taken is None else taken


async def _enter(caller: Caller, desk: NodeDesk, call: AgentCall) -> None:
    require_self(caller, call.node)
    await asyncio.to_thread(desk.book.enter, call.node, call.life)


async def _of_node(
    caller: Caller, house: ExecHouse, *, desk: NodeDesk, call: AgentCall
) -> Exec | None:
    await _enter(caller, desk, call)
    return house.open.of_node(call.node, call.exec_id)


async def _held(
    channel: ExecChannel,
    look: Callable[[], T | None],
    *,
    wait_s: int,
    ending: asyncio.Event | None,
) -> T | None:
    """The first answer that is one, or ``None`` after so long."""
    loop, changed = asyncio.get_running_loop(), asyncio.Event()
    until = loop.time() + wait_s

    def wake() -> None:
        loop.call_soon_threadsafe(changed.set)

    with channel.listening(wake):
        while True:  # bounded by ``wait_s``, and by the server's own ending
            found = look()
            changed.clear()
            left_s = until - loop.time()
            if found is not None or left_s <= 0 or (ending is not None and ending.is_set()):
                return found
            await await_set(changed, min(1.0, left_s))
