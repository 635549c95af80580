"""What happened to a thing: the journal's own records about it, the newest first.

Rules:

- A record is told to who may read the journal where it belongs, or may read there what the record
  is of (a node's records with the key for nodes, a quota's with the key for quotas). Every record
  is judged by itself; of another tenant nothing is told.
- What only the journal's readers may know (tokens, refused access, break-glass) is told to no one
  else, whatever it is about.
- A bounded number of records is looked at for each page, from the end backwards; a page may be
  empty and have a next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, assert_never

from bailiwick.iam import FLEET, Permission, Scope
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.record import Record, parse_record
from bailiwick.services.caller import Caller
from bailiwick.services.changes.nouns import KEY_OF, NOUNS_OF, ChangeNoun
from bailiwick.services.journal import ToldRecord, tell_record
from bailiwick.services.pages import Rows

SCAN_MAX: Final = 4_000
"""Records that are looked at for one page."""
_STEP: Final = 1_000


class StorySubject(StrEnum):
    """What a story is about."""

    ENTRY = "entry"
    INSTANCE = "instance"
    INVOICE = "invoice"
    NODE = "node"
    POLICY = "policy"
    """The isolation policy; it has no name."""
    PROJECT = "project"
    RUNTIME = "runtime"
    TENANT = "tenant"


@dataclass(frozen=True, slots=True)
class StoryWish:
    """Whose story: of one subject, by its name or number, where it is."""

    subject: StorySubject
    name: str
    tenant: str | None = None
    project: str | None = None

    def is_about(self, record: Record) -> bool:
        """Whether the record tells of it."""
        body, is_there = record.body, record.tenant == self.tenant
        match self.subject:
            case StorySubject.ENTRY:
                return str(body.get("entry_id")) == self.name
            case StorySubject.INSTANCE:
                return is_there and str(body.get("instance_id")) == self.name
            case StorySubject.INVOICE:
                return is_there and self.name in (body.get("invoice"), body.get("corrects"))
            case StorySubject.NODE:
                return body.get("node") == self.name
            case StorySubject.POLICY:
                return ChangeNoun.ISOLATION in NOUNS_OF[record.kind]
            case StorySubject.PROJECT:
                return is_there and record.project == self.project and record.kind in _KEPT
            case StorySubject.RUNTIME:
                return is_there and body.get("runtime") == self.name
            case StorySubject.TENANT:
                return is_there and record.project is None and record.kind in _KEPT
            case _:
                assert_never(self.subject)

    @property
    def glance(self) -> bytes:
        """What every line about it holds, so that most need not be read."""
        match self.subject:
            case StorySubject.ENTRY | StorySubject.INSTANCE:
                return f'_id":{self.name}'.encode()
            case StorySubject.POLICY:
                return b'"isolation_'
            case StorySubject.PROJECT:
                return f'"{self.project}"'.encode()
            case StorySubject.TENANT:
                return f'"{self.tenant}"'.encode()
            case StorySubject.INVOICE | StorySubject.NODE | StorySubject.RUNTIME:
                return f'"{self.name}"'.encode()
            case _:
                assert_never(self.subject)


_PLACE: Final = frozenset(
    {
        *(ChangeNoun.TENANTS, ChangeNoun.QUOTA, ChangeNoun.BUDGETS, ChangeNoun.MEMBERS),
        *(ChangeNoun.ACCOUNTS, ChangeNoun.INVOICES, ChangeNoun.RATES),
    }
)
_FIRST: Final = (
    *(ChangeNoun.MEMBERS, ChangeNoun.ACCOUNTS, ChangeNoun.INVOICES, ChangeNoun.RATES),
    *(ChangeNoun.BUDGETS, ChangeNoun.ISOLATION, ChangeNoun.RUNTIMES, ChangeNoun.APPS),
    *(ChangeNoun.QUOTA, ChangeNoun.QUEUE, ChangeNoun.NODES),
    *(ChangeNoun.TENANTS, ChangeNoun.FINDINGS, ChangeNoun.SETTINGS),
)
"""Of several nouns that a record makes old, the one that it is of; the narrowest key first."""


def _key_of(kind: RecordKind) -> Permission:
    nouns = NOUNS_OF[kind]
    if ChangeNoun.LEASES in nouns:
        return Permission.LEASE_READ
    if {ChangeNoun.INSTANCES, ChangeNoun.APPS} <= nouns:
        return Permission.INSTANCE_READ
    return KEY_OF[next((noun for noun in _FIRST if noun in nouns), ChangeNoun.RECORDS)]


KEY_OF_KIND: Final[Mapping[RecordKind, Permission]] = {kind: _key_of(kind) for kind in RecordKind}
"""The key with which one reads what a record is of, beside the key to the journal."""
_KEPT: Final = frozenset(
    kind
    for kind in RecordKind
    if NOUNS_OF[kind] & _PLACE and ChangeNoun.LEASES not in NOUNS_OF[kind]
)


async def page(
    caller: Caller, wish: StoryWish, *, before: int | None, limit: int
) -> Rows[ToldRecord]:
    """What happened to it, the newest first; of records that the caller may read."""
    caller.require_within(FLEET if wish.tenant is None else Scope(wish.tenant, wish.project))
    whole = caller.holds(Permission.JOURNAL_READ)
    end = caller.gateway.journal.size if before is None else before
    lowest, rows = max(0, end - SCAN_MAX), list[ToldRecord]()
    while end > lowest:  # each turn goes at least one record back
        first = max(lowest, end - _STEP)
        for line in reversed(await caller.records(first, end - first)):
            end -= 1
            if wish.glance not in line:
                continue
            record = parse_record(line.rstrip(b"\n"))
            if wish.is_about(record) and _may(caller, record):
                rows.append(tell_record(record, whole=whole))
            if len(rows) == limit:
                return rows, str(end) if end else None
        end = first
    return rows, str(end) if end else None


def _may(caller: Caller, record: Record) -> bool:
    scope = Scope(record.tenant, record.project)
    keys = (Permission.JOURNAL_READ, KEY_OF_KIND[record.kind])
    return any(caller.holds(key, scope) for key in keys)
