"""What happened to prices and budgets, what was billed, and what was found out about usage."""

from __future__ import annotations

from bailiwick.journal.body_spec import BodySpec
from bailiwick.journal.fields import (
    AMOUNT,
    AMOUNT_SHAPE,
    DIGEST,
    INTEGERS,
    NAME,
    NAME_SHAPE,
    PRINCIPAL,
    SIGNED,
    TEXT,
    Amounts,
    ListOf,
    Spelled,
    Words,
)
from bailiwick.journal.kinds.row import FLEET, GPU_AMOUNTS, row
from bailiwick.journal.ocsf import CREATE, DETECTION, ENTITY, LOW, MEDIUM, UPDATE, Ocsf
from bailiwick.journal.words import Severity
from bailiwick.vocab.words import BudgetState, LeaseClass

UNIT_PRICE = Spelled(
    f"{NAME_SHAPE}/{NAME_SHAPE}={AMOUNT_SHAPE}", "an app, '/', a unit, '=' and its price"
)


class MoneyKinds:
    """The kinds of the money slice."""

    # The whole card, so that a journal alone says what everything cost; one that is withdrawn has
    # no prices.
    RATE_CARD_CHANGED = row(
        "rate_card_changed",
        46,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        scope=FLEET,
        body=BodySpec(
            {"card": NAME, "effective_ms": AMOUNT},
            {
                "of_tenant": NAME,
                "currency": NAME,
                "gpu_micros_per_hour": GPU_AMOUNTS,
                "class_per_mille": Amounts(LeaseClass),
                **dict.fromkeys(
                    (
                        "core_micros_per_hour",
                        "mem_micros_per_gib_hour",
                        "block_micros_per_gib_hour",
                    ),
                    AMOUNT,
                ),
                "app_unit_micros": ListOf(UNIT_PRICE),
                "withdrawn": AMOUNT,
            },
        ),
    )
    INVOICE_ISSUED = row(
        "invoice_issued",
        47,
        ocsf=Ocsf(ENTITY, CREATE),
        body=BodySpec(
            {
                "invoice": NAME,
                "period_start_ms": AMOUNT,
                "period_end_ms": AMOUNT,
                "journal_size": AMOUNT,
                "total_micros": SIGNED,
                "currency": NAME,
                "digest": DIGEST,
            },
            {"corrects": NAME},
        ),
    )
    BUDGET_CHANGED = row(
        "budget_changed",
        48,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        body=BodySpec(
            {"limit_micros": AMOUNT, "from_ms": AMOUNT},
            {
                **dict.fromkeys(("cap_micros", "until_ms", "opening_micros", "removed"), AMOUNT),
                "thresholds": INTEGERS,
            },
        ),
    )
    BUDGET_STATE_CHANGED = row(
        "budget_state_changed",
        49,
        ocsf=Ocsf(ENTITY, UPDATE, MEDIUM),
        body=BodySpec(
            {
                "before": Words((BudgetState,)),
                "after": Words((BudgetState,)),
                **dict.fromkeys(("spent_micros", "limit_micros", "crossed"), AMOUNT),
            },
            {"crossed_before": AMOUNT},
        ),
    )
    FINDING_REPORTED = row(
        "finding_reported",
        50,
        ocsf=Ocsf(DETECTION, 1, MEDIUM),
        scope=FLEET,
        body=BodySpec(
            {"finding": NAME, "severity": Words((Severity,)), "subject": PRINCIPAL},
            {"evidence": DIGEST, "note": TEXT},
        ),
    )
