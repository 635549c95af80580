"""Programs inside jobs on the wire: what is run, what is typed and what it writes.

Bytes are in base64 and go by offsets: what is sent again counts once, and what was read up to an
offset is dropped once something after it is asked for.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bailiwick.vocab.execs import PORT_MAX, SIDE_MAX, CopyDirection, ExecEnd, ExecStream
from bailiwick.wire.base import Amount, Model, Within

_Word = Annotated[str, Field(max_length=65_535)]
_Side = Annotated[int, Within(1, SIDE_MAX)]
_WaitS = Annotated[int, Within(0, 20)]
_Life = Annotated[int, Within(1, 2**53 - 1)]
_Data = Annotated[str, Field(max_length=87_384, pattern=r"^[A-Za-z0-9+/]*={0,2}$")]
_Stream = Annotated[ExecStream, Field(strict=False)]
_End = Annotated[ExecEnd, Field(strict=False)]


class ExecTerminal(Model):
    """The caller's terminal; ``term`` is what its programs find in ``TERM``."""

    rows: _Side
    columns: _Side
    term: Annotated[str, Field(pattern=r"^[A-Za-z0-9.+-]{1,64}$")] = "xterm-256color"


class ExecCopy(Model):
    """Files that go into a job or out of it, as a stream of tar on its input or output."""

    direction: Annotated[CopyDirection, Field(strict=False)]
    path: Annotated[str, Field(min_length=1, max_length=1_000)]


class ExecConnect(Model):
    """A connection to what a job itself listens on; of an endpoint of its manifest."""

    port: Annotated[int, Within(1, PORT_MAX)] | None = None
    file: Annotated[str, Field(max_length=63)] | None = None


class NewExec(Model):
    """A program to run inside a job that runs: on a terminal, or with three files."""

    command: Annotated[list[_Word], Field(max_length=1024)] = Field(default_factory=list)
    """The program and its arguments; no shell reads them. None with ``attach``."""
    copy_files: ExecCopy | None = None
    """Copy files; no command then."""
    attach: bool = False
    """Be attached to an interactive job's own program, which begins then."""
    member: Annotated[int, Within(0, 4096)] = 0
    """Whose, of a gang."""
    terminal: ExecTerminal | None = None


class Exec(Model):
    """A program inside a job; only who opened it may use it."""

    exec_id: str
    job_id: int
    lease_id: int
    node: str


class ExecInput(Model):
    """What was typed from an offset on; ``is_closed`` says that nothing follows."""

    offset: Amount
    data: _Data = ""
    is_closed: bool = False
    terminal: ExecTerminal | None = None
    """Set if its size changed."""


class ExecTaken(Model):
    """Up to where it was taken: what is beyond that is to be sent again."""

    next_offset: int


class ExecQuestion(Model):
    """From where to read what the program wrote, and how long to wait for something."""

    offset: Amount = 0
    wait_s: _WaitS = 0


class ExecPiece(Model):
    """Some of what the program wrote."""

    stream: _Stream
    data: str


class ExecOutput(Model):
    """What the program wrote; ``end`` is set once this was the last of it."""

    next_offset: int
    pieces: list[ExecPiece]
    has_begun: bool
    end: _End | None
    exit_code: int | None
    signal: int | None
    note: str
    """For a person."""


class NodeExecsQuestion(Model):
    """An agent that began at ``life`` asks what is to be run inside its jobs."""

    life: _Life
    wait_s: _WaitS = 0


class NodeExec(Model):
    """A program to run inside a job of a node."""

    exec_id: str
    lease_id: int
    command: list[str]
    terminal: ExecTerminal | None
    attach: bool = False
    copy_files: ExecCopy | None = None
    connect: ExecConnect | None = None


class NodeExecs(Model):
    """Those that no agent has taken up yet."""

    node: str
    items: list[NodeExec]


class NodeTypedQuestion(Model):
    """From where an agent wants what was typed."""

    life: _Life
    offset: Amount = 0
    wait_s: _WaitS = 0


class NodeTyped(Model):
    """What was typed; ``is_over`` says that the program is to end."""

    data: str
    is_closed: bool
    terminal: ExecTerminal | None
    is_over: bool


class NodeWritten(Model):
    """What a program of a node wrote from an offset on, or how it ended."""

    life: _Life
    offset: Amount
    stream: _Stream = ExecStream.STDOUT
    data: _Data = ""
    wait_s: _WaitS = 0
    """How long to wait for room."""
    end: _End | None = None
    exit_code: Annotated[int, Within(0, 255)] | None = None
    signal: Annotated[int, Within(0, 255)] | None = None
    note: Annotated[str, Field(max_length=1000)] = ""


class NodeWrittenTaken(Model):
    """Up to where it was taken; ``is_over`` says that nothing more is wanted."""

    next_offset: int | None
    is_over: bool
