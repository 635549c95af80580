"""What a policy would do if it were set now: who would have to go, and who could never run.

Rules:

- Who would go is asked as when it is set (:mod:`.recovery`): the same code on the same state.
- Who waits could never run if no node of the fleet, as it is, has what a rule asks for, or if there
  are too few domains for all members of a gang. What only other work keeps away is not told here:
  that passes.
- Looking changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bailiwick.isolation.placements import Site
from bailiwick.isolation.policy import OnlyOn, Policy, Spread, Subject
from bailiwick.isolation.recovery import Breach
from bailiwick.kernel.isolation.placements import site_of
from bailiwick.kernel.isolation.recovery import breaches
from bailiwick.kernel.isolation.subjects import subject_of_request
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.scheduler.request import PlacementRequest

NEVER_MAX = 1_000
"""Waiting requests that are told."""


@dataclass(frozen=True, slots=True)
class Leaver:
    """A lease that would have to go: whose it is, where, and what it would break."""

    lease_id: int
    owner: Owner
    node: str
    breach: Breach

    @property
    def is_along(self) -> bool:
        """Whether it would only go because another member of its gang has to."""
        return str(self.lease_id) != self.breach.who.id


@dataclass(frozen=True, slots=True)
class NeverRuns:
    """A waiting request that could not run on any node, and the rule by which."""

    entry_id: int
    owner: Owner
    rule: str


@dataclass(frozen=True, slots=True)
class Preview:
    """What a policy would do, and on top of which version that was found out."""

    version: int
    leavers: tuple[Leaver, ...]
    never: tuple[NeverRuns, ...]


def preview(state: State, policy: Policy, *, now_ms: int) -> Preview:
    """What the policy would do now."""
    now = max(now_ms, state.clock_ms)
    found = breaches(state, policy, now_ms=now)
    leavers = [
        Leaver(lease_id, state.owner_of(lease_id), str(state.node_of(lease_id)), breach)
        for breach in found
        for lease_id in map(int, breach.unit)
    ]
    return Preview(state.isolation.version, tuple(leavers), tuple(_never(state, policy)))


def _never(state: State, policy: Policy) -> Iterator[NeverRuns]:
    look, told = _Fleet(state, policy), 0
    for entry in state.line.entries.values():
        rule = look.forbids(entry.request)
        if rule is not None:
            yield NeverRuns(entry.id, Owner.of(entry.request), rule)
            told += 1
            if told == NEVER_MAX:
                return


class _Fleet:
    """The nodes, asked once for each set of labels."""

    def __init__(self, state: State, policy: Policy) -> None:
        # A rule with a window lets them run at another time.
        rules = [r for r in policy.rules if isinstance(r, OnlyOn | Spread) and r.window is None]
        self._only = [rule for rule in rules if isinstance(rule, OnlyOn)]
        self._spread = [rule for rule in rules if isinstance(rule, Spread)]
        self._entries = tuple(state.ledger.entries.values())
        self._sites: dict[frozenset[tuple[str, str]], tuple[Site, ...]] = {}

    def forbids(self, request: PlacementRequest) -> str | None:
        """The rule by which the request cannot run anywhere, if there is one."""
        subject, wanted = subject_of_request(request), dict(request.labels)
        if not self._with(wanted):
            return None  # no rule's doing
        for rule in self._only:
            if rule.whose.matches(subject):
                clashes = any(wanted.get(key, value) != value for key, value in rule.labels)
                wanted |= rule.labels
                if clashes or not self._with(wanted):
                    return rule.name
        return self._crowds(subject, wanted, members=request.gang_size)

    def _crowds(self, subject: Subject, wanted: Mapping[str, str], *, members: int) -> str | None:
        for rule in self._spread:
            if rule.whose.matches(subject):
                held = (site.domains()[rule.kind] for site in self._with(wanted))
                domains = frozenset[str]().union(*held)
                # Where there is none of the kind (no fabric), nobody shares one.
                if domains and members > rule.most * len(domains):
                    return rule.name
        return None

    def _with(self, wanted: Mapping[str, str]) -> tuple[Site, ...]:
        """The nodes with these labels."""
        key = frozenset(wanted.items())
        if key not in self._sites:
            found = (entry for entry in self._entries if entry.has_labels(wanted))
            self._sites[key] = tuple(site_of(entry) for entry in found)
        return self._sites[key]
