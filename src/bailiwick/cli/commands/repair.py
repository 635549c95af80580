"""``bailiwick repair``: what is set right on a store while its servers are stopped.

Rules:

- A repair is sealed in the journal, with who did it; nothing that a leader wrote is ever changed or
  removed. What nobody of them wrote can be taken out, into a file.
- It asks before it writes, and ``--dry-run`` only says what it would do.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.commands.history import StoreOption

if TYPE_CHECKING:
    from bailiwick.runtime.stamps import Stamps

app = typer.Typer(
    help="Set right, on a store without a server, what no server can.", no_args_is_help=True
)
_HERE = "bailiwick-data"
KeyOption = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        metavar="FILE",
        help="The servers' key, of which stamps are made. By default DIR/authority.pem.",
    ),
]


@app.callback()
def repair() -> None:
    """Set right, on a store without a server, what no server can."""


@app.command(
    help="Set a journal's clock to the time that it is.\n\n"
    "Example: bailiwick repair clock --why 'a year ahead on Monday' --dry-run\n\n"
    "For a journal that was written while a server's clock was wrong (its time is in the future), "
    "or after an outage longer than the setting outage_ms. Stop every server first. What ended "
    "has ended; leases, tokens and evidence that are left keep the time that they had left."
)
def clock(
    *,
    why: Annotated[
        str, typer.Option("--why", metavar="REASON", help="Why, in a sentence; it is sealed.")
    ],
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="TIME", help="What time it is (UTC); else this machine's."),
    ] = None,
    store: StoreOption = _HERE,
    key_file: KeyOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would do.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Set the clock of the journal in a store."""
    import getpass

    from bailiwick.phrases.times import told_time
    from bailiwick.runtime.runner import SystemClock
    from bailiwick.store import open_store
    from bailiwick.tools.record_source import parse_clock
    from bailiwick.tools.repairs import AskedRepair, repair_clock

    after_ms = SystemClock().now_ms() if to is None else parse_clock(to)
    if not (dry_run or yes):
        typer.confirm(
            f"Set the journal's clock to {told_time(after_ms)} UTC, for good?", abort=True
        )
    asked = AskedRepair(after_ms, getpass.getuser(), why, dry_run)
    with open_store(store) as opened:
        stamps = _stamps_of(store, key_file)
        found = repair_clock(opened, asked, warn=_warn, stamps=stamps)
    was, now = told_time(found.before_ms), told_time(found.after_ms)
    if found.seq is None:
        typer.echo(f"the clock would go from {was} to {now} UTC (dry run: nothing was changed)")
        return
    typer.echo(f"the clock went from {was} to {now} UTC, by record {found.seq}")
    typer.echo(f"{found.leases} leases are left; what ended has ended", err=True)


@app.command(
    help="Deal with records that no leader of the ledger wrote.\n\n"
    "Example: bailiwick repair stamps --cut\n\n"
    "A server stops at such a record. Without an option this only says which they are. --cut takes "
    "them out of the journal, into a file; --accept lets them stand, for when you replaced "
    "authority.pem or went back to an older version for a while. Stop every server first."
)
def stamps(
    *,
    cut: Annotated[bool, typer.Option("--cut", help="Take them out, into a file.")] = False,
    accept: Annotated[bool, typer.Option("--accept", help="Let them stand, for good.")] = False,
    store: StoreOption = _HERE,
    key_file: KeyOption = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Say, cut off or accept what no leader wrote."""
    import getpass

    from bailiwick import InvalidValue
    from bailiwick.store import open_store
    from bailiwick.tools.repairs import accept_unproven, cut_unproven, find_unproven

    made = _stamps_of(store, key_file)
    if made is None:
        raise InvalidValue("--key-file", None, "the servers' authority.pem")
    if cut and accept:
        raise InvalidValue("--accept", True, "--cut or --accept, not both")
    with open_store(store) as opened:
        first, lines = find_unproven(opened, made)
        for seq, line in enumerate(lines[:_SHOWN_MAX], first):
            typer.echo(f"record {seq}: {line.decode('utf-8', 'replace').strip()}")
        typer.echo(f"{len(lines)} records that no leader of this ledger wrote", err=True)
        if not lines or not (cut or accept):
            return
        if not yes:
            word = "Take them out" if cut else "Accept them"
            typer.confirm(f"{word}, for good?", abort=True)
        if cut:
            count = cut_unproven(opened, made, keep=_keep_lines, warn=_warn)
            typer.echo(f"{count} records were taken out; the journal ends with record {first - 1}")
        else:
            seq = accept_unproven(opened, made, actor=getpass.getuser(), warn=_warn)
            typer.echo(f"they stand, by record {seq}")


_SHOWN_MAX = 100


def _warn(text: str) -> None:
    typer.echo(text, err=True)


def _keep_lines(first: int, lines: list[bytes]) -> None:
    path = Path(f"bailiwick-cut-{first}.jsonl")
    with path.open("xb") as file:
        file.write(b"".join(lines))
    typer.echo(f"kept in {path}", err=True)


def _stamps_of(store: str, key_file: Path | None) -> Stamps | None:
    """What the servers on this store make stamps with; ``None`` if their key is not known."""
    from bailiwick.server.keys import AUTHORITY_NAME, load_key
    from bailiwick.server.stamping import open_stamps
    from bailiwick.services.authority import Authority

    here = None if "://" in store else Path(store)
    if key_file is None and here is not None and (here / AUTHORITY_NAME).exists():
        key_file = here / AUTHORITY_NAME
    if key_file is None:
        return None
    return open_stamps(here or key_file.parent, Authority.from_pem(load_key(key_file)))
