"""Projects whose part in a shared runtime is to end, and whose operator has not said that it did.

An operator is waited for as long as a worker that is withdrawn would be, and no longer: either side
ends an attachment alone, whether or not somebody is there who looks after the runtime.
"""

from __future__ import annotations

from collections.abc import Iterator

from bailiwick.kernel.apps.shared.book import SharedBook
from bailiwick.kernel.apps.shared.commands import FinishDetachment
from bailiwick.vocab.shared import AttachmentPhase


def overdue_detachments(book: SharedBook, now_ms: int) -> list[FinishDetachment]:
    """What is to be said in the place of an operator that stays away."""
    return [*_overdue(book, now_ms)]


def _overdue(book: SharedBook, now_ms: int) -> Iterator[FinishDetachment]:
    for held in book.held.values():
        runtime = held.runtime
        for each in held.attachments.values():
            is_late = now_ms >= each.since_ms + runtime.withdraw_within_ms
            is_leaving = each.phase is AttachmentPhase.DETACHING
            if is_leaving and is_late and not held.given_by(each.project):
                yield FinishDetachment(
                    tenant=runtime.tenant, runtime=runtime.name, project=each.project
                )
