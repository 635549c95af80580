"""What is kept for whom, reckoned from whole tables: for each place, what its claimants still lack.

A claim keeps what its members need (of a node, of a quota) beyond what those who leave for it still
hold there. Two may count on the same lease; who claimed first is served first. A claim keeps
nothing any more once one of those it counts on is fenced, or a node of its room is gone: for good,
though the fence be cleared, or another machine come under the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

Amounts = dict[str, int]


class Holder(Protocol):
    """A lease, or a member that is to have one, as far as it matters here."""

    node: str


H = TypeVar("H", bound=Holder)


@dataclass(slots=True)
class NaiveClaim(Generic[H]):
    """What each member is to hold, and who leaves for it."""

    members: tuple[H, ...]
    victims: tuple[int, ...]
    is_broken: bool = False

    def node_left(self, node: str) -> None:
        """A machine is gone, and with it all room there."""
        self.is_broken |= any(member.node == node for member in self.members)

    def lease_fenced(self, lease_id: int) -> None:
        """What a lease held does not come back by itself."""
        self.is_broken |= lease_id in self.victims


def kept(
    claims: Iterable[NaiveClaim[H]],
    leases: Mapping[int, H],
    *,
    of: Callable[[H], Amounts],
) -> Amounts:
    """What is kept at a place for these claims, in the order in which they were made.

    ``of`` says what somebody holds there.
    """
    left: dict[int, Amounts] = {}
    total: Amounts = {}
    for claim in claims:
        if claim.is_broken:
            continue
        need: Amounts = {}
        for member in claim.members:
            _add(need, of(member))
        for victim in claim.victims:
            rest = left.setdefault(victim, dict(of(leases[victim])) if victim in leases else {})
            for kind in need:
                used = min(need[kind], rest.get(kind, 0))
                need[kind] -= used
                if used:
                    rest[kind] -= used
        _add(total, need)
    return total


def _add(total: Amounts, more: Amounts) -> None:
    for kind, amount in more.items():
        total[kind] = total.get(kind, 0) + amount
