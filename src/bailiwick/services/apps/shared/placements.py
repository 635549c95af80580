"""Where the members of a shared runtime are, whose lease each has, and what was decided for it.

Rules:

- What is told is the journal's own records of the lease: how long it waited and what for, and the
  record that placed it. Nothing is explained that was not decided.
- Who may read some projects sees members on leases of those; the tenant's administrator all.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from bailiwick.iam import Scope
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.record import Record, parse_record
from bailiwick.kernel.apps.instances import AppMember
from bailiwick.runtime.replica import View
from bailiwick.services.apps.shared.runtimes import RuntimePlace
from bailiwick.services.caller import Caller
from bailiwick.services.history import History
from bailiwick.services.pages import Rows, page_of
from bailiwick.store.history.questions import lease_of, records_about
from bailiwick.store.sql_store import SqlStore
from bailiwick.vocab.apps import MemberPart

LOOKED_MAX: Final = 100
"""Records of one lease that are looked at for the one that placed it."""
STEPS_MAX: Final = 8
"""Of them the last that are told."""


class PlacedMember(NamedTuple):
    """A member, whose lease it has, and what it is for."""

    member: AppMember
    project: str
    part: MemberPart


class MemberPlacement(NamedTuple):
    """The same with its node and the decisions, the last of which placed it."""

    placed: PlacedMember
    node: str | None
    steps: list[Record]

    @property
    def placed_seq(self) -> int | None:
        """The record that placed it, if it is known already."""
        last = self.steps[-1] if self.steps else None
        return last.seq if last and last.kind is RecordKind.ADMISSION_APPROVED else None


async def page(
    caller: Caller, history: History, *, place: RuntimePlace, after: str | None, limit: int
) -> Rows[MemberPlacement]:
    """The members of a runtime that the caller may see, by what they are called."""
    caller.require_within(Scope(place.tenant))
    visible = caller.visible_projects(place.tenant)

    def look(view: View) -> Rows[PlacedMember]:
        rows = (
            each for each in _members(view, place) if visible is None or each.project in visible
        )
        return page_of(rows, after=after, limit=limit, key=_name)

    found, more = await caller.lookup(look)
    told = await history.ask(caller.gateway.role, lambda store: [_told(store, e) for e in found])
    return told, more


def _members(view: View, place: RuntimePlace) -> list[PlacedMember]:
    r = place.find(view).runtime
    held = view.state.apps.instances.held[r.instance_id]
    manifest = view.state.apps.version(r.app, held.instance.version).manifest
    steers = {role for role, spec in manifest.roles.items() if spec.control_plane}
    return [
        PlacedMember(
            each,
            each.source or r.project,
            MemberPart.CONTROL_PLANE if each.role in steers else MemberPart.WORKLOAD,
        )
        for each in held.members.values()
    ]


def _name(placed: PlacedMember) -> str:
    return f"{placed.member.component_key}.{placed.member.id}"


def _told(store: SqlStore, placed: PlacedMember) -> MemberPlacement:
    number = placed.member.lease_id
    lease = None if number is None else lease_of(store, number)
    if lease is None:  # it has none, or the tables do not know it yet
        return MemberPlacement(placed, None, [])
    steps: list[Record] = []
    for line in records_about(store, lease, after=-1, limit=LOOKED_MAX):
        steps.append(parse_record(line.rstrip(b"\n")))
        if steps[-1].kind is RecordKind.ADMISSION_APPROVED:
            break
    own = lease.tenant, lease.project
    kept = [each for each in steps if (each.tenant, each.project) == own]
    return MemberPlacement(placed, lease.node, kept[-STEPS_MAX:])
