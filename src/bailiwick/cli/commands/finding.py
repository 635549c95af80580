"""``bailiwick finding``: what does not agree, sealed in the journal, the newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.output import Columns
from bailiwick.phrases.times import clock

if TYPE_CHECKING:
    from bailiwick.wire.counting import Finding

app = noun("Findings: what was counted and what was attributed do not agree.")

FINDINGS: Columns[Finding] = Columns(
    ("seq", "at", "tenant", "project", "finding", "severity", "subject", "note*"),
    lambda f: (
        str(f.seq),
        clock(f.at_ms),
        f.tenant or "-",
        f.project or "-",
        f.finding,
        f.severity,
        f.subject,
        f.note or "-",
    ),
    lambda f: str(f.seq),
    numbers=("seq",),
    empty="nothing was found",
)


@verb(app, "list", lists=True)
def list_findings(
    ask: Ask,
    *,
    word: Annotated[
        str | None,
        typer.Option("--finding", metavar="WORD", help="Only these, such as quota_evasion."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=10_000, help="The last so many.")
    ] = 50,
) -> None:
    """What was found, the newest first; a tenant sees its own, the fleet sees all.

    Example: bailiwick finding list --finding quota_evasion
    """
    from bailiwick.wire.actions.usage import FINDING_LIST

    ask.list(
        FINDING_LIST,
        query={"finding": word},
        page_rows=min(limit, 500),
        rows_max=limit,
        columns=FINDINGS,
    )
