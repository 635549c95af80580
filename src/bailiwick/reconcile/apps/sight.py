"""What the loop sees of instances: their members, and until when the leases of those last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bailiwick.kernel.apps.instances import AppInstance, AppMember
from bailiwick.kernel.state import State
from bailiwick.runtime.replica import View
from bailiwick.vocab.apps import MemberPhase
from bailiwick.vocab.transitions import RevokeState


@dataclass(frozen=True, slots=True)
class SeenInstance:
    """An instance with its members, and until when their leases last."""

    instance: AppInstance
    members: tuple[AppMember, ...]
    leases: dict[int, int]
    """Of those that are active: when they run out."""
    serial: int
    """How many members there have been so far: names what is done next."""

    @property
    def is_alive(self) -> bool:
        """Whether all that it has is ready and held."""
        return all(self.is_held(each) for each in self.members)

    def is_held(self, member: AppMember) -> bool:
        """Whether nothing but time is to be looked at for a member."""
        if self.instance.is_leaving:
            return False
        return member.phase is MemberPhase.READY and member.lease_id in self.leases


def look(view: View) -> list[SeenInstance]:
    """All instances, each with what is known of its members' leases."""
    state = view.state
    book = state.apps.instances
    found = list[SeenInstance]()
    for held in book.held.values():
        members = tuple(held.members.values())
        named = (each.lease_id for each in members if each.lease_id is not None)
        leases = dict(_active(state, named))
        found.append(SeenInstance(held.instance, members, leases, book.member_serial))
    return found


def _active(state: State, lease_ids: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Those of the leases that are active, and when each runs out."""
    for lease_id in lease_ids:
        if lease_id in state.leases:
            told = state.ledger.told(state.handle(lease_id))
            if told.state is RevokeState.ACTIVE:
                yield lease_id, told.expires_ms


def is_same(known: tuple[AppInstance, tuple[AppMember, ...]], seen: SeenInstance) -> bool:
    """Whether nothing was changed of it since; then nothing was to do then, nor is now."""
    instance, members = known
    if instance is not seen.instance or len(members) != len(seen.members):
        return False
    return all(one is other for one, other in zip(members, seen.members, strict=True))
