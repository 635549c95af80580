"""Small policies that come and go while work runs, and what the judge says of that work.

Rules:

- Who is leaving, or is fenced, may still be where it may not be; everybody else may not.
- Where leases are is read from the state. What a rule means is the judge's word alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from bailiwick.isolation.judge import Violation, violations
from bailiwick.isolation.language.parser import parse_policy
from bailiwick.kernel import State
from bailiwick.kernel.isolation.placements import placements
from bailiwick.vocab.transitions import RevokeState


def small_policy(chance: Random, tenants: Sequence[str]) -> str:
    """Up to two rules about these tenants; often none, which lifts the one before."""
    one, other = chance.sample(tenants, 2)
    rules = (
        f"never share host between tenant {one} and tenant {other}",
        f"dedicated host for tenant {one}",
        "never share host among tenants",
        f"at most 2 of tenant {one} per host",
        f"tenant {one} only on nodes with zone=a",
        f"tenant {one} only on nodes with attested.tpm2.boot=secure",
        f"never share rack between tenant {one} and tenant {other}",
        f"dedicated host for tenant {one}\nkeep host for tenant {one} 3s after it left",
    )
    return "\n".join(chance.sample(rules, chance.choice((0, 0, 1, 1, 1, 2))))


def forbidden(state: State, text: str, *, now_ms: int) -> list[Violation]:
    """What is broken by work that runs and is not leaving, under the policy of this text."""
    staying = [
        lease_id
        for lease_id in state.leases
        if lease_id not in state.fenced and state.phase(lease_id) is RevokeState.ACTIVE
    ]
    there = [*placements(state, staying)]
    residues = state.isolation.residues_at(now_ms)
    return violations(parse_policy(text), there, now_ms=now_ms, residues=residues)
