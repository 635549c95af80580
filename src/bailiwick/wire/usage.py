"""Usage and prices on the wire.

Rules:

- Money is whole millionths (micros) of the currency. A row's cost is rounded once, and so is the
  total: the rows' costs may differ from it by as many micros as there are rows.
- An amount in micro or milli of a unit is exact up to that; what is smaller is left out.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bailiwick.vocab.words import HardwareGeneration, LeaseClass
from bailiwick.wire.base import Model

_Generation = Annotated[HardwareGeneration, Field(strict=False)]
_LeaseClass = Annotated[LeaseClass, Field(strict=False)]


class Amounts(Model):
    """What was used, by how many leases, and what that costs."""

    leases: int
    running: int
    """Of these, the leases that are held still; they count up to ``as_of_ms``."""
    gpu_micro_seconds: int
    cpu_milli_seconds: int
    mem_mib_seconds: int
    block_mib_seconds: int
    cost_micros: int


class UsageRow(Amounts):
    """The usage of one project, tag, generation of GPUs, and lease class; null where none is."""

    project: str | None
    tag: str | None
    generation: _Generation | None
    lease_class: _LeaseClass


class Usage(Model):
    """What a tenant used: the dearest rows first, and the sum of all, those left out as well."""

    tenant: str
    as_of_ms: int
    basis: Literal["overview"]
    """An overview by the leases in the journal; it is metering that will bill."""
    currency: str
    rows: list[UsageRow]
    rows_left: int
    """Rows that are not told, because they are many."""
    total: Amounts


class Rates(Model):
    """The rate card: list prices, and what each lease class pays of them."""

    currency: str
    effective_ms: int
    gpu_micros_per_hour: dict[_Generation, int]
    core_micros_per_hour: int
    mem_micros_per_gib_hour: int
    block_micros_per_gib_hour: int
    class_per_mille: dict[_LeaseClass, int]
