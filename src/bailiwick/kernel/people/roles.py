"""Roles of one's own: what follows from putting one together, changing it and deleting it.

Rules:

- A name is taken once at a place (``bailiwick.iam.roles``): of the fleet's roles by no tenant, of
  a tenant's not by the fleet.
- The level of a role stays. Who has it has what it holds now, from the record of the change on.
- One that somebody has is not deleted.
"""

from __future__ import annotations

from collections.abc import Iterator

from bailiwick.iam import ROLES_MAX, CustomRole, Directory, Permission, Scope
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.people import commands as cmd
from bailiwick.kernel.people import events as ev
from bailiwick.vocab.errors import Conflict, LimitReached, NotFound, Stale


def decide(directory: Directory, command: cmd.SetRole | cmd.DeleteRole) -> Iterator[ev.RoleSet]:
    """What becomes of a role."""
    home, name = Scope(command.tenant), command.role
    known = directory.custom_roles.get((home, name))
    current = 0 if known is None else known.revision
    if command.revision is not None and command.revision != current:
        raise Stale("role", name, held=command.revision, current=current)
    if isinstance(command, cmd.DeleteRole):
        if known is None:
            raise NotFound("role", name)
        count = sum(known in held.values() for held in directory.roles.values())
        if count:
            raise Conflict("role", name, f"is in use: {count} have it")
        yield ev.RoleSet(Owner(*home), name, known.level, current + 1, (), known.keys)
        return
    directory.check_scope(home)
    keys = tuple(key for key in Permission if key in command.keys)
    if known is None:
        _check_name(directory, home, name=name)
    elif known.level is not command.level:
        raise Conflict("role", name, f"is one of the {known.level}, for good")
    elif known.keys == keys:
        raise Conflict("role", name, "is like that already")
    before = () if known is None else known.keys
    yield ev.RoleSet(Owner(*home), name, command.level, current + 1, keys, before)


def _check_name(directory: Directory, home: Scope, *, name: str) -> None:
    fleet = Scope()
    others = [each for each, known in directory.custom_roles if known == name]
    if fleet in others or (home == fleet and others):
        raise Conflict("role", name, "is taken")
    if sum(each == home for each, _ in directory.custom_roles) >= ROLES_MAX:
        raise LimitReached(f"roles of {home}", ROLES_MAX)


def put_role(directory: Directory, event: ev.RoleSet) -> None:
    """The directory after one more record; whoever has the role has what it holds now."""
    home = Scope(*event.owner)
    known = directory.custom_roles.pop((home, event.role), None)
    if not event.keys:
        return
    role = CustomRole(event.role, home, event.level, frozenset(event.keys), event.revision)
    directory.custom_roles[home, event.role] = role
    if known is None:
        return
    for held in directory.roles.values():
        for scope in [at for at, each in held.items() if each == known]:
            held[scope] = role
