"""Instances of apps: asked for by a project, changed, deleted, and reported on by their operator.

Rules:

- An instance is a project's. One of another project is not there: same answer, same words.
- A service account acts on the instances of its own project alone, whatever roles it has; one of a
  tenant or of the fleet may look where its roles let it.
- An operator says what revision his report is about: what was wanted since is not reported on.
- To delete by force is a person's decision, for the fleet, with a reason, after the deadline.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from bailiwick.apps.status import InstanceStatus
from bailiwick.iam import FLEET, PrincipalKind, Scope
from bailiwick.kernel import Command, Done
from bailiwick.kernel.apps.instance_commands import ForceDeletion, RequestInstance
from bailiwick.kernel.apps.instances import AppInstance, HeldInstance
from bailiwick.kernel.people.commands import BreakGlass
from bailiwick.runtime.replica import View
from bailiwick.services.apps.catalog import require_human
from bailiwick.services.apps.hosts import require_hosts
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.pages import Rows, cut
from bailiwick.vocab.apps import InstancePhase


class InstancePlace(NamedTuple):
    """One instance, as a path names it."""

    tenant: str
    project: str
    instance_id: int

    @property
    def scope(self) -> Scope:
        """Whose it is said to be."""
        return Scope(self.tenant, self.project)

    def find(self, view: View) -> HeldInstance:
        """What is there; that of another project is not."""
        book = view.state.apps.instances
        return book.get(self.tenant, self.project, instance_id=self.instance_id)

    def is_shared(self, view: View) -> bool:
        """Whether a shared runtime is before it."""
        return self.instance_id in view.state.apps.shared.by_instance


class InstanceFilter(NamedTuple):
    """Which instances are asked for."""

    name: str | None = None
    app: str | None = None
    phases: tuple[InstancePhase, ...] | None = None

    def takes(self, found: AppInstance) -> bool:
        """Whether it is one of them."""
        if self.name is not None and found.name != self.name:
            return False
        if self.app is not None and found.app != self.app:
            return False
        return self.phases is None or found.phase in self.phases


class InstanceRow(NamedTuple):
    """An instance, and how it stands."""

    instance: AppInstance
    status: InstanceStatus


class Created(NamedTuple):
    """What was asked for took effect, and under which number; in a dry run under none."""

    done: Done
    number: int | None


async def require_home(caller: Caller, scope: Scope, *, changes: bool) -> None:
    """Go on only with the key there; a service account, only in its own project."""
    caller.require(scope)
    who = caller.principal
    if who.kind is not PrincipalKind.SERVICE_ACCOUNT:
        return

    def look(view: View) -> Scope | None:
        account = view.state.directory.accounts.get(who.name)
        return None if account is None else account.scope

    home = await caller.lookup(look)
    if home is None or (home != scope if changes else not home.covers(scope)):
        message = "a service account acts on the instances of its own project alone"
        raise caller.refuse(message, reason="foreign_project")


async def require_instance(caller: Caller, place: InstancePlace, *, changes: bool) -> None:
    """The same, for one instance: the operator of a shared runtime has the one behind it."""
    if caller.principal.runtime_id is not None:
        number = place.instance_id

        def find(view: View) -> int | None:
            return view.state.apps.shared.by_instance.get(number)

        caller.for_runtime(await caller.locate(find))
    await require_home(caller, place.scope, changes=changes)


async def page_instances(
    caller: Caller, scope: Scope, *, which: InstanceFilter, after: int, limit: int
) -> Rows[InstanceRow]:
    """The instances of a project that a filter names, in the order in which they were made."""
    await require_home(caller, scope, changes=False)
    now_ms = caller.clock.now_ms()

    def read(view: View) -> Rows[InstanceRow]:
        assert scope.tenant is not None
        book = view.state.apps
        found: Iterable[HeldInstance] = (
            each
            for each in book.instances.of(scope.tenant, scope.project)
            if each.instance.id > after and which.takes(each.instance)
        )
        rows = [InstanceRow(e.instance, book.status(e, now_ms)) for e in islice(found, limit + 1)]
        return cut(rows, limit, key=lambda row: row.instance.id)

    return await caller.read(read)


async def read_instance(caller: Caller, place: InstancePlace) -> InstanceRow:
    """One instance."""
    await require_instance(caller, place, changes=False)
    now_ms = caller.clock.now_ms()

    def read(view: View) -> InstanceRow:
        held = place.find(view)
        return InstanceRow(held.instance, view.state.apps.status(held, now_ms))

    return await caller.lookup(read)


async def create(caller: Caller, scope: Scope, *, wish: Deferred[RequestInstance]) -> Created:
    """Have a project run an app."""
    await require_home(caller, scope, changes=True)
    command = wish()
    await require_hosts(caller, command)
    done = await caller.change(command)
    if caller.dry_run:
        return Created(done, None)

    def look(view: View) -> int | None:
        book, name = view.state.apps.instances, command.name
        found = book.named(command.tenant, command.project, name=name)
        return None if found is None else found.id

    return Created(done, await caller.lookup(look))


async def act(caller: Caller, place: InstancePlace, *, command: Deferred[Command]) -> Done:
    """Change what is wanted of an instance, report on it, or delete it."""
    await require_instance(caller, place, changes=True)
    wanted = command()
    await require_hosts(caller, wanted)
    return await caller.change(wanted)


async def force_delete(caller: Caller, place: InstancePlace, *, reason: str) -> Done:
    """End a deletion that is overdue, whatever is left; the reason is recorded first."""
    caller.require(FLEET)
    require_human(caller)
    command = ForceDeletion(
        tenant=place.tenant,
        project=place.project,
        instance_id=place.instance_id,
        reason=reason,
    )
    if await caller.lookup(caller.first_answer) is not None:
        return await caller.change(command)
    await caller.rehearse(command)  # what would be refused breaks no glass
    if caller.dry_run:
        return Done(None)
    told = ("instance.force_delete", f"{place.scope}/{place.instance_id}", reason, place.tenant)
    key, caller.key = caller.key, None  # the key is for what it is about
    await caller.change(BreakGlass(*told, caller.clock.now_ms()))
    caller.key = key
    return await caller.change(command)
