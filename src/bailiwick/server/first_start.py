"""The first minutes of a new server: somebody who may do everything, and somewhere to work.

Rules:

- An administrator, a tenant and a project are made only if nobody administers the fleet yet: what
  an operator has changed or removed since never comes back by itself.
- The login is a code that works once and for a short time. It is printed and kept nowhere.
- Everything is done by commands like any other, so the journal tells it.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from bailiwick.iam import FLEET, PrincipalKind
from bailiwick.iam import Role as IamRole
from bailiwick.kernel import Command, Envelope
from bailiwick.kernel.people.commands import CreateProject, CreateTenant, SetMember
from bailiwick.ports import Clock
from bailiwick.reconcile.this_node import ACTOR
from bailiwick.runtime.replica import View
from bailiwick.runtime.runner import Runner
from bailiwick.services.authority import Authority, Terms

CORRELATION = "first-start"
ADMIN, TENANT, PROJECT = "admin", "main", "default"
LOGIN_S = 3600


@dataclass(frozen=True, slots=True)
class Furnishing:
    """What a start found and did: who administers, and whether this made him."""

    admin: str
    is_new: bool


def furnish(runner: Runner) -> Furnishing:
    """Make sure that somebody administers the fleet."""
    found = runner.read(_admins)
    if found:
        return Furnishing(ADMIN if ADMIN in found else min(found), is_new=False)
    commands: tuple[Command, ...] = (
        SetMember(ADMIN, IamRole.FLEET_ADMIN),
        CreateTenant(TENANT, "Main"),
        CreateProject(TENANT, PROJECT, "Default"),
    )
    known = runner.read(lambda view: TENANT in view.state.directory.tenants)
    for command in commands[:1] if known else commands:
        runner.execute(Envelope(command, ACTOR, CORRELATION))
    return Furnishing(ADMIN, is_new=True)


def make_login(runner: Runner, authority: Authority, *, admin: str, clock: Clock) -> str:
    """A code that logs the administrator in, once, within the hour."""
    minted = authority.mint(
        admin,
        PrincipalKind.HUMAN,
        token_id=secrets.token_hex(4),
        now_ms=clock.now_ms(),
        ttl_s=LOGIN_S,
        terms=Terms(single_use=True),
    )
    runner.execute(Envelope(minted.command, ACTOR, CORRELATION))
    return minted.token


def _admins(view: View) -> list[str]:
    roles = view.state.directory.roles
    return [who for who, held in roles.items() if held.get(FLEET) is IamRole.FLEET_ADMIN]
