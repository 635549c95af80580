"""``bailiwick tenant``: who pays, and the outer boundary of everything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.ask import Ask, noun, path_word, verb
from bailiwick.cli.shared.completions import complete_tenants
from bailiwick.cli.shared.output import Columns
from bailiwick.cli.shared.scopes import (
    DisplayNameOption,
    OpenOption,
    RevisionOption,
    change_body,
    draw_scope,
    state_of,
)

if TYPE_CHECKING:
    from bailiwick.wire.people import Tenant

app = noun("Tenants: who pays, and the outer boundary of everything.")

_TenantName = Annotated[
    str, typer.Argument(metavar="TENANT", help="Its name.", autocompletion=complete_tenants)
]

_TENANTS: Columns[Tenant] = Columns(
    ("tenant", "name for people*", "state", "revision"),
    lambda t: (t.tenant, t.display_name or "-", state_of(t.is_open), str(t.revision)),
    lambda t: t.tenant,
    numbers=("revision",),
    empty="no tenant that you may see",
)


@verb(app, "list", lists=True)
def list_tenants(ask: Ask) -> None:
    """The tenants that you may see.

    Example: bailiwick tenant list
    """
    from bailiwick.wire.actions.tenants import TENANT_LIST

    ask.list(TENANT_LIST, columns=_TENANTS)


@verb(app, "show")
def show_tenant(ask: Ask, tenant: _TenantName) -> None:
    """One tenant.

    Example: bailiwick tenant show lab
    """
    from bailiwick.wire.actions.tenants import TENANT_READ

    found = ask.client.send(TENANT_READ, path={"tenant": path_word("TENANT", tenant)})
    ask.printer.thing(
        found, name=found.tenant, draw=lambda: draw_scope(found, "tenant", name=found.tenant)
    )


@verb(app, "create", changes=True)
def create_tenant(ask: Ask, tenant: _TenantName, *, display_name: DisplayNameOption = None) -> None:
    """Make a tenant.

    Example: bailiwick tenant create lab --display-name "The lab"
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.tenants import TENANT_CREATE
    from bailiwick.wire.people import NewTenant

    body = make_body(NewTenant, tenant=path_word("TENANT", tenant), display_name=display_name or "")
    ask.change(TENANT_CREATE, body=body, told=f"tenant {tenant} is there")


@verb(app, "change", changes=True)
def change_tenant(
    ask: Ask,
    tenant: _TenantName,
    *,
    display_name: DisplayNameOption = None,
    is_open: OpenOption = None,
    if_revision: RevisionOption = None,
) -> None:
    """Rename a tenant for people, or close or open it.

    Example: bailiwick tenant change lab --close --if-revision 3
    """
    from bailiwick.wire.actions.tenants import TENANT_CHANGE

    if is_open is False:
        ask.confirm(f"Close {tenant}? It takes no new requests until it is opened.")
    ask.change(
        TENANT_CHANGE,
        path={"tenant": path_word("TENANT", tenant)},
        body=change_body(display_name, is_open),
        etag=None if if_revision is None else f'"{if_revision}"',
        told=f"tenant {tenant} is changed",
    )
