"""What became of entries that left the queue, read in the journal.

Rules:

- The kernel forgets an entry when it leaves the line; the journal does not. The record is sought
  from a number on that is known to be before it.
- Lines of other kinds are not parsed: most are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from bailiwick.journal.record import parse_record
from bailiwick.kernel.slices import event_of
from bailiwick.kernel.work import events as ev
from bailiwick.reconcile.job_steps import Began, Left, ObservedEntry, Untold
from bailiwick.runtime.runner import Runner

READ_MAX = 2_000
"""Lines that are read at once."""

_MARKS = (b'"admission_approved"', b'"request_cancelled"')


def outcomes_in(lines: Iterable[bytes], entry_ids: Collection[int]) -> dict[int, ObservedEntry]:
    """What these lines say about how these entries left the queue."""
    found: dict[int, ObservedEntry] = {}
    begun: dict[int, list[tuple[int, str]]] = {}
    for line in lines:
        if not any(mark in line for mark in _MARKS):
            continue
        event = event_of(parse_record(line.rstrip(b"\n")))
        match event:
            case ev.AdmissionApproved(entry_id=int(entry_id)) if entry_id in entry_ids:
                got = begun.setdefault(entry_id, [])
                got += [(i, str(n)) for i, n in zip(event.lease_ids, event.nodes, strict=True)]
                if not event.members_left:
                    found[entry_id] = Began(*got[0], tuple(got[1:]))
            case ev.RequestCancelled() if event.entry_id in entry_ids:
                found[event.entry_id] = Left(event.cause)
            case _:
                pass
    return found


def read_outcomes(runner: Runner, since: dict[int, int], *, size: int) -> dict[int, ObservedEntry]:
    """What became of each entry, which left after the record of the number beside it."""
    found: dict[int, ObservedEntry] = {}
    first = min(since.values(), default=size)
    while first < size and len(found) < len(since):  # bounded by the journal's size
        lines = runner.lines.read(first, READ_MAX)
        if not lines:
            break
        found |= outcomes_in(lines, since.keys() - found.keys())
        first += len(lines)
    return {entry_id: found.get(entry_id, Untold()) for entry_id in since}
