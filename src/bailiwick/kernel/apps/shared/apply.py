"""The book of shared runtimes after one more record: nothing is decided here."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from bailiwick.kernel.apps.guard import stand_guard
from bailiwick.kernel.apps.shared import events as ev
from bailiwick.kernel.apps.shared import use_events as uev
from bailiwick.kernel.apps.shared.book import HeldRuntime, SharedBook
from bailiwick.kernel.apps.shared.use_rules import take_settlement, take_use
from bailiwick.kernel.state import State
from bailiwick.vocab.shared import AttachmentPhase, ContributionPhase, SubmitPolicyChange


def apply(state: State, event: ev.SharedEvent, at_ms: int) -> None:
    """The state after one more record about a shared runtime."""
    book, seq = state.apps.shared, state.size
    match event:
        case ev.SharedRuntimeCreated():
            put_runtime(book, HeldRuntime(replace(event.runtime, created_ms=at_ms, seq=seq)))
            book.serial = event.runtime.id
            stand_guard(state)
        case ev.SharedRuntimeEnded():
            _end(book, event, seq=seq)
            stand_guard(state)
        case ev.SharedAttachmentChanged():
            held, found = book.held[event.runtime_id], event.attachment
            if found.phase is AttachmentPhase.DETACHED:
                del held.attachments[found.project]
            else:
                held.attachments[found.project] = replace(found, since_ms=at_ms, seq=seq)
        case ev.SharedContributionChanged():
            held, given = book.held[event.runtime_id], event.contribution
            if given.phase is ContributionPhase.ENDED:
                held.contributions.pop(given.member_id, None)
            else:
                held.contributions[given.member_id] = replace(given, since_ms=at_ms, seq=seq)
        case ev.SubmitPolicySet():
            policies, key = book.held[event.runtime_id].policies, _key(event)
            if event.change is SubmitPolicyChange.ENDED:
                del policies[key]
            else:
                policies[key] = replace(event.policy, seq=seq)
        case ev.SharedCredentialUsed():
            pass
        case uev.SharedUseTold():
            take_use(book, event, seq=seq)
        case uev.SharedSettlementSet():
            take_settlement(book.held[event.runtime_id], event, at_ms=at_ms, seq=seq)
        case _:
            assert_never(event)


def put_runtime(book: SharedBook, held: HeldRuntime) -> None:
    """One more runtime, found by all that it is looked for by."""
    r = held.runtime
    book.held[r.id] = held
    book.names[r.tenant, r.name] = r.id
    book.by_instance[r.instance_id] = r.id


def _end(book: SharedBook, event: ev.SharedRuntimeEnded, *, seq: int) -> None:
    held = book.held[event.runtime_id]
    r = held.runtime
    if not event.gone:
        held.runtime = replace(r, is_leaving=True, seq=seq)
        return
    del book.held[r.id], book.names[r.tenant, r.name], book.by_instance[r.instance_id]


def _key(event: ev.SubmitPolicySet) -> tuple[str, str]:
    return event.policy.project, event.policy.name
