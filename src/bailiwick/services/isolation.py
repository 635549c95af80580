"""The isolation policy: read, tried, set, held against what runs, and domains that were cleaned.

Rules:

- It concerns everybody, so every key is asked for over the fleet.
- What a policy would do is found on the state as it is, by the code that does it when it is set.
- What enforcing did is told from its own records: a repeated call is answered with the same.
- A text that is no policy is refused with every mistake in it, to those alone who may set one.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from bailiwick.iam import FLEET
from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.language.text import PolicyProblem, PolicyRefused
from bailiwick.isolation.lint.findings import LintFinding
from bailiwick.isolation.lint.linter import LintWorld, lint_policy
from bailiwick.isolation.placements import Residue
from bailiwick.isolation.policy import Policy
from bailiwick.journal.record import parse_record
from bailiwick.kernel import Done, EnforceIsolation, ScrubDomain, SetIsolationPolicy
from bailiwick.kernel.isolation.events import IsolationEnforced, IsolationViolated
from bailiwick.kernel.isolation.preview import Preview, preview
from bailiwick.kernel.slices import event_of
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller
from bailiwick.vocab.errors import InvariantBroken
from bailiwick.vocab.words import DomainKind

RECORDS_MAX = 2_000
"""Records that are looked at for what enforcing did."""


@dataclass(frozen=True, slots=True)
class PolicyInForce:
    """The policy, since when it counts, and what was left behind under it."""

    version: int
    text: str
    policy: Policy
    set_ms: int
    residues: tuple[Residue, ...]


@dataclass(frozen=True, slots=True)
class Enforcement:
    """How many violations there were, how many leases go for them, and the first of them."""

    seq: int | None
    """Of the record; none in a dry run, or where nobody had to go."""
    violations: int = 0
    leases: int = 0
    told: tuple[IsolationViolated, ...] = ()


async def read_policy(caller: Caller) -> PolicyInForce:
    """What is forbidden now."""
    caller.require(FLEET)

    def read(view: View) -> PolicyInForce:
        book, now_ms = view.state.isolation, max(view.now_ms, view.state.clock_ms)
        told = (book.version, book.text, book.policy, book.set_ms)
        return PolicyInForce(*told, book.residues_at(now_ms))

    return await caller.read(read)


async def set_policy(caller: Caller, text: str, *, if_version: int | None) -> Done:
    """Replace the whole policy; who may not stay under it has to go."""
    caller.require(FLEET)
    return await caller.change(SetIsolationPolicy(text, if_version))


async def preview_policy(caller: Caller, text: str) -> tuple[Policy, Preview]:
    """The policy that a text says, and what it would do if it were set now."""
    caller.require(FLEET)
    policy = parse_policy(text)
    found = await caller.read(lambda view: preview(view.state, policy, now_ms=view.now_ms))
    return policy, found


async def lint(caller: Caller, text: str) -> tuple[PolicyProblem, ...] | list[LintFinding]:
    """Every mistake of a text with its place; or, if there is none, what is to know about it."""
    caller.require(FLEET)

    def world(view: View) -> LintWorld:
        return LintWorld(tenants=frozenset(view.state.directory.tenants), now_ms=view.now_ms)

    # Comparing rules takes a while, for which other requests need not wait.
    return await asyncio.to_thread(_lint, text, await caller.read(world))


def _lint(text: str, world: LintWorld) -> tuple[PolicyProblem, ...] | list[LintFinding]:
    try:
        policy = parse_policy(text, tenants=sorted(world.tenants or ()))
    except PolicyRefused as refused:
        return refused.problems
    return lint_policy(policy, world)


async def enforce(caller: Caller, text: str) -> Enforcement:
    """Evict whoever may not be where it is by this policy; the one in force stays in force."""
    caller.require(FLEET)
    command = EnforceIsolation(text)
    if caller.dry_run:
        first = await caller.rehearse(command)
        if not isinstance(first, IsolationEnforced):
            return Enforcement(None)
        return Enforcement(None, first.violations, first.leases)
    done = await caller.change(command)
    if done.seq is None:
        return Enforcement(None)
    lines = await caller.records(done.seq, RECORDS_MAX)
    head, *behind = (event_of(parse_record(line.rstrip(b"\n"))) for line in lines)
    if not isinstance(head, IsolationEnforced):
        raise InvariantBroken(f"record {done.seq} is not what enforcing did")
    told = [event for event in behind if isinstance(event, IsolationViolated)]
    return Enforcement(done.seq, head.violations, head.leases, tuple(told[: head.violations]))


async def scrub(caller: Caller, kind: DomainKind, *, domain: str) -> Done:
    """Say that nothing of those who left is in the domain any more."""
    caller.require(FLEET)
    return await caller.change(ScrubDomain(kind, domain))
