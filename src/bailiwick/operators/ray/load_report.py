"""A cluster's own report, parsed: who is in it, what each does, and what waits for room.

Rules:

- Nothing is taken for an answer that is not of this shape: ``Unclear`` says so, and nothing follows
  from it.
- A node counts as a member by its label alone; others of the cluster are left out.
- All sizes are bounded: whoever runs in the cluster could make it say anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from bailiwick.operators.ray.member.rendering import MEMBER_LABEL

BUNDLES_MAX: Final = 10_000
NODES_MAX: Final = 1_000
_UNSEEN: Final = ("node:", "memory", "object_store_memory", "objectStoreMemory")
"""What is used by merely being there, or is spelt in two ways; no work is judged by it."""

Bundle = Mapping[str, float]


class Unclear(Exception):
    """What the cluster says cannot be understood."""


@dataclass(frozen=True, slots=True)
class RayMember:
    """A member as the cluster knows it."""

    member_id: int
    has: Bundle = field(default_factory=dict)
    is_busy: bool = False


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What a cluster has, and what it lacks."""

    members: Mapping[int, RayMember] = field(default_factory=dict)
    demand: tuple[tuple[Bundle, int], ...] = ()
    """What waits for room: what each needs, and how many of it."""


def parse_load(told: Mapping[str, Any]) -> LoadReport:
    """What :func:`bailiwick.operators.ray.member.load.fetch_load` found."""
    try:
        rows = told["nodes"]["data"]["result"]["result"]
        report = (told["status"]["data"]["clusterStatus"] or {}).get("loadMetricsReport") or {}
        usage = report.get("usageByNode") or {}
        found = [_member(row, usage) for row in rows[:NODES_MAX] if row["state"] == "ALIVE"]
        demand = (*_bundles(report.get("resourceDemand")), *_groups(report.get("pgDemand")))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unclear(f"{type(error).__name__}: {error}"[:200]) from None
    return LoadReport({each.member_id: each for each in found if each is not None}, demand)


def _member(row: Any, usage: Mapping[str, Any]) -> RayMember | None:
    number = (row.get("labels") or {}).get(MEMBER_LABEL, "")
    if not number.isdecimal() or len(number) > 15:
        return None
    has = _amounts(row.get("resources_total") or {})
    used = usage.get(row["node_id"]) or {}
    is_busy = any(pair[0] > 0 for name, pair in used.items() if not name.startswith(_UNSEEN))
    return RayMember(int(number), has, is_busy)


def _bundles(rows: Any) -> list[tuple[Bundle, int]]:
    return [(_amounts(needs), _count(count)) for needs, count in (rows or ())[:BUNDLES_MAX]]


def _groups(rows: Any) -> list[tuple[Bundle, int]]:
    """Placement groups: what each of their bundles needs. How they lie together is left to Ray."""
    found: list[tuple[Bundle, int]] = []
    for group, count in (rows or ())[:BUNDLES_MAX]:
        found += [(_amounts(needs), _count(many * count)) for needs, many in group["bundles"]]
    return found[:BUNDLES_MAX]


def _amounts(told: Mapping[str, Any]) -> dict[str, float]:
    return {str(name): float(value) for name, value in told.items() if float(value) > 0}


def _count(value: Any) -> int:
    return max(0, min(int(value), BUNDLES_MAX))
