"""Where a lease comes from: the correlation id of the request that it was granted for.

Rules:

- A request that waited is granted by the kernel's own tick; what counts is when it was asked.
- The latest ``KEPT_MAX`` leases and waiting requests are known; of an older one nothing is.

>>> origins = Origins()
>>> origins.of(4)
Origin(correlation_id='none', tenant=None, project=None)
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from bailiwick.journal.kinds import RecordKind
from bailiwick.telemetry.trace_context import NO_ID

KEPT_MAX: Final = 20_000


class Origin(NamedTuple):
    """Who asked, in the course of what."""

    correlation_id: str = NO_ID
    tenant: str | None = None
    project: str | None = None


class Origins:
    """A fold over the journal; one thread follows, any may ask."""

    def __init__(self, *, kept_max: int = KEPT_MAX) -> None:
        self._kept_max = kept_max
        self._entries: OrderedDict[int, Origin] = OrderedDict()
        self._leases: OrderedDict[int, Origin] = OrderedDict()

    def of(self, lease_id: int) -> Origin:
        """Where the lease comes from."""
        return self._leases.get(lease_id, Origin())

    def follow(self, fact: Mapping[str, Any]) -> None:
        """One more record is durable."""
        kind, body = fact["kind"], fact["body"]
        if kind == RecordKind.REQUEST_QUEUED:
            self._keep(self._entries, body["entry_id"], origin_of(fact))
        elif kind == RecordKind.REQUEST_CANCELLED:
            self._entries.pop(body["entry_id"], None)
        elif kind == RecordKind.ADMISSION_APPROVED:
            entry_id = body.get("entry_id")
            found = origin_of(fact) if entry_id is None else self._entries.get(entry_id)
            for lease_id in body["lease_ids"]:
                self._keep(self._leases, lease_id, found or origin_of(fact))
            if entry_id is not None and not body.get("members_left"):
                self._entries.pop(entry_id, None)

    def _keep(self, kept: OrderedDict[int, Origin], number: int, origin: Origin) -> None:
        kept[number] = origin
        if len(kept) > self._kept_max:
            kept.popitem(last=False)


def origin_of(fact: Mapping[str, Any]) -> Origin:
    """What a record says of itself."""
    return Origin(fact["correlation_id"], fact["tenant"], fact["project"])
