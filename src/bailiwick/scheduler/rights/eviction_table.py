"""Who may evict whom: one table over lease class and priority.

Rules:

- A guaranteed lease is nobody's victim. (Operators and policy end it for reasons of their own.)
- A spot lease is a victim of every higher class, whatever priority it claims: a cheap place is
  never one that nobody can take.
- A request for a spot lease evicts nobody but less urgent spot leases.
- All else goes by priority: only less urgent work has to go.
- Whether a request may evict at all is a setting of its own (``preempt_from``); the table then says
  whom.

>>> from bailiwick.vocab.words import LeaseClass as C, Priority as P
>>> may_evict(C.STANDARD, P.HIGH, victim_class=C.SPOT, victim_priority=P.CRITICAL)
True
>>> may_evict(C.SPOT, P.CRITICAL, victim_class=C.STANDARD, victim_priority=P.LOW)
False
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import assert_never

from bailiwick.vocab.words import LEASE_CLASSES, PRIORITIES, LeaseClass, Priority


def may_evict(
    lease_class: LeaseClass,
    priority: Priority,
    *,
    victim_class: LeaseClass,
    victim_priority: Priority,
) -> bool:
    """Whether a request of this class and priority may end such a lease."""
    match victim_class:
        case LeaseClass.GUARANTEED:
            return False
        case LeaseClass.STANDARD:
            is_higher = lease_class is not LeaseClass.SPOT
            return is_higher and victim_priority.rank < priority.rank
        case LeaseClass.SPOT:
            is_higher = lease_class is not LeaseClass.SPOT
            return is_higher or victim_priority.rank < priority.rank
        case _:
            assert_never(victim_class)


def _bits(lease_class: LeaseClass, priority: Priority) -> int:
    victims = enumerate(product(LEASE_CLASSES, PRIORITIES))
    return sum(
        1 << number
        for number, (kind, rank) in victims
        if may_evict(lease_class, priority, victim_class=kind, victim_priority=rank)
    )


_EVICTABLE: Mapping[tuple[LeaseClass, Priority], int] = {
    (kind, rank): _bits(kind, rank) for kind, rank in product(LEASE_CLASSES, PRIORITIES)
}


def evictable_by(lease_class: LeaseClass, priority: Priority) -> int:
    """Whom such a request may evict, as the engine takes it: bit 4 * class + priority of each."""
    return _EVICTABLE[lease_class, priority]
