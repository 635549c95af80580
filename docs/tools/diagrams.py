"""Parts of the concept pages that are made from tables in the code: diagrams, and lists of words.

Rules:

- A diagram has exactly the states and the edges of the table that the program runs by. An edge that
  nobody has put into words here fails the generator, and so do words for an edge that is gone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from bailiwick.billing.charges import CHARGED, ChargeCause
from bailiwick.iam.words import ROLE_PERMISSIONS, Role
from bailiwick.metering.owners import Stage
from bailiwick.phrases.evictions import HEADINGS, eviction_rows
from bailiwick.vocab.transitions import (
    NODE_MODE_EDGES,
    REVOKE_EDGES,
    NodeMode,
    RevokeState,
)
from bailiwick.vocab.words import FilterReason, PendingReason, PreemptionReason
from docs.tools.markdown import code, meanings, table, text

S = TypeVar("S", bound=StrEnum)

_R, _N, _P, _F, _W = RevokeState, NodeMode, PendingReason, FilterReason, PreemptionReason

ALERTS = Path(__file__).resolve().parents[2] / "ops" / "prometheus" / "alerts.yml"
_RULE = re.compile(r"- alert: (\w+)\n.*\n +labels: \{.*, reason: (\w+)\}")

LEASE_STEPS: dict[tuple[RevokeState, RevokeState], str] = {
    (_R.ACTIVE, _R.REVOKE_WARNING): "has to go",
    (_R.ACTIVE, _R.EXPIRED): "term is over",
    (_R.REVOKE_WARNING, _R.GRACE_RUNNING): "warned",
    (_R.REVOKE_WARNING, _R.EXPIRED): "term is over",
    (_R.GRACE_RUNNING, _R.CHECKPOINT_REPORTED): "work is saved",
    (_R.GRACE_RUNNING, _R.FORCED_TEARDOWN): "grace is over",
    (_R.GRACE_RUNNING, _R.ACTIVE): "nobody needs its room",
    (_R.CHECKPOINT_REPORTED, _R.TORNDOWN): "is gone",
    (_R.CHECKPOINT_REPORTED, _R.FENCED): "not confirmed",
    (_R.FORCED_TEARDOWN, _R.TORNDOWN): "is gone",
    (_R.FORCED_TEARDOWN, _R.FENCED): "not confirmed",
    (_R.EXPIRED, _R.FAILED_CLOSED): "closed",
    (_R.EXPIRED, _R.FENCED): "not confirmed",
}

MODE_STEPS: dict[tuple[NodeMode, NodeMode], str] = {
    (_N.ACCEPTING, _N.CORDONED): "cordon",
    (_N.ACCEPTING, _N.DRAINING): "drain",
    (_N.ACCEPTING, _N.FENCE_LOST): "fence is lost",
    (_N.DRAINING, _N.DRAINED): "last lease ended",
    (_N.DRAINING, _N.ACCEPTING): "uncordon",
    (_N.DRAINING, _N.FENCE_LOST): "fence is lost",
    (_N.DRAINED, _N.MAINTENANCE): "maintenance",
    (_N.DRAINED, _N.RETURNING): "return",
    (_N.MAINTENANCE, _N.RETURNING): "return",
    (_N.RETURNING, _N.ACCEPTING): "uncordon",
    (_N.RETURNING, _N.FENCE_LOST): "fence is lost",
    (_N.FENCE_LOST, _N.MAINTENANCE): "clear-fence",
    (_N.CORDONED, _N.ACCEPTING): "uncordon",
    (_N.CORDONED, _N.DRAINING): "drain",
    (_N.CORDONED, _N.FENCE_LOST): "fence is lost",
}

PENDING_MEANINGS: dict[PendingReason, str] = {
    _P.MISCONFIGURED: "the request breaks a rule, such as a GPU without a generation",
    _P.FORBIDDEN: "no node that could serve it may be used for it",
    _P.EXCEEDS_MAXIMUM: "it is larger than any node, or than the quota itself",
    _P.WAITING_FOR_QUOTA: "the tenant or project holds too much already",
    _P.WAITING_FOR_CAPACITY: "too little is free in all",
    _P.FRAGMENTED: "enough is free, but not in one place",
    _P.WAITING_FOR_VICTIMS: "others were told to go, and have not gone yet",
    _P.NOT_YET_LOOKED_AT: "others stand before it in the queue",
}

REASON_PAGES: dict[PreemptionReason, str] = {
    _W.PRIORITY_PREEMPTION: "[who is evicted](#who-is-evicted)",
    _W.QUOTA_REBALANCE: "[back inside a quota](#back-inside-a-quota)",
    _W.BURST_CREDIT_EXHAUSTED: "[burst credit](tenants.md#how-much-they-may-hold)",
    _W.BUDGET_EXHAUSTED: "[budgets](../billing.md#budgets-and-cost-caps)",
    _W.COST_CAP_EVICTION: "[cost caps](../billing.md#budgets-and-cost-caps)",
    _W.OPERATOR_DRAIN: "[out of service](nodes.md#out-of-service-and-back)",
    _W.OPERATOR_MIG_PROFILE_CHANGE: "[repartitioning](../mig.md#what-happens)",
    _W.MAINTENANCE_WINDOW: "[windows](../maintenance.md#a-window)",
    _W.POLICY_VIOLATION_RECOVERY: (
        "[attestation](trust.md#what-follows-from-a-verdict), "
        "[isolation](../isolation.md#evicting-what-it-finds)"
    ),
}
"""Where the manual tells how each reason comes about."""

FILTER_MEANINGS: dict[FilterReason, str] = {
    _F.NODE_MODE: "it takes no leases: it is being drained, or is in maintenance",
    _F.QUARANTINED: "it is in quarantine",
    _F.ATTESTATION: "it has yet to prove what the policy asks of it",
    _F.GPU_KIND: "it has no GPU of the generation, model or memory",
    _F.LABELS: "it lacks a label",
    _F.POLICY: "a rule from outside closes it to this request",
    _F.CPU: "too few free cores",
    _F.MEMORY: "too little free memory",
    _F.BLOCK: "too little free block storage",
    _F.GPU: "no such GPU is free",
}

ROLE_MEANINGS: dict[Role, str] = {
    Role.FLEET_ADMIN: "everything, but for reporting as a node",
    Role.FLEET_OPERATOR: "nodes, evictions, metrics; sees all work",
    Role.FLEET_AUDITOR: "reads all, changes nothing",
    Role.NODE_AGENT: "reports for one machine",
    Role.TENANT_ADMIN: "projects, people, tokens and quotas and budgets of its projects",
    Role.TENANT_AUDITOR: "reads the tenant's records, usage and invoices",
    Role.PROJECT_ADMIN: "people, apps and tokens of the project, and all that a member may",
    Role.PROJECT_MEMBER: "submits, cancels and holds work in the project",
    Role.PROJECT_VIEWER: "reads the project's work and usage",
}


def lease_states() -> str:
    """How a lease ends, as a state diagram."""
    ends = [state for state in RevokeState if state.is_terminal]
    return _diagram("How a lease ends", REVOKE_EDGES, LEASE_STEPS, begin=_R.ACTIVE, ends=ends)


def node_modes() -> str:
    """The modes of a node, as a state diagram."""
    return _diagram("Modes of a node", NODE_MODE_EDGES, MODE_STEPS, begin=_N.ACCEPTING, ends=[])


def _diagram(
    title: str,
    edges: Mapping[S, frozenset[S]],
    words: Mapping[tuple[S, S], str],
    *,
    begin: S,
    ends: list[S],
) -> str:
    there = {(before, after) for before, afters in edges.items() for after in afters}
    _agree(title, there, {*words})
    lines = [f"    {before} --> {after}: {words[before, after]}" for before, after in words]
    lines = [f"    [*] --> {begin}", *lines, *(f"    {end} --> [*]" for end in ends)]
    return "\n".join(["```mermaid", "stateDiagram-v2", f"    accTitle: {title}", *lines, "```"])


def _agree(what: str, there: object, told: object) -> None:
    if there != told:
        raise SystemExit(f"{what}: docs/tools/diagrams.py does not say what the code has")


def preemption_reasons() -> str:
    """The nine reasons: what each means, whether it may end a guaranteed lease, where to read on.

    With the alert of each, as the rules have it.
    """
    alerts = {reason: name for name, reason in _RULE.findall(ALERTS.read_text("utf-8"))}
    _agree("preemption reasons", {*PreemptionReason}, {*REASON_PAGES})
    _agree("alerts of preemption reasons", {*map(str, PreemptionReason)}, {*alerts})
    rows = [
        (
            code(reason),
            text(reason.human_summary()),
            "no" if reason.spares_guaranteed else "yes",
            REASON_PAGES[reason],
            f"[{alerts[reason]}](../alerts.md#{alerts[reason].lower()})",
        )
        for reason in PreemptionReason
    ]
    return table(("reason", "what happened", "ends guaranteed leases", "more", "alert"), rows)


def evictions() -> str:
    """Who may evict whom."""
    return table(HEADINGS, eviction_rows())


def pending_reasons() -> str:
    """Why a request did not get a lease, worst first."""
    _agree("pending reasons", {*PendingReason}, {*PENDING_MEANINGS})
    rows = [
        (code(reason), PENDING_MEANINGS[reason], "yes" if reason.is_transient else "no")
        for reason in PendingReason
    ]
    return table(("reason", "meaning", "waiting can help"), rows)


def filters() -> str:
    """At which filter a node falls, in the order in which they are asked."""
    _agree("filters", {*FilterReason}, {*FILTER_MEANINGS})
    return table(
        ("filter", "the node"), [(code(one), FILTER_MEANINGS[one]) for one in FilterReason]
    )


def charges() -> str:
    """Which time is charged when a lease ends for which cause."""
    says = meanings(ChargeCause)
    rows = [
        (code(cause), says[cause], *("charged" if s in CHARGED[cause] else "free" for s in Stage))
        for cause in ChargeCause
    ]
    return table(("cause", "meaning", *(code(stage) for stage in Stage)), rows)


def roles() -> str:
    """The roles, at which level each is given, and what it is for."""
    _agree("roles", {*Role}, {*ROLE_MEANINGS})
    rows = [
        (code(role), role.level, ROLE_MEANINGS[role], len(ROLE_PERMISSIONS[role])) for role in Role
    ]
    return table(("role", "given at", "for", "keys"), rows)
