"""One tenant's waiting entries, and where it stands with them among the tenants of a rank.

Rules:

- A tenant's place at a rank is its ``normalised`` usage and, if others have the same, the age of
  its first entry there: of each project the oldest, and of these that of the project that is owed
  most. The least goes first.
- Shares and usage are looked up once and kept until somebody says that they changed.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import NamedTuple, TypeAlias

from bailiwick.scheduler.fairness import FairShares, QueueEntry, expected_usage
from bailiwick.vocab.values import SHARE_MAX
from bailiwick.vocab.words import PRIORITIES


class Aged(NamedTuple):
    """An entry among others by age; an id tells any two apart, so nothing after it is compared."""

    submitted_ms: int
    id: int
    entry: QueueEntry
    weight: int
    """What it is expected to use, which is reckoned once and read often."""


Place: TypeAlias = tuple[int, int, int, "WaitingTenant", Aged]
"""``normalised``, then time of submission and id of the first entry; whose place, and the entry."""


def aged(entry: QueueEntry) -> Aged:
    """The entry among others by age."""
    return Aged(entry.submitted_ms, entry.id, entry, expected_usage(entry.request))


def take_out(row: list[Aged], entry: QueueEntry) -> Aged:
    """Take an entry out of a row that is sorted by age."""
    return row.pop(bisect_left(row, (entry.submitted_ms, entry.id)))


class WaitingTenant:
    """Entries of one tenant, by rank and project, each row by age."""

    __slots__ = ("_projects", "moment_ms", "name", "places", "rows", "standing")

    def __init__(self, name: str, moment_ms: int) -> None:
        self.name, self.moment_ms = name, moment_ms
        self.rows: list[dict[str, list[Aged]]] = [{} for _ in PRIORITIES]
        self.places: list[Place | None] = [None for _ in PRIORITIES]
        """Where it stands at each rank, as others were told."""
        self.standing: tuple[int, int] | None = None
        """Its share and its usage, if they are known."""
        self._projects: dict[str, tuple[int, int]] = {}

    def join(self, waiting: Aged, rank: int) -> None:
        """One more entry waits, at this rank."""
        insort(self.rows[rank].setdefault(waiting.entry.request.project or "", []), waiting)

    def leave(self, entry: QueueEntry, rank: int) -> Aged:
        """An entry waits no more, or not at this rank."""
        rows, project = self.rows[rank], entry.request.project or ""
        found = take_out(rows[project], entry)
        if not rows[project]:
            del rows[project]
        return found

    def is_single(self, rank: int) -> bool:
        """Whether it has one entry at the rank, and no other."""
        rows = self.rows[rank]
        if len(rows) != 1:
            return False
        (row,) = rows.values()
        return len(row) == 1

    def forget_usage(self) -> None:
        """Shares or usage changed."""
        self.standing = None
        self._projects.clear()

    def place(self, rank: int, *, shares: FairShares, now_ms: int) -> Place | None:
        """Where it stands at this rank; nowhere without an entry."""
        rows = self.rows[rank]
        if not rows:
            return None
        if self.standing is None:
            self.standing = shares.share_and_usage_in_line((self.name,), now_ms)
        if len(rows) == 1:
            (row,) = rows.values()
            first = row[0]
        else:
            known = {p: self.project_usage(p, shares=shares, now_ms=now_ms) for p in rows}
            _, first = min((normalised(*known[p]), row[0]) for p, row in rows.items())
        return normalised(*self.standing), first.submitted_ms, first.id, self, first

    def project_usage(self, project: str, *, shares: FairShares, now_ms: int) -> tuple[int, int]:
        """The share and the usage of one of its projects, for its place in the tenant."""
        found = self._projects.get(project)
        if found is None:
            found = shares.share_and_usage_in_line((self.name, project), now_ms)
            self._projects[project] = found
        return found


def normalised(share: int, usage: int) -> int:
    """Usage as it would weigh if shares were all the same."""
    return usage * SHARE_MAX // share
