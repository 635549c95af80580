"""Trust folded from records into plain dicts, and every promise about it checked at each of them.

Slow and simple on purpose: a requirement is evaluated by Python itself, a pool is found by a
shell's patterns, and what a node has proven is gone through anew whenever somebody asks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from bailiwick.vocab.trust import EvidenceKind

WEAK = ("stale", "unsupported")
KINDS = [kind.value for kind in EvidenceKind]


class Broken(AssertionError):
    """A promise about trust was not kept."""


@dataclass
class NaiveTrust:
    """What the records say about trust."""

    pools: dict[str, Any] = field(default_factory=dict)
    enrolled: dict[tuple[str, str], str] = field(default_factory=dict)
    proven: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    quarantined: dict[str, int] = field(default_factory=dict)
    """Since which record, whether the node is there or not."""
    reasons: dict[str, str] = field(default_factory=dict)
    owed: tuple[str, str] | None = None
    """A node that the next record must put in quarantine, and why."""

    def read(self, kind: str, body: dict[str, Any], *, at_ms: int, seq: int) -> None:
        """One more record of any kind."""
        owed, self.owed = self.owed, None
        if owed is not None:
            found = (body.get("node"), body.get("reason")) if kind == "node_quarantined" else None
            must(found == owed, f"{owed} must be quarantined next, not {kind}")
        told = getattr(self, f"_{kind}", None)
        if told is not None:
            told(body, at_ms, seq)

    # -- what is asked -----------------------------------------------------------------------

    def rule(self, node: str) -> dict[str, Any] | None:
        """The first pool that has the node."""
        for pool in self.pools.values():
            if any(fnmatchcase(node, pattern) for pattern in pool["nodes"]):
                return dict(pool)
        return None

    def required(self, node: str) -> list[str]:
        """The kinds that the node's pool names."""
        rule = self.rule(node)
        text = "" if rule is None else rule["require"].replace("(", " ").replace(")", " ")
        return [word for word in text.split() if word in KINDS]

    def holds(self, node: str, kinds: set[str]) -> bool:
        """Whether evidence of these kinds is enough for the node."""
        rule = self.rule(node)
        return rule is None or bool(eval(rule["require"], {}, {k: k in kinds for k in KINDS}))

    def until(self, node: str, held: dict[str, Any]) -> int:
        """How long trusted evidence counts."""
        rule = self.rule(node)
        longest = held["at"] + (10**18 if rule is None else 1000 * rule.get("max_age_s", 300))
        return int(min(held["until"], longest))

    def trusted(self, node: str) -> dict[str, dict[str, Any]]:
        """What stands as trusted."""
        found = {kind: held for (name, kind), held in self.proven.items() if name == node}
        return {kind: held for kind, held in found.items() if held["verdict"] == "trusted"}

    def gated(self, node: str) -> bool:
        """Whether the node may take no lease for want of proof."""
        return not self.holds(node, set(self.trusted(node)))

    def labels(self, node: str) -> dict[str, str]:
        """What the node has proven."""
        return {
            f"attested.{kind}.{claim.partition('=')[0]}": claim.partition("=")[2]
            for kind, held in self.trusted(node).items()
            for claim in held["claims"]
        }

    # -- the records -------------------------------------------------------------------------

    def _policy_changed(self, body: dict[str, Any], at_ms: int, seq: int) -> None:
        assert body["policy"] == "trust"
        self.pools = json.loads("".join(body["document"]))["pools"]

    def _clock_repaired(self, body: dict[str, Any], at_ms: int, seq: int) -> None:
        before = body["before_ms"]
        for held in self.proven.values() if at_ms < before else ():
            held["at"] = min(held["at"], at_ms)
            if held["until"] > at_ms:
                held["until"] = at_ms + max(held["until"] - before, 0)

    def _node_enrolled(self, body: dict[str, Any], at_ms: int, seq: int) -> None:
        key = body["node"], body["evidence_kind"]
        others = {name for (name, _), who in self.enrolled.items() if who == body["identity"]}
        must(others <= {body["node"]}, "a machine is enrolled under one name")
        must(self.enrolled.get(key, body["identity"]) == body["identity"], "a name has one machine")
        self.enrolled[key] = body["identity"]
        held = self.proven.pop(key, None)
        if held is not None and held["verdict"] == "trusted":
            held = held | {"verdict": "stale", "at": at_ms, "seq": seq, "until": 0, "claims": ()}
        if held is not None and held["verdict"] == "stale":
            self.proven[key] = held

    def _node_enrolment_withdrawn(self, body: dict[str, Any], at_ms: int, seq: int) -> None:
        key = body["node"], body["evidence_kind"]
        del self.enrolled[key]
        self.proven.pop(key, None)

    def _attestation_verdict(self, body: dict[str, Any], at_ms: int, seq: int) -> None:
        node, kind, word = body["node"], body["evidence_kind"], body["verdict"]
        before = self.proven.get((node, kind))
        if body.get("lapsed"):
            must(before is not None and before["verdict"] == "trusted", "only trust lapses")
            assert before is not None
            must(self.until(node, before) < at_ms, "nothing lapses before its time")
        elif word in WEAK and before is not None and before["verdict"] != "unsupported":
            return  # says nothing, so it changes nothing
        must((word == "untrusted") == ("reason" in body), "a refusal has a reason")
        self.proven[node, kind] = {
            "verdict": word,
            "until": body.get("valid_until_ms", 0),
            "at": at_ms,
            "seq": seq,
            "claims": body.get("claims", ()),
            "evidence": body["evidence"],
        }
        if word == "untrusted" and kind in self.required(node) and node not in self.quarantined:
            self.owed = node, body["reason"]

    def _node_quarantined(self, body: dict[str, Any], at_ms: int, seq: int) -> None:
        node = body["node"]
        if body["reason"] == "stale" and "evidence" in body and body.get("note") != "kept":
            must(node not in self.quarantined, "who is closed is not closed again by time")
            self._check_grace(node, at_ms)
        self.quarantined[node], self.reasons[node] = seq, body["reason"]

    def _check_grace(self, node: str, at_ms: int) -> None:
        rule, trusted = self.rule(node), set(self.trusted(node))
        assert rule is not None
        must(not self.holds(node, trusted), "who has proven enough is not closed by time")
        stale = {
            kind: held["at"]
            for (name, kind), held in self.proven.items()
            if name == node and held["verdict"] == "stale" and kind in self.required(node)
        }
        grace = 1000 * rule.get("stale_grace_s", 900)
        # At the moment the grace began, too, what was left was not enough.
        then = trusted | {kind for kind, at in stale.items() if at > at_ms - grace}
        must(bool(stale) and not self.holds(node, then), "grace is given in full")

    def _node_quarantine_lifted(self, body: dict[str, Any], at_ms: int, seq: int) -> None:
        node = body["node"]
        since = self.quarantined.pop(node)
        if self.rule(node) is None:
            return
        fresh = {
            kind
            for kind, held in self.trusted(node).items()
            if held["seq"] > since and self.until(node, held) >= at_ms
        }
        if body.get("override"):
            must(bool(body.get("note", "").strip()), "an override says why")
            self._forget(node)
        else:
            must(self.holds(node, fresh), "nobody is let out without fresh trust")
            evidence = {held["evidence"] for held in self.trusted(node).values()}
            must(body["evidence"] in evidence, "the evidence is told")

    def _node_registered(self, body: dict[str, Any], at_ms: int, seq: int) -> None:
        labels = body.get("labels", ())
        must(not any(each.startswith("attested.") for each in labels), "nobody vouches for itself")
        if body["node"] in self.quarantined:
            self.owed = body["node"], self.reasons[body["node"]]

    def _node_departed(self, body: dict[str, Any], at_ms: int, seq: int) -> None:
        if not body.get("leases_left"):
            self._forget(body["node"])

    def _forget(self, node: str) -> None:
        self.proven = {key: held for key, held in self.proven.items() if key[0] != node}

    def _admission_approved(self, body: dict[str, Any], at_ms: int, seq: int) -> None:
        wanted = dict(each.split("=", 1) for each in body.get("labels", ()))
        for node in body["nodes"]:
            must(not self.gated(node), "no lease on a gated node")
            must(node not in self.quarantined, "no lease on a node in quarantine")
            has = self.labels(node)
            for key, value in wanted.items():
                if key.startswith("attested."):
                    must(has.get(key) == value, "a label that attestation gave, and holds")


def must(kept: bool, promise: str) -> None:
    """Say which promise was not kept."""
    if not kept:
        raise Broken(promise)
