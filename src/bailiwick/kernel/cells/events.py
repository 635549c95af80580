"""What happened to cells, to requests to all of them, and in a cell to those from its home."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, TypeAlias

from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.words import CancelCause
from bailiwick.kernel.owner import Fields, OfFleet, Owner
from bailiwick.kernel.spelling import Body, request_body, request_from
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.cells import TakingStatus
from bailiwick.vocab.words import PendingReason


@dataclass(frozen=True, slots=True)
class CellJoined(OfFleet):
    """A plane is a cell of this one."""

    kind: ClassVar = RecordKind.CELL_JOINED
    cell: str
    url: str

    def body(self) -> Body:
        """The cell, and where it is."""
        return {"cell": self.cell, "url": self.url}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["cell"], body["url"])


@dataclass(frozen=True, slots=True)
class CellLeft(OfFleet):
    """A plane is a cell of this one no more."""

    kind: ClassVar = RecordKind.CELL_LEFT
    cell: str
    lost: bool = False

    def body(self) -> Body:
        """The cell, and whether it was given up."""
        return {"cell": self.cell, "lost": int(self.lost)}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["cell"], bool(body["lost"]))


@dataclass(frozen=True, slots=True)
class CellReached(OfFleet):
    """A cell was met in an epoch, and had carried out its orders up to ``done``."""

    kind: ClassVar = RecordKind.CELL_REACHED
    cell: str
    epoch: int
    done: int

    def body(self) -> Body:
        """The cell, the epoch, and how far it was."""
        return {"cell": self.cell, "epoch": self.epoch, "done": self.done}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["cell"], body["epoch"], body["done"])


@dataclass(frozen=True, slots=True)
class CellCutOff(OfFleet):
    """A cell cannot be reached; ``lost``: it is given up, and what it had ends step by step."""

    kind: ClassVar = RecordKind.CELL_CUT_OFF
    cell: str
    lost: bool = False

    def body(self) -> Body:
        """The cell, and whether it is given up."""
        return {"cell": self.cell, "lost": 1} if self.lost else {"cell": self.cell}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["cell"], bool(body.get("lost", 0)))


@dataclass(frozen=True, slots=True)
class CellHeard(OfFleet):
    """All that a cell tells up to that record of its journal is known."""

    kind: ClassVar = RecordKind.CELL_HEARD
    cell: str
    seq: int

    def body(self) -> Body:
        """The cell, and up to where."""
        return {"cell": self.cell, "seq": self.seq}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["cell"], body["seq"])


@dataclass(frozen=True, slots=True)
class GlobalAsked:
    """Somebody asks for resources wherever in the fleet they can be had."""

    kind: ClassVar = RecordKind.GLOBAL_ASKED
    global_id: int
    request: PlacementRequest

    @property
    def owner(self) -> Owner:
        """Who asked."""
        return Owner.of(self.request)

    def body(self) -> Body:
        """The request and its number."""
        return {"global_id": self.global_id, **request_body(self.request)}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        request = request_from(body, str(owner.tenant), project=owner.project)
        return cls(body["global_id"], request)


@dataclass(frozen=True, slots=True)
class GlobalSent:
    """A request is one cell's from here on."""

    kind: ClassVar = RecordKind.GLOBAL_SENT
    owner: Owner
    global_id: int
    cell: str
    number: int
    waits: bool = False

    def body(self) -> Body:
        """The cell, and the number of the order."""
        told: Body = {"global_id": self.global_id, "cell": self.cell, "number": self.number}
        return told | ({"wait": 1} if self.waits else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        waits = bool(body.get("wait", 0))
        return cls(owner, body["global_id"], body["cell"], body["number"], waits)


@dataclass(frozen=True, slots=True)
class GlobalTold:
    """What became of a request in its cell; without ``seq`` it is known without the cell's word.

    ``kept``: it was recalled, and waits there still.
    """

    kind: ClassVar = RecordKind.GLOBAL_TOLD
    owner: Owner
    global_id: int
    cell: str
    status: TakingStatus
    seq: int | None = None
    leases: tuple[int, ...] = ()
    kept: bool = False

    def body(self) -> Body:
        """The cell, and what it said."""
        told: Body = {"global_id": self.global_id, "cell": self.cell, "status": self.status.value}
        if self.seq is not None:
            told["seq"] = self.seq
        told |= {"lease_ids": list(self.leases)} if self.leases else {}
        return told | ({"kept": 1} if self.kept else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        status, leases = TakingStatus(body["status"]), tuple(body.get("lease_ids", ()))
        told = status, body.get("seq"), leases, bool(body.get("kept", 0))
        return cls(owner, body["global_id"], body["cell"], *told)


@dataclass(frozen=True, slots=True)
class GlobalRecalled:
    """A request is to leave its cell's line for another cell, if it has not begun."""

    kind: ClassVar = RecordKind.GLOBAL_RECALLED
    owner: Owner
    global_id: int
    number: int

    def body(self) -> Body:
        """The request, and the number of the order."""
        return {"global_id": self.global_id, "number": self.number}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, body["global_id"], body["number"])


@dataclass(frozen=True, slots=True)
class GlobalWithdrawn:
    """A request is wanted no more: its cell is told by an order, or (no number) it is over."""

    kind: ClassVar = RecordKind.GLOBAL_WITHDRAWN
    owner: Owner
    global_id: int
    number: int | None = None
    cause: CancelCause = CancelCause.ASKED
    reason: PendingReason | None = None

    def body(self) -> Body:
        """The request, the number of the order, and why."""
        told: Body = {"global_id": self.global_id, "cause": self.cause.value}
        told |= {} if self.number is None else {"number": self.number}
        return told if self.reason is None else told | {"reason": self.reason.value}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        reason = body.get("reason")
        return cls(
            owner,
            body["global_id"],
            body.get("number"),
            CancelCause(body.get("cause", CancelCause.ASKED)),
            None if reason is None else PendingReason(reason),
        )


# -- in a cell -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HomeMet(OfFleet):
    """This plane is a cell of another, which speaks in this epoch."""

    kind: ClassVar = RecordKind.HOME_MET
    home: str
    epoch: int

    def body(self) -> Body:
        """The home and the epoch."""
        return {"home": self.home, "epoch": self.epoch}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["home"], body["epoch"])


@dataclass(frozen=True, slots=True)
class HomeLeft(OfFleet):
    """This plane is nobody's cell any more."""

    kind: ClassVar = RecordKind.HOME_LEFT
    home: str

    def body(self) -> Body:
        """Whose it was."""
        return {"home": self.home}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["home"])


@dataclass(frozen=True, slots=True)
class HomeHeard(OfFleet):
    """The home knows all up to that record; what is over by then is forgotten."""

    kind: ClassVar = RecordKind.HOME_HEARD
    seq: int

    def body(self) -> Body:
        """Up to where."""
        return {"seq": self.seq}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["seq"])


@dataclass(frozen=True, slots=True)
class GlobalTaken:
    """An order of the home to take a request is carried out: what follows says how.

    With ``why`` nothing does: it was refused before it was decided.
    """

    kind: ClassVar = RecordKind.GLOBAL_TAKEN
    owner: Owner
    global_id: int
    number: int
    why: str | None = None

    def body(self) -> Body:
        """The request's number and the order's."""
        told: Body = {"global_id": self.global_id, "number": self.number}
        return told if self.why is None else told | {"why": self.why}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, body["global_id"], body["number"], body.get("why"))


@dataclass(frozen=True, slots=True)
class GlobalGivenBack(OfFleet):
    """An order of the home to give a request back is carried out: what follows says how.

    ``let_go``: it waited here, and may wait or run elsewhere; it is not over. ``kept``: it was to
    be let go of, and stays as it is. ``gone``: it is not here, and home is told that it is over.
    """

    kind: ClassVar = RecordKind.GLOBAL_GIVEN_BACK
    _WORDS: ClassVar = ("let_go", "kept", "gone")
    global_id: int
    number: int
    let_go: bool = False
    kept: bool = False
    gone: bool = False

    def body(self) -> Body:
        """The request's number and the order's, and what became of it if that is no end."""
        told: Body = {"global_id": self.global_id, "number": self.number}
        return told | {word: 1 for word in self._WORDS if getattr(self, word)}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        told = (bool(body.get(word, 0)) for word in cls._WORDS)
        return cls(body["global_id"], body["number"], *told)


CellEvent: TypeAlias = (
    CellJoined
    | CellLeft
    | CellReached
    | CellCutOff
    | CellHeard
    | GlobalAsked
    | GlobalSent
    | GlobalTold
    | GlobalRecalled
    | GlobalWithdrawn
    | HomeMet
    | HomeLeft
    | HomeHeard
    | GlobalTaken
    | GlobalGivenBack
)
