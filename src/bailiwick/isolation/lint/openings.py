"""What a policy does not forbid: the kinds of domain that two tenants may still share.

Rules:

- Told for every two tenants that the policy names, for one of them and any other, and for any two
  others. A kind that only some of their work may share (by project or label), or at some hours, is
  told apart from one that all may share always.
- Only rules about sharing count, and exceptions as if they held: rules about nodes and numbers may
  keep two apart by chance, and are not relied on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.lint.findings import LintCode, LintFinding
from bailiwick.isolation.lint.meaning import Meaning
from bailiwick.isolation.policy import OfTenant, PolicyException, SharingRule

TENANTS_MAX: Final = 66
"""With more tenants named, only any two others are told of; and that is said."""

PAIRS_TOLD: Final = 6
"""Pairs that one sentence names."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What two tenants may share for all that the rules about sharing say."""

    first: str
    second: str
    always: tuple[DomainKind, ...]
    """By all of their work, at every hour."""
    partly: tuple[DomainKind, ...]
    """By some of their work, or at some hours."""


def openings(meaning: Meaning, *, now_ms: int | None) -> list[Opening]:
    """Two by two, what may be shared; the last two tenants stand for all that are not named."""
    live = [e for e in meaning.policy.exceptions if now_ms is None or e.until_ms > now_ms]
    tenants = meaning.sorts.tenants
    if len(tenants) > TENANTS_MAX:
        tenants = tenants[-2:]
    masks = {tenant: meaning.sorts.matching(OfTenant(tenant).matches) for tenant in tenants}
    rows = {kind: _rows(meaning, kind, live) for kind in DomainKind}
    found = []
    for one, two in combinations(tenants, 2):
        if one == tenants[-2] or two != tenants[-1]:  # one stranger stands for all of them
            found.append(_between(rows, (one, two), (masks[one], masks[two])))
    return found


def _rows(meaning: Meaning, kind: DomainKind, live: list[PolicyException]) -> list[list[int]]:
    """Who may not share the kind with whom, for every set of rules that is in force at a time."""
    return [meaning.forbidden(kind, rules, live=live) for rules in _moments(meaning)]


def _moments(meaning: Meaning) -> list[list[SharingRule]]:
    """The sets of rules that are in force at some minute of the week."""
    always = [rule for rule in meaning.sharing if meaning.is_always(rule)]
    timed = [rule for rule in meaning.sharing if not meaning.is_always(rule)]
    if not timed:
        return [always]
    edges = {0}
    for rule in timed:
        minutes = meaning.minutes[rule.name]
        changes = minutes ^ (minutes << 1)
        edges |= {at for at in range(changes.bit_length()) if changes >> at & 1}
    sets = {
        tuple(rule.name for rule in timed if meaning.minutes[rule.name] >> at & 1)
        for at in edges
        if at < 7 * 1440
    }
    return [[*always, *(r for r in timed if r.name in names)] for names in sorted(sets)]


def _between(
    rows: dict[DomainKind, list[list[int]]], names: tuple[str, str], masks: tuple[int, int]
) -> Opening:
    first, second = masks
    mine = [index for index in range(first.bit_length()) if first >> index & 1]
    always, partly = [], []
    for kind, moments in rows.items():
        met = [moment[index] & second for moment in moments for index in mine]
        if not any(met):
            always.append(kind)
        elif any(each != second for each in met):
            partly.append(kind)
    return Opening(*names, tuple(always), tuple(partly))


def told(found: list[Opening]) -> Iterator[LintFinding]:
    """The openings as findings; pairs with the same are told together."""
    alike: dict[tuple[tuple[DomainKind, ...], tuple[DomainKind, ...]], list[Opening]] = {}
    for each in found:
        alike.setdefault((each.always, each.partly), []).append(each)
    others = {found[-1].first, found[-1].second}
    for (always, partly), pairs in alike.items():
        who = _pairs(pairs, others)
        if not always and not partly:
            sentence = f"{who} may share nothing"
        elif always:
            sentence = f"{who} may share {_words(always)}"
            sentence += f", and sometimes {_words(partly)}" if partly else ""
        else:
            sentence = f"{who} may sometimes share {_words(partly)}"
        sentence += " (it depends on project, label or hour)" if partly else ""
        yield LintFinding(LintCode.NOT_FORBIDDEN, "", sentence)


def _pairs(pairs: list[Opening], others: set[str]) -> str:
    named = []
    for pair in pairs:
        if {pair.first, pair.second} == others:
            named.append("any two tenants that no rule names")
        elif pair.second in others:
            named.append(f"{pair.first} and a tenant that no rule names")
        else:
            named.append(f"{pair.first} and {pair.second}")
    more = len(named) - PAIRS_TOLD
    return "; ".join(named[:PAIRS_TOLD]) + (f"; and {more} more pairs" if more > 0 else "")


def _words(kinds: tuple[DomainKind, ...]) -> str:
    return ", ".join(kind.value for kind in kinds)
