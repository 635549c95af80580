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
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.offline.journal_cases import check_cases
from bailiwick.cli.offline.journal_publish import publish
from bailiwick.cli.offline.journal_screen import print_table, watched
from bailiwick.cli.offline.record_source import database_lines, database_of
from bailiwick.cli.offline.time_travel import HELP as AT_HELP
from bailiwick.cli.offline.time_travel import at
from bailiwick.cli.shared.flags import Output, OutputOption, with_options

if TYPE_CHECKING:
    from bailiwick.journal import Anchor, Record, VerifierKey
    from bailiwick.store import Verdict

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

    known = None if anchor is None else read_anchor(anchor)
    verdict = _judge(target, vkey=vkey, anchor=known)
    if not isinstance(verdict, Verified):
        _end_damaged(target, describe(verdict))
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


def _judge(target: Path, *, vkey: str | None = None, anchor: Anchor | None = None) -> Verdict:
    from bailiwick import InvalidValue, NotFound
    from bailiwick.journal import parse_vkey
    from bailiwick.store import JournalDirectory, verify_directory, verify_file

    where = database_of(target)
    if where is not None and vkey is None:
        return verify_file(database_lines(where), anchor)
    if where is not None or target.is_file():
        if vkey is not None:
            raise InvalidValue(
                "JOURNAL", str(target), "a directory, whose checkpoint --vkey checks"
            )
        with watched(target) as lines:
            return verify_file(lines, anchor)
    places = JournalDirectory(target)
    if not places.journal.exists() and not places.checkpoint.exists():
        raise NotFound("journal.jsonl or bailiwick.db in", str(target))
    key = None if vkey is None else parse_vkey(vkey)
    with watched(places.journal) as lines:
        return verify_directory(places, lines, key=key, anchor=anchor)


def _save(path: Path, data: bytes) -> None:
    from bailiwick import InvalidValue

    try:
        path.write_bytes(data)
    except OSError as error:
        raise InvalidValue("FILE", str(path), f"a place to write ({error.strerror})") from None


def _end_damaged(what: object, sentence: str) -> NoReturn:
    typer.echo(f"bailiwick: {what}: {sentence}", err=True)
    raise typer.Exit(ExitCode.DENIED)


def _verified_records(target: Path, *, after: int = -1) -> Iterator[Record]:
    """The records after a number, once the whole log was found good."""
    from bailiwick.journal import Torn, Verified, parse_record
    from bailiwick.store import describe, read_lines

    verdict = _judge(target)
    if isinstance(verdict, Verified):
        end = verdict.anchor.size
    elif isinstance(verdict, Torn):
        typer.echo(f"bailiwick: {target}: {describe(verdict)}", err=True)
        end = verdict.seq
    else:
        _end_damaged(target, describe(verdict))
    path = target if target.is_file() else target / "journal.jsonl"
    where = database_of(target)
    for seq, line in enumerate(read_lines(path) if where is None else database_lines(where)):
        if seq >= end:
            return
        if seq > after:
            yield parse_record(line[:-1])


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


@app.command(help="The records that match, oldest first; the log is verified before.")
@with_options(ShowOptions)
def show(options: ShowOptions) -> None:
    """Show records."""
    from collections import deque

    _check_kind_word(options.kind)
    matching = 0
    kept: deque[Record] = deque(maxlen=options.limit)
    for record in _verified_records(options.target):
        if _matches(record, options):
            matching += 1
            kept.append(record)
    if options.output is Output.JSON:
        typer.echo("[" + ",\n ".join(record.canonical.decode() for record in kept) + "]")
        return
    print_table(
        ("seq", "at (UTC)", "kind", "tenant/project", "actor", "correlation id", "body*"),
        [_row(record) for record in kept],
    )
    typer.echo(f"{len(kept)} of {matching} matching records", err=True)


def _check_kind_word(word: str | None) -> None:
    from bailiwick import InvalidValue
    from bailiwick.journal import RecordKind

    if word is not None and word not in tuple(RecordKind):
        raise InvalidValue("kind", word, "one of " + ", ".join(RecordKind))


def _matches(record: Record, wanted: ShowOptions) -> bool:
    body = record.body
    leases = body.get("lease_ids", ())
    return (
        (wanted.tenant is None or record.tenant == wanted.tenant)
        and (wanted.kind is None or record.kind == wanted.kind)
        and (wanted.reason is None or wanted.reason in (body.get("reason"), body.get("detail")))
        and (
            wanted.lease is None
            or body.get("lease_id") == wanted.lease
            or (isinstance(leases, tuple) and wanted.lease in leases)
        )
        and (wanted.correlation_id is None or record.correlation_id == wanted.correlation_id)
    )


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
    from bailiwick.store import JournalDamaged, JournalDirectory, Unproven, describe, prove_record
    from bailiwick.store import check_proof as check

    key = _key_of(directory, vkey)
    try:
        proof = prove_record(JournalDirectory(directory), seq, key=key)
    except JournalDamaged as damaged:
        _end_damaged(directory, describe(damaged.finding))
    checked = check(proof, key)
    if isinstance(checked, Unproven):
        _end_damaged(directory, f"the tiles no longer prove record {seq}: {checked.word}")
    if output is None:
        sys.stdout.buffer.write(proof.text)
        return
    _save(output, proof.text)
    typer.echo(f"{output}: record {seq} of {checked.checkpoint.size}", err=True)


def _key_of(directory: Path, vkey: str | None) -> VerifierKey:
    from bailiwick import NotFound
    from bailiwick.journal import parse_vkey

    own = directory / "vkey"
    if vkey is None and not own.exists():
        raise NotFound("vkey in", str(directory), hint="name the key with --vkey")
    return parse_vkey(own.read_text("utf-8").strip() if vkey is None else vkey)


@app.command(help="Whether a proof proves its record, under a key you trust; prints the record.")
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
    from bailiwick import InvalidValue
    from bailiwick.journal import parse_vkey
    from bailiwick.store import Unproven, parse_proof
    from bailiwick.store import check_proof as check

    key = parse_vkey(vkey)
    try:
        proof = parse_proof(file.read_bytes())
    except InvalidValue as error:
        _end_damaged(file, f"proves nothing: {error}")
    result = check(proof, key)
    if isinstance(result, Unproven):
        _end_damaged(file, f"does not prove record {result.index}: {result.word}")
    typer.echo(result.record.canonical.decode())
    typer.echo(
        f"record {result.record.seq} is one of the {result.checkpoint.size} records that "
        f"{key.name} signed",
        err=True,
    )


@app.command(
    help="Records as JSON Lines, or as OCSF-shaped security events, one a line.\n\n"
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

    last = after
    write = sys.stdout.buffer.write
    for record in islice(_verified_records(target, after=after), limit):
        if form is ExportFormat.OCSF:
            write(json.dumps(ocsf_event(record), separators=(",", ":")).encode() + b"\n")
        else:
            write(record.canonical + b"\n")
        last = record.seq
    sys.stdout.buffer.flush()
    typer.echo(f"next: --after {last}", err=True)


app.command(
    help="A database's journal as signed files: JSON Lines, tiles and a checkpoint.\n\n"
    "Goes on where the directory ends. Ends with 3 if the database tells another history than was "
    "published."
)(publish)


@app.command(help="The page of every closed word that a SIEM rule may key on, as Markdown.")
def words() -> None:
    """Print the SIEM page."""
    from bailiwick.store import siem_page

    typer.echo(siem_page(), nl=False)


app.command()(check_cases)
# A TIME such as -2h is no option.
app.command(help=AT_HELP, context_settings={"ignore_unknown_options": True})(at)
