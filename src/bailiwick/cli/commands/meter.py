"""The commands ``bailiwick meter ...``: GPU time from events or another's books, proven whole.

Rules:

- They need no server and change nothing.
- Sums first, then whatever the source told that cannot be. With findings the command ends with 3:
  the sums are still exact, of what could be counted.
- A mistake in the input (not in what it tells) ends with 2 and its line; a cluster that cannot be
  asked ends with 5.
- The result goes to stdout, all else to stderr; progress only to a terminal.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.offline.meter_reconcile import reconcile
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.output import Format, emit, spell_yaml
from bailiwick.cli.shared.progress import patience
from bailiwick.clusters.accounting import ACCOUNTINGS, Accounting, By, NoAnswer, Question
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.metering.report import Report

W = TypeVar("W", bound=StrEnum)

app = typer.Typer(
    help="GPU time from events or a cluster's books, and that it adds up.", no_args_is_help=True
)


class Shown(StrEnum):
    """How a report is printed."""

    TABLE = Format.TABLE.value
    JSON = Format.JSON.value
    YAML = Format.YAML.value


OutputOption = Annotated[
    Shown, typer.Option("--output", "-o", help="A table for people, JSON or YAML.")
]
ByOption = Annotated[
    str,
    typer.Option(
        "--by", metavar="WORDS", help="Add up by these: tenant,project,generation,tag,class."
    ),
]
_ALL = "tenant,project,generation,tag,class"


@app.command(
    help="GPU time from a file of events, one JSON object a line (- for standard input).\n\n"
    "Example: bailiwick meter events events.jsonl --by tenant\n\n"
    "Repeats, reordering and restarts of a source are absorbed. Ends with 3 if anything that the "
    "events tell cannot be, and names every lease that it is about."
)
def events(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Events, or - to read stdin.")],
    *,
    by: ByOption = _ALL,
    output: OutputOption = Shown.TABLE,
) -> None:
    """Meter events."""
    from bailiwick.cli.offline.meter_screen import tell_notes
    from bailiwick.tools.metering import meter_events

    words = _words(by)
    with patience() as tell:
        report, repeated = meter_events(file, tell)
    _print(report, words, output=output, title="Usage")
    if repeated:
        tell_notes([f"{repeated:,} lines repeat an event, which counts once"])
    _end(report)


@dataclasses.dataclass(frozen=True, slots=True)
class ClusterOptions:
    """What is common to all clusters' books."""

    since: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME", help="ISO 8601 (without a zone: UTC), or 2h ago."),
    ] = None
    until: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="Likewise; now if not told.")
    ] = None
    cluster: Annotated[
        str | None, typer.Option("--cluster", metavar="NAME", help="Which; else the default one.")
    ] = None
    tenant_by: Annotated[By, typer.Option("--tenant-by", help="What a job's tenant is.")] = (
        By.TOP_ACCOUNT
    )
    project_by: Annotated[By, typer.Option("--project-by", help="What a job's project is.")] = (
        By.ACCOUNT
    )
    tag_by: Annotated[
        By | None, typer.Option("--tag-by", help="What a job's tag is; else wckey or comment.")
    ] = None
    classes: Annotated[
        list[str] | None,
        typer.Option("--class", metavar="QOS=CLASS", help="The lease class of a QoS; repeatable."),
    ] = None
    generations: Annotated[
        list[str] | None,
        typer.Option(
            "--generation", metavar="TYPE=WORD", help="What a type of GPU is; repeatable."
        ),
    ] = None
    node_logs: Annotated[
        Path | None,
        typer.Option(
            "--node-logs",
            metavar="DIR",
            help="The nodes' daemon logs (NODE.log, level verbose): when jobs really ended.",
            exists=True,
            file_okay=False,
        ),
    ] = None
    save: Annotated[
        Path | None, typer.Option("--save", metavar="DIR", help="Save what was read here.")
    ] = None
    files: Annotated[
        Path | None,
        typer.Option(
            "--files",
            metavar="DIR",
            help="Read what --save wrote, and ask no cluster.",
            exists=True,
            file_okay=False,
        ),
    ] = None
    by: ByOption = _ALL
    output: OutputOption = Shown.TABLE


def _cluster_command(accounting: Accounting) -> Callable[..., None]:
    @with_options(ClusterOptions)
    def meter_cluster(options: ClusterOptions) -> None:
        """Meter a cluster's books."""
        from bailiwick.cli.offline.meter_screen import tell_notes

        words, question = _words(options.by), _question(options)
        try:
            with patience() as tell:
                metered = accounting.meter(question, tell)
        except NoAnswer as error:
            typer.echo(f"bailiwick: {error}", err=True)
            raise typer.Exit(ExitCode.UNREACHABLE) from None
        _print(metered.report, words, output=options.output, title=metered.title)
        tell_notes(metered.notes)
        _end(metered.report)

    return meter_cluster


app.command("reconcile")(reconcile)

for _each in ACCOUNTINGS:
    app.command(
        _each.name,
        help=f"{_each.help}\n\nExample: bailiwick meter {_each.name} --from 24h --node-logs logs",
    )(_cluster_command(_each))


def _question(options: ClusterOptions) -> Question:
    from time import time

    from bailiwick.vocab.words import HardwareGeneration, LeaseClass

    if options.files is not None and (options.since or options.until or options.cluster):
        raise InvalidValue("--files", "with --from, --to or --cluster", "what was saved, as it is")
    now_ms = int(time() * 1000)
    return Question(
        from_ms=_moment("--from", options.since, now_ms),
        to_ms=_moment("--to", options.until, now_ms),
        now_ms=now_ms,
        cluster=options.cluster,
        files=options.files,
        save=options.save,
        node_logs=options.node_logs,
        tenant_by=options.tenant_by,
        project_by=options.project_by,
        tag_by=(By.WCKEY, By.COMMENT) if options.tag_by is None else (options.tag_by,),
        classes=_pairs("--class", options.classes, LeaseClass),
        generations=_pairs("--generation", options.generations, HardwareGeneration),
    )


def _moment(option: str, text: str | None, now_ms: int) -> int | None:
    from datetime import UTC, datetime

    from bailiwick.vocab.units import parse_span

    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        try:
            return now_ms - parse_span(option, text)
        except InvalidValue:
            expected = "a time such as 2026-11-15T08:00:00Z, or 2h for two hours ago"
            raise InvalidValue(option, text, expected) from None
    aware = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    return int(aware.timestamp()) * 1000


def _pairs(option: str, given: list[str] | None, words: type[W]) -> dict[str, W]:
    found = {}
    for pair in given or ():
        name, sign, word = pair.partition("=")
        if not sign or word not in tuple(words):
            raise InvalidValue(option, pair, "NAME=WORD with one of " + ", ".join(words))
        found[name] = words(word)
    return found


def _words(by: str) -> tuple[str, ...]:
    from bailiwick.metering.report import ROW_WORDS

    asked = ["lease_class" if word == "class" else word for word in by.split(",")]
    if len(set(asked)) != len(asked) or not set(asked) <= set(ROW_WORDS):
        raise InvalidValue("--by", by, f"some of {_ALL}")
    return tuple(asked)


def _print(report: Report, by: tuple[str, ...], *, output: Shown, title: str) -> None:
    import json

    from bailiwick.cli.offline.meter_screen import document, draw_report

    if output is Shown.TABLE:
        draw_report(report, by, title=title)
    elif output is Shown.JSON:
        emit(json.dumps(document(report, by), indent=2))
    else:
        emit(spell_yaml(json.loads(json.dumps(document(report, by)))))


def _end(report: Report) -> None:
    if report.findings:
        raise typer.Exit(ExitCode.DENIED)
