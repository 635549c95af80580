"""Windows of maintenance as the records tell them, in plain dicts: no lease runs into one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bailiwick.kernel import State

TTL_MS = 3_600_000
NEXT = {("planned", "closing"), ("closing", "open"), ("closing", "planned"), ("open", "planned")}


@dataclass
class NaiveWindows:
    """What was announced, and where each lease is."""

    windows: dict[str, dict[str, Any]] = field(default_factory=dict)
    calendars: dict[str, dict[str, Any]] = field(default_factory=dict)
    leases: dict[int, list[Any]] = field(default_factory=dict)
    """Node and end of each lease that ever was."""

    def first_start(self, node: str) -> float:
        """When the first window of a node begins, or began."""
        starts = (w["starts_ms"] for w in self.windows.values() if node in w["nodes"])
        return min(starts, default=float("inf"))

    def read(self, kind: str, body: dict[str, Any], *, at_ms: int) -> None:
        """One more record."""
        match kind:
            case "window_planned":
                assert body["window"] not in self.windows
                assert at_ms < body["starts_ms"] < body["ends_ms"]
                self.windows[body["window"]] = {**body, "phase": "planned"}
            case "window_phase_changed":
                window = self.windows[body["window"]]
                assert window["phase"] == body["before"]
                more = body["before"] == body["after"] != "planned" and body.get("nodes")
                assert more or (body["before"], body["after"]) in NEXT
                assert {*body.get("nodes", ())} <= {*window["nodes"]}
                window["phase"] = body["after"]
            case "window_ended":
                window = self.windows.pop(body["window"])
                assert body["cause"] != "over" or at_ms >= window["ends_ms"]
            case "calendar_set":
                before = self.calendars.get(body["calendar"], {})
                kept = ("rule", "nodes", "labels", "lead_ms")
                is_same = bool(before) and all(before.get(k) == body.get(k) for k in kept)
                assert bool(body.get("keeps")) == is_same
                self.calendars[body["calendar"]] = body
            case "calendar_withdrawn":
                del self.calendars[body["calendar"]]
            case "admission_approved":
                until = at_ms + body.get("ttl_ms", TTL_MS)
                for lease_id, node in zip(body["lease_ids"], body["nodes"], strict=True):
                    assert until <= self.first_start(node), "it would not have finished"
                    self.leases[lease_id] = [node, until]
            case "lease_renewed":
                node, before = self.leases[body["lease_id"]]
                assert body["expires_ms"] <= max(before, self.first_start(node))
                self.leases[body["lease_id"]][1] = body["expires_ms"]
            case _:
                pass

    def compare(self, state: State) -> None:
        """The kernel's state is what the records add up to."""
        book = state.maintenance
        phases = {name: each["phase"] for name, each in self.windows.items()}
        assert {name: each.phase.value for name, each in book.windows.items()} == phases
        assert {name: each.rule for name, each in book.calendars.items()} == {
            name: each["rule"] for name, each in self.calendars.items()
        }
        for name in state.ledger.entries:
            first = self.first_start(str(name))
            assert book.next_start(str(name)) == (None if first == float("inf") else first)
        for node, names in book.held.items():
            assert names
            assert all(self.windows[each]["phase"] != "planned" for each in names)
            assert node in state.ledger.entries
