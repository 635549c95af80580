"""What a plane knows of its cells and of requests to all; and what a cell has from its home.

Rules:

- What is sent to a cell has a number, one after the other: the cell does each once, in this order,
  and knows how far it is. So a message that is lost, late or told twice changes nothing.
- A request is in one cell at most. It is that cell's from the record that gives it away until the
  cell itself says that it has not got it, or has ended it: silence is no answer.
- A request that waits in a cell's line may be recalled: the cell lets go of it if it has no lease
  and no room is being made for it, and does nothing otherwise. So nobody's work is ended twice, or
  for nothing.
- A cell is spoken to in an epoch. One that was cut off is met in a later one; what was sent in an
  earlier is refused there.
- A request counts against its owner's quota here from when it is given away until its cell says
  that it is over, so all cells together never hold more than was allowed.
- What a cell tells is numbered by its own journal; what was heard already is passed over.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from itertools import islice, takewhile
from typing import Final

from bailiwick.kernel.owner import MEMBERS_MAX
from bailiwick.scheduler.quota_policy import DIMENSIONS
from bailiwick.scheduler.quota_rows import demand_of
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.cells import CellStanding, GlobalStatus, TakingStatus
from bailiwick.vocab.errors import Conflict, NotFound

CELLS_MAX: Final = 1024
GLOBAL_MAX: Final = 1_000_000
"""Requests to the whole fleet that are not over."""
GANG_MAX: Final = MEMBERS_MAX
"""Members of a gang that goes to a cell: its leases are told in one record."""


@dataclass(frozen=True, slots=True)
class CellMember:
    """One cell, as its home knows it."""

    url: str
    epoch: int
    standing: CellStanding = CellStanding.CUT_OFF
    next_number: int = 1
    """That of what is sent to it next."""
    heard: int = 0
    """How much of the cell's own journal its last news was about."""
    lost: bool = False
    """Whether it is given up: what it had ends step by step, and then it is no cell any more."""


@dataclass(frozen=True, slots=True)
class GlobalRequest:
    """A request to the whole fleet."""

    number: int
    request: PlacementRequest
    asked_ms: int
    status: GlobalStatus = GlobalStatus.WAITING
    cell: str | None = None
    sent: int | None = None
    """The number under which it was given to its cell."""
    waits: bool = False
    """Whether it is to wait in the cell's line if it cannot start there at once."""
    withdrawn: int | None = None
    """The number under which its cell was told to give it back."""
    recalled: int | None = None
    """The number under which its cell was told to let go of it if it has not begun."""
    seq: int = -1
    """The record of the cell's journal by which that is so."""
    leases: tuple[int, ...] = ()
    """Those that it has in its cell, by the cell's numbers."""

    @property
    def orders(self) -> tuple[int, ...]:
        """The numbers of what its cell was told about it."""
        numbers = (self.sent, self.withdrawn, self.recalled)
        return tuple(number for number in numbers if number is not None)

    @property
    def is_charged(self) -> bool:
        """Whether it counts against its owner's quota."""
        return self.cell is not None


@dataclass(frozen=True, slots=True)
class Order:
    """One thing that a cell is to do: take a request, or (``request`` left out) give it back.

    ``unbegun``: only if it waits, and nobody leaves for it.
    """

    number: int
    global_id: int
    request: PlacementRequest | None = None
    waits: bool = False
    unbegun: bool = False


@dataclass(frozen=True, slots=True)
class Taking:
    """A request of the whole fleet in this cell."""

    number: int
    """The order by which it was taken: what is told of it answers that one alone."""
    status: TakingStatus
    seq: int
    """The record by which that came to be."""
    entry: int | None = None
    leases: tuple[int, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to become of it here."""
        return self.status in (TakingStatus.TURNED_AWAY, TakingStatus.ENDED)


@dataclass(slots=True)
class CellHome:
    """The plane whose cell this is, and what was taken for it."""

    name: str
    epoch: int
    done: int = 0
    """The number of the last order that was carried out."""
    takings: dict[int, Taking] = field(default_factory=dict)
    """By the request's number; who changed last stands last."""
    deciding: int | None = None
    """Whose outcome the next record of admission tells."""
    letting_go: int | None = None
    """Whose leaving the line, by the next record, is not its end: another cell may have it."""
    by_entry: dict[int, int] = field(default_factory=dict)
    by_lease: dict[int, int] = field(default_factory=dict)
    over: dict[int, None] = field(default_factory=dict)
    """What is to be forgotten when home has heard of it; like those above it follows."""

    def put(self, global_id: int, taking: Taking) -> None:
        """What became of a request; entries and leases that it has no more are forgotten."""
        self.drop(global_id)
        self.takings[global_id] = taking
        if taking.is_over:
            self.over[global_id] = None
        if taking.entry is not None:
            self.by_entry[taking.entry] = global_id
        for lease_id in taking.leases:
            self.by_lease[lease_id] = global_id

    def drop(self, global_id: int) -> None:
        """Forget a request, or what was known of it."""
        before = self.takings.pop(global_id, None)
        if before is None:
            return
        self.over.pop(global_id, None)
        self.by_entry.pop(before.entry or 0, None)
        for lease_id in before.leases:
            self.by_lease.pop(lease_id, None)

    @property
    def held(self) -> int:
        """How many requests wait or run here."""
        return len(self.takings) - len(self.over)

    def news(self, after: int) -> list[tuple[int, Taking]]:
        """What changed behind that record of the journal, oldest first."""
        rows = takewhile(lambda row: row[1].seq > after, reversed(self.takings.items()))
        return sorted(rows, key=lambda row: (row[1].seq, row[0]))

    def heard_of(self, seq: int) -> list[int]:
        """What is over, and was when that record was written."""
        return [number for number in self.over if self.takings[number].seq <= seq]


class CellBook:
    """Both sides: the cells of this plane, and the home of which this plane is a cell."""

    def __init__(self) -> None:
        self.members: dict[str, CellMember] = {}
        self.requests: dict[int, GlobalRequest] = {}
        self._inside: dict[str, dict[int, None]] = {}
        """The requests of each cell; it follows from them, and so do the orders."""
        self._orders: dict[str, dict[int, int]] = {}
        self.waiting: dict[int, None] = {}
        """The requests that are in no cell; it follows from them, too."""
        self.in_line: dict[int, None] = {}
        """The requests that wait in their cell's line; who came to wait last stands last."""
        self.waiting_of: dict[tuple[str, str | None], int] = {}
        """How many of them are a tenant's, and a project's."""
        self._charged: dict[tuple[str, str | None], list[int]] = {}
        """What they count for that are in cells, in each dimension; it follows from them."""
        self.serial = 0
        """The number of the last request."""
        self.epoch = 0
        """The highest in which any cell was met."""
        self.home: CellHome | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there was never a cell here, nor a home."""
        return not (self.members or self.requests or self.serial or self.epoch or self.home)

    def member(self, cell: str) -> CellMember:
        """The cell by name."""
        found = self.members.get(cell)
        if found is None:
            raise NotFound("cell", cell, hint="bailiwick cell list")
        return found

    def request(self, global_id: int) -> GlobalRequest:
        """The request by number, while it is not over."""
        found = self.requests.get(global_id)
        if found is None:
            raise NotFound("global request", global_id, hint="it never existed or is over")
        return found

    def put(self, each: GlobalRequest) -> None:
        """The request as it is now."""
        self.drop(each.number)
        self.requests[each.number] = each
        if each.cell is None:
            self.waiting[each.number] = None
            self._count_waiting(each, 1)
        else:
            self._inside.setdefault(each.cell, {})[each.number] = None
            self._charge(each, 1)
            orders = self._orders.setdefault(each.cell, {})
            orders |= dict.fromkeys(each.orders, each.number)
            if each.status is GlobalStatus.QUEUED:
                self.in_line[each.number] = None

    def drop(self, global_id: int) -> None:
        """A request is over, or is to be put anew."""
        before = self.requests.pop(global_id, None)
        self.in_line.pop(global_id, None)
        if before is not None and before.cell is None:
            del self.waiting[global_id]
            self._count_waiting(before, -1)
        if before is not None and before.cell is not None:
            del self._inside[before.cell][global_id]
            self._charge(before, -1)
            for order in before.orders:
                # The number may be another's by now: of what a cell had not got, it is free.
                if self._orders[before.cell].get(order) == global_id:
                    del self._orders[before.cell][order]

    def _count_waiting(self, each: GlobalRequest, sign: int) -> None:
        tenant, project = str(each.request.tenant), each.request.project
        for part in {None, None if project is None else str(project)}:
            count = self.waiting_of.pop((tenant, part), 0) + sign
            if count:
                self.waiting_of[tenant, part] = count

    def _charge(self, each: GlobalRequest, sign: int) -> None:
        tenant, project = str(each.request.tenant), each.request.project
        for part in {None, None if project is None else str(project)}:
            held = zip(self.charged_to(tenant, part), demand_of(each.request), strict=True)
            self._charged[tenant, part] = [now + sign * amount for now, amount in held]
            if not any(self._charged[tenant, part]):
                del self._charged[tenant, part]

    def charged_to(self, tenant: str, project: str | None) -> list[int]:
        """What a tenant, or one of its projects, has in cells: by dimension, in its row's units."""
        return self._charged.get((tenant, project)) or [0] * len(DIMENSIONS)

    def within(self, cell: str) -> list[GlobalRequest]:
        """What is in a cell, or may be, by number."""
        return [self.requests[number] for number in sorted(self._inside.get(cell, ()))]

    def first_within(self, cell: str, limit: int) -> list[GlobalRequest]:
        """The first so many of them, by number."""
        return [self.requests[n] for n in nsmallest(limit, self._inside.get(cell, ()))]

    def orders(self, cell: str, *, after: int, limit: int) -> list[Order]:
        """What the cell is to do behind that number, in its order, and no more than so much."""
        numbers, following = self._orders.get(cell, {}), self.members[cell].next_number
        behind: Iterable[int] = range(after + 1, following)
        if following - after > len(numbers):  # the cell is far behind, or says so
            behind = sorted(number for number in numbers if number > after)
        found = islice((number for number in behind if number in numbers), limit)
        return [self._order(number, self.requests[numbers[number]]) for number in found]

    def count_given(self, cell: str, *, done: int) -> int:
        """How many are in a cell that has carried out so many orders, and has told all of it."""
        behind = self.orders(cell, after=done, limit=len(self._orders.get(cell, ())))
        return self.count_within(cell) - sum(each.request is not None for each in behind)

    @staticmethod
    def _order(number: int, each: GlobalRequest) -> Order:
        if number == each.withdrawn:
            return Order(number, each.number)
        if number == each.recalled:
            return Order(number, each.number, unbegun=True)
        return Order(number, each.number, each.request, each.waits)

    def count_within(self, cell: str) -> int:
        """How many are in a cell, or may be."""
        return len(self._inside.get(cell, ()))

    def change_member(self, cell: str, **changes: object) -> None:
        """The cell with some fields changed."""
        self.members[cell] = replace(self.members[cell], **changes)  # type: ignore[arg-type]

    # -- this plane as a cell ----------------------------------------------------------------

    def at_home(self, epoch: int) -> CellHome:
        """The home, if this is the epoch in which it speaks."""
        if self.home is None:
            raise Conflict("cell", "of no fleet", "has no home", hint="its home meets it first")
        if epoch != self.home.epoch:
            why = f"is in epoch {self.home.epoch}, not {epoch}"
            raise Conflict("cell", self.home.name, why, hint="meet it again")
        return self.home

    def elected(self) -> None:
        """A leader begins: what was being decided when the journal broke off is not any more."""
        if self.home is not None:
            self.home.deciding = self.home.letting_go = None

    def queued(self, entry_id: int, *, seq: int) -> None:
        """A request that was being decided waits."""
        self._decided(TakingStatus.QUEUED, seq, entry_id)

    def denied(self, *, seq: int) -> None:
        """A request that was being decided may not run."""
        self._decided(TakingStatus.TURNED_AWAY, seq)

    def _decided(self, status: TakingStatus, seq: int, entry_id: int | None = None) -> None:
        home = self.home
        if home is not None and home.deciding is not None:
            before = home.takings[home.deciding]
            home.put(home.deciding, replace(before, status=status, seq=seq, entry=entry_id))
            home.deciding = None

    def granted(
        self, entry_id: int | None, lease_ids: tuple[int, ...], *, left: int, seq: int
    ) -> None:
        """Members of a request have leases; ``left`` are told in the records that follow."""
        home = self.home
        if home is None:
            return
        global_id = home.deciding if entry_id is None else home.by_entry.get(entry_id)
        if global_id is None:
            return
        before = home.takings[global_id]
        leases, entry = (*before.leases, *lease_ids), entry_id if left else None
        held = replace(before, status=TakingStatus.HELD, seq=seq, entry=entry, leases=leases)
        home.put(global_id, held)
        if entry_id is None and not left:
            home.deciding = None

    def left_line(self, entry_id: int, *, seq: int) -> None:
        """An entry is in the line no more: its request is over, unless it was let go of."""
        home = self.home
        if home is not None and entry_id in home.by_entry:
            global_id = home.by_entry[entry_id]
            is_over = home.letting_go != global_id
            status = TakingStatus.ENDED if is_over else TakingStatus.TURNED_AWAY
            home.put(
                global_id, replace(home.takings[global_id], status=status, seq=seq, entry=None)
            )
            home.letting_go = None

    def lease_ended(self, lease_id: int, *, seq: int) -> None:
        """A lease is over, or fenced: nobody's any more."""
        if self.home is None or lease_id not in self.home.by_lease:
            return
        global_id = self.home.by_lease[lease_id]
        before = self.home.takings[global_id]
        leases = tuple(each for each in before.leases if each != lease_id)
        status = TakingStatus.HELD if leases else TakingStatus.ENDED
        self.home.put(global_id, replace(before, status=status, seq=seq, leases=leases))
