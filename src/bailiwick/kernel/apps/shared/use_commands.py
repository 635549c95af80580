"""Commands about what is used on whose workers, and what that is to be worth between projects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, NamedTuple

from bailiwick.apps.manifest import check_word
from bailiwick.journal.fields import DIGEST, INTEGER_MAX, PRINCIPAL
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer, check_name

ROWS_MAX: Final = 256
"""Of one report; of more, a shorter time is told."""
QUANTITY_MAX: Final = 10**12
WINDOW_MS_MAX: Final = 3_600_000
"""The longest time that one report is about."""
RATES_MAX: Final = 8
RATE_MAX: Final = 10**9


class SharedUseRow(NamedTuple):
    """So much of a unit did a project use on workers of another, or of its own."""

    user: str
    source: str
    unit: str
    quantity: int

    @property
    def key(self) -> tuple[str, str, str]:
        """What there is one row of."""
        return self.user, self.source, self.unit


def mark_of(window: tuple[int, int], rows: tuple[SharedUseRow, ...]) -> str:
    """By what one sees that the same is told again."""
    told = [*window, *(each for row in rows for each in row)]
    return sha256(" ".join(map(str, told)).encode()).hexdigest()


def check_rates(rates: Mapping[str, int]) -> dict[str, int]:
    """Micros for one of each unit, by unit."""
    if not isinstance(rates, Mapping) or len(rates) > RATES_MAX:
        raise InvalidValue("rates", rates, f"prices of at most {RATES_MAX} units")
    for unit, micros in rates.items():
        check_word("rates", unit)
        check_integer(f"rates.{unit}", micros, low=1, high=RATE_MAX)
    return dict(sorted(rates.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSharedUse:
    """What every project used on whose workers in a time that is over: all of it, at once.

    The four lists are one row each, sorted by user, source and unit. What is not there was not
    used. The same again does nothing.
    """

    tenant: str
    runtime: str
    by: str
    from_ms: int
    to_ms: int
    users: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    quantities: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_name("tenant", self.tenant)
        check_name("runtime", self.runtime)
        PRINCIPAL.check("by", self.by)
        check_integer("from_ms", self.from_ms, low=0, high=INTEGER_MAX)
        most = min(self.from_ms + WINDOW_MS_MAX, INTEGER_MAX)
        check_integer("to_ms", self.to_ms, low=self.from_ms + 1, high=most)
        lists = self.users, self.sources, self.units, self.quantities
        if {*map(len, lists)} != {len(self.users)} or len(self.users) > ROWS_MAX:
            raise InvalidValue("users", len(self.users), f"at most {ROWS_MAX} whole rows")
        keys = [row.key for row in self.rows]
        if keys != sorted({*keys}):
            raise InvalidValue("users", keys[:3], "rows in order, each once")
        for row in self.rows:
            check_name("users", row.user)
            check_name("sources", row.source)
            check_word("units", row.unit)
            check_integer("quantities", row.quantity, low=1, high=QUANTITY_MAX)

    @property
    def rows(self) -> tuple[SharedUseRow, ...]:
        """What is told."""
        found = zip(self.users, self.sources, self.units, self.quantities, strict=True)
        return tuple(SharedUseRow(*row) for row in found)

    @property
    def window(self) -> tuple[int, int]:
        """Of which time."""
        return self.from_ms, self.to_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSharedSettlement:
    """What use of another project's workers is worth from now on; no rates: nothing.

    Who has it so accepted the digest of the rule that follows.
    """

    tenant: str
    runtime: str
    accepted_digest: str
    by: str
    rates: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_name("tenant", self.tenant)
        check_name("runtime", self.runtime)
        DIGEST.check("accepted_digest", self.accepted_digest)
        PRINCIPAL.check("by", self.by)
        object.__setattr__(self, "rates", check_rates(self.rates))
