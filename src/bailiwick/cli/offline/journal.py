"""The commands ``bailiwick journal ...``: verify, show, prove and export what was sealed.

Rules:

- A damaged log, a proof that proves nothing and a case that is not judged as expected end with exit
  code 3 and one sentence that says where and what.
- Nothing of a log is shown or exported before the whole of it was verified; a torn last line (a
  writer may be at it this moment) is told on stderr, and what comes before it is shown.
- The result goes to stdout, all else to stderr; progress only to a terminal.
"""

from __future__ import annotations

import dataclasses
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.offline.journal_cases import check_cases
from bailiwick.cli.offline.journal_publish import publish
from bailiwick.cli.offline.journal_screen import print_table
from bailiwick.cli.offline.time_travel import HELP as AT_HELP
from bailiwick.cli.offline.time_travel import at
from bailiwick.cli.shared.flags import Output, OutputOption, with_options
from bailiwick.cli.shared.progress import SCREEN
from bailiwick.tools.errors import NotAsSealed
from bailiwick.tools.record_source import database_of

if TYPE_CHECKING:
    from bailiwick.journal import Record

app = typer.Typer(
    help="The sealed record of every decision: verify, show, prove, export.", no_args_is_help=True
)

LIMIT_MAX = 1_000_000

Target = Annotated[
    Path,
    typer.Argument(
        metavar="JOURNAL",
        help="A journal's directory, a file of JSON Lines, a data directory, or a database's "
        "postgresql:// address.",
    ),
]


class ExportFormat(StrEnum):
    """In which form records leave."""

    JSONL = "jsonl"
    OCSF = "ocsf"


@app.command(
    help="Whether every record is as it was sealed.\n\n"
    "Example: bailiwick journal verify bailiwick-data\n\n"
    "Checks each record's form and link, the tree over them, and for a directory the signed "
    "checkpoint and every tile. Ends with 0 if all is as sealed, and with 3, the first bad "
    "sequence number and what is wrong there, if not."
)
def verify(
    target: Target,
    *,
    anchor: Annotated[
        Path | None,
        typer.Option(
            "--anchor", metavar="FILE", help="An anchor that was kept elsewhere.", exists=True
        ),
    ] = None,
    vkey: Annotated[
        str | None,
        typer.Option(
            "--vkey", metavar="KEY", help="The log's public key; else the one in the directory."
        ),
    ] = None,
    save_anchor: Annotated[
        Path | None,
        typer.Option("--save-anchor", metavar="FILE", help="Keep where the log ended, for later."),
    ] = None,
) -> None:
    """Verify a journal, and say what it turned out to be."""
    from bailiwick.journal import Verified
    from bailiwick.store import describe, read_anchor
    from bailiwick.tools.journals import judge

    known = None if anchor is None else read_anchor(anchor)
    verdict = judge(target, vkey=vkey, anchor=known, reporter=SCREEN)
    if not isinstance(verdict, Verified):
        raise NotAsSealed(target, describe(verdict))
    if save_anchor is not None:
        _save(save_anchor, f"{verdict.anchor}\n".encode("ascii"))
    covered = f"{verdict.signed_size:,} of them under a signed checkpoint"
    if not verdict.signed_size:
        covered = "no signed checkpoint covers them"
    after = "" if verdict.count == verdict.anchor.size else f" after record {known and known.size}"
    where = database_of(target) or target
    typer.echo(f"{where}: {verdict.count:,} records{after} are as sealed, {covered}")
    typer.echo(f"root {verdict.root.hex()} at size {verdict.anchor.size}")
    if target.is_dir() and vkey is None and verdict.signed_size:
        typer.echo("the key was the directory's own; --vkey trusts only yours", err=True)


def _save(path: Path, data: bytes) -> None:
    from bailiwick import InvalidValue

    try:
        path.write_bytes(data)
    except OSError as error:
        raise InvalidValue("FILE", str(path), f"a place to write ({error.strerror})") from None


@dataclasses.dataclass(frozen=True, slots=True)
class ShowOptions:
    """What ``journal show`` can be told."""

    target: Target
    tenant: Annotated[str | None, typer.Option("--tenant", help="Only this tenant's.")] = None
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="WORD", help="Only of this kind.")
    ] = None
    reason: Annotated[
        str | None,
        typer.Option("--reason", metavar="WORD", help="Only with this reason (or its detail)."),
    ] = None
    lease: Annotated[int | None, typer.Option("--lease", help="Only about this lease.")] = None
    correlation_id: Annotated[
        str | None, typer.Option("--correlation-id", help="Only in the course of this request.")
    ] = None
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=LIMIT_MAX, help="At most so many, the last ones.")
    ] = 50
    output: OutputOption = Output.TABLE


@app.command(
    help="The records that match, oldest first; the log is verified before.\n\n"
    "Example: bailiwick journal show bailiwick-data --lease 4 -o json"
)
@with_options(ShowOptions)
def show(options: ShowOptions) -> None:
    """Show records."""
    from bailiwick.tools.journals import Wanted, last_records

    wanted = Wanted(
        tenant=options.tenant,
        kind=options.kind,
        reason=options.reason,
        lease=options.lease,
        correlation_id=options.correlation_id,
    )
    kept, matching = last_records(options.target, wanted, limit=options.limit, reporter=SCREEN)
    if options.output is Output.JSON:
        typer.echo("[" + ",\n ".join(record.canonical.decode() for record in kept) + "]")
        return
    print_table(
        ("seq", "at (UTC)", "kind", "tenant/project", "actor", "correlation id", "body*"),
        [_row(record) for record in kept],
    )
    typer.echo(f"{len(kept)} of {matching} matching records", err=True)


def _row(record: Record) -> tuple[str, ...]:
    import json
    from datetime import UTC, datetime, timedelta

    at = datetime(1970, 1, 1, tzinfo=UTC)
    try:
        when = (at + timedelta(milliseconds=record.at_ms)).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    except OverflowError:
        when = f"{record.at_ms} ms"
    owner = "/".join(name for name in (record.tenant, record.project) if name) or "-"
    body = json.loads(record.canonical)["body"]
    told = " ".join(
        f"{name}={value if isinstance(value, str) else json.dumps(value)}"
        for name, value in body.items()
    )
    return (
        *(str(record.seq), when, str(record.kind), owner),
        *(record.actor, record.correlation_id, told),
    )


@app.command(
    help="A proof that one record is in the log, for someone who has only its public key.\n\n"
    "Example: bailiwick journal prove 1234 bailiwick-data -o one.tlog-proof\n\n"
    "The file is a C2SP tlog-proof; it holds the record, the hashes up to the root, and the signed "
    "checkpoint."
)
def prove(
    seq: Annotated[int, typer.Argument(metavar="SEQ", min=0, help="The record's number.")],
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="The journal's directory.", exists=True, file_okay=False
        ),
    ],
    *,
    vkey: Annotated[
        str | None, typer.Option("--vkey", metavar="KEY", help="The log's public key.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to; else stdout.")
    ] = None,
) -> None:
    """Prove one record."""
    from bailiwick.tools import journals

    proof, checked = journals.prove(directory, seq, vkey=vkey)
    if output is None:
        sys.stdout.buffer.write(proof.text)
        return
    _save(output, proof.text)
    typer.echo(f"{output}: record {seq} of {checked.checkpoint.size}", err=True)


@app.command(
    help="Whether a proof proves its record, under a key you trust; prints the record.\n\n"
    "Example: bailiwick journal check-proof one.tlog-proof --vkey log.example+baa31e94+AcD8"
)
def check_proof(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The proof.", exists=True, dir_okay=False)
    ],
    *,
    vkey: Annotated[
        str, typer.Option("--vkey", metavar="KEY", help="The log's public key, kept elsewhere.")
    ],
) -> None:
    """Check a proof."""
    from bailiwick.tools import journals

    result, key = journals.check_proof(file, vkey)
    typer.echo(result.record.canonical.decode())
    typer.echo(
        f"record {result.record.seq} is one of the {result.checkpoint.size} records that "
        f"{key.name} signed",
        err=True,
    )


@app.command(
    help="Records as JSON Lines, or as OCSF-shaped security events, one a line.\n\n"
    "Example: bailiwick journal export bailiwick-data --format ocsf --after 1233\n\n"
    "Goes on after the number it is given; the last number written is told on stderr. Nothing is "
    "written from a damaged log."
)
def export(
    target: Target,
    *,
    form: Annotated[
        ExportFormat, typer.Option("--format", help="The records' own bytes, or OCSF.")
    ] = ExportFormat.JSONL,
    after: Annotated[
        int, typer.Option("--after", min=-1, metavar="SEQ", help="Only records after this number.")
    ] = -1,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="At most so many, the first ones.")
    ] = None,
) -> None:
    """Export records."""
    import json
    from itertools import islice

    from bailiwick.store import ocsf_event
    from bailiwick.tools.journals import verified_records

    last = after
    write = sys.stdout.buffer.write
    for record in islice(verified_records(target, after=after, reporter=SCREEN), limit):
        if form is ExportFormat.OCSF:
            write(json.dumps(ocsf_event(record), separators=(",", ":")).encode() + b"\n")
        else:
            write(record.canonical + b"\n")
        last = record.seq
    sys.stdout.buffer.flush()
    typer.echo(f"next: --after {last}", err=True)


app.command(
    help="A database's journal as signed files: JSON Lines, tiles and a checkpoint.\n\n"
    "Example: bailiwick journal publish bailiwick-data published --key signing.key\n\n"
    "Goes on where the directory ends. Ends with 3 if the database tells another history than was "
    "published."
)(publish)


@app.command(
    help="The page of every closed word that a SIEM rule may key on, as Markdown.\n\n"
    "Example: bailiwick journal words"
)
def words() -> None:
    """Print the SIEM page."""
    from bailiwick.store import siem_page

    typer.echo(siem_page(), nl=False)


app.command()(check_cases)
# A TIME such as -2h is no option.
app.command(help=AT_HELP, context_settings={"ignore_unknown_options": True})(at)
