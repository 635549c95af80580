"""Who holds more than his quota allows, by how much, and whose end would bring him back inside.

A limit may be lowered under running work, which then goes on: nothing else ever takes a scope above
its hard limits. Rules:

- What burst credit carries is no excess: that ends with the credit, and for that reason. Once it is
  gone, what is left above is an excess like any other.
- An excess is told by dimension, then by generation, in the row's own unit, as a row counts.
- Only rows whose limits were set since they were seen within them are looked at. So looking costs
  nothing where nobody is above his limits.
- A gang is one unit. A unit with a guaranteed lease, or with one that is on its way out, cannot be
  chosen; what is on its way out counts as gone already.
- Order does not depend on the ledger's ids, which differ from one replica to the next: whoever asks
  numbers the leases.
- Nothing changes by looking, but for what is remembered of rows that are within their limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from bailiwick.scheduler.burst import carried_by
from bailiwick.scheduler.engine.protocol import FLAG_RESERVED, NEVER, LeaseFields
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.quota_policy import DIMENSIONS, QuotaScope
from bailiwick.scheduler.quota_rows import ROW_AMOUNTS
from bailiwick.scheduler.victim_cost import VictimTerms, lease_cost
from bailiwick.vocab.transitions import REVOKE_STATES, RevokeState
from bailiwick.vocab.words import LEASE_CLASSES, Dimension, LeaseClass

_LEASES: Final = DIMENSIONS.index(Dimension.LEASE_COUNT)
_ACTIVE: Final = REVOKE_STATES.index(RevokeState.ACTIVE)
_GUARANTEED: Final = LEASE_CLASSES.index(LeaseClass.GUARANTEED)


@dataclass(frozen=True, slots=True)
class Excess:
    """A scope that holds more than it may, and how much more of each thing (0: none)."""

    scope: QuotaScope
    amounts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HeldUnit:
    """Leases that end together, what their loss is reckoned at, and what they count as in quota."""

    number: int
    handles: tuple[int, ...]
    """The leases, by the ledger's ids."""
    scope: QuotaScope
    """Whose they are."""
    nodes: tuple[str, ...]
    """Where they are, each node once."""
    newest_ms: int
    """When the last of them was granted."""
    cost: int
    amounts: tuple[int, ...]


def excess_of(quotas: QuotaManager, scope: QuotaScope, *, now_ms: int) -> Excess | None:
    """By how much a scope is above its own limits; ``None`` if it is within all of them."""
    row = quotas.table.find(scope)
    if row < 0:
        return None
    has_credit = quotas.bursts.has_credit(quotas.table.view(scope), now_ms)
    return _excess(quotas, scope, row=row, is_carried=has_credit)


def _excess(
    quotas: QuotaManager, scope: QuotaScope, *, row: int, is_carried: bool
) -> Excess | None:
    over = [-left for left in quotas.table.left_in(row)]
    burst = quotas.quota_of(scope.tenant, scope.project).burst
    if burst is not None and is_carried:
        over[DIMENSIONS.index(burst.dimension)] -= carried_by(burst, quotas.burst_min_run_ms)
    amounts = tuple(max(0, each) for each in over)
    return Excess(scope, amounts) if any(amounts) else None


def find_excesses(quotas: QuotaManager) -> list[Excess]:
    """Every scope that is above its limits, in order of names.

    But for what credit could carry, be there any left or not: if there is none, whoever may go for
    that has been told to.
    """
    found = []
    for row in list(quotas.table.touched):
        excess = _excess(quotas, quotas.table.scopes[row], row=row, is_carried=True)
        if excess is None:
            del quotas.table.touched[row]
        else:
            found.append(excess)
    return sorted(found, key=lambda each: (each.scope.tenant, each.scope.project or ""))


def is_above_by(
    quotas: QuotaManager, amounts: Sequence[int], *, tenant: str, project: str | None
) -> bool:
    """Whether an owner, or his tenant, is above a limit in something of which he holds these.

    What credit could carry is left out, as :func:`find_excesses` does.
    """
    for row in quotas.table.rows_of(tenant, project):
        excess = _excess(quotas, quotas.table.scopes[row], row=row, is_carried=True)
        if excess is not None and _relieves(amounts, excess.amounts):
            return True
    return False


def covers(scope: QuotaScope, owner: QuotaScope) -> bool:
    """Whether what the owner holds counts in the scope's row."""
    return scope.tenant == owner.tenant and scope.project in (None, owner.project)


class ScopeUnits:
    """What a scope holds: units that may go, and what is on its way out, as quota counts it."""

    def __init__(
        self,
        ledger: CapacityLedger,
        scope: QuotaScope,
        *,
        number: Callable[[int], int],
        now_ms: int,
    ) -> None:
        self.leaving = [0] * ROW_AMOUNTS
        self.units: list[HeldUnit] = []
        self.has_spared = False
        """Whether it has leases that run on and may not be chosen."""
        self._ledger, self._number, self._terms = ledger, number, VictimTerms(now_ms=now_ms)
        self._costs: dict[tuple[int, int, int, bool], int] = {}
        self._scopes: dict[int, QuotaScope] = {}
        self._amounts: dict[tuple[int, int, int], tuple[int, ...]] = {}
        seen = set[int]()
        for handle in sorted(handles_in(ledger, scope), key=number):
            if handle in seen:
                continue
            fields = ledger.fields(handle)
            if fields.gang < 0:
                self._add([handle], [fields])
                continue
            members = sorted(ledger.with_gangs([handle]), key=number)
            seen.update(members)
            self._add(members, [ledger.fields(each) for each in members])

    def _add(self, members: list[int], fields: list[LeaseFields]) -> None:
        charged = [self._charged(h, each) for h, each in zip(members, fields, strict=True)]
        if not all(_may_go(each) for each in fields):
            for each, amounts in zip(fields, charged, strict=True):
                if each.state != _ACTIVE:
                    self.leaving = _sum(self.leaving, amounts)
                else:
                    self.has_spared = True
            return
        places = dict.fromkeys(each.node for each in fields)
        self.units.append(
            HeldUnit(
                number=self._number(members[0]),
                handles=tuple(members),
                scope=self._scope(fields[0].account),
                nodes=tuple(str(self._entry(node).id) for node in places),
                newest_ms=max(each.granted_ms for each in fields),
                cost=sum(self._cost(h, each) for h, each in zip(members, fields, strict=True)),
                amounts=charged[0]
                if len(charged) == 1
                else tuple(map(sum, zip(*charged, strict=True))),
            )
        )

    def _charged(self, handle: int, fields: LeaseFields) -> tuple[int, ...]:
        """What a lease counts as: the same for all of a shape on the same devices of a machine."""
        key = fields.shape, self._entry(fields.node).machine_class, fields.devices
        found = self._amounts.get(key)
        if found is None:
            found = self._amounts[key] = self._ledger.holds.charged(handle)
        return found

    def _cost(self, handle: int, fields: LeaseFields) -> int:
        """What the loss of a lease is reckoned at: the same for all of a shape and rank."""
        age_ms = self._terms.now_ms - fields.checkpoint_ms
        is_fresh = fields.checkpoint_ms != NEVER and age_ms <= self._terms.fresh_checkpoint_ms
        key = fields.shape, fields.priority, fields.lease_class, is_fresh
        found = self._costs.get(key)
        if found is None:
            found = self._costs[key] = lease_cost(self._ledger.lease(handle), self._terms)
        return found

    def _scope(self, account: int) -> QuotaScope:
        found = self._scopes.get(account)
        if found is None:
            owner = self._ledger.handles.accounts[account]
            found = self._scopes[account] = QuotaScope(owner.tenant, owner.project)
        return found

    def _entry(self, node: int) -> NodeEntry:
        entry = self._ledger.by_handle[node]
        assert entry is not None, "a lease is on a node that departed"
        return entry

    def rest_of(self, excess: Excess) -> list[int]:
        """What of an excess remains once those have gone that are on their way out."""
        return [max(0, over) for over in _less(excess.amounts, self.leaving)]


def cover(units: Sequence[HeldUnit], excess: Sequence[int]) -> list[HeldUnit]:
    """The units whose end takes the excess away: the cheapest for it, and none without need.

    What cannot be covered is covered as far as it can be. Of each thing no more goes than brings it
    inside, but that the last unit goes whole.
    """
    rest, chosen = list(excess), dict[int, HeldUnit]()
    for place, over in enumerate(excess):
        if over <= 0:
            continue
        helpful = [u for u in units if u.amounts[place] and u.number not in chosen]
        for unit in sorted(helpful, key=lambda u, at=place: _price(u, at)):  # type: ignore[misc]
            if rest[place] <= 0:
                break
            chosen[unit.number] = unit
            rest = _less(rest, unit.amounts)
    for unit in sorted(chosen.values(), key=lambda u: (-u.cost, u.number)):
        without = _sum(rest, unit.amounts)
        places = zip(excess, unit.amounts, without, strict=True)
        if all(after <= 0 for over, amount, after in places if over > 0 and amount):
            del chosen[unit.number]
            rest = without
    return sorted(chosen.values(), key=lambda u: u.number)


def take_within(units: Iterable[HeldUnit], rests: dict[QuotaScope, list[int]]) -> list[HeldUnit]:
    """Units in this order, each only while somebody it counts for is still above a limit by it.

    ``rests`` are the excesses by scope; they are left as they are.
    """
    left, taken = {scope: list(rest) for scope, rest in rests.items()}, list[HeldUnit]()
    for unit in units:
        mine = [scope for scope in left if covers(scope, unit.scope)]
        if any(_relieves(unit.amounts, left[scope]) for scope in mine):
            taken.append(unit)
            left |= {scope: _less(left[scope], unit.amounts) for scope in mine}
    return taken


def guaranteed_in(ledger: CapacityLedger, scope: QuotaScope) -> list[int]:
    """What a scope's guaranteed leases count as: by dimension, then by generation."""
    total, alike = [0] * ROW_AMOUNTS, dict[tuple[int, int, int], list[int]]()
    # All, whatever a shadow that is asked in takes for gone: that lowers what the row says it has.
    for handle in handles_in(ledger, scope, most=ledger.engine.counters()["leases"]):
        fields = ledger.fields(handle)
        if fields.lease_class == _GUARANTEED:
            alike.setdefault((fields.shape, fields.node, fields.devices), []).append(handle)
    for handles in alike.values():
        amounts = ledger.holds.charged(handles[0])
        total = [held + len(handles) * each for held, each in zip(total, amounts, strict=True)]
    return total


def handles_in(
    ledger: CapacityLedger, scope: QuotaScope, *, most: int | None = None
) -> Iterator[int]:
    """The scope's leases, by the ledger's ids; a tenant's with those of its projects.

    At ``most`` so many; left out, as many as its row counts.
    """
    quotas = ledger.quotas
    row = -1 if quotas is None else quotas.table.find(scope)
    if quotas is None or row < 0:
        return iter(())
    inner = [quotas.table.scopes[each] for each in quotas.table.children[row]]
    owners = [(each.tenant, each.project) for each in (scope, *inner)]
    mask = ledger.handles.accounts_owned(owners)
    count = quotas.table.view(scope).used[_LEASES] if most is None else most
    return iter(ledger.engine.leases_of(mask, max(count, 1)))


def _may_go(fields: LeaseFields) -> bool:
    is_spared = fields.lease_class == _GUARANTEED or bool(fields.flags & FLAG_RESERVED)
    return fields.state == _ACTIVE and not is_spared


def _price(unit: HeldUnit, place: int) -> tuple[Fraction, int, int]:
    return Fraction(unit.cost, unit.amounts[place]), -unit.newest_ms, unit.number


def _relieves(amounts: Sequence[int], rest: Sequence[int]) -> bool:
    return any(amount and over > 0 for amount, over in zip(amounts, rest, strict=True))


def _sum(amounts: Sequence[int], more: Sequence[int]) -> list[int]:
    return [held + added for held, added in zip(amounts, more, strict=True)]


def _less(amounts: Sequence[int], less: Sequence[int]) -> list[int]:
    return [held - taken for held, taken in zip(amounts, less, strict=True)]
