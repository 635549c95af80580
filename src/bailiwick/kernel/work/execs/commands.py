"""Commands about what people do inside running jobs: it is sealed, and nothing else follows.

Who did it is who acts. What is typed and what is printed is in none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from bailiwick.journal.fields import INTEGER_MAX, TEXT
from bailiwick.kernel.checks import check_id, check_scope
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.execs import CopyDirection, ExecEnd
from bailiwick.vocab.values import check_integer, check_kind

WORDS_MAX: Final = 32
WORD_CHARS_MAX: Final = 200
"""Of a command as it is sealed; what is longer is cut before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteExecStarted:
    """Somebody is about to run a program inside a job."""

    tenant: str
    project: str | None = None
    job_id: int
    lease_id: int
    exec_id: str
    argv: tuple[str, ...]
    terminal: bool = False

    def __post_init__(self) -> None:
        _check_own(self)
        check_id("lease_id", self.lease_id)
        check_kind("argv", self.argv, tuple)
        if len(self.argv) > WORDS_MAX:
            raise InvalidValue("argv", len(self.argv), f"at most {WORDS_MAX} words")
        for word in self.argv:
            TEXT.check("argv", word)
            if len(word) > WORD_CHARS_MAX:
                raise InvalidValue("argv", len(word), f"words of at most {WORD_CHARS_MAX}")
        check_kind("terminal", self.terminal, bool)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteExecEnded:
    """Such a program is over: why, and with which exit code or signal if it has one."""

    tenant: str
    project: str | None = None
    job_id: int
    exec_id: str
    end: ExecEnd
    exit_code: int | None = None
    signal: int | None = None

    def __post_init__(self) -> None:
        _check_own(self)
        check_kind("end", self.end, ExecEnd)
        for name in ("exit_code", "signal"):
            value = getattr(self, name)
            if value is not None:
                check_integer(name, value, low=0, high=INTEGER_MAX)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteFilesCopied:
    """Somebody copies files out of a job, or into it."""

    tenant: str
    project: str | None = None
    job_id: int
    exec_id: str
    direction: CopyDirection
    path: str

    def __post_init__(self) -> None:
        _check_own(self)
        check_kind("direction", self.direction, CopyDirection)
        TEXT.check("path", self.path)


ExecCommand: TypeAlias = NoteExecStarted | NoteExecEnded | NoteFilesCopied


def _check_own(command: ExecCommand) -> None:
    check_scope(command.tenant, command.project)
    check_id("job_id", command.job_id)
    TEXT.check("exec_id", command.exec_id)
