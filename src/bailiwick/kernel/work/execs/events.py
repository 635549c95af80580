"""What people did inside running jobs; nothing about placement follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, TypeAlias, assert_never

from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.owner import Fields, Owner
from bailiwick.kernel.spelling import Body
from bailiwick.kernel.work.execs import commands as cmd
from bailiwick.vocab.execs import CopyDirection, ExecEnd


@dataclass(frozen=True, slots=True)
class ExecStarted:
    """Somebody was about to run a program inside a job."""

    kind: ClassVar = RecordKind.EXEC_STARTED
    owner: Owner
    job_id: int
    lease_id: int
    exec_id: str
    argv: tuple[str, ...]
    terminal: bool = False

    def body(self) -> Body:
        """Where, and which program."""
        body: Body = {"job_id": self.job_id, "lease_id": self.lease_id, "exec_id": self.exec_id}
        body["argv"] = list(self.argv)
        return body | {"terminal": 1} if self.terminal else body

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        where = body["job_id"], body["lease_id"], body["exec_id"]
        return cls(owner, *where, tuple(body["argv"]), bool(body.get("terminal", 0)))


@dataclass(frozen=True, slots=True)
class ExecEnded:
    """Such a program is over."""

    kind: ClassVar = RecordKind.EXEC_ENDED
    owner: Owner
    job_id: int
    exec_id: str
    end: ExecEnd
    exit_code: int | None = None
    signal: int | None = None

    def body(self) -> Body:
        """Why, and with which exit code or signal."""
        body: Body = {"job_id": self.job_id, "exec_id": self.exec_id, "end": self.end.value}
        more = {"exit_code": self.exit_code, "signal": self.signal}
        return body | {name: value for name, value in more.items() if value is not None}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        how = body.get("exit_code"), body.get("signal")
        return cls(owner, body["job_id"], body["exec_id"], ExecEnd(body["end"]), *how)


@dataclass(frozen=True, slots=True)
class FilesCopied:
    """Somebody copied files out of a job, or into it."""

    kind: ClassVar = RecordKind.FILES_COPIED
    owner: Owner
    job_id: int
    exec_id: str
    direction: CopyDirection
    path: str

    def body(self) -> Body:
        """Which way, and which path in the job."""
        body: Body = {"job_id": self.job_id, "exec_id": self.exec_id}
        return body | {"direction": self.direction.value, "path": self.path}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        way = CopyDirection(body["direction"])
        return cls(owner, body["job_id"], body["exec_id"], way, body["path"])


ExecEvent: TypeAlias = ExecStarted | ExecEnded | FilesCopied


def event_of_exec(command: cmd.ExecCommand) -> ExecEvent:
    """What such a command has sealed."""
    owner, own = Owner(command.tenant, command.project), (command.job_id, command.exec_id)
    match command:
        case cmd.NoteExecStarted():
            job_id, exec_id = own
            what = command.argv, command.terminal
            return ExecStarted(owner, job_id, command.lease_id, exec_id, *what)
        case cmd.NoteExecEnded():
            return ExecEnded(owner, *own, command.end, command.exit_code, command.signal)
        case cmd.NoteFilesCopied():
            return FilesCopied(owner, *own, command.direction, command.path)
        case _:
            assert_never(command)
