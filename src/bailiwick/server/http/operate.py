"""Handlers for those who run the fleet: nodes' own reports, leases' ends, settings, broken glass.

Rules:

- A principal of the kind ``node`` is named ``node:NAME`` and reports for the node ``NAME`` alone.
  Anybody else with the key to report may do so for every node.
- A heartbeat is kept in memory, by the leader; nothing is recorded until a node falls silent.
- Break-glass gives nobody what his roles do not: it hands out, for minutes, a token that carries
  all of them to somebody whose own token is narrowed, after the reason was recorded. No other
  endpoint knows of it, and no boundary is open to it that is closed to its holder.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import Response

from bailiwick.fleet.node import EXECUTOR_LABEL, HEARTBEAT_LABEL
from bailiwick.iam import FLEET, NODE_PREFIX, Permission, PrincipalKind, Scope
from bailiwick.kernel import ChangeSettings, ClearFence, Evict, RegisterNode, ReportTeardown
from bailiwick.kernel import Settings as KernelSettings
from bailiwick.kernel.fleet.events import SettingsChanged
from bailiwick.kernel.fleet.spelling import inventory_body
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.people.commands import BreakGlass
from bailiwick.kernel.precondition import settings_digest
from bailiwick.server.http.asked import Asked, Changing, Here
from bailiwick.server.http.fleet import registration
from bailiwick.server.http.params import IfMatchDigest, PathName, PathNumber, digest_in
from bailiwick.server.http.tokens import spell_issued
from bailiwick.server.problems import hidden
from bailiwick.services.authority import Terms
from bailiwick.services.nonces import Nonce
from bailiwick.services.replica import Role, View
from bailiwick.vocab.errors import Conflict, InvalidValue, InvariantBroken, NotLeader, Unavailable
from bailiwick.vocab.words import PreemptionReason
from bailiwick.wire import fleet as wire
from bailiwick.wire import people
from bailiwick.wire.answers import Done
from bailiwick.wire.settings import Settings

REPORTED = "agent"
"""The heartbeat label's value of a node that its own agent reported."""

# -- nodes about themselves ------------------------------------------------------------------


async def beat(asked: Changing, node: PathName) -> wire.Heard:
    """Say that a node is alive; the answer has a nonce when it is time to attest."""
    require_node(asked, node)
    beats, attesting = asked.house.parts.beats, asked.house.parts.attesting
    if beats is None:
        raise Unavailable("heartbeats", "this server does not listen for them")

    def check(view: View) -> Nonce | None:
        view.state.ledger.entry(node)
        if view.role is not Role.LEADING:
            raise NotLeader(None)
        return None if attesting is None or asked.dry_run else attesting.due(view, node)

    due = await asked.look(check)
    if not asked.dry_run:
        beats.beat(node)
    return wire.Heard(
        node=node,
        beat_ms=beats.rule.beat_ms,
        timeout_ms=beats.rule.timeout_ms,
        attest_nonce=None if due is None else due.value.hex(),
    )


async def report_inventory(asked: Changing, node: PathName, *, body: wire.Inventory) -> Done:
    """Say what a machine has; this adds it to the fleet, and said again changes nothing."""
    require_node(asked, node)
    command = registration(node, body)
    if not isinstance(command, RegisterNode):
        raise InvariantBroken(f"a registration is {command}")
    if EXECUTOR_LABEL in command.capacity.labels:  # it would draw jobs to where nobody runs them
        expected = f"none of {EXECUTOR_LABEL}: a server gives that to its own machine"
        raise InvalidValue("labels", command.capacity.labels[EXECUTOR_LABEL], expected)
    labels = {**command.capacity.labels, HEARTBEAT_LABEL: REPORTED}
    command = replace(command, capacity=replace(command.capacity, labels=labels))
    wanted = _lasting(inventory_body(command.capacity))
    if not await _is_known(asked, node, wanted=wanted):
        try:
            return await asked.do(command)
        except Conflict:  # somebody was faster
            if not await _is_known(asked, node, wanted=wanted):
                raise
    return Done(answer="done", seq=None)


async def _is_known(asked: Asked, node: str, *, wanted: dict[str, Any]) -> bool:
    def read(view: View) -> dict[str, Any] | None:
        ledger = view.state.ledger
        return inventory_body(ledger.entry(node).capacity) if node in ledger else None

    found = await asked.look(read)
    if found is not None and _lasting(found) != wanted:
        hint = "an operator drains it and has it depart; then it can report again"
        raise Conflict("node", node, "is known with another inventory", hint=hint)
    return found is not None


def _lasting(inventory: dict[str, Any]) -> dict[str, Any]:
    """What tells a machine from another; free disk space changes by the hour."""
    kept = {k: v for k, v in inventory["resources"].items() if k != "block_bytes" and v}
    marks = (HEARTBEAT_LABEL + "=", EXECUTOR_LABEL + "=")  # by whom it was registered
    labels = [each for each in inventory.get("labels", ()) if not each.startswith(marks)]
    return inventory | {"resources": kept, "labels": labels}


def require_node(asked: Asked, node: str) -> None:
    """Go on only if the caller may report for this node."""
    asked.require(FLEET)
    who = asked.principal
    if who.kind is PrincipalKind.NODE and who.name != NODE_PREFIX + node:
        raise asked.refuse("a node reports for itself alone", reason="foreign_node")


# -- leases ----------------------------------------------------------------------------------


async def evict_lease(asked: Changing, lease_id: PathNumber, *, body: wire.Eviction) -> Done:
    """End a lease, and its gang, for one of the operator's reasons."""

    def owner(view: View) -> Scope | None:
        state = view.state
        return Scope(*state.owner_of(lease_id)) if lease_id in state.leases else None

    command = Evict((lease_id,), PreemptionReason(body.reason), body.grace_ms)
    await asked.require_at(owner, command)
    return await asked.do(command)


async def clear_fence(asked: Changing, lease_id: PathNumber) -> Done:
    """Say that you looked at what a fenced lease held, and that it is clean."""
    asked.require(FLEET)
    await _node_of(asked, lease_id)
    return await asked.do(ClearFence(lease_id))


async def report_teardown(
    asked: Changing, lease_id: PathNumber, *, body: wire.TeardownReport
) -> Done:
    """Say whether what a lease held is free; only that, or a fence, ends a confirmed teardown."""
    asked.require(FLEET)
    node = await _node_of(asked, lease_id)
    require_node(asked, node)
    return await asked.do(ReportTeardown(lease_id, body.clean))


async def _node_of(asked: Asked, lease_id: int) -> str:
    def read(view: View) -> str | None:
        state = view.state
        return str(state.node_of(lease_id)) if lease_id in state.leases else None

    found = await asked.look(read)
    if found is None:
        raise hidden()
    return found


# -- settings --------------------------------------------------------------------------------


async def read_settings(asked: Here, response: Response) -> Settings:
    """How the scheduler works now; the ``ETag`` is a digest of it."""
    asked.require(FLEET)
    found = await asked.look(lambda view: view.state.settings)
    response.headers["etag"] = f'"{settings_digest(found)}"'
    body = SettingsChanged(found).body()
    return Settings.model_validate(body | {"confirm_teardown": found.confirm_teardown})


async def set_settings(asked: Changing, body: Settings, *, if_match: IfMatchDigest = None) -> Done:
    """Replace all settings; they count from now on and judge nothing again."""
    asked.require(FLEET)
    plain = body.model_dump(mode="json", exclude_none=True)
    settings: KernelSettings = SettingsChanged.read(plain, Owner()).settings
    return await asked.do(ChangeSettings(settings, digest_in(if_match)))


# -- break-glass -----------------------------------------------------------------------------


async def break_glass(
    asked: Changing, body: people.BreakGlass, *, response: Response
) -> people.IssuedToken:
    """A token with all that your roles allow, for a few minutes; your reason is recorded first."""
    asked.require(FLEET)
    house, who = asked.house, asked.principal
    # Not the key itself (minutes stay minutes), nor what would make or free other tokens.
    kept = {Permission.BREAK_GLASS, Permission.TOKEN_ISSUE, Permission.TOKEN_REVOKE}
    minted = house.door.authority.mint(
        who.name,
        who.kind,
        token_id=house.ids(),
        now_ms=house.door.clock.now_ms(),
        ttl_s=body.ttl_s,
        terms=Terms(keys=tuple(sorted(set(Permission) - kept)), within=who.within),
    )
    issue = minted.command
    await asked.do(
        BreakGlass("session", issue.token_id, body.reason, body.tenant, issue.expires_ms)
    )
    asked.key = None  # the record has it; the token is another command
    await asked.do(issue)
    response.headers["cache-control"] = "no-store"
    return spell_issued("" if asked.dry_run else minted.token, issue)
