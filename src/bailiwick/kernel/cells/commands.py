"""Commands about cells: those of a plane that has some, and those that a cell is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.journal.words import CancelCause
from bailiwick.kernel.cells.book import GANG_MAX
from bailiwick.kernel.checks import check_id
from bailiwick.kernel.work.commands import Submit
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.cells import TakingStatus
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer, check_kind, check_name
from bailiwick.vocab.words import PendingReason

URL_MAX = 255


@dataclass(frozen=True, slots=True)
class JoinCell:
    """A plane becomes a cell of this one; nothing is given to it before it was met."""

    cell: str
    url: str

    def __post_init__(self) -> None:
        check_name("cell", self.cell)
        if not isinstance(self.url, str) or not 0 < len(self.url) <= URL_MAX:
            raise InvalidValue("url", self.url, f"1 to {URL_MAX} characters")


@dataclass(frozen=True, slots=True)
class LeaveCell:
    """A cell is one no more; ``lost``: whatever it has, nobody waits for its word."""

    cell: str
    lost: bool = False

    def __post_init__(self) -> None:
        check_name("cell", self.cell)
        check_kind("lost", self.lost, bool)


@dataclass(frozen=True, slots=True)
class ReachCell:
    """The cell was met in this epoch, and has carried out what it was sent up to ``done``."""

    cell: str
    epoch: int
    done: int

    def __post_init__(self) -> None:
        check_name("cell", self.cell)
        check_integer("epoch", self.epoch, low=1, high=INTEGER_MAX)
        check_integer("done", self.done, low=0, high=INTEGER_MAX)


@dataclass(frozen=True, slots=True)
class CutOffCell:
    """The cell cannot be reached: it keeps what it has, and gets nothing new."""

    cell: str

    def __post_init__(self) -> None:
        check_name("cell", self.cell)


@dataclass(frozen=True, slots=True)
class AskGlobally:
    """Ask for resources wherever in the fleet they can be had."""

    request: PlacementRequest

    def __post_init__(self) -> None:
        Submit(self.request)
        check_integer("gang_size", self.request.gang_size, low=1, high=GANG_MAX)


@dataclass(frozen=True, slots=True)
class SendGlobal:
    """Give a waiting request to one cell; ``waits``: if it cannot start, into that cell's line."""

    global_id: int
    cell: str
    waits: bool = False

    def __post_init__(self) -> None:
        check_id("global_id", self.global_id)
        check_name("cell", self.cell)
        check_kind("waits", self.waits, bool)


@dataclass(frozen=True, slots=True)
class NoteGlobal:
    """What a cell says became of order ``number``, by the record ``seq`` of its own journal.

    ``left``: how much it has told besides that is still to be noted; with none left, all up to
    that record is known.
    """

    cell: str
    epoch: int
    global_id: int
    number: int
    seq: int
    status: TakingStatus
    leases: tuple[int, ...] = ()
    left: int = 0

    def __post_init__(self) -> None:
        check_name("cell", self.cell)
        check_integer("epoch", self.epoch, low=1, high=INTEGER_MAX)
        check_id("global_id", self.global_id)
        check_integer("number", self.number, low=1, high=INTEGER_MAX)
        check_integer("seq", self.seq, low=0, high=INTEGER_MAX)
        check_integer("left", self.left, low=0, high=INTEGER_MAX)
        check_kind("status", self.status, TakingStatus)
        object.__setattr__(self, "leases", _lease_ids(self.leases))


@dataclass(frozen=True, slots=True)
class RecallGlobal:
    """Another cell has room for what waits in a line: its cell lets go of it if it may."""

    global_id: int

    def __post_init__(self) -> None:
        check_id("global_id", self.global_id)


@dataclass(frozen=True, slots=True)
class WithdrawGlobal:
    """A request is wanted no more: it leaves the line, or its cell gives it back.

    ``reason``: what every cell said of one that none can ever run.
    """

    global_id: int
    cause: CancelCause = CancelCause.ASKED
    reason: PendingReason | None = None

    def __post_init__(self) -> None:
        check_id("global_id", self.global_id)
        check_kind("cause", self.cause, CancelCause)
        if self.reason is not None:
            check_kind("reason", self.reason, PendingReason)


# -- to a cell -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MeetHome:
    """The plane of this name speaks to its cell here, in this epoch."""

    home: str
    epoch: int

    def __post_init__(self) -> None:
        check_name("home", self.home)
        check_integer("epoch", self.epoch, low=1, high=INTEGER_MAX)


@dataclass(frozen=True, slots=True)
class LeaveHome:
    """This plane is a cell no more."""


@dataclass(frozen=True, slots=True)
class TakeGlobal:
    """The home gives this cell a request, if it comes no later than that by the cell's clock."""

    epoch: int
    number: int
    global_id: int
    request: PlacementRequest
    waits: bool
    not_after_ms: int

    def __post_init__(self) -> None:
        _check_order(self.epoch, self.number, self.global_id)
        check_integer("not_after_ms", self.not_after_ms, low=0, high=INTEGER_MAX)
        AskGlobally(self.request)
        check_kind("waits", self.waits, bool)


@dataclass(frozen=True, slots=True)
class GiveBackGlobal:
    """The home wants a request back that it gave to this cell.

    ``unbegun``: only if it waits here, and no room is being made for it.
    """

    epoch: int
    number: int
    global_id: int
    unbegun: bool = False

    def __post_init__(self) -> None:
        _check_order(self.epoch, self.number, self.global_id)
        check_kind("unbegun", self.unbegun, bool)


@dataclass(frozen=True, slots=True)
class HearHome:
    """The home has heard all up to this record: what is over by then may be forgotten."""

    epoch: int
    seq: int

    def __post_init__(self) -> None:
        check_integer("epoch", self.epoch, low=1, high=INTEGER_MAX)
        check_integer("seq", self.seq, low=0, high=INTEGER_MAX)


def _check_order(epoch: int, number: int, global_id: int) -> None:
    check_integer("epoch", epoch, low=1, high=INTEGER_MAX)
    check_integer("number", number, low=1, high=INTEGER_MAX)
    check_id("global_id", global_id)


def _lease_ids(leases: object) -> tuple[int, ...]:
    if not isinstance(leases, list | tuple) or len(leases) > GANG_MAX:
        raise InvalidValue("leases", leases, f"at most {GANG_MAX} lease ids")
    for lease_id in leases:
        check_id("leases", lease_id)
    return tuple(leases)


CellCommand: TypeAlias = (
    JoinCell
    | LeaveCell
    | ReachCell
    | CutOffCell
    | AskGlobally
    | SendGlobal
    | NoteGlobal
    | RecallGlobal
    | WithdrawGlobal
    | MeetHome
    | LeaveHome
    | TakeGlobal
    | GiveBackGlobal
    | HearHome
)
