"""The server itself: how this replica stands, and the settings by which the scheduler works.

Rules:

- How a replica stands is answered by the one that was asked, whichever that is. The digest is made
  only on request: it reads the whole state.
- Settings are replaced as a whole; they count from then on, and judge nothing again.
"""

from __future__ import annotations

from dataclasses import dataclass

from bailiwick.iam import FLEET
from bailiwick.kernel import ChangeSettings, Done, Settings, digest_of
from bailiwick.ports import Leader
from bailiwick.runtime.replica import Role, View
from bailiwick.services.caller import Caller, Deferred


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaStanding:
    """One replica: what it does, who leads, and how much its state holds."""

    name: str
    address: str
    role: Role
    leader: Leader | None
    epoch: int
    size: int
    age_ms: int
    clock_ms: int
    nodes: int
    leases: int
    waiting: int
    digest: str | None


async def read_replica(caller: Caller, *, digest: bool) -> ReplicaStanding:
    """How this replica stands."""
    caller.require(FLEET)
    replica = caller.gateway.runner.replica

    def standing(view: View) -> ReplicaStanding:
        state = view.state
        return ReplicaStanding(
            name=replica.name,
            address=replica.address,
            role=view.role,
            leader=replica.leader,
            epoch=state.epoch,
            size=state.size,
            age_ms=max(0, view.age_ms),
            clock_ms=state.clock_ms,
            nodes=len(state.ledger.entries),
            leases=len(state.leases),
            waiting=len(state.line.entries),
            digest=digest_of(state) if digest else None,
        )

    return await caller.read(standing)


async def read_settings(caller: Caller) -> Settings:
    """How the scheduler works now."""
    caller.require(FLEET)
    return await caller.lookup(lambda view: view.state.settings)


async def set_settings(caller: Caller, settings: Deferred[Settings], *, seen: str | None) -> Done:
    """Replace all settings, if they are still what was ``seen``; they count from now on."""
    caller.require(FLEET)
    return await caller.change(ChangeSettings(settings(), seen))
