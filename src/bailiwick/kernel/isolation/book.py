"""The policy that is in force, and what was left behind under it.

Rules:

- The first policy set has version 1, and each that follows the next number. Without any, or with
  one of no rules, nothing is forbidden.
- A residue is known by its rule, kind and domain. One whose time is over counts no more, whether it
  is still kept here or not; nobody sees it but the one who asks with an earlier time.
- A new policy keeps a residue whose rule it still has: by its name, or by whom it is about. For how
  long, the new rule says. Where a rule is new, nothing is known of who left before.

>>> book = IsolationBook()
>>> book.version, book.residues_at(0)
(0, ())
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.placements import Residue
from bailiwick.isolation.policy import Linger, Policy, Subject
from bailiwick.kernel.owner import Owner
from bailiwick.vocab.words import DomainKind

ResidueKey: TypeAlias = tuple[str, DomainKind, str]
"""Rule, kind and domain."""


OWNERS_MAX = 4096
"""Owners of whom it is remembered which rules bind what they leave."""


@dataclass(slots=True)
class IsolationBook:
    """What is known of isolation; only ``apply`` changes it."""

    version: int = 0
    text: str = ""
    policy: Policy = field(default_factory=Policy)
    set_ms: int = 0
    time_moved: bool = False
    """Whether what runs was let in as of another time than is now: the next leader looks at it."""
    residues: dict[ResidueKey, Residue] = field(default_factory=dict)
    counts: dict[ResidueKey, int] = field(default_factory=dict)
    """How many leases of a rule's subjects are in a domain; it follows from the leases."""
    lingers: tuple[Linger, ...] = ()
    """The policy's rules about what is left behind."""
    leavers: set[int] = field(default_factory=set)
    """The leases that will leave something behind; it follows from the leases."""
    _whose: dict[object, tuple[Linger, ...]] = field(default_factory=dict, compare=False)

    def set_policy(self, version: int, text: str, *, policy: Policy, at_ms: int) -> None:
        """This is in force from now on."""
        before = {rule.name: rule for rule in self.lingers}
        self.version, self.text, self.policy, self.set_ms = version, text, policy, at_ms
        self.lingers = tuple(rule for rule in policy.rules if isinstance(rule, Linger))
        self._whose.clear()
        kept = self.residues_at(at_ms)
        self.residues = {}
        for residue in kept:
            old = before[residue.rule]
            for rule in self.lingers:
                is_same = rule.name == old.name or rule.whose == old.whose
                if is_same and residue.kind in rule.kinds:
                    until = None if rule.for_ms is None else residue.left_ms + rule.for_ms
                    self.keep(replace(residue, rule=rule.name, until_ms=until))

    def lingers_of(self, owner: Owner, job_labels: Mapping[str, str]) -> tuple[Linger, ...]:
        """The rules by which work of theirs leaves something behind: of most, none."""
        if not self.lingers:
            return ()
        key = (*owner, *job_labels.items())
        found = self._whose.get(key)
        if found is None:
            project = None if owner.project is None else str(owner.project)
            subject = Subject(str(owner.tenant), project, job_labels)
            found = tuple(rule for rule in self.lingers if rule.whose.matches(subject))
            if len(self._whose) >= OWNERS_MAX:
                self._whose.clear()
            self._whose[key] = found
        return found

    def keep(self, residue: Residue) -> None:
        """Something was left behind; of two by one rule the later counts."""
        key = (residue.rule, residue.kind, residue.domain)
        known = self.residues.get(key)
        if known is None or known.left_ms <= residue.left_ms:
            self.residues[key] = residue

    def scrub(self, kind: DomainKind, domain: str) -> None:
        """Nothing is left in the domain; nor, if it is a host, in what is inside it."""
        for key in [key for key in self.residues if is_inside(key[1:], (kind, domain))]:
            del self.residues[key]

    def residues_at(self, now_ms: int) -> tuple[Residue, ...]:
        """What is left behind as of this time, in one order."""
        left = (e for e in self.residues.values() if e.until_ms is None or e.until_ms > now_ms)
        return tuple(sorted(left, key=lambda e: (e.rule, e.kind, e.domain)))

    def forget(self, now_ms: int) -> None:
        """Drop residues whose time is over."""
        self.residues = {(e.rule, e.kind, e.domain): e for e in self.residues_at(now_ms)}

    # -- in a snapshot -----------------------------------------------------------------------

    def dump(self, now_ms: int) -> dict[str, Any]:
        """Everything as plain values; what follows from the leases is left out."""
        moved = {"time_moved": True} if self.time_moved else {}
        return moved | {
            "version": self.version,
            "text": self.text,
            "set_ms": self.set_ms,
            "residues": [
                [each.rule, each.kind.value, each.domain, each.left_ms, each.until_ms]
                for each in self.residues_at(now_ms)
            ],
        }

    def load(self, plain: dict[str, Any]) -> None:
        """Take up what :meth:`dump` told."""
        self.time_moved = plain.get("time_moved", False)
        policy = parse_policy(plain["text"])
        self.set_policy(plain["version"], plain["text"], policy=policy, at_ms=plain["set_ms"])
        for rule, kind, domain, left_ms, until_ms in plain["residues"]:
            self.keep(Residue(rule, DomainKind(kind), domain, left_ms, until_ms))


def is_inside(what: tuple[DomainKind, str], other: tuple[DomainKind, str]) -> bool:
    """Whether a domain is the other, or lies inside it: a host has caches and memory nodes."""
    if what == other:
        return True
    kind, domain = other
    inner = what[0] in (DomainKind.CACHE, DomainKind.NUMA)
    return kind is DomainKind.HOST and inner and what[1].startswith(f"{domain}/")
