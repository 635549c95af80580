"""The command ``bailiwick meter reconcile``: a journal against what somebody else counted.

Rules:

- It needs no server and changes nothing: what it finds is printed, not sealed.
- Counters are JSON Lines, or a folder of a cluster's saved books (``bailiwick meter ... --save``).
- Ends with 3 if the two do not agree, and names each lease with its numbers; with 2 and its line on
  a mistake in the input.
"""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.shared.output import Format, emit, spell_yaml
from bailiwick.cli.shared.progress import SCREEN

if TYPE_CHECKING:
    from bailiwick.metering.reconcile import UsageFinding


class FindingsShown(StrEnum):
    """How findings are printed."""

    TABLE = Format.TABLE.value
    JSON = Format.JSON.value
    YAML = Format.YAML.value


def reconcile(
    *,
    journal: Annotated[
        str,
        typer.Option(
            "--journal", metavar="PATH", help="A journal's file or directory, or a database."
        ),
    ],
    counters: Annotated[
        Path,
        typer.Option(
            "--counters", metavar="PATH", help="Counters, one a line; or a folder of saved books."
        ),
    ],
    output: Annotated[
        FindingsShown, typer.Option("--output", "-o", help="A table for people, JSON or YAML.")
    ] = FindingsShown.TABLE,
) -> None:
    """Compare what a journal attributes to leases with what somebody else counted.

    Ends with 3 if they do not agree beyond the tolerance.

    Example: bailiwick meter reconcile --journal journal.jsonl --counters counters.jsonl
    """
    from bailiwick.tools.metering import reconcile as reconcile_files

    done = reconcile_files(journal, counters, reporter=SCREEN)
    _print(done.findings, counted=done.counted, compared=done.compared, output=output)
    if done.findings:
        raise typer.Exit(ExitCode.DENIED)


def _print(
    found: list[UsageFinding], *, counted: int, compared: int, output: FindingsShown
) -> None:
    if output is FindingsShown.TABLE:
        _draw(found, counted=counted, compared=compared)
        return
    document = {
        "counters": counted,
        "compared": compared,
        "findings": [_plain(each) for each in found],
    }
    if output is FindingsShown.JSON:
        emit(json.dumps(document, indent=2))
    else:
        emit(spell_yaml(document))


def _plain(finding: UsageFinding) -> dict[str, Any]:
    from bailiwick.metering.reconcile import QuotaEvasion
    from bailiwick.metering.usage_words import spell_finding

    if isinstance(finding, QuotaEvasion):
        device, attributed = finding.device, finding.granted
    else:
        device, attributed = None, finding.attributed
    return {
        "finding": finding.word.value,
        "what": finding.what.value,
        "lease_id": finding.counter.lease_id,
        "node": finding.counter.node,
        "device": device,
        "counted": finding.counted,
        "attributed": attributed,
        "allowed": finding.allowed,
        "note": spell_finding(finding),
    }


def _draw(found: list[UsageFinding], *, counted: int, compared: int) -> None:
    from bailiwick.cli.shared.screen import make_console, print_rows
    from bailiwick.metering.usage_words import spell_finding

    if found:
        rows = [(each.word.value, each.what.value, spell_finding(each)) for each in found]
        print_rows(make_console(), ("finding", "what", "numbers*"), rows=rows)
    emit(f"{counted} counters, {compared} leases compared, {len(found)} findings")
