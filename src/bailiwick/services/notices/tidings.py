"""What a record means to people, and to whom: two pure functions.

Rules:

- What is somebody's own (a job, a lease) is told to him alone. What is a place's (a budget, a node,
  a finding) is told to who looks after it: at a tenant or project, who has the key and manages
  members there; of the fleet, who has the key over the fleet.
- Only people are told: no service account, node, app, or name of the server's own.
- Nobody is told what he may not read: the key is asked for when it is written down, and again when
  it is sent and when it is read.
- Roles that rest on somebody's groups at a provider are compared at his logins alone. So they count
  for what is sent to him for :data:`VOUCHED_MS` after one, and while people log in there. His
  inbox needs a session.
- A tiding names what happened and where, by names and numbers that have bounds. Notes, command
  lines, environments and who a lease had to make room for stay out.
- A node that is drained for an instant, on its way to its test, is nobody's to service: that is
  told to nobody.
- So many are told of one thing at most, by the order of their names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeAlias

from bailiwick.iam import (
    FLEET,
    NODE_PREFIX,
    Allowed,
    AnyRole,
    Directory,
    Permission,
    Scope,
    check_access,
    is_reserved,
)
from bailiwick.journal.kinds import RecordKind
from bailiwick.store.notices.endings import EndedWork
from bailiwick.store.notices.told import FACT_CHARS_MAX, Facts, Tiding
from bailiwick.vocab.health import EVICTED_BY, NodeTestOutcome
from bailiwick.vocab.notices import KEY_OF, NoticeKind
from bailiwick.vocab.transitions import NodeMode, RevokeState
from bailiwick.vocab.words import BudgetState

RECIPIENTS_MAX: Final = 100
VOUCHED_MS: Final = 7 * 24 * 3_600_000
"""How long a login tells what somebody's groups give him: whoever comes every week is sent all."""
_UNPRINTED: Final = re.compile(r"[^\x20-\x7e]")
_KINDS: Final = (
    RecordKind.LEASE_REVOKED,
    RecordKind.LEASE_RESTORED,
    RecordKind.BUDGET_CHANGED,
    RecordKind.BUDGET_STATE_CHANGED,
    RecordKind.NODE_MODE_CHANGED,
    RecordKind.NODE_HEALTH_CHANGED,
    RecordKind.NODE_TEST_ENDED,
    RecordKind.NODE_DEPARTED,
    RecordKind.NODE_QUARANTINED,
    RecordKind.FINDING_REPORTED,
    RecordKind.ISOLATION_VIOLATED,
)
_MARK: Final = re.compile(f'"kind":"({"|".join(kind.value for kind in _KINDS)})"'.encode())
_MODE: Final = RecordKind.NODE_MODE_CHANGED.value
_UNPASSED: Final = (NodeTestOutcome.FAILED.value, NodeTestOutcome.TIMED_OUT.value)
_ROOMY: Final = (BudgetState.HEALTHY.value, BudgetState.LOW_BALANCE.value)

Roles: TypeAlias = Mapping[Scope, AnyRole]
Line = Mapping[str, Any]
"""A record, as its line spells it."""
Holder = Callable[[int], str | None]
"""Who asked for a lease, if that is known."""


def may_matter(line: bytes) -> bool:
    """Whether a line may be a record that somebody is told of, or one that says what is news.

    Quick, and never wrong about one.
    """
    # After the body, which is not looked through: the kind stands among the last fields.
    return _MARK.search(line, max(0, line.rfind(b'"kind":'))) is not None


def read_line(line: Line, *, journal: str, holder: Holder) -> Tiding | None:
    """What a record means to people, if anything."""
    body = line["body"]
    match line["kind"]:
        case RecordKind.LEASE_REVOKED.value if _is_warning(body):
            facts = _facts(body, "lease_id", "reason", "expires_ms")
            if body.get("preemptor") == EVICTED_BY:
                facts |= _facts(body, "preemptor", "rule")
            return _about_lease(line, facts, journal=journal, holder=holder)
        case RecordKind.LEASE_RESTORED.value:
            facts = _facts(body, "lease_id", "expires_ms") | {"stays": 1}
            return _about_lease(line, facts, journal=journal, holder=holder)
        case RecordKind.BUDGET_STATE_CHANGED.value if _is_worse(body):
            facts = _facts(body, "spent_micros", "limit_micros")
            facts |= {"state": body["after"]}
            return _tiding(line, NoticeKind.BUDGET_REACHED, facts=facts, journal=journal)
        case RecordKind.NODE_MODE_CHANGED.value if body["after"] == NodeMode.DRAINED.value:
            facts = _facts(body, "node")
            return _tiding(line, NoticeKind.NODE_DRAINED, facts=facts, journal=journal)
        case RecordKind.NODE_HEALTH_CHANGED.value if "action" in body:
            facts = _facts(body, "node", "action") | {"findings": _gravest(body["findings"])}
            return _tiding(line, NoticeKind.NODE_DRAINED, facts=facts, journal=journal)
        case RecordKind.NODE_TEST_ENDED.value if body["outcome"] in _UNPASSED:
            facts = _facts(body, "node") | {"action": f"test_{body['outcome']}"}
            facts |= {"findings": _gravest(body["findings"])}
            return _tiding(line, NoticeKind.NODE_DRAINED, facts=facts, journal=journal)
        case RecordKind.NODE_DEPARTED.value:
            facts = _facts(body, "node") | {"cause": "departed"}
            facts |= {"leases": len(body.get("lease_ids", ())) + body.get("leases_left", 0)}
            return _tiding(line, NoticeKind.NODE_LOST, facts=facts, journal=journal)
        case RecordKind.NODE_QUARANTINED.value:
            facts = _facts(body, "node") | {"cause": "quarantined"}
            return _tiding(line, NoticeKind.NODE_LOST, facts=facts, journal=journal)
        case RecordKind.FINDING_REPORTED.value:
            facts = _facts(body, "finding", "severity", "subject")
            return _tiding(line, NoticeKind.FINDING_REPORTED, facts=facts, journal=journal)
        case RecordKind.ISOLATION_VIOLATED.value:
            facts = _facts(body, "lease_id", "rule")
            return _tiding(line, NoticeKind.ISOLATION_VIOLATED, facts=facts, journal=journal)
        case _:
            return None


def passes_through(line: Line, after: Line | None) -> bool:
    """Whether a node is drained only on its way to be tested, as the very next record says."""
    if after is None or (line["kind"], after["kind"]) != (_MODE, _MODE):
        return False
    here, there = line["body"], after["body"]
    same = (here["node"], line["at_ms"]) == (there["node"], after["at_ms"])
    steps = here["after"], there["before"], there["after"]
    return same and steps == (NodeMode.DRAINED, NodeMode.DRAINED, NodeMode.RETURNING)


def read_ended(work: EndedWork, *, journal: str, now_ms: int) -> Tiding:
    """What the end of a job, an array or a graph means: its submitter wants to know."""
    is_graph, at_ms = work.kind is NoticeKind.GRAPH_ENDED, work.ended_ms or now_ms
    facts: dict[str, str | int] = {"graph_id" if is_graph else "job_id": work.number}
    facts["phase"] = work.phase
    if work.name is not None:
        facts["name"] = _clean(work.name)
    if work.exit_code is not None:
        facts["exit_code"] = work.exit_code
    if work.tasks is not None:
        facts |= {"tasks": work.tasks, "succeeded": work.succeeded}
    # A graph that was tried again is over once more, at another time.
    own = f"graph_{journal}_{work.number}_{at_ms}" if is_graph else f"job_{journal}_{work.number}"
    return Tiding(
        message=own,
        kind=work.kind,
        at_ms=at_ms,
        scope=Scope(work.tenant, work.project),
        facts=facts,
        owner=work.submitter,
    )


def recipients(tiding: Tiding, directory: Directory) -> tuple[str, ...]:
    """Who is told, by name; so many at most."""
    if tiding.owner is not None:
        is_told = may_know(tiding, tiding.owner, directory=directory)
        return (tiding.owner,) if is_told else ()
    names = (name for name in directory.roles if _looks_after(tiding.scope, name, directory))
    return tuple(sorted(n for n in names if may_know(tiding, n, directory=directory)))[
        :RECIPIENTS_MAX
    ]


def may_know(
    tiding: Tiding, name: str, *, directory: Directory, roles: Roles | None = None
) -> bool:
    """Whether somebody is a person who may read what this is about, now.

    By all of his roles, or by these alone.
    """
    held = directory.roles.get(name, {}) if roles is None else roles
    if not held or _is_program(name, directory):
        return False
    key = KEY_OF.get(tiding.kind)
    if key is None:  # about himself alone
        return True
    return isinstance(check_access(held, key, scope=tiding.scope), Allowed)


def vouched_roles(name: str, directory: Directory, *, providers: Collection[str]) -> Roles:
    """Somebody's roles, without what only groups at a provider gave that is none of these."""
    given = directory.given.get(name, {})
    roles = directory.roles.get(name, {})
    return {at: role for at, role in roles.items() if given.get(at, "") in ("", *providers)}


def _is_program(name: str, directory: Directory) -> bool:
    return name in directory.accounts or name.startswith(NODE_PREFIX) or is_reserved(name)


def _looks_after(scope: Scope, name: str, directory: Directory) -> bool:
    """Whether it is for somebody to act on what happens there."""
    roles = directory.roles[name]
    if scope == FLEET:
        return FLEET in roles
    held = (roles.get(each) for each in scope.around if each != FLEET)
    return any(role is not None and Permission.MEMBER_MANAGE in role.permissions for role in held)


def _is_warning(body: Line) -> bool:
    """Whether somebody is told until when he has; who gives a lease back knows that he does."""
    return body["after"] == RevokeState.GRACE_RUNNING.value and not body.get("released")


def _is_worse(body: Line) -> bool:
    """Whether less is left than was told last; who was given room knows that he was."""
    before, after = body["before"], body["after"]
    if before == after and "crossed_before" in body:
        return bool(body["crossed"] > body["crossed_before"])
    return after != BudgetState.HEALTHY.value and before in _ROOMY


def _about_lease(line: Line, facts: Facts, *, journal: str, holder: Holder) -> Tiding | None:
    """That a lease has to go, or may stay after all: its holder's to know, if there is one."""
    owner, kind = holder(line["body"]["lease_id"]), NoticeKind.PREEMPTION_ANNOUNCED
    return None if owner is None else _tiding(line, kind, facts=facts, journal=journal, owner=owner)


def _tiding(
    line: Line,
    kind: NoticeKind,
    *,
    facts: Facts,
    journal: str,
    owner: str | None = None,
) -> Tiding:
    return Tiding(
        message=f"evt_{journal}_{line['seq']}",
        kind=kind,
        at_ms=line["at_ms"],
        scope=Scope(line.get("tenant"), line.get("project")),
        facts=facts,
        owner=owner,
    )


def _facts(body: Line, *names: str) -> dict[str, str | int]:
    found = {name: body[name] for name in names if name in body}
    return {name: _clean(v) if isinstance(v, str) else v for name, v in found.items()}


def _gravest(findings: Sequence[str]) -> str:
    """What was found, the gravest first, as far as there is room; each as its record spells it."""
    told = ""
    for each in findings:
        if len(told) + len(each) >= FACT_CHARS_MAX:
            break
        told += f" {each}" if told else each
    return told


def _clean(text: str) -> str:
    """A name as it may stand in a message: one line, of plain letters, and short."""
    return _UNPRINTED.sub("?", text)[:FACT_CHARS_MAX]
