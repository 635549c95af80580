"""The rate card: what an hour of each resource costs, and what work on it comes to.

Rules:

- Money is whole millionths (micros) of the card's currency. Everything is an integer.
- A cost is exact up to one division at the very end, over the whole sum; that division rounds to
  the nearest micro, and a tie to the even one. So a cost does not depend on how the sum was split,
  and rounding favours nobody over many of them.
- Half a GPU costs half a GPU: shares are counted in thousandths of a device.
- A card has a price for every generation and a factor for every lease class. One that lacks any
  cannot be built: work is never free because somebody forgot a row.

>>> half_a_gpu = Charge(Used.over(HOUR_MS, gpu_milli=500), HardwareGeneration.NVIDIA_HOPPER)
>>> cost_of(LIST_PRICES, [half_a_gpu])
1200000
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, TypeVar

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import GIB, MILLI, check_integer, check_name
from bailiwick.vocab.words import HardwareGeneration, LeaseClass

HOUR_MS: Final = 3_600_000
RATE_MAX: Final = 10**15
"""The largest price, in micros an hour, that a card can say."""

W = TypeVar("W", HardwareGeneration, LeaseClass)

_G = HardwareGeneration


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
    """The list prices that hold from ``effective_ms`` on."""

    currency: str
    gpu_micros_per_hour: Mapping[HardwareGeneration, int] = field(hash=False)
    core_micros_per_hour: int
    mem_micros_per_gib_hour: int
    block_micros_per_gib_hour: int
    class_per_mille: Mapping[LeaseClass, int] = field(hash=False)
    effective_ms: int = 0

    def __post_init__(self) -> None:
        check_name("currency", self.currency)
        _check_whole("gpu_micros_per_hour", self.gpu_micros_per_hour, HardwareGeneration)
        _check_whole("class_per_mille", self.class_per_mille, LeaseClass)
        for name in (
            "core_micros_per_hour",
            "mem_micros_per_gib_hour",
            "block_micros_per_gib_hour",
            "effective_ms",
        ):
            check_integer(name, getattr(self, name), low=0, high=RATE_MAX)

    def dearest(self, generations: Iterable[HardwareGeneration]) -> HardwareGeneration | None:
        """The one of these whose GPUs cost most; the first in the closed list among equals."""
        found = set(generations)
        order = [each for each in HardwareGeneration if each in found]
        return max(order, key=lambda each: self.gpu_micros_per_hour[each], default=None)


def _check_whole(name: str, prices: Mapping[W, int], words: type[W]) -> None:
    missing = [str(word) for word in words if word not in prices]
    if missing:
        raise InvalidValue(name, ", ".join(map(str, prices)), f"also {', '.join(missing)}")
    for word, price in prices.items():
        check_integer(f"{name}.{word}", price, low=0, high=RATE_MAX)


def cost_of(card: RateCard, charges: Iterable[Charge]) -> int:
    """What all of these cost together, in micros."""
    # In micros, times milli-shares, times GiB, times milliseconds, times per mille.
    whole = sum(_weigh(card, each) for each in charges)
    return _nearest(whole, MILLI * GIB * HOUR_MS * MILLI)


def _weigh(card: RateCard, charge: Charge) -> int:
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


def _nearest(whole: int, parts: int) -> int:
    """The nearest integer of a fraction that is not negative; a tie goes to the even one."""
    quotient, rest = divmod(whole, parts)
    if 2 * rest > parts or (2 * rest == parts and quotient % 2):
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
