"""Handlers for usage and prices.

Rules:

- Usage is an overview until metering bills: ended leases as the journal tells them, and those that
  are held still up to now. The two are read at the same record where that can be had; under a
  steady stream of changes a lease that ends just then may show in the next answer only.
- Who has the key in some projects only sees the usage of those.
- GPUs of which no generation is known are charged as ``other``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from bailiwick.billing.rates import Charge, RateCard, Used, cost_of
from bailiwick.iam import FLEET, Scope
from bailiwick.kernel.views import held_by
from bailiwick.server.http.asked import Here
from bailiwick.server.http.asking import ask_past, visible_projects
from bailiwick.server.http.params import PathName
from bailiwick.services.replica import View
from bailiwick.store.history import GroupRow, usage_groups
from bailiwick.vocab.words import HardwareGeneration, LeaseClass
from bailiwick.wire import usage as wire
from bailiwick.wire.base import INTEGER_MAX

ROWS_MAX: Final = 1_000
"""Rows of one answer; the sum counts all."""
_TRIES = 3
_MIB = 2**20

Key = tuple[str | None, str | None, str | None, str]
"""Project, tag, generation and lease class."""


@dataclass(slots=True)
class _Sum:
    used: Used = field(default_factory=Used)
    leases: int = 0
    running: int = 0


async def read_usage(asked: Here, tenant: PathName) -> wire.Usage:
    """What a tenant used so far, by project, tag, generation and class, and what that costs."""
    asked.require_within(Scope(tenant))
    await asked.look(lambda view: view.state.directory.tenant(tenant))
    projects = visible_projects(asked, tenant)
    for _ in range(_TRIES):
        ended, size = await ask_past(
            asked, lambda store: usage_groups(store, tenant, projects=projects)
        )
        running, seen, now_ms = await asked.look(lambda view: _running(view, tenant, projects))
        if size == seen:
            break
    groups = _joined(ended, running)
    return _spell(tenant, groups, asked.house.parts.rates, now_ms=now_ms)


async def read_rates(asked: Here) -> wire.Rates:
    """The rate card."""
    asked.require_within(FLEET)
    card = asked.house.parts.rates
    return wire.Rates(
        currency=card.currency,
        effective_ms=card.effective_ms,
        gpu_micros_per_hour=dict(card.gpu_micros_per_hour),
        core_micros_per_hour=card.core_micros_per_hour,
        mem_micros_per_gib_hour=card.mem_micros_per_gib_hour,
        block_micros_per_gib_hour=card.block_micros_per_gib_hour,
        class_per_mille=dict(card.class_per_mille),
    )


def _running(
    view: View, tenant: str, projects: tuple[str, ...] | None
) -> tuple[dict[Key, _Sum], int, int]:
    """What is held now, by group, and of which record and time that is."""
    groups: dict[Key, _Sum] = {}
    for lease in held_by(view.state, tenant):
        if projects is not None and lease.project not in projects:
            continue
        kind = lease.gpu_generation if lease.resources.gpu_milli else None
        words = [None if word is None else str(word) for word in (lease.project, lease.tag, kind)]
        key = (words[0], words[1], words[2], str(lease.lease_class))
        held = lease.resources
        found = groups.setdefault(key, _Sum())
        found.used += Used.over(
            max(0, view.now_ms - lease.granted_ms),
            cpu_milli=held.cpu_milli,
            mem_bytes=held.mem_bytes,
            block_bytes=held.block_bytes,
            gpu_milli=held.gpu_milli,
        )
        found.leases += 1
        found.running += 1
    return groups, view.state.size, view.now_ms


def _joined(ended: Iterable[GroupRow], running: dict[Key, _Sum]) -> dict[Key, _Sum]:
    groups = running
    for row in ended:
        key = (row.project, row.tag, row.gpu_generation, row.lease_class)
        found = groups.setdefault(key, _Sum())
        found.used += Used(
            cpu_milli_ms=row.cpu_milli_ms,
            mem_byte_ms=row.mem_byte_ms,
            block_byte_ms=row.block_byte_ms,
            gpu_milli_ms=row.gpu_milli_ms,
        )
        found.leases += row.leases_ended
    return groups


def _spell(tenant: str, groups: dict[Key, _Sum], card: RateCard, *, now_ms: int) -> wire.Usage:
    rows = [
        wire.UsageRow(
            project=key[0],
            tag=key[1],
            generation=None if key[2] is None else HardwareGeneration(key[2]),
            lease_class=LeaseClass(key[3]),
            **_amounts(card, [(key, found)]),
        )
        for key, found in groups.items()
    ]
    rows.sort(key=lambda r: (-r.cost_micros, r.project or "", r.tag or "", str(r.generation)))
    return wire.Usage(
        tenant=tenant,
        as_of_ms=now_ms,
        basis="overview",
        currency=card.currency,
        rows=rows[:ROWS_MAX],
        rows_left=max(0, len(rows) - ROWS_MAX),
        total=wire.Amounts(**_amounts(card, list(groups.items()))),
    )


def _amounts(card: RateCard, groups: list[tuple[Key, _Sum]]) -> dict[str, Any]:
    used = sum((found.used for _, found in groups), Used())
    charges = [
        Charge(
            found.used,
            HardwareGeneration(key[2]) if key[2] else HardwareGeneration.OTHER,
            LeaseClass(key[3]),
        )
        for key, found in groups
    ]
    numbers = {
        "leases": sum(found.leases for _, found in groups),
        "running": sum(found.running for _, found in groups),
        "gpu_micro_seconds": used.gpu_milli_ms,
        "cpu_milli_seconds": used.cpu_milli_ms // 1_000,
        "mem_mib_seconds": used.mem_byte_ms // (_MIB * 1_000),
        "block_mib_seconds": used.block_byte_ms // (_MIB * 1_000),
        "cost_micros": cost_of(card, charges),
    }
    return {name: min(number, INTEGER_MAX) for name, number in numbers.items()}
