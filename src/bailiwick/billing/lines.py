"""What a bill is made of: a line, its key, its price and its units.

Rules:

- A line is all that one key used. The key says whose it is, what it is, in which stage of a lease
  and why, and at which price of which card: so a change of prices gives another line, and a line
  says all that is needed to work out its cost again.
- Time that is not charged is a line like any other, at the price 0.
- Usage is in the meter's own integers; the unit for people is that of a second, in which every
  amount has an exact decimal. Only the hours that a price is for may need rounding.
- In a correction a line is a difference, and its numbers may be negative.

>>> unit_of(ResourceKind.GPU_MILLI).seconds(120 * 10**6), unit_of(ResourceKind.GPU_MILLI).name
('120', 'GPU-Seconds')
>>> Price(10_000 * 3600).cost(ResourceKind.GPU_MILLI, 3_600 * 10**6)
36000000
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from bailiwick.billing.charges import CHARGED, ChargeCause
from bailiwick.billing.rates import HOUR_MS, WHOLE, RateCard, nearest_micro
from bailiwick.metering.owners import Stage
from bailiwick.vocab.app_uses import MemberUse
from bailiwick.vocab.values import GIB, MILLI
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, ResourceKind

_HOUR_S: Final = HOUR_MS // MILLI
_PRICE_PLACES: Final = 9
"""A price is in micros times per mille: nine decimals say it exactly."""
_HOUR_PLACES: Final = 12


class ResourceUnit(NamedTuple):
    """How an amount of one kind of resource is told."""

    native: str
    """What the meter counts."""
    name: str
    per_hour: str
    """What a price is for."""
    parts: int
    """Of what the meter counts, in one of the unit."""
    places: int
    """So many decimals say one part exactly."""

    def seconds(self, used: int) -> str:
        """The amount in this unit, exactly.

        >>> unit_of(ResourceKind.MEM_BYTES).seconds(2**29 * 1000)
        '0.5'
        """
        return decimal_text(used * 10**self.places // self.parts, self.places)

    def hours(self, used: int) -> str:
        """The amount in hours of it, to twelve decimals: a third of an hour has no exact one."""
        parts = self.parts * _HOUR_S
        return decimal_text((2 * used * 10**_HOUR_PLACES + parts) // (2 * parts), _HOUR_PLACES)


_SHARES: Final = (MILLI * MILLI, 6)
_BYTES: Final = (GIB * MILLI, 33)
_UNITS: Final[Mapping[ResourceKind, ResourceUnit]] = {
    ResourceKind.CPU_MILLI: ResourceUnit("milli-core x ms", "Core-Seconds", "Core-Hours", *_SHARES),
    ResourceKind.MEM_BYTES: ResourceUnit("byte x ms", "GiB-Seconds", "GiB-Hours", *_BYTES),
    ResourceKind.BLOCK_BYTES: ResourceUnit("byte x ms", "GiB-Seconds", "GiB-Hours", *_BYTES),
    ResourceKind.GPU_MILLI: ResourceUnit("milli-share x ms", "GPU-Seconds", "GPU-Hours", *_SHARES),
}
_WEIGHTS: Final = {kind: WHOLE // (unit.parts * _HOUR_S * MILLI) for kind, unit in _UNITS.items()}


def unit_of(kind: ResourceKind) -> ResourceUnit:
    """The unit in which this kind is told."""
    return _UNITS[kind]


class Price(NamedTuple):
    """What an hour of something costs by its card, and what the lease's class pays of that."""

    micros_per_hour: int
    per_mille: int = MILLI

    def exact(self, kind: ResourceKind, used: int) -> int:
        """What this much costs, in micros times ``rates.WHOLE``."""
        return used * _WEIGHTS[kind] * self.micros_per_hour * self.per_mille

    def cost(self, kind: ResourceKind, used: int) -> int:
        """The same in micros: the one division of a line."""
        return nearest_micro(self.exact(kind, used))

    def text(self) -> str:
        """What an hour costs the holder, exactly.

        >>> Price(2_400_000, 400).text()
        '0.96'
        """
        return decimal_text(self.micros_per_hour * self.per_mille, _PRICE_PLACES)


FREE: Final = Price(0)
"""The price of time that is not charged."""


Terms: TypeAlias = tuple[HardwareGeneration | None, LeaseClass]
"""What a price depends on, beside the kind of resource."""


def price_on(card: RateCard, kind: ResourceKind, *, terms: Terms) -> Price:
    """What a card asks for an hour of this; GPUs of no known generation are ``other``."""
    generation, lease_class = terms
    match kind:
        case ResourceKind.CPU_MILLI:
            micros = card.core_micros_per_hour
        case ResourceKind.MEM_BYTES:
            micros = card.mem_micros_per_gib_hour
        case ResourceKind.BLOCK_BYTES:
            micros = card.block_micros_per_gib_hour
        case ResourceKind.GPU_MILLI:
            micros = card.gpu_micros_per_hour[generation or HardwareGeneration.OTHER]
    return Price(micros, card.class_per_mille[lease_class])


class CardId(NamedTuple):
    """Which card a line was rated by."""

    name: str
    tenant: str | None
    effective_ms: int
    currency: str


Sortable: TypeAlias = tuple[tuple[bool, str | int], ...]


class LineKey(NamedTuple):
    """What usage and cost are added up by."""

    tenant: str
    project: str | None
    generation: HardwareGeneration | None
    tag: str | None
    lease_class: LeaseClass
    kind: ResourceKind
    stage: Stage
    cause: ChargeCause | None
    """Why the lease had to go; none of time that it simply held."""
    card: CardId
    price: Price
    """What was asked; :data:`FREE` where the time is not charged."""
    list_price: Price
    """What the list would have asked: another price where the card is the tenant's own."""
    member: MemberUse | None = None
    """Whose member the lease is: an instance of an app, and what it does there."""

    @property
    def is_charged(self) -> bool:
        """Whether time of this stage and cause is charged at all, be it at the price 0."""
        return self.cause is None or self.stage in CHARGED[self.cause]

    @property
    def order(self) -> Sortable:
        """By what lines are sorted: field by field, what has no value first."""
        flat: list[str | int | None] = [*self[:8], *self.card, *self.price, *self.list_price]
        flat += self.member or ()
        return tuple((each is not None, "" if each is None else each) for each in flat)


@dataclass(frozen=True, slots=True)
class RatedLine:
    """What one key used and what that costs, in micros of its card's currency."""

    key: LineKey
    used: int
    cost_micros: int
    list_cost_micros: int
    segments: int
    """How many segments of the meter it adds up."""
    from_ms: int
    to_ms: int
    """From the first window in which it was used to the end of the last."""
    first_seq: int
    last_seq: int
    """The first and the last record of the journal that had to do with it."""

    @property
    def quantity(self) -> str:
        """The usage in the unit for people, exactly."""
        return unit_of(self.key.kind).seconds(self.used)


def sort_lines(lines: Iterable[RatedLine]) -> tuple[RatedLine, ...]:
    """The lines in the one order in which bills show them."""
    return tuple(sorted(lines, key=lambda line: line.key.order))


def decimal_text(value: int, places: int) -> str:
    """So many 10**-places, as a decimal without zeros that say nothing.

    >>> decimal_text(1_500_000, 6), decimal_text(-20, 3), decimal_text(0, 2)
    ('1.5', '-0.02', '0')
    """
    text = money_text(value, places)
    return text.rstrip("0").rstrip(".")


def money_text(micros: int, places: int = 6) -> str:
    """An amount of money with all of its decimals, so that columns of it line up.

    >>> money_text(-2_400_000)
    '-2.400000'
    """
    whole, part = divmod(abs(micros), 10**places)
    return f"{'-' if micros < 0 else ''}{whole}.{part:0{places}}"
