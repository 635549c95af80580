"""Isolation: what follows from a policy that is set and a domain that is scrubbed.

Rules:

- A policy replaces the one before as a whole. To set the same again is a record all the same, and
  looks at all that runs once more.
- Who says which version it has seen is refused if another is in force.
- A policy can be held against what runs without being set: who breaks it goes, and nothing keeps
  the like from coming.
- Only what is kept for somebody can be scrubbed; a host with all caches and memory nodes in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from bailiwick.kernel.events import Event
from bailiwick.kernel.isolation import commands as cmd
from bailiwick.kernel.isolation import events as ev
from bailiwick.kernel.isolation.book import is_inside
from bailiwick.kernel.isolation.guard import note_scrub, stand_guard
from bailiwick.kernel.isolation.recovery import enforce, recover_all
from bailiwick.kernel.isolation.residues import recount
from bailiwick.kernel.slice import NOTHING, Apply, Cause
from bailiwick.kernel.state import State
from bailiwick.vocab.errors import Conflict, Stale


def decide(state: State, command: cmd.IsolationCommand, now_ms: int) -> Iterator[Event]:
    """The events that follow from such a command."""
    match command:
        case cmd.SetIsolationPolicy():
            return _set_policy(state, command, now_ms=now_ms)
        case cmd.EnforceIsolation():
            return enforce(state, command.text, now_ms=now_ms)
        case cmd.ScrubDomain():
            return _scrub(state, command, now_ms=now_ms)
        case _:
            assert_never(command)


def _set_policy(state: State, command: cmd.SetIsolationPolicy, *, now_ms: int) -> Iterator[Event]:
    current, seen = state.isolation.version, command.if_version
    if seen is not None and seen != current:
        raise Stale("isolation policy", "fleet", held=str(seen), current=str(current))
    yield ev.IsolationPolicySet(current + 1, command.text)
    yield from recover_all(state, now_ms=now_ms)


def _scrub(state: State, command: cmd.ScrubDomain, *, now_ms: int) -> Iterator[Event]:
    kind, domain = command.kind, command.domain
    kept = state.isolation.residues_at(now_ms)
    if not any(is_inside((each.kind, each.domain), (kind, domain)) for each in kept):
        hint = "isolation show lists what is kept"
        raise Conflict(kind.value, domain, "is kept for nobody", hint=hint)
    yield ev.DomainScrubbed(kind, domain)


# -- applying --------------------------------------------------------------------------------


def _set(state: State, event: ev.IsolationPolicySet, at_ms: int) -> None:
    state.isolation.set_policy(event.version, event.text, policy=event.policy, at_ms=at_ms)
    state.terms.clear()  # who is leaving does not come back: see .recovery
    recount(state)
    stand_guard(state)


def _scrubbed(state: State, event: ev.DomainScrubbed, at_ms: int) -> None:
    state.isolation.forget(at_ms)
    state.isolation.scrub(event.domain_kind, event.domain)
    note_scrub(state)


APPLY: Mapping[type, Apply] = {
    ev.IsolationPolicySet: _set,
    ev.DomainScrubbed: _scrubbed,
    ev.IsolationEnforced: NOTHING,
    ev.IsolationViolated: NOTHING,
}

CAUSES: Mapping[type, Cause] = {
    ev.IsolationPolicySet: lambda event: cmd.SetIsolationPolicy(event.text),
    ev.IsolationEnforced: lambda event: cmd.EnforceIsolation(event.text),
    ev.DomainScrubbed: lambda event: cmd.ScrubDomain(event.domain_kind, event.domain),
}
