"""What happened to changes of MIG profiles.

Rules:

- What became of the node and of its leases by one, their own records tell.
"""

from __future__ import annotations

from bailiwick.journal.body_spec import BodySpec
from bailiwick.journal.fields import AMOUNT, INTEGERS, NAME, TEXTS, Words
from bailiwick.journal.kinds.row import FLEET, row
from bailiwick.journal.ocsf import ENTITY, LOW, UPDATE, Ocsf
from bailiwick.vocab.mig import MigFailure, MigOutcome


class MigKinds:
    """The kinds of the mig slice."""

    MIG_CHANGE_BEGUN = row(
        "mig_change_begun",
        147,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        scope=FLEET,
        body=BodySpec(
            {
                "node": NAME,
                "change_id": AMOUNT,
                "gpus": INTEGERS,
                "profiles": TEXTS,
                "wait_ms": AMOUNT,
            }
        ),
    )
    MIG_CHANGE_ENDED = row(
        "mig_change_ended",
        148,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        scope=FLEET,
        body=BodySpec(
            {"node": NAME, "change_id": AMOUNT, "outcome": Words((MigOutcome,))},
            {"cause": Words((MigFailure,))},
        ),
    )
