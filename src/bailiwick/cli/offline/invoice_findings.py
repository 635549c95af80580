"""What is said of rules of issuing that a journal shows to be broken: a row and a sentence each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Final, assert_never

import typer

from bailiwick.billing.findings import BilledTwice, Misattributed, PrefixTooShort, PricedInThePast
from bailiwick.cli.shared.periods import spell_period, spell_time
from bailiwick.cli.shared.screen import make_console, print_rows, printable

if TYPE_CHECKING:
    from bailiwick.billing.findings import BillingFinding

SHOWN_MAX: Final = 100


def finding_row(found: BillingFinding) -> dict[str, object]:
    """A finding as plain values: its word, and every number of it."""
    return {"finding": found.word.value, **asdict(found)}


def finding_sentence(found: BillingFinding) -> str:
    """What is wrong, and by which records."""
    match found:
        case PrefixTooShort(left_out_seq=seq) if seq == found.seq:
            when = spell_time(found.left_out_ms)
            return f"{found.invoice} was issued at {when}, before its period ended"
        case PrefixTooShort():
            told = f"{found.invoice} is of the first {found.journal_size:,} records"
            when = f"of {spell_time(found.left_out_ms)}, before its period ended"
            return f"{told}, and record {found.left_out_seq:,} is {when}"
        case BilledTwice():
            period = spell_period(found.from_ms, found.to_ms)
            other = f"{found.other} (record {found.other_seq:,})"
            return f"{found.invoice} bills {period}, which {other} bills"
        case PricedInThePast():
            whose = "the list" if found.tenant is None else found.tenant
            told = f"card {found.card} of {whose} was set at {spell_time(found.at_ms)}"
            return f"{told} to hold from {spell_time(found.effective_ms)} on"
        case Misattributed():
            told = f"a lease of {found.tenant}/{found.project} is said to be a member's of instance"
            said = f"{found.instance_id}: {found.field} {found.told}"
            sealed = "no such instance" if found.sealed is None else found.sealed
            return f"{told} {said}, and the journal says {sealed}"
        case _:
            assert_never(found)


def draw_findings(findings: Sequence[BillingFinding]) -> None:
    """One row for each, up to a hundred."""
    if not findings:
        return
    cells = [
        (each.word.value, "-" if each.seq is None else f"{each.seq:,}", finding_sentence(each))
        for each in findings[:SHOWN_MAX]
    ]
    title = "Rules of issuing that were not kept"
    rows = [tuple(map(printable, row)) for row in cells]
    print_rows(make_console(), ("finding", "record", "what*"), rows=rows, title=title)
    if len(findings) > SHOWN_MAX:
        typer.echo(f"and {len(findings) - SHOWN_MAX:,} findings more")
