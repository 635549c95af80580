"""``bailiwick project``: the parts of a tenant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.ask import Ask, noun, path_word, verb
from bailiwick.cli.shared.completions import complete_projects
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
    from bailiwick.wire.people import Project

app = noun("Projects: the parts of a tenant.")
_ProjectName = Annotated[
    str, typer.Argument(metavar="PROJECT", help="Its name.", autocompletion=complete_projects)
]
_PROJECTS: Columns[Project] = Columns(
    ("tenant", "project", "name for people*", "state", "revision"),
    lambda p: (p.tenant, p.project, p.display_name or "-", state_of(p.is_open), str(p.revision)),
    lambda p: p.project,
    numbers=("revision",),
    empty="no project that you may see",
)


@verb(app, "list", lists=True, scope="tenant")
def list_projects(ask: Ask) -> None:
    """The projects of a tenant that you may see.

    Example: bailiwick project list --tenant lab
    """
    from bailiwick.wire.actions.tenants import PROJECT_LIST

    ask.list(PROJECT_LIST, path={"tenant": ask.tenant}, columns=_PROJECTS)


@verb(app, "show", scope="tenant")
def show_project(ask: Ask, project: _ProjectName) -> None:
    """One project.

    Example: bailiwick project show vision
    """
    from bailiwick.wire.actions.tenants import PROJECT_READ

    path = {"tenant": ask.tenant, "project": path_word("PROJECT", project)}
    found = ask.client.send(PROJECT_READ, path=path)
    name = f"{found.tenant}/{found.project}"
    ask.printer.thing(
        found, name=found.project, draw=lambda: draw_scope(found, "project", name=name)
    )


@verb(app, "create", changes=True, scope="tenant")
def create_project(
    ask: Ask, project: _ProjectName, *, display_name: DisplayNameOption = None
) -> None:
    """Make a project of a tenant.

    Example: bailiwick project create vision --tenant lab
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.tenants import PROJECT_CREATE
    from bailiwick.wire.people import NewProject

    body = make_body(
        NewProject, project=path_word("PROJECT", project), display_name=display_name or ""
    )
    told = f"project {ask.tenant}/{project} is there"
    ask.change(PROJECT_CREATE, path={"tenant": ask.tenant}, body=body, told=told)


@verb(app, "change", changes=True, scope="tenant")
def change_project(
    ask: Ask,
    project: _ProjectName,
    *,
    display_name: DisplayNameOption = None,
    is_open: OpenOption = None,
    if_revision: RevisionOption = None,
) -> None:
    """Rename a project for people, or close or open it.

    Example: bailiwick project change vision --open
    """
    from bailiwick.wire.actions.tenants import PROJECT_CHANGE

    if is_open is False:
        ask.confirm(f"Close {ask.tenant}/{project}? It takes no new requests until it is opened.")
    ask.change(
        PROJECT_CHANGE,
        path={"tenant": ask.tenant, "project": path_word("PROJECT", project)},
        body=change_body(display_name, is_open),
        etag=None if if_revision is None else f'"{if_revision}"',
        told=f"project {ask.tenant}/{project} is changed",
    )
