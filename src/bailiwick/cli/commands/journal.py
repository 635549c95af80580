"""``bailiwick journal records``, ``proof``, ``checkpoint`` and ``vkey``: a server's journal.

Rules:

- A proof and a checkpoint are printed as they come, byte for byte, so that they can be kept and be
  checked with ``bailiwick journal check-proof`` by somebody who does not trust the server.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.commands.explain import told_record
from bailiwick.cli.offline.journal import app
from bailiwick.cli.shared.ask import Ask, verb
from bailiwick.cli.shared.completions import complete_tenants
from bailiwick.cli.shared.output import Columns
from bailiwick.cli.shared.screen import owner
from bailiwick.cli.shared.session import load_session
from bailiwick.phrases.times import clock

if TYPE_CHECKING:
    from bailiwick.wire.work import JournalRecord

__all__ = ["app"]

_Out = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Where to; else stdout.")]

_RECORDS: Columns[JournalRecord] = Columns(
    ("seq", "at", "kind", "owner", "actor", "details*"),
    lambda r: (
        str(r.seq),
        clock(r.at_ms),
        r.kind,
        "-" if r.tenant is None else owner(r.tenant, r.project),
        r.actor,
        told_record(r),
    ),
    lambda r: str(r.seq),
    numbers=("seq",),
    empty="no record of that tenant",
)


@verb(app, "records", lists=True, scope="tenant")
def records(
    ask: Ask,
    *,
    after: Annotated[
        int, typer.Option("--after", min=-1, metavar="SEQ", help="Only records after this one.")
    ] = -1,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=20_000, help="At most so many.")
    ] = 100,
) -> None:
    """A tenant's records in the order of the journal, from the server.

    Example: bailiwick journal records --tenant lab --after 100
    """
    from bailiwick.wire.actions.journal import RECORD_LIST

    ask.list(
        RECORD_LIST,
        path={"tenant": ask.tenant},
        query={"cursor": str(after + 1)},
        page_rows=min(limit, 500),
        rows_max=limit,
        columns=_RECORDS,
    )


@app.command()
def proof(
    seq: Annotated[int, typer.Argument(metavar="SEQ", min=0, help="The record's number.")],
    *,
    tenant: Annotated[
        str | None,
        typer.Option("--tenant", help="Else the session's.", autocompletion=complete_tenants),
    ] = None,
    out: _Out = None,
) -> None:
    """One record of a tenant, and what proves that the server's journal has it.

    Example: bailiwick journal proof 17 --tenant lab --out record-17.proof
    """
    from bailiwick.wire.actions.journal import RECORD_PROVE

    ask = Ask(load_session(), given={"tenant": tenant})
    _write(ask.client.send(RECORD_PROVE, path={"tenant": ask.tenant, "seq": seq}), out)


@app.command()
def checkpoint(*, out: _Out = None) -> None:
    """The size and root of the server's journal now, signed.

    Example: bailiwick journal checkpoint
    """
    from bailiwick.wire.actions.journal import CHECKPOINT_READ

    ask = Ask(load_session())
    _write(ask.client.send(CHECKPOINT_READ), out)


@app.command()
def vkey(
    data_dir: Annotated[
        Path, typer.Argument(metavar="DIR", help="The data directory of a server.")
    ] = Path("bailiwick-data"),
) -> None:
    """The public key that a server's checkpoints and proofs are checked with.

    Example: bailiwick journal vkey bailiwick-data
    """
    from bailiwick.journal import VerifierKey
    from bailiwick.store import load_or_create_key
    from bailiwick.vocab.errors import NotFound

    file = data_dir / "signer.key"
    if not file.exists():  # asking for a key makes none
        raise NotFound("key file", str(file), hint="name the data directory of a server")
    typer.echo(str(VerifierKey.of(load_or_create_key(file, "bailiwick"))))


def _write(text: str, out: Path | None) -> None:
    if out is None:
        typer.echo(text, nl=False)
        return
    from bailiwick.vocab.errors import InvalidValue

    try:
        out.write_text(text, "utf-8")
    except OSError as error:
        raise InvalidValue("--out", str(out), f"a place to write ({error.strerror})") from None
