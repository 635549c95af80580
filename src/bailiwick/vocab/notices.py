"""The closed words of notices: what a person is told of, by which way, and with which right.

Rules:

- A notice is told only to who may read the thing itself (:data:`KEY_OF`), when it is written down,
  when it is sent, and when it is read.
- What a person does not choose is in the inbox and goes nowhere else.

>>> [kind.value for kind in NoticeKind if kind not in CHOSEN]
['many_more', 'test']
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from bailiwick.vocab.permissions import Permission


class NoticeKind(StrEnum):
    """What somebody is told of."""

    JOB_ENDED = "job_ended"
    GRAPH_ENDED = "graph_ended"
    PREEMPTION_ANNOUNCED = "preemption_announced"
    BUDGET_REACHED = "budget_reached"
    NODE_DRAINED = "node_drained"
    NODE_LOST = "node_lost"
    FINDING_REPORTED = "finding_reported"
    ISOLATION_VIOLATED = "isolation_violated"
    MANY_MORE = "many_more"
    """So many that were not sent, because they were too many for an hour."""
    TEST = "test"
    """Nothing happened: somebody tries whether it arrives."""


class NoticeChannel(StrEnum):
    """By which way."""

    INBOX = "inbox"
    EMAIL = "email"
    WEBHOOK = "webhook"


class SmtpTls(StrEnum):
    """How the way to the mail server is secured; its certificate is checked in both."""

    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"


KEY_OF: Final[Mapping[NoticeKind, Permission]] = {
    NoticeKind.JOB_ENDED: Permission.QUEUE_READ,
    NoticeKind.GRAPH_ENDED: Permission.QUEUE_READ,
    NoticeKind.PREEMPTION_ANNOUNCED: Permission.LEASE_READ,
    NoticeKind.BUDGET_REACHED: Permission.BUDGET_READ,
    NoticeKind.NODE_DRAINED: Permission.NODE_OPERATE,
    NoticeKind.NODE_LOST: Permission.NODE_OPERATE,
    NoticeKind.FINDING_REPORTED: Permission.USAGE_READ,
    NoticeKind.ISOLATION_VIOLATED: Permission.ISOLATION_READ,
}
"""The key that somebody must have where it happened; what has none is about himself alone."""

CHOSEN: Final = tuple(KEY_OF)
"""Of which a person says by which ways he is told."""

URGENT: Final = frozenset(
    {
        NoticeKind.PREEMPTION_ANNOUNCED,
        NoticeKind.BUDGET_REACHED,
        NoticeKind.NODE_LOST,
        NoticeKind.ISOLATION_VIOLATED,
    }
)
"""What cannot wait an hour because many jobs ended in this one: it has letters of its own."""

SENT: Final = (NoticeChannel.EMAIL, NoticeChannel.WEBHOOK)
"""The ways that lead out of the server."""
