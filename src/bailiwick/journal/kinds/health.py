"""What was found on machines, and what became of their tests.

Rules:

- What was found is a text for each finding: check, level, GPU (or ``-``), value, limit and code.
- What became of the node and of its leases by it, their own records tell.
"""

from __future__ import annotations

from bailiwick.journal.body_spec import BodySpec
from bailiwick.journal.fields import AMOUNT, NAME, ListOf, Spelled, Words
from bailiwick.journal.kinds.row import FLEET, row
from bailiwick.journal.ocsf import DETECTION, ENTITY, LOW, MEDIUM, UPDATE, Ocsf
from bailiwick.vocab.health import (
    HealthAction,
    HealthCheck,
    HealthLevel,
    NodeTestCause,
    NodeTestOutcome,
)

_WORDS = "/".join(f"(?:{'|'.join(enum)})" for enum in (HealthCheck, HealthLevel))
FINDING = Spelled(
    _WORDS + "/(?:-|[0-9]|[1-5][0-9]|6[0-3])" + "/(?:0|[1-9][0-9]{0,14})" * 3,
    "a check, a level, a GPU or '-', and three numbers of at most 15 digits, between slashes",
)
FINDINGS = ListOf(FINDING)


class HealthKinds:
    """The kinds of the health slice."""

    NODE_HEALTH_CHANGED = row(
        "node_health_changed",
        174,
        ocsf=Ocsf(DETECTION, 1, MEDIUM),
        scope=FLEET,
        body=BodySpec(
            {"node": NAME, "findings": FINDINGS, "can_test": AMOUNT},
            {"action": Words((HealthAction,))},
        ),
    )
    NODE_TEST_BEGUN = row(
        "node_test_begun",
        175,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        scope=FLEET,
        body=BodySpec(
            {
                "node": NAME,
                "test_id": AMOUNT,
                "cause": Words((NodeTestCause,)),
                "wait_ms": AMOUNT,
            }
        ),
    )
    NODE_TEST_ENDED = row(
        "node_test_ended",
        176,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        scope=FLEET,
        body=BodySpec(
            {
                "node": NAME,
                "test_id": AMOUNT,
                "outcome": Words((NodeTestOutcome,)),
                "findings": FINDINGS,
            },
            {"took_ms": AMOUNT},
        ),
    )
