"""What a person's groups at a provider give him: applied at his login, and taken back at a later.

Rules:

- A login tells all that the groups give now. What they gave before and give no more is taken away.
- What people gave by hand is not touched, nor is it replaced: there the hand's role stands.
- A role at a scope that is closed or not there, or that nobody knows, gives nothing; the others do.
"""

from __future__ import annotations

from collections.abc import Iterator

from bailiwick.iam import AnyRole, CustomRole, Directory, Role, Scope
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.people import commands as cmd
from bailiwick.kernel.people import events as ev
from bailiwick.vocab.errors import BailiwickError, Conflict


def decide(directory: Directory, command: cmd.ApplyGroups) -> Iterator[ev.MemberChanged]:
    """What changes of a person's roles."""
    held = directory.roles.get(command.member, {})
    given = directory.given.get(command.member, {})
    wanted = {
        scope: role
        for scope, name in command.wanted.items()
        if (role := _role_at(directory, name, scope)) is not None
    }
    changes = []
    for scope in sorted({*wanted, *given}, key=str):
        before, role = held.get(scope), wanted.get(scope)
        is_hand = before is not None and given.get(scope) != command.provider
        if is_hand or before == role:
            continue
        said = (_told(role), _told(before))
        changes.append(
            ev.MemberChanged(Owner(*scope), command.member, *said, provider=command.provider)
        )
    if not changes:
        raise Conflict("member", command.member, "has all that its groups give, and no more")
    yield from changes


def put_origin(directory: Directory, event: ev.MemberChanged) -> None:
    """Remember whose word a role rests on, after it was put."""
    scope = Scope(*event.owner)
    given = directory.given.setdefault(event.member, {})
    if event.provider is None or event.role is None:
        given.pop(scope, None)
    else:
        given[scope] = event.provider
    if not given:
        del directory.given[event.member]


def _role_at(directory: Directory, name: str, scope: Scope) -> AnyRole | None:
    try:
        directory.check_scope(scope)
        role = directory.role_at(name, scope)
    except BailiwickError:
        return None
    return role if role.level is scope.level else None


def _told(role: AnyRole | None) -> Role | str | None:
    return role.name if isinstance(role, CustomRole) else role
