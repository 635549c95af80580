"""Members that want their node's host: whether any node gives it, told when they are asked for.

Rules:

- Asked at the command that would have such a member begin: a new instance, more of a role, another
  version, one more member or one in another's place. What runs already is not asked about.
- A node counts if its operator gives members the host, and the lines about the app let it pass.
- What the kernel refuses is told first: a version that is not granted the host at all, for one.
"""

from __future__ import annotations

from bailiwick.apps.manifest import Manifest
from bailiwick.apps.places import PlaceRule
from bailiwick.iam import Scope
from bailiwick.kernel import Command
from bailiwick.kernel.apps.guard import facts_of
from bailiwick.kernel.apps.instance_commands import ChangeInstance, ChangeMember, RequestInstance
from bailiwick.kernel.apps.instance_rules import counts_for, held_by, wanted_after
from bailiwick.kernel.state import State
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller
from bailiwick.services.nodes import gives_host
from bailiwick.vocab.apps import MemberAction, Privilege
from bailiwick.vocab.errors import BailiwickError, NotHonoured


async def require_hosts(caller: Caller, command: Command) -> None:
    """Refuse members that nobody would give the host that they ask for."""
    if not isinstance(command, RequestInstance | ChangeInstance | ChangeMember):
        return
    role = await caller.lookup(lambda view: _unhoused(view, command))
    if role is not None:
        await caller.rehearse(command)
        raise NotHonoured("host_privileges", "the fleet", asked=role, step=None)


def _unhoused(view: View, command: RequestInstance | ChangeInstance | ChangeMember) -> str | None:
    """The first role with the host that would have one more member, if no node gives it."""
    state = view.state
    try:
        app, role = _role_of(state, command)
    except BailiwickError:
        return None  # the kernel says it better
    if role is None or _is_offered(state, app, scope=Scope(command.tenant, command.project)):
        return None
    return role


def _role_of(
    state: State, command: RequestInstance | ChangeInstance | ChangeMember
) -> tuple[str, str | None]:
    """The app, and the first role with the host that would have one more member."""
    if isinstance(command, RequestInstance):
        scope = Scope(command.tenant, command.project)
        found = state.apps.versions_at(command.app, scope).get(command.version)
        if found is None:
            return command.app, None
        counts = counts_for(found.manifest, {}, changed=command.counts)
        return command.app, next((r for r in _hosted(found.manifest) if counts[r]), None)
    held = held_by(state, command)
    instance = held.instance
    if isinstance(command, ChangeMember):
        roles = _hosted(state.apps.version(instance.app, instance.version).manifest)
        role = command.role
        if command.action is MemberAction.REPLACE:
            role = held.component(command.component_key).role
        starts = command.action in (MemberAction.ADD, MemberAction.REPLACE)
        return instance.app, role if starts and role in roles else None
    wanted = wanted_after(state, held, command=command)
    present = instance.wanted.counts if wanted.version == instance.version else {}
    roles = _hosted(state.apps.version(instance.app, wanted.version).manifest)
    grown = (role for role in roles if wanted.counts.get(role, 0) > present.get(role, 0))
    return instance.app, next(grown, None)


def _hosted(manifest: Manifest) -> tuple[str, ...]:
    roles = manifest.roles.items()
    return tuple(name for name, role in roles if role.privileges is Privilege.HOST)


def _is_offered(state: State, app: str, *, scope: Scope) -> bool:
    rule = PlaceRule.of(state.apps.policy(app, scope))
    machines = (each.capacity for each in state.ledger.entries.values())
    return any(gives_host(each) and rule.broken_by(facts_of(each)) is None for each in machines)
