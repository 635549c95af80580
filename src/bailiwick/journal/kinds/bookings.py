"""What happened to bookings and to the series by which they are made.

Rules:

- A booking's times are absolute, and its nodes are named: which local time it was, and how the
  nodes were chosen, is not asked again.
- A booking is its project's: the record has its owner, and no stranger reads it.
"""

from __future__ import annotations

from bailiwick.journal.body_spec import BodySpec, Fields
from bailiwick.journal.fields import AMOUNT, LABELS, NAME, NAMES, TEXT, Words
from bailiwick.journal.kinds.row import GPU_GENERATION, PROJECT, row
from bailiwick.journal.ocsf import CREATE, DELETE, ENTITY, LOW, UPDATE, Ocsf
from bailiwick.vocab.bookings import BookingChange, BookingEnd, BookingUse

_ASKED: Fields = {
    "count": AMOUNT,
    "gpus": AMOUNT,
    "gpu_generation": GPU_GENERATION,
    "labels": LABELS,
}


class BookingKinds:
    """The kinds of the slice of bookings."""

    BOOKED = row(
        "booked",
        155,
        ocsf=Ocsf(ENTITY, CREATE, LOW),
        scope=PROJECT,
        body=BodySpec(
            {
                "booking": NAME,
                "starts_ms": AMOUNT,
                "ends_ms": AMOUNT,
                "nodes": NAMES,
                "wait_ms": AMOUNT,
            },
            {**_ASKED, "series": NAME, "text": TEXT, "use": Words((BookingUse,))},
        ),
    )
    BOOKING_NODES_CHANGED = row(
        "booking_nodes_changed",
        156,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        scope=PROJECT,
        body=BodySpec(
            {"booking": NAME, "cause": Words((BookingChange,)), "removed": NAMES},
            {"added": NAMES},
        ),
    )
    BOOKING_ENDED = row(
        "booking_ended",
        157,
        ocsf=Ocsf(ENTITY, DELETE, LOW),
        scope=PROJECT,
        body=BodySpec({"booking": NAME, "cause": Words((BookingEnd,))}),
    )
    BOOKING_BEGUN = row(
        "booking_begun",
        178,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        scope=PROJECT,
        body=BodySpec({"booking": NAME}),
    )
    SERIES_SET = row(
        "series_set",
        158,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        scope=PROJECT,
        body=BodySpec(
            {"series": NAME, "rule": TEXT, "ahead_days": AMOUNT},
            {**_ASKED, "nodes": NAMES, "wait_ms": AMOUNT, "text": TEXT, "keeps": AMOUNT},
        ),
    )
    SERIES_WITHDRAWN = row(
        "series_withdrawn",
        159,
        ocsf=Ocsf(ENTITY, DELETE, LOW),
        scope=PROJECT,
        body=BodySpec({"series": NAME}),
    )
