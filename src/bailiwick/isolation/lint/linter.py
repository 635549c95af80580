"""Everything there is to know about a policy before it counts.

Rules:

- A pure function of the policy and, as far as they are given, of the fleet, the tenants, the time
  and the largest gang. What is not given is not looked at.
- Findings come in the order of the text; what the policy leaves open comes last.

>>> from bailiwick.isolation.language.parser import parse_policy
>>> policy = parse_policy("never share host among tenants\\ndedicated cache for tenant a")
>>> [(found.code.value, found.rule) for found in lint_policy(policy)][:1]
[('shadowed', 'rule-2')]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bailiwick.isolation.language.times import spell_moment
from bailiwick.isolation.lint import fleet, meaning, openings
from bailiwick.isolation.lint.findings import LintCode, LintFinding
from bailiwick.isolation.lint.sorts import SORTS_MAX, sorts_of, whos_of
from bailiwick.isolation.placements import Site
from bailiwick.isolation.policy import Policy

SOON_MS: Final = 14 * 86_400_000
"""An exception that ends within this time is told of."""

_DAY_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class LintWorld:
    """What is known beside the policy; None is not known."""

    sites: Sequence[Site] | None = None
    tenants: frozenset[str] | None = None
    now_ms: int | None = None
    gang_max: int | None = None
    """The largest gang that somebody means to run."""


def lint_policy(policy: Policy, world: LintWorld | None = None) -> list[LintFinding]:
    """All findings about a policy."""
    known = LintWorld() if world is None else world
    found = [*_unused(policy)]
    if known.now_ms is not None:
        found += _ending(policy, known.now_ms)
    if known.tenants is not None:
        found += fleet.unreachable(policy, known.tenants)
    sorts = sorts_of(policy)
    if sorts is None:
        text = (
            f"its labels make more than {SORTS_MAX:,} sorts of work: rules were not compared, and "
            "what it leaves open is not told"
        )
        found.append(LintFinding(LintCode.NOT_COMPARED, "", text, "name fewer labels together"))
        return sorted(found, key=_order)
    means = meaning.Meaning(policy, sorts)
    found += [
        *meaning.contradictory(means),
        *meaning.idle(means),
        *meaning.shadowed(means),
        *meaning.apart_from_itself(means),
        *meaning.overlapping(means),
        *meaning.idle_exceptions(means),
    ]
    if known.sites is not None:
        nodes = fleet.Fleet(known.sites)
        found += [*fleet.homeless(means, nodes), *fleet.never_together(means, nodes)]
        if known.gang_max is not None:
            found += fleet.crowded_gangs(means, nodes, gang_max=known.gang_max)
    found += openings.told(openings.openings(means, now_ms=known.now_ms))
    if len(sorts.tenants) > openings.TENANTS_MAX:
        text = "it names many tenants: what they may share two by two is not told"
        found.append(LintFinding(LintCode.NOT_COMPARED, "", text))
    return sorted(found, key=_order)


def _order(found: LintFinding) -> tuple[bool, int]:
    return found.code in (LintCode.NOT_FORBIDDEN, LintCode.NOT_COMPARED), found.line


def _unused(policy: Policy) -> Iterator[LintFinding]:
    rules = (*policy.rules, *policy.exceptions)
    used = {who for rule in rules for who in whos_of(rule)}
    for group in policy.groups:
        if group not in used:
            text = "no rule is about this group"
            yield LintFinding(LintCode.UNUSED_GROUP, group.name, text, "remove it, or use it")


def _ending(policy: Policy, now_ms: int) -> Iterator[LintFinding]:
    for each in policy.exceptions:
        day = spell_moment(each.until_ms)
        if each.until_ms <= now_ms:
            text = f"it ended on {day}: its rules count again for that pair"
            fix = f"remove it, or ask {each.owner} for a new end"
            yield LintFinding(LintCode.EXCEPTION_EXPIRED, each.name, text, fix, each.line)
        elif each.until_ms <= now_ms + SOON_MS:
            days = -(-(each.until_ms - now_ms) // _DAY_MS)
            text = f"it ends on {day}, in {days} day{'s' if days != 1 else ''}"
            fix = f"ask {each.owner} whether the pair is to be parted then"
            yield LintFinding(LintCode.EXCEPTION_ENDS_SOON, each.name, text, fix, each.line)
