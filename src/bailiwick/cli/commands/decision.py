"""``bailiwick decision``: what was decided about a tenant, and what happened to one thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.output import Columns, Format
from bailiwick.phrases.times import clock

if TYPE_CHECKING:
    from bailiwick.wire.decisions import Decision
    from bailiwick.wire.work import JournalRecord

app = noun("Decisions: what was decided, and why.")


def _about(found: Decision) -> str:
    if found.lease_id is not None:
        return f"lease-{found.lease_id}"
    return "-" if found.entry_id is None else f"entry-{found.entry_id}"


DECISIONS: Columns[Decision] = Columns(
    ("seq", "at", "project*", "what*", "reason*", "detail*", "about", "correlation id*"),
    lambda d: (
        str(d.seq),
        clock(d.at_ms).replace(" ", "\n"),
        d.project or "-",
        d.kind,
        d.reason or "-",
        d.detail or "-",
        _about(d),
        d.correlation_id or "-",
    ),
    lambda d: str(d.seq),
    numbers=("seq",),
    empty="nothing was decided yet",
)


@verb(app, "list", lists=True, scope="tenant")
def list_decisions(
    ask: Ask,
    *,
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="WORD", help="Only records of this kind.")
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=10_000, help="The last so many.")
    ] = 50,
) -> None:
    """What was decided about a tenant, the newest first.

    Example: bailiwick decision list --kind admission_denied --limit 20
    """
    from bailiwick.wire.actions.leases import DECISION_LIST

    if ask.output is Format.TABLE:
        told = f"about tenant {ask.tenant} and those of its projects that you may see"
        typer.echo(f"decisions {told}; --tenant names another", err=True)
    ask.list(
        DECISION_LIST,
        path={"tenant": ask.tenant},
        query={"kind": kind},
        page_rows=min(limit, 500),
        rows_max=limit,
        columns=DECISIONS,
    )


@verb(app, "story", lists=True)
def list_story(
    ask: Ask,
    subject: Annotated[
        str,
        typer.Argument(
            metavar="SUBJECT",
            help="node, tenant, project, entry, instance, runtime, invoice or policy.",
        ),
    ],
    *,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Its name or number; none for the policy.")
    ] = "-",
    tenant: Annotated[str | None, typer.Option("--tenant", help="Where it is.")] = None,
    project: Annotated[str | None, typer.Option("--project", help="Where it is.")] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=10_000, help="The last so many.")
    ] = 50,
) -> None:
    """The sealed records about one thing that you may read, the newest first.

    Example: bailiwick decision story node gpu-1
    """
    from bailiwick.cli.commands.explain import told_record
    from bailiwick.wire.actions.leases import DECISION_STORY

    columns: Columns[JournalRecord] = Columns(
        ("seq", "at", "what", "by", "details*"),
        lambda r: (str(r.seq), clock(r.at_ms), r.kind, r.actor, told_record(r)),
        lambda r: str(r.seq),
        numbers=("seq",),
        empty="nothing is recorded about it that you may read",
    )
    query = {"subject": subject, "name": None if name == "-" else name}
    query |= {"tenant": tenant, "project": project}
    ask.list(
        DECISION_STORY, query=query, page_rows=min(limit, 500), rows_max=limit, columns=columns
    )
