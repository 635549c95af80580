"""Bookings as the records tell them, in plain dicts: no term is where it may not be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bailiwick.kernel import State
from tests.support.naive_booked_quota import NaiveBookedQuota

TTL_MS = 3_600_000
Scope = tuple[str | None, str | None]


def _key(owner: Scope, name: str) -> str:
    return "/".join(str(each) for each in (*owner, name))


@dataclass
class NaiveBookings:
    """What is booked, and where each lease is, whose, and until when."""

    bookings: dict[str, dict[str, Any]] = field(default_factory=dict)
    series: dict[str, dict[str, Any]] = field(default_factory=dict)
    leases: dict[int, list[Any]] = field(default_factory=dict)
    """Node, owner and end of each lease that holds anything, and whether it is one of GPUs, or of a
    node without any."""
    left: dict[tuple[str, Scope], dict[str, int]] = field(default_factory=dict)
    """By node and owner, when the last lease there ended: any, and one that is use of its GPUs."""
    with_gpus: set[str] = field(default_factory=set)
    """Nodes that have some."""
    opened: dict[str, int] = field(default_factory=dict)
    """Since when nodes take leases, of those that do as far as their modes say."""
    elected: int = 0
    """When somebody began to lead."""
    quota: NaiveBookedQuota = field(default_factory=NaiveBookedQuota)

    def until(self, node: str, owner: Scope) -> float:
        """Until when a term of this owner may last on a node: every booking is asked."""
        ends = [
            b["ends_ms"] if b["owner"] == owner else b["starts_ms"]
            for b in self.bookings.values()
            if node in b["nodes"]
        ]
        return min(ends, default=float("inf"))

    def read(self, kind: str, body: dict[str, Any], *, owner: Scope, at_ms: int) -> None:
        """One more record."""
        self.quota.read(kind, body, owner=owner)
        self._look_at_nodes(kind, body, at_ms=at_ms)
        match kind:
            case "booked":
                self._book({**body, "owner": owner, "nodes": [*body["nodes"]]}, at_ms)
            case "booking_nodes_changed" if body["cause"] == "replaced":
                booking = self.bookings.pop(_key(owner, body["booking"]))
                kept = [node for node in booking["nodes"] if node not in body["removed"]]
                assert len(kept) + len(body["removed"]) == len(booking["nodes"])
                self._book({**booking, "nodes": kept + body["added"]}, at_ms, kept=kept)
            case "booking_nodes_changed":
                self._give_back(self.bookings[_key(owner, body["booking"])], body, at_ms)
            case "booking_begun":
                booking = self.bookings[_key(owner, body["booking"])]
                assert booking["starts_ms"] <= at_ms < booking["ends_ms"]
                assert booking["wait_ms"]
                assert "begun" not in booking
                booking["begun"] = at_ms
            case "booking_ended":
                booking = self.bookings.pop(_key(owner, body["booking"]))
                assert body["cause"] != "over" or at_ms >= booking["ends_ms"]
                if body["cause"] == "unused":
                    self._give_back(booking, {"removed": [*booking["nodes"]]}, at_ms)
            case "node_registered":
                self.with_gpus.discard(body["node"])
                if body.get("gpu_count") or body.get("gpu_generations"):
                    self.with_gpus.add(body["node"])
            case "series_set":
                before = self.series.get(_key(owner, body["series"]), {})
                kept = ("rule", "nodes", "count", "gpus", "gpu_generation", "labels", "wait_ms")
                is_same = bool(before) and all(before.get(k) == body.get(k) for k in kept)
                assert bool(body.get("keeps")) == is_same
                self.series[_key(owner, body["series"])] = body
            case "series_withdrawn":
                del self.series[_key(owner, body["series"])]
            case "admission_approved":
                until = at_ms + body.get("ttl_ms", TTL_MS)
                for lease_id, node in zip(body["lease_ids"], body["nodes"], strict=True):
                    assert until <= self.until(node, owner), "a term reaches where it may not"
                    is_use = node not in self.with_gpus or body["resources"].get("gpu_milli", 0) > 0
                    self.leases[lease_id] = [node, owner, until, is_use]
            case "lease_renewed":
                node, _, before, _ = self.leases[body["lease_id"]]
                assert body["expires_ms"] <= max(before, self.until(node, owner))
                self.leases[body["lease_id"]][2] = body["expires_ms"]
            case "lease_revoked" if "expires_ms" in body:
                self.leases[body["lease_id"]][2] = body["expires_ms"]
            case "lease_restored":
                node = self.leases[body["lease_id"]][0]
                assert body["expires_ms"] <= self.until(node, owner), "it is back for too long"
                self.leases[body["lease_id"]][2] = body["expires_ms"]
            case "lease_released" | "lease_expired" | "lease_preempted" | "fence_cleared":
                self._end(body["lease_id"], at_ms)
            case "node_departed":
                for lease_id in body["lease_ids"]:
                    self._end(lease_id, at_ms)
            case _:
                pass

    def _look_at_nodes(self, kind: str, body: dict[str, Any], *, at_ms: int) -> None:
        match kind:
            case "leader_elected":
                self.elected = at_ms
            case "node_registered":
                self.opened[body["node"]] = at_ms
            case "node_mode_changed" if body["after"] == "accepting":
                self.opened[body["node"]] = at_ms
            case "node_mode_changed":
                self.opened.pop(body["node"], None)
            case "node_departed" if not body.get("leases_left"):
                self.opened.pop(body["node"], None)
            case "node_quarantine_lifted" if body["node"] in self.opened:
                self.opened[body["node"]] = at_ms
            case _:
                pass

    def _book(self, booking: dict[str, Any], at_ms: int, *, kept: list[str] | None = None) -> None:
        key = _key(booking["owner"], booking["booking"])
        assert key not in self.bookings
        self.quota.check(booking, kept=kept or [], others=[*self.bookings.values()])
        assert at_ms < booking["starts_ms"] < booking["ends_ms"]
        for node in booking["nodes"]:
            for other in self.bookings.values():
                apart = (
                    other["ends_ms"] <= booking["starts_ms"]
                    or booking["ends_ms"] <= other["starts_ms"]
                )
                assert apart or node not in other["nodes"], "an hour is booked twice"
            for there, owner, until, _ in self.leases.values():
                if there == node:
                    own = owner == booking["owner"]
                    assert until <= booking["ends_ms" if own else "starts_ms"]
        self.bookings[key] = booking

    def _give_back(self, booking: dict[str, Any], body: dict[str, Any], at_ms: int) -> None:
        assert not body.get("added")
        for node in body["removed"]:
            booking["nodes"].remove(node)
            owner = booking["owner"]
            assert not self._uses(booking, node), "it is used"
            use = booking.get("use", "any_lease")
            assert node in self.opened, "nobody can use it"
            left = self.left.get((node, owner), {}).get(use, 0)
            since = max(booking["begun"], left, self.opened[node], self.elected)
            assert booking["wait_ms"]
            assert at_ms >= since + booking["wait_ms"], "the wait is not over"

    def _end(self, lease_id: int, at_ms: int) -> None:
        node, owner, _, is_use = self.leases.pop(lease_id)
        ended = self.left.setdefault((node, owner), {})
        ended |= {"any_lease": at_ms, **({"gpu_lease": at_ms} if is_use else {})}

    def _uses(self, booking: dict[str, Any], node: str) -> bool:
        """Whether a lease of its owner is one for which a node is kept."""
        any_does = booking.get("use") != "gpu_lease"
        own = (x for x in self.leases.values() if x[:2] == [node, booking["owner"]])
        return any(any_does or is_use for *_, is_use in own)

    def compare(self, state: State) -> None:
        """The kernel's state is what the records add up to."""
        book = state.bookings
        told = {name: (b["owner"], {*b["nodes"]}) for name, b in self.bookings.items()}
        assert {key: (tuple(b.owner), {*b.nodes}) for key, b in book.bookings.items()} == told
        assert {key: s.rule for key, s in book.series.items()} == {
            name: each["rule"] for name, each in self.series.items()
        }
        for name, (_, nodes) in told.items():
            for node in nodes:
                assert book.is_used(name, node) == self._uses(self.bookings[name], node)
