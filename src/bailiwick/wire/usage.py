"""Usage and prices on the wire.

Rules:

- Money is whole millionths (micros) of the currency. A cost is the sum of rounded lines, the lines
  of a bill for the same time; so the rows' costs add up to the total, exactly.
- An amount in micro or milli of a unit is exact up to that; what is smaller is left out. Where an
  amount can be beyond what every JSON reader keeps exactly, it is told as its digits.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bailiwick.vocab.apps import ControlPlaneScope, MemberPart, OperatingMode
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, ResourceKind
from bailiwick.wire.base import Amount, Model, Name, Within
from bailiwick.wire.words import UnavailableWord

Generation = Annotated[HardwareGeneration, Field(strict=False)]
ClassWord = Annotated[LeaseClass, Field(strict=False)]
KindWord = Annotated[ResourceKind, Field(strict=False)]
_Mode = Annotated[OperatingMode, Field(strict=False)]
_Scope = Annotated[ControlPlaneScope, Field(strict=False)]
_Part = Annotated[MemberPart, Field(strict=False)]
_NAMED = "[A-Za-z0-9][A-Za-z0-9._-]{0,62}"
UnitName = Annotated[str, Field(pattern=f"^{_NAMED}/{_NAMED}$")]
UnitPrice = Annotated[int, Within(0, 10**12)]
Digits = Annotated[str, Field(pattern=r"^-?[0-9]{1,60}$")]


class LineMember(Model):
    """Whose member used it: which instance of which app, how that is run, and what for."""

    instance_id: int
    app: str
    operating_mode: _Mode
    control_plane_scope: _Scope
    runtime_backend: str
    part: _Part


class Amounts(Model):
    """What was used, by how many leases, and what that costs."""

    leases: int
    running: int
    """Of these, the leases that are held still; they count up to ``to_ms``."""
    gpu_micro_seconds: int
    cpu_milli_seconds: int
    mem_mib_seconds: int
    block_mib_seconds: int
    cost_micros: int


class UsageRow(Amounts):
    """The usage of one project, tag, generation of GPUs, lease class, and member; null for none."""

    project: str | None
    tag: str | None
    generation: Generation | None
    lease_class: ClassWord
    member: LineMember | None = None
    """Whose member used it: an instance of an app."""


class Usage(Model):
    """What a tenant used: the dearest rows first, and the sum of all, those left out as well."""

    tenant: str
    from_ms: int
    to_ms: int
    """It is about ``from_ms <= t < to_ms``."""
    as_of_ms: int
    journal_size: int
    """How many records of the journal it knows."""
    basis: Literal["metered"]
    """From the meter, by the lines that a bill for the same time has."""
    currency: str
    rows: list[UsageRow]
    rows_left: int
    """Rows that are not told, because they are many."""
    total: Amounts


class FleetRow(Model):
    """Where all of one kind of resource, of one generation, went; in ``unit``.

    ``leased`` and ``idle`` and all of ``unavailable`` are ``capacity``, which is counted apart.
    """

    kind: KindWord
    generation: Generation | None
    unit: str
    leased: Digits
    idle: Digits
    unavailable: dict[UnavailableWord, Digits]
    capacity: Digits


class FleetUsage(Model):
    """What became of every share of every machine, since the journal began."""

    as_of_ms: int
    journal_size: int
    rows: list[FleetRow]


class _Prices(Model):
    currency: Name
    gpu_micros_per_hour: dict[Generation, Amount]
    core_micros_per_hour: Amount
    mem_micros_per_gib_hour: Amount
    block_micros_per_gib_hour: Amount
    class_per_mille: dict[ClassWord, Amount]
    app_unit_micros: dict[UnitName, UnitPrice] = Field(default_factory=dict, max_length=1_000)
    """What one of a unit that an app counts costs, by ``app/unit``."""


class Rates(_Prices):
    """The rate card: what an hour costs, and what each lease class pays of that.

    Without ``tenant`` it is the list, which holds for everybody who has no card of his own.
    """

    name: str
    tenant: str | None
    effective_ms: int


class NewRates(_Prices):
    """A card to be set: with ``tenant`` for that one alone, at once or from ``effective_ms`` on."""

    name: Name = "list"
    tenant: Name | None = None
    effective_ms: Amount = 0


class RateChange(Model):
    """One change of prices; without ``rates`` the tenant's own card was withdrawn."""

    number: int
    name: str
    tenant: str | None
    effective_ms: int
    rates: Rates | None
