"""Which projects of a shared runtime the isolation policy keeps apart, and on what.

The platform places members. Whose work meets whose inside the app is for the app to see to, and
this is what it has to know.

Rules:

- Judged for a day from now on: a rule that begins within it counts already, and an exception that
  ends within it does not count any more. What is asked again meanwhile is judged again.
- Labels of jobs are not known of work inside an app: a rule about labels alone parts nobody here.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Final, NamedTuple

from bailiwick.isolation.compiled import CompiledPolicy
from bailiwick.isolation.policy import Policy, Subject
from bailiwick.vocab.words import DomainKind

AHEAD_MS: Final = 24 * 3_600_000


class PartedProjects(NamedTuple):
    """Two projects, by name, and the kinds of domain that they may not share."""

    one: str
    other: str
    kinds: tuple[DomainKind, ...]


def parted(
    policy: Policy, tenant: str, *, projects: Iterable[str], now_ms: int
) -> list[PartedProjects]:
    """All pairs of a tenant's projects that a policy keeps apart somewhere."""
    if not policy.rules:
        return []
    compiled = CompiledPolicy(policy)
    term = compiled.term(now_ms, now_ms + AHEAD_MS)
    classes = {each: compiled.class_of(Subject(tenant, each)) for each in sorted(projects)}
    found = []
    for one, other in combinations(classes, 2):
        rules = compiled.apart(classes[one], classes[other], term=term)
        kinds = {kind for _, kind in rules}
        if kinds:
            found.append(PartedProjects(one, other, tuple(sorted(kinds))))
    return found
