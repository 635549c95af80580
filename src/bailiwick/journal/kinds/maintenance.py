"""What happened to windows of maintenance and to the calendars by which they are planned.

Rules:

- A window's times are absolute. Which local time they were is the calendar's, and is not asked
  again: tables of time zones change, and what was announced does not.
- What became of nodes and leases by a window, their own records tell.
"""

from __future__ import annotations

from bailiwick.journal.body_spec import BodySpec
from bailiwick.journal.fields import AMOUNT, LABELS, NAME, NAMES, TEXT, Words
from bailiwick.journal.kinds.row import FLEET, row
from bailiwick.journal.ocsf import CREATE, DELETE, ENTITY, LOW, UPDATE, Ocsf
from bailiwick.vocab.maintenance import WindowEnd, WindowPhase

_PHASE = Words((WindowPhase,))


class MaintenanceKinds:
    """The kinds of the maintenance slice."""

    WINDOW_PLANNED = row(
        "window_planned",
        150,
        ocsf=Ocsf(ENTITY, CREATE, LOW),
        scope=FLEET,
        body=BodySpec(
            {
                "window": NAME,
                "nodes": NAMES,
                "starts_ms": AMOUNT,
                "ends_ms": AMOUNT,
                "lead_ms": AMOUNT,
            },
            {"calendar": NAME, "text": TEXT},
        ),
    )
    WINDOW_PHASE_CHANGED = row(
        "window_phase_changed",
        151,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        scope=FLEET,
        body=BodySpec({"window": NAME, "before": _PHASE, "after": _PHASE}, {"nodes": NAMES}),
    )
    WINDOW_ENDED = row(
        "window_ended",
        152,
        ocsf=Ocsf(ENTITY, DELETE, LOW),
        scope=FLEET,
        body=BodySpec({"window": NAME, "cause": Words((WindowEnd,))}),
    )
    CALENDAR_SET = row(
        "calendar_set",
        153,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        scope=FLEET,
        body=BodySpec(
            {"calendar": NAME, "rule": TEXT, "lead_ms": AMOUNT, "ahead_days": AMOUNT},
            {"nodes": NAMES, "labels": LABELS, "text": TEXT, "keeps": AMOUNT},
        ),
    )
    CALENDAR_WITHDRAWN = row(
        "calendar_withdrawn",
        154,
        ocsf=Ocsf(ENTITY, DELETE, LOW),
        scope=FLEET,
        body=BodySpec({"calendar": NAME}),
    )
