"""What happened to isolation: the policy, what was scrubbed, and who had to go for a rule.

Rules:

- A policy stands in its record as a whole, cut into texts: a journal alone says what was forbidden
  when.
- Which lease stood beside which is the fleet's business: a tenant learns from its own lease's
  record that a rule ended it, and from none whose work was there.
"""

from __future__ import annotations

from bailiwick.journal.body_spec import BodySpec
from bailiwick.journal.fields import AMOUNT, DIGEST, INTEGERS, NAME, TEXT, TEXTS, Words
from bailiwick.journal.kinds.row import FLEET, row
from bailiwick.journal.ocsf import COMPLIANCE, ENTITY, HIGH, MEDIUM, UPDATE, Ocsf
from bailiwick.vocab.words import DomainKind

_KIND = Words((DomainKind,))
_FINDING = BodySpec(
    {
        "target": NAME,
        "rule": NAME,
        "domain": TEXT,
        "found_ms": AMOUNT,
        "jobs": TEXTS,
        "owners": TEXTS,
        "jobs_total": AMOUNT,
    },
    {"domain_kind": _KIND},
)
"""What an audit found in a cluster, ours or another's; in the audit's own journal."""


class IsolationKinds:
    """The kinds of the isolation slice."""

    ISOLATION_POLICY_SET = row(
        "isolation_policy_set",
        61,
        ocsf=Ocsf(ENTITY, UPDATE, MEDIUM),
        scope=FLEET,
        body=BodySpec({"version": AMOUNT, "digest": DIGEST, "document": TEXTS}),
    )
    DOMAIN_SCRUBBED = row(
        "domain_scrubbed",
        64,
        ocsf=Ocsf(ENTITY, UPDATE, MEDIUM),
        scope=FLEET,
        body=BodySpec({"domain_kind": _KIND, "domain": TEXT}),
    )
    ISOLATION_VIOLATED = row(
        "isolation_violated",
        65,
        ocsf=Ocsf(COMPLIANCE, 1, HIGH),
        scope=FLEET,
        body=BodySpec(
            {"lease_id": AMOUNT, "rule": NAME, "domain": TEXT},
            {"domain_kind": _KIND, "partners": INTEGERS},
        ),
    )
    ISOLATION_ENFORCED = row(
        "isolation_enforced",
        67,
        ocsf=Ocsf(ENTITY, UPDATE, MEDIUM),
        scope=FLEET,
        body=BodySpec(
            {"digest": DIGEST, "document": TEXTS, "violations": AMOUNT, "leases": AMOUNT}
        ),
    )
    ISOLATION_FINDING = row(
        "isolation_finding",
        68,
        ocsf=Ocsf(COMPLIANCE, 1, HIGH),
        scope=FLEET,
        body=_FINDING,
    )
    ISOLATION_FINDING_CLOSED = row(
        "isolation_finding_closed",
        69,
        ocsf=Ocsf(COMPLIANCE, 3, MEDIUM),
        scope=FLEET,
        body=_FINDING,
    )
