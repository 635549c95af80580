"""``bailiwick history``: what was held, decided and used, from tables folded out of the journal.

Rules:

- The tables are brought up to the journal's end before every answer, and ``rebuild`` makes them
  anew from nothing: they never know anything that the journal does not say.
- Every question is one tenant's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from bailiwick.cli.offline.journal_screen import print_table
from bailiwick.cli.shared.flags import Output, OutputOption
from bailiwick.cli.shared.progress import NowAndThen

if TYPE_CHECKING:
    from bailiwick.store.sql_store import SqlStore

app = typer.Typer(
    help="Leases, decisions and usage of a tenant, as the journal tells them.",
    no_args_is_help=True,
)

StoreOption = Annotated[
    str,
    typer.Option(
        "--store",
        metavar="DIR|URL",
        help="The data directory, or the postgresql:// address, of a control plane.",
    ),
]
TenantArgument = Annotated[str, typer.Argument(help="Whose history.")]
ProjectOption = Annotated[str | None, typer.Option("--project", help="Only this project's.")]
LimitOption = Annotated[int, typer.Option("--limit", min=1, max=1000, help="Rows at most.")]
BeforeOption = Annotated[
    int | None, typer.Option("--before", help="The last number of the page before this one.")
]
_HERE = "bailiwick-data"
_ADVANCE = 1_000
_MOMENTS = ("granted_ms", "ended_ms", "at_ms")


@app.command()
def rebuild(store: StoreOption = _HERE) -> None:
    """Make the tables anew from the journal, from nothing.

    Example: bailiwick history rebuild --store bailiwick-data
    """
    from bailiwick.store.history.fold import rebuild_projections

    with _opened(store, advance=False) as opened:
        count = rebuild_projections(opened)
    typer.echo(f"{count:,} records folded")


@app.command()
def leases(
    tenant: TenantArgument,
    *,
    store: StoreOption = _HERE,
    project: ProjectOption = None,
    limit: LimitOption = 20,
    before: BeforeOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """The leases a tenant held, the newest first.

    Example: bailiwick history leases lab --store bailiwick-data
    """
    from bailiwick.store.history.questions import leases_of

    with _opened(store) as opened:
        found = leases_of(opened, tenant, project=project, before=before, limit=limit)
    columns = ("lease_id", "project", "node", "gpu_milli", "cpu_milli", "lease_class")
    _show(found, (*columns, "granted_ms", "ended_ms", "end_cause", "end_reason"), output=output)


@app.command()
def decisions(
    tenant: TenantArgument,
    *,
    store: StoreOption = _HERE,
    project: ProjectOption = None,
    limit: LimitOption = 20,
    before: BeforeOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """What was decided about a tenant, the newest first.

    Example: bailiwick history decisions lab --store bailiwick-data
    """
    from bailiwick.store.history.questions import decisions_of

    with _opened(store) as opened:
        projects = None if project is None else (project,)
        found = decisions_of(opened, tenant, projects=projects, before=before, limit=limit)
    _show(found, ("seq", "at_ms", "project", "kind", "reason", "detail"), output=output)


@app.command()
def usage(
    tenant: TenantArgument, *, store: StoreOption = _HERE, output: OutputOption = Output.TABLE
) -> None:
    """What a tenant's ended leases used, by project.

    Example: bailiwick history usage lab --store bailiwick-data
    """
    from bailiwick.store.history.questions import usage_of

    with _opened(store) as opened:
        found = usage_of(opened, tenant)
    _show(found, ("project", "leases_ended", "gpu_milli_ms", "cpu_milli_ms"), output=output)


@contextmanager
def _opened(where: str, *, advance: bool = True) -> Iterator[SqlStore]:
    """The store, its tables brought up to the journal's end; progress if that takes long."""
    from bailiwick.store import open_store
    from bailiwick.store.history.fold import advance_projections

    open_store(where, read_only=True).close()  # a store that is not there must not be made
    with open_store(where) as store:
        tell, folded = NowAndThen(), 0
        while advance:  # bounded: the journal has an end, and 0 says that it is reached
            count = advance_projections(store, _ADVANCE)
            folded += count
            if count == 0:
                break
            tell(f"folding the journal: {folded:,} records")
        yield store


def _show(rows: Sequence[object], columns: tuple[str, ...], *, output: Output) -> None:
    plain = [asdict(cast(Any, row)) for row in rows if is_dataclass(row)]
    if output is Output.JSON:
        typer.echo(json.dumps(plain, indent=2))
        return
    if not plain:
        typer.echo("nothing", err=True)
        return
    headings = (name.removesuffix("_ms") if name in _MOMENTS else name for name in columns)
    print_table(headings, (tuple(_cell(c, row[c]) for c in columns) for row in plain))


def _cell(column: str, value: object) -> str:
    if value is None:
        return ""
    if column not in _MOMENTS or not isinstance(value, int):
        return str(value)
    from datetime import UTC, datetime

    return datetime.fromtimestamp(value // 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
