"""Rate cards: what an hour of each resource costs, when and for whom, and what work comes to.

Rules:

- Money is whole millionths (micros) of the card's currency. Everything is an integer.
- A cost is exact up to one division at the very end, over the whole sum; that division rounds to
  the nearest micro, and a tie to the even one. So a cost does not depend on how the sum was split,
  and rounding favours nobody over many of them.
- Half a GPU costs half a GPU: shares are counted in thousandths of a device.
- A card has a price for every generation and a factor for every lease class. One that lacks any
  cannot be built: work is never free because somebody forgot a row.
- A book has every card of a journal. The latest effective one holds; among equal dates, the one
  that was set last. A tenant's own card replaces the list for it until it is withdrawn.
- ``LIST_PRICES`` underlie every book, from 0 on.
- What an app counts itself has a price for each unit that a card names (``app/unit``). Here a card
  need not name all: what a tenant's own card does not name costs what the list says, and what
  nobody names is told on an invoice as not priced.

>>> half_a_gpu = Charge(Used.over(HOUR_MS, gpu_milli=500), HardwareGeneration.NVIDIA_HOPPER)
>>> cost_of(LIST_PRICES, [half_a_gpu])
1200000
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeGuard, TypeVar

from bailiwick.vocab.errors import InvalidValue, InvariantBroken
from bailiwick.vocab.values import GIB, MILLI, check_integer, check_name
from bailiwick.vocab.words import HardwareGeneration, LeaseClass

HOUR_MS: Final = 3_600_000
RATE_MAX: Final = 10**15
"""The largest price, in micros an hour, that a card can say."""

UNIT_PRICE_MAX: Final = 10**12
"""The largest price of one unit of an app, in micros."""
UNIT_PRICES_MAX: Final = 1_000
"""Units of apps that one card has a price for."""

WHOLE: Final = MILLI * GIB * HOUR_MS * MILLI
"""What one micro is, in the exact integers that costs are added up in."""

W = TypeVar("W", HardwareGeneration, LeaseClass)

_G = HardwareGeneration
_UNITS = "app_unit_micros"
_PRICES = ("core_micros_per_hour", "mem_micros_per_gib_hour", "block_micros_per_gib_hour")


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """Resources times the milliseconds they were held; sums of such."""

    cpu_milli_ms: int = 0
    mem_byte_ms: int = 0
    block_byte_ms: int = 0
    gpu_milli_ms: int = 0

    @classmethod
    def over(
        cls,
        span_ms: int,
        *,
        cpu_milli: int = 0,
        mem_bytes: int = 0,
        block_bytes: int = 0,
        gpu_milli: int = 0,
    ) -> Used:
        """These amounts, held for this long."""
        return cls(
            cpu_milli_ms=cpu_milli * span_ms,
            mem_byte_ms=mem_bytes * span_ms,
            block_byte_ms=block_bytes * span_ms,
            gpu_milli_ms=gpu_milli * span_ms,
        )

    def __add__(self, other: Used) -> Used:
        return Used(
            cpu_milli_ms=self.cpu_milli_ms + other.cpu_milli_ms,
            mem_byte_ms=self.mem_byte_ms + other.mem_byte_ms,
            block_byte_ms=self.block_byte_ms + other.block_byte_ms,
            gpu_milli_ms=self.gpu_milli_ms + other.gpu_milli_ms,
        )

    def times(self, count: int) -> Used:
        """The same, so many times."""
        return Used(
            cpu_milli_ms=self.cpu_milli_ms * count,
            mem_byte_ms=self.mem_byte_ms * count,
            block_byte_ms=self.block_byte_ms * count,
            gpu_milli_ms=self.gpu_milli_ms * count,
        )


@dataclass(frozen=True, slots=True)
class Charge:
    """What was used, on which generation (of its GPUs, if it has any), in which class."""

    used: Used
    generation: HardwareGeneration | None = None
    lease_class: LeaseClass = LeaseClass.STANDARD


@dataclass(frozen=True, slots=True, kw_only=True)
class RateCard:
    """The prices that hold from ``effective_ms`` on, for one tenant or (the list) for all."""

    currency: str
    gpu_micros_per_hour: Mapping[HardwareGeneration, int] = field(hash=False)
    core_micros_per_hour: int
    mem_micros_per_gib_hour: int
    block_micros_per_gib_hour: int
    class_per_mille: Mapping[LeaseClass, int] = field(hash=False)
    effective_ms: int = 0
    name: str = "list"
    tenant: str | None = None
    app_unit_micros: Mapping[str, int] = field(default_factory=dict, hash=False)
    """What one of a unit costs, by ``app/unit``."""

    def __post_init__(self) -> None:
        check_name("currency", self.currency)
        check_name("name", self.name)
        if self.tenant is not None:
            check_name("tenant", self.tenant)
        _check_whole("gpu_micros_per_hour", self.gpu_micros_per_hour, HardwareGeneration)
        _check_whole("class_per_mille", self.class_per_mille, LeaseClass)
        for name in (*_PRICES, "effective_ms"):
            check_integer(name, getattr(self, name), low=0, high=RATE_MAX)
        _check_units(self.app_unit_micros)

    def dearest(self, generations: Iterable[HardwareGeneration]) -> HardwareGeneration | None:
        """The one of these whose GPUs cost most; the first in the closed list among equals."""
        found = set(generations)
        order = [each for each in HardwareGeneration if each in found]
        return max(order, key=lambda each: self.gpu_micros_per_hour[each], default=None)


def _check_units(prices: Mapping[str, int]) -> None:
    if len(prices) > UNIT_PRICES_MAX:
        raise InvalidValue("app_unit_micros", len(prices), f"at most {UNIT_PRICES_MAX} prices")
    for key, price in prices.items():
        app, _, unit = str(key).partition("/")
        check_name(_UNITS, app)
        check_name(f"{_UNITS}.{app}", unit)
        check_integer(f"{_UNITS}.{key}", price, low=0, high=UNIT_PRICE_MAX)


def _check_whole(name: str, prices: Mapping[W, int], words: type[W]) -> None:
    missing = [str(word) for word in words if word not in prices]
    if missing:
        raise InvalidValue(name, ", ".join(map(str, prices)), f"also {', '.join(missing)}")
    for word, price in prices.items():
        check_integer(f"{name}.{word}", price, low=0, high=RATE_MAX)


def cost_of(card: RateCard, charges: Iterable[Charge]) -> int:
    """What all of these cost together, in micros."""
    return nearest_micro(sum(weigh(card, each) for each in charges))


def weigh(card: RateCard, charge: Charge) -> int:
    """What this costs, exactly: in micros times ``WHOLE``."""
    used, gpu = charge.used, 0
    if used.gpu_milli_ms:
        if charge.generation is None:
            raise InvalidValue("generation", None, "the generation of the GPUs that were used")
        gpu = used.gpu_milli_ms * card.gpu_micros_per_hour[charge.generation]
    shares = gpu + used.cpu_milli_ms * card.core_micros_per_hour
    stored = (
        used.mem_byte_ms * card.mem_micros_per_gib_hour
        + used.block_byte_ms * card.block_micros_per_gib_hour
    )
    return (shares * GIB + stored * MILLI) * card.class_per_mille[charge.lease_class]


def nearest_micro(whole: int) -> int:
    """An exact cost that is not negative as micros: the nearest; a tie goes to the even one."""
    quotient, rest = divmod(whole, WHOLE)
    if 2 * rest > WHOLE or (2 * rest == WHOLE and quotient % 2):
        return quotient + 1
    return quotient


LIST_PRICES: Final = RateCard(
    currency="credit",
    gpu_micros_per_hour=MappingProxyType(
        {
            _G.NVIDIA_VOLTA: 400_000,
            _G.NVIDIA_TURING: 250_000,
            _G.NVIDIA_AMPERE: 1_300_000,
            _G.NVIDIA_ADA: 800_000,
            _G.NVIDIA_HOPPER: 2_400_000,
            _G.NVIDIA_BLACKWELL: 3_600_000,
            _G.NVIDIA_RUBIN: 5_000_000,
            _G.AMD_MI200: 900_000,
            _G.AMD_MI300: 2_100_000,
            _G.AMD_MI350: 2_900_000,
            _G.INTEL_GAUDI2: 700_000,
            _G.INTEL_GAUDI3: 1_400_000,
            _G.GOOGLE_TPU_V5: 1_200_000,
            _G.GOOGLE_TPU_V6: 2_000_000,
            _G.AWS_TRAINIUM2: 1_300_000,
            _G.OTHER: 500_000,
        }
    ),
    core_micros_per_hour=20_000,
    mem_micros_per_gib_hour=2_000,
    block_micros_per_gib_hour=100,
    class_per_mille=MappingProxyType(
        {LeaseClass.GUARANTEED: 1_300, LeaseClass.STANDARD: 1_000, LeaseClass.SPOT: 400}
    ),
)
"""The card that holds until an operator sets another."""


# -- many cards ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CardWithdrawn:
    """From ``effective_ms`` on the list holds for this tenant again; ``name`` is its last card."""

    tenant: str
    effective_ms: int
    name: str

    def __post_init__(self) -> None:
        check_name("tenant", self.tenant)
        check_name("name", self.name)
        check_integer("effective_ms", self.effective_ms, low=0, high=RATE_MAX)


RateChange: TypeAlias = RateCard | CardWithdrawn
"""What one record of a journal can say about prices."""

_TABLES: Final[Mapping[str, type[HardwareGeneration] | type[LeaseClass]]] = {
    "gpu_micros_per_hour": HardwareGeneration,
    "class_per_mille": LeaseClass,
}


class RateBook:
    """Every card of a journal, in the order in which they were set; one currency for all.

    >>> from dataclasses import replace
    >>> book = RateBook([replace(LIST_PRICES, name="ours", tenant="acme", effective_ms=500)])
    >>> [book.card_for("acme", at_ms).name for at_ms in (499, 500)]
    ['list', 'ours']
    >>> book.edges(0, 501)
    (500,)
    """

    __slots__ = ("_at", "_edges", "_of", "changes")

    def __init__(self, changes: Iterable[RateChange] = ()) -> None:
        self.changes = tuple(changes)
        """As they were set."""
        self._edges = sorted({each.effective_ms for each in self.changes})
        rows: dict[str | None, list[RateChange]] = {None: [LIST_PRICES]}
        for each in self.changes:
            rows.setdefault(each.tenant, []).append(each)
        self._of: dict[str | None, list[RateChange]] = {}
        self._at: dict[str | None, list[int]] = {}
        for tenant, found in rows.items():
            found.sort(key=_effective)  # stable: of equal dates the last one set stays the last
            self._of[tenant] = found
            self._at[tenant] = [each.effective_ms for each in found]
        self._check_currency()

    @property
    def currency(self) -> str:
        """That of the first list card; until there is one, that of the list prices."""
        return next(
            (each.currency for each in self.changes if _is_list(each)), LIST_PRICES.currency
        )

    def card_for(self, tenant: str | None, at_ms: int) -> RateCard:
        """The card that holds at this time for this tenant; for no tenant, the list."""
        own = None if tenant is None else self.own_card(tenant, at_ms)
        if own is not None:
            return own
        listed = self._latest(None, at_ms)
        if not isinstance(listed, RateCard):
            raise InvariantBroken(f"no list prices hold at {at_ms}")
        return listed

    def own_card(self, tenant: str, at_ms: int) -> RateCard | None:
        """The card that is this tenant's own at this time, if it has one."""
        own = self._latest(tenant, at_ms) if tenant in self._of else None
        return own if isinstance(own, RateCard) else None

    def unit_price(self, tenant: str, key: str, *, at_ms: int) -> tuple[RateCard, int | None]:
        """What one of ``app/unit`` costs a tenant then, and by which card; none if none says it."""
        own, listed = self.card_for(tenant, at_ms), self.card_for(None, at_ms)
        for card in (own, listed):
            if key in card.app_unit_micros:
                return card, card.app_unit_micros[key]
        return own, None

    def edges(self, from_ms: int, to_ms: int) -> tuple[int, ...]:
        """The instants strictly inside at which any prices change, in order."""
        low, high = bisect_right(self._edges, from_ms), bisect_left(self._edges, to_ms)
        return tuple(self._edges[low:high])

    def _latest(self, tenant: str | None, at_ms: int) -> RateChange | None:
        index = bisect_right(self._at[tenant], at_ms)
        return self._of[tenant][index - 1] if index else None

    def _check_currency(self) -> None:
        for each in self.changes:
            if isinstance(each, RateCard) and each.currency != self.currency:
                raise InvalidValue("currency", each.currency, f"{self.currency}, as all cards")


def _effective(change: RateChange) -> int:
    return change.effective_ms


def _is_list(change: RateChange) -> TypeGuard[RateCard]:
    return isinstance(change, RateCard) and change.tenant is None


def card_body(change: RateChange) -> dict[str, Any]:
    """All of it, as the record ``rate_card_changed`` tells it."""
    body: dict[str, Any] = {"card": change.name, "effective_ms": change.effective_ms}
    if change.tenant is not None:
        body["of_tenant"] = change.tenant
    if isinstance(change, CardWithdrawn):
        return body | {"withdrawn": 1}
    body |= {name: getattr(change, name) for name in ("currency", *_PRICES)}
    body |= {name: _by_word(getattr(change, name)) for name in _TABLES}
    # A card without such prices is told as it was before there were any.
    units = [f"{key}={price}" for key, price in sorted(change.app_unit_micros.items())]
    return body | {_UNITS: units} if units else body


def card_of(body: Mapping[str, Any]) -> RateChange:
    """What such a record tells; the inverse of :func:`card_body`."""
    try:
        if body.get("withdrawn"):
            return CardWithdrawn(body["of_tenant"], body["effective_ms"], body["card"])
        values: dict[str, Any] = {name: body[name] for name in ("currency", *_PRICES)}
        values |= {name: _from_words(name, body[name]) for name in _TABLES}
        values |= {"name": body["card"], "tenant": body.get("of_tenant")}
        values |= {_UNITS: _from_told(body.get(_UNITS, ()))}
        return RateCard(**values, effective_ms=body["effective_ms"])
    except KeyError as error:
        raise InvalidValue("rate_card", sorted(body), f"also {error.args[0]}") from None


def _from_told(rows: Iterable[str]) -> Mapping[str, int]:
    told = (row.rpartition("=") for row in rows)
    return MappingProxyType({key: int(price) for key, _, price in told})


def _by_word(prices: Mapping[W, int]) -> dict[str, int]:
    return {str(word): price for word, price in prices.items()}


def _from_words(name: str, prices: object) -> Mapping[Any, int]:
    words = _TABLES[name]
    if not isinstance(prices, Mapping) or not {*prices} <= {str(word) for word in words}:
        raise InvalidValue(name, prices, "a price by " + ", ".join(words))
    return MappingProxyType({words(word): price for word, price in prices.items()})
