"""The closed words of programs that people run inside running jobs, and how such a run ends.

>>> ExecOutcome(ExecEnd.SIGNALLED, signal=9).exit_status
137
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer

ARGV_BYTES_MAX: Final = 65_536
"""Bytes of a program and its arguments, in all."""
SIDE_MAX: Final = 2_000
"""Rows and columns of a terminal, at most."""
PATH_MAX: Final = 1_000
TERM: Final = "xterm-256color"
PORT_MAX: Final = 65_535

_UNKNOWN: Final = 255
_FILE: Final = re.compile(r"[a-z][a-z0-9_.-]{0,62}")


class ExecStream(StrEnum):
    """What a program wrote to."""

    STDOUT = "stdout"
    STDERR = "stderr"


class ExecEnd(StrEnum):
    """Why a run inside a job is over."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    NOT_BEGUN = "not_begun"
    JOB_OVER = "job_over"
    ENDED = "ended"
    CALLER_GONE = "caller_gone"
    TIME_OVER = "time_over"
    LOST = "lost"


class CopyDirection(StrEnum):
    """Which way files are copied: into a job, or out of it."""

    IN = "in"
    OUT = "out"


@dataclass(frozen=True, slots=True)
class ExecOutcome:
    """How a run ended; with a code or a signal if its program is known to have ended so."""

    end: ExecEnd
    code: int | None = None
    signal: int | None = None
    note: str = ""
    """For a person."""

    @property
    def exit_status(self) -> int:
        """What a shell would make of it."""
        if self.code is not None:
            return self.code
        return _UNKNOWN if self.signal is None else 128 + self.signal


@dataclass(frozen=True, slots=True)
class Terminal:
    """What the caller's terminal is like."""

    rows: int = 24
    columns: int = 80
    term: str = TERM

    def __post_init__(self) -> None:
        check_integer("rows", self.rows, low=1, high=SIDE_MAX)
        check_integer("columns", self.columns, low=1, high=SIDE_MAX)
        if not self.term.replace("-", "").replace(".", "").replace("+", "").isalnum():
            raise InvalidValue("term", self.term, "the name of a kind of terminal")


@dataclass(frozen=True, slots=True)
class ExecCopy:
    """Files that go into a job or out of it, below its working directory unless it is absolute."""

    direction: CopyDirection
    path: str

    def __post_init__(self) -> None:
        if not self.path or "\0" in self.path or len(self.path) > PATH_MAX:
            raise InvalidValue("path", self.path[:200], f"a path of at most {PATH_MAX} characters")


@dataclass(frozen=True, slots=True)
class ExecConnect:
    """A connection to what the job itself listens on: a port, or the file that tells which.

    It is never wished for by who enters a job: an endpoint of a manifest names it.
    """

    port: int | None = None
    file: str | None = None

    def __post_init__(self) -> None:
        if (self.port is None) == (self.file is None):
            raise InvalidValue("port", self.port, "a port, or the file that tells it")
        if self.port is not None:
            check_integer("port", self.port, low=1, high=PORT_MAX)
        if self.file is not None and not _FILE.fullmatch(self.file):
            raise InvalidValue("file", self.file, "the name of a file in the member's folder")


@dataclass(frozen=True, slots=True)
class ExecWish:
    """A program to run inside a job, on a terminal or with three files."""

    argv: tuple[str, ...]
    terminal: Terminal | None = None
    copy: ExecCopy | None = None
    """What is copied in the place of running a program; then none is named."""
    is_attach: bool = False
    """Whether it is the job's own program, which waits for that; then none is named."""
    connect: ExecConnect | None = None
    """What is connected to in the place of running a program; then none is named."""

    @property
    def is_plain(self) -> bool:
        """Whether it is a program with three files, and nothing else."""
        others = self.terminal, self.copy, self.connect
        return not self.is_attach and all(each is None for each in others)

    def __post_init__(self) -> None:
        if self.connect is not None:
            if self.argv or self.terminal or self.copy or self.is_attach:
                raise InvalidValue("connect", self.connect.port, "nothing else beside it")
            return
        if self.copy is not None:
            if self.argv or self.terminal is not None or self.is_attach:
                raise InvalidValue("copy", self.copy.path, "neither a command nor a terminal")
            return
        if self.is_attach:
            if self.argv or self.terminal is None:
                raise InvalidValue("attach", True, "a terminal, and no command")
            return
        if not self.argv or not self.argv[0]:
            raise InvalidValue("command", self.argv, "a program and its arguments")
        if any("\0" in word for word in self.argv):
            raise InvalidValue("command", "(not shown)", "words without NUL")
        if sum(len(word.encode()) + 1 for word in self.argv) > ARGV_BYTES_MAX:
            raise InvalidValue("command", "(not shown)", f"at most {ARGV_BYTES_MAX:,} bytes")
