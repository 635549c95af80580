"""What happened to cells, and to requests to all of them."""

from __future__ import annotations

from bailiwick.journal.body_spec import BodySpec
from bailiwick.journal.fields import AMOUNT, INTEGERS, NAME, TEXT, Words
from bailiwick.journal.kinds.row import FLEET, row
from bailiwick.journal.kinds.work import REQUEST, TERMS
from bailiwick.journal.ocsf import API, CREATE, DELETE, ENTITY, LOW, MEDIUM, UPDATE, Ocsf
from bailiwick.journal.words import CancelCause
from bailiwick.vocab.cells import TakingStatus
from bailiwick.vocab.words import PendingReason


class CellKinds:
    """The kinds of the slice of cells."""

    CELL_JOINED = row(
        "cell_joined",
        160,
        ocsf=Ocsf(ENTITY, CREATE, LOW),
        scope=FLEET,
        body=BodySpec({"cell": NAME, "url": TEXT}),
    )
    CELL_LEFT = row(
        "cell_left",
        161,
        ocsf=Ocsf(ENTITY, DELETE, MEDIUM),
        scope=FLEET,
        body=BodySpec({"cell": NAME, "lost": AMOUNT}),
    )
    CELL_REACHED = row(
        "cell_reached",
        162,
        ocsf=Ocsf(ENTITY, UPDATE),
        scope=FLEET,
        body=BodySpec({"cell": NAME, "epoch": AMOUNT, "done": AMOUNT}),
    )
    CELL_CUT_OFF = row(
        "cell_cut_off",
        163,
        ocsf=Ocsf(ENTITY, UPDATE, MEDIUM),
        scope=FLEET,
        body=BodySpec({"cell": NAME}, {"lost": AMOUNT}),
    )
    CELL_HEARD = row(
        "cell_heard",
        164,
        ocsf=Ocsf(ENTITY, UPDATE),
        scope=FLEET,
        body=BodySpec({"cell": NAME, "seq": AMOUNT}),
    )
    GLOBAL_ASKED = row(
        "global_asked",
        165,
        ocsf=Ocsf(API, CREATE),
        body=BodySpec({"global_id": AMOUNT, **TERMS}, REQUEST),
    )
    GLOBAL_SENT = row(
        "global_sent",
        166,
        ocsf=Ocsf(API, UPDATE),
        body=BodySpec({"global_id": AMOUNT, "cell": NAME, "number": AMOUNT}, {"wait": AMOUNT}),
    )
    GLOBAL_TOLD = row(
        "global_told",
        167,
        ocsf=Ocsf(API, UPDATE),
        body=BodySpec(
            {"global_id": AMOUNT, "cell": NAME, "status": Words((TakingStatus,))},
            {"seq": AMOUNT, "lease_ids": INTEGERS, "kept": AMOUNT},
        ),
    )
    GLOBAL_WITHDRAWN = row(
        "global_withdrawn",
        168,
        ocsf=Ocsf(API, DELETE),
        body=BodySpec(
            {"global_id": AMOUNT},
            {"number": AMOUNT, "cause": Words((CancelCause,)), "reason": Words((PendingReason,))},
        ),
    )
    HOME_MET = row(
        "home_met",
        169,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        scope=FLEET,
        body=BodySpec({"home": NAME, "epoch": AMOUNT}),
    )
    HOME_LEFT = row(
        "home_left",
        170,
        ocsf=Ocsf(ENTITY, DELETE, LOW),
        scope=FLEET,
        body=BodySpec({"home": NAME}),
    )
    HOME_HEARD = row(
        "home_heard",
        171,
        ocsf=Ocsf(ENTITY, UPDATE),
        scope=FLEET,
        body=BodySpec({"seq": AMOUNT}),
    )
    GLOBAL_TAKEN = row(
        "global_taken",
        172,
        ocsf=Ocsf(API, CREATE),
        body=BodySpec({"global_id": AMOUNT, "number": AMOUNT}, {"why": TEXT}),
    )
    GLOBAL_GIVEN_BACK = row(
        "global_given_back",
        173,
        ocsf=Ocsf(API, DELETE),
        scope=FLEET,
        body=BodySpec(
            {"global_id": AMOUNT, "number": AMOUNT},
            dict.fromkeys(("let_go", "kept", "gone"), AMOUNT),
        ),
    )
    GLOBAL_RECALLED = row(
        "global_recalled",
        177,
        ocsf=Ocsf(API, UPDATE),
        body=BodySpec({"global_id": AMOUNT, "number": AMOUNT}),
    )
