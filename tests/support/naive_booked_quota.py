"""What a quota lets somebody keep from others by booking: every booking is asked, moment by moment.

A booking closes its node to all terms that would cross its beginning. So at any moment those count
that are on, or begin before a term of the longest would end; and each node once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

Scope = tuple[str | None, str | None]
DAY_MS = 86_400_000


@dataclass
class NaiveBookedQuota:
    """The machines, the hard limits, and the longest term."""

    reach_ms: int = 7 * DAY_MS
    usual: dict[str, int] = field(default_factory=lambda: {"gpu_count": 256})
    """The limits of who has none of his own."""
    machines: dict[str, Counter[str]] = field(default_factory=dict)
    limits: dict[Scope, tuple[dict[str, int], dict[str, int]]] = field(default_factory=dict)

    def read(self, kind: str, body: dict[str, Any], *, owner: Scope) -> None:
        """One more record."""
        match kind:
            case "node_registered":
                generations = [f"of {each}" for each in body.get("gpu_generations", ())]
                amounts = Counter(generations)
                amounts["gpu_count"] = len(generations)
                amounts["cpu_milli"] = 0 if generations else body["resources"]["cpu_milli"]
                self.machines[body["node"]] = amounts
            case "node_departed" if not body.get("leases_left"):
                self.machines.pop(body["node"], None)
            case "settings_changed":
                self.reach_ms = body["term_max_ms"]
                self.usual = {key: body[f"tenant_{key}"] for key in ("gpu_count", "cpu_milli")}
            case "quota_changed":
                told = dict(body.get("limits", {})), dict(body.get("gpu_limits", {}))
                self.limits[owner[0] or "", owner[1]] = told
            case _:
                pass

    def check(self, new: dict[str, Any], *, kept: list[str], others: list[dict[str, Any]]) -> None:
        """A booking keeps no more from others than its tenant and its project may.

        Who has more already, since his quota was lowered, gets no more by it.
        """
        tenant, project = new["owner"]
        of_tenant = [b for b in others if b["owner"][0] == tenant]
        for scope in ((tenant, None), (tenant, project)):
            own = [b for b in of_tenant if scope[1] in (None, b["owner"][1])]
            starts = {b["starts_ms"] - self.reach_ms for b in (new, *own)}
            before, after = Counter(self._sum({*kept})), Counter[str]()
            for at_ms in (each for each in starts if self._counts(new, each)):
                there = {n for b in own if self._counts(b, at_ms) for n in b["nodes"]} | {*kept}
                before |= self._sum(there)
                after |= self._sum(there | {*new["nodes"]})
            for key, limit in self._most(scope, {*after}).items():
                assert after[key] <= max(limit, before[key]), f"{after[key]} {key} are closed"

    def _counts(self, booking: dict[str, Any], at_ms: int) -> bool:
        return bool(booking["starts_ms"] - self.reach_ms <= at_ms < booking["ends_ms"])

    def _most(self, scope: Scope, words: set[str]) -> dict[str, int]:
        limits, listed = self.limits.get(scope, ({} if scope[1] else self.usual, {}))
        most = {key: n for key, n in limits.items() if key in ("gpu_count", "cpu_milli")}
        if listed:
            generations = (each for each in words if each.startswith("of "))
            most |= {each: listed.get(each.removeprefix("of "), 0) for each in generations}
        return most

    def _sum(self, nodes: set[str]) -> Counter[str]:
        return sum((self.machines.get(each, Counter()) for each in nodes), Counter[str]())
