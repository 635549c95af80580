"""What a policy lets happen on purpose: each exception, and each rule's hours, taken away in turn.

A scheduler that keeps a policy step by step breaks none of its rules. Whoever looks for a way
around a rule finds it where the policy itself excuses somebody. So a history is looked for that
the policy allows, and that it would forbid without that one excuse.

>>> from bailiwick.isolation.language.parser import parse_policy
>>> policy = parse_policy("vault: dedicated host for tenant bank between 08:00 and 18:00")
>>> [(each.rule, each.line, each.says) for each in excuses(policy)]
[('vault', 1, 'vault holds only between 08:00 and 18:00 (line 1)')]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from bailiwick.isolation.language.spelling import spell_window
from bailiwick.isolation.policy import Linger, Policy


@dataclass(frozen=True, slots=True)
class Excuse:
    """One thing that excuses, and the policy without it."""

    rule: str
    """The name of the exception, or of the rule that has hours."""
    line: int
    says: str
    asks: str
    """The same as a question."""
    without: Policy


def excuses(policy: Policy) -> tuple[Excuse, ...]:
    """Every excuse of a policy, in the order of its text."""
    return tuple(sorted(_excuses(policy), key=lambda each: each.line))


def _excuses(policy: Policy) -> Iterator[Excuse]:
    for each in policy.exceptions:
        rest = tuple(other for other in policy.exceptions if other.name != each.name)
        says = f"{each.name} allows it (line {each.line})"
        asks = f"whom {each.name} lets meet (line {each.line})"
        yield Excuse(each.name, each.line, says, asks, replace(policy, exceptions=rest))
    for rule in policy.rules:
        if isinstance(rule, Linger) or rule.window is None:
            continue
        always = tuple(
            replace(rule, window=None) if other.name == rule.name else other
            for other in policy.rules
        )
        hours = spell_window(rule.window)
        says = f"{rule.name} holds only {hours} (line {rule.line})"
        asks = f"what may be outside the hours of {rule.name} (line {rule.line})"
        yield Excuse(rule.name, rule.line, says, asks, replace(policy, rules=always))
