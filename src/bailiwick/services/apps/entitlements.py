"""Who may use which app how: lines that only narrow, set by people, and what they say together.

Rules:

- A line is set by a person who has the key at its scope. A service account is refused, and that is
  sealed: no program gives itself an app.
- What counts at a scope is told to whoever may read the catalog there, with the source of every
  line; lines above it are told because they bind.
"""

from __future__ import annotations

from typing import NamedTuple

from bailiwick.apps.overlays import EffectivePolicy, Overlay
from bailiwick.iam import FLEET, Scope
from bailiwick.kernel import Done
from bailiwick.kernel.apps.book import Entitlement
from bailiwick.kernel.apps.commands import SetEntitlement
from bailiwick.runtime.replica import View
from bailiwick.services.apps.catalog import require_human
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.pages import Rows, page_of


class EntitlementRow(NamedTuple):
    """A line about an app."""

    app: str
    scope: Scope
    line: Entitlement


class PolicyRow(NamedTuple):
    """What counts for an app at a scope."""

    app: str
    scope: Scope
    policy: EffectivePolicy
    revision: int
    host_granted: tuple[str, ...]


async def page_entitlements(
    caller: Caller, *, after: str | None, limit: int
) -> Rows[EntitlementRow]:
    """The lines at scopes that the caller may see."""
    caller.require_within(FLEET)

    def read(view: View) -> Rows[EntitlementRow]:
        rows = (
            EntitlementRow(app, scope, line)
            for (app, scope), line in view.state.apps.entitlements.items()
            if caller.may(scope)
        )
        return page_of(rows, after=after, limit=limit, key=entitlement_key)

    return await caller.read(read)


def entitlement_key(row: EntitlementRow) -> str:
    """What lines are listed by, and their pages turned."""
    return f"{row.app}@{'/'.join(filter(None, row.scope))}"


async def set_entitlement(
    caller: Caller,
    app: str,
    *,
    scope: Scope,
    is_enabled: bool,
    overlay: Deferred[Overlay],
    revision: int | None,
) -> Done:
    """Replace the line about an app at a scope."""
    caller.require(scope)
    require_human(caller)
    told = (overlay(), scope.tenant, scope.project, revision)
    return await caller.change(SetEntitlement(app, is_enabled, *told))


async def explain(caller: Caller, app: str, *, scope: Scope) -> PolicyRow:
    """What the lines of the fleet, the tenant and the project say together."""
    caller.require(scope)

    def read(view: View) -> PolicyRow:
        book = view.state.apps
        seen = book.versions_at(app, scope)
        own = book.entitlements.get((app, scope))
        granted = (each.version for each in seen.values() if each.host_granted)
        revision = 0 if own is None else own.revision
        return PolicyRow(app, scope, book.policy(app, scope), revision, tuple(granted))

    return await caller.lookup(read)
