"""The command about use that an app tells of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bailiwick.apps.manifest import check_word
from bailiwick.journal.fields import INTEGER_MAX, PRINCIPAL
from bailiwick.kernel.apps.units.book import UsageClaim
from bailiwick.vocab.values import check_integer, check_name

QUANTITY_MAX: Final = 10**12
WINDOW_MS_MAX: Final = 31 * 86_400_000
"""The longest time that one report is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportAppUsage:
    """So much of a unit was used by an instance, or by one component of it, in a time.

    ``source`` is who tells it, ``sequence`` which of its reports it is: the same again does
    nothing.
    """

    tenant: str
    project: str
    instance_id: int
    source: str
    sequence: int
    unit: str
    quantity: int
    from_ms: int
    to_ms: int
    component_key: str | None = None

    def __post_init__(self) -> None:
        check_name("tenant", self.tenant)
        check_name("project", self.project)
        check_integer("instance_id", self.instance_id, low=1, high=INTEGER_MAX)
        PRINCIPAL.check("source", self.source)
        check_integer("sequence", self.sequence, low=1, high=INTEGER_MAX)
        check_word("unit", self.unit)
        check_integer("quantity", self.quantity, low=0, high=QUANTITY_MAX)
        check_integer("from_ms", self.from_ms, low=0, high=INTEGER_MAX)
        most = min(self.from_ms + WINDOW_MS_MAX, INTEGER_MAX)
        check_integer("to_ms", self.to_ms, low=self.from_ms + 1, high=most)
        if self.component_key is not None:
            check_name("component_key", self.component_key)

    @property
    def claim(self) -> UsageClaim:
        """What is told."""
        return UsageClaim(self.unit, self.quantity, self.from_ms, self.to_ms, self.component_key)
