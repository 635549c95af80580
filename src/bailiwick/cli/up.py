"""The command ``bailiwick up``: one server process, on a data directory or a database.

Rules:

- Reached from this machine only, unless a host is named and a token file is there already.
- With a database the token file must be named: every replica needs the same one.
- Ends with 0 after a signal, 1 if it cannot go on (and says where and why), 2 on a wrong option.
"""

from __future__ import annotations

import dataclasses
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.bench import with_options

if TYPE_CHECKING:
    from bailiwick.server.process import ProcessOptions

DATA_DIR = Path("bailiwick-data")
HOST = "127.0.0.1"
SNAPSHOT_EVERY = 100_000
PLACES_SHOWN = 6

HELP = (
    "Run one server process until it is told to stop (SIGTERM or Ctrl-C).\n\n"
    "Alone, with everything in one folder:  bailiwick up\n\n"
    "As one of several replicas:  bailiwick up --database postgresql://user@db/fleet "
    "--token-file /etc/bailiwick/token --name a --host 10.0.0.1\n\n"
    "Prints one line when it listens, then changes of role on stderr. One process leads; the "
    "others follow, answer reads, pass commands on, and one of them leads within seconds if the "
    "leader goes away. Ends with 0 after a signal, 1 if it cannot go on (a damaged journal, "
    "tables of a newer version, an address in use), 2 on a wrong option. A database that cannot "
    "be reached is waited for."
)


@dataclasses.dataclass(frozen=True, slots=True)
class UpOptions:
    """What ``bailiwick up`` can be told."""

    data_dir: Annotated[
        Path | None,
        typer.Option(
            "--data-dir",
            metavar="DIR",
            file_okay=False,
            help=f"Where the journal lies (SQLite); made if absent. By default ./{DATA_DIR}.",
        ),
    ] = None
    database: Annotated[
        str | None,
        typer.Option(
            "--database",
            metavar="URL",
            help="A PostgreSQL database instead: postgresql://user@host/name. A password is better "
            "kept in ~/.pgpass, where no list of processes shows it.",
        ),
    ] = None
    host: Annotated[
        str | None,
        typer.Option(
            "--host",
            help="The address to listen on. Any but this machine's own needs a token file that is "
            f"there already; the port is not encrypted. By default {HOST}.",
        ),
    ] = None
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port; 0 takes any that is free.")
    ] = 7077
    name: Annotated[
        str | None,
        typer.Option("--name", help="This replica's name. By default the machine's, and the port."),
    ] = None
    advertise: Annotated[
        str | None,
        typer.Option(
            "--advertise",
            metavar="HOST",
            help="The host by which other replicas reach this one. By default as --host.",
        ),
    ] = None
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="The secret that callers show, and replicas to each other. Made in the data "
            "directory if absent; with --database it must be there. By default DIR/token.",
        ),
    ] = None
    snapshot_every: Annotated[
        int, typer.Option("--snapshot-every", min=10, max=10**9, hidden=True)
    ] = SNAPSHOT_EVERY


def check_options(options: UpOptions) -> ProcessOptions:
    """The process that was meant; a wrong or dangerous combination is refused."""
    from bailiwick import InvalidValue
    from bailiwick.journal.fields import NAME
    from bailiwick.server.process import ProcessOptions, is_loopback
    from bailiwick.server.token import TOKEN_NAME, load_or_create_token, load_token

    if options.database is not None and options.data_dir is not None:
        raise InvalidValue("--data-dir", str(options.data_dir), "nothing, as --database is given")
    if options.database is not None and "://" not in options.database:
        raise InvalidValue("--database", "...", "postgresql://user@host/name")
    if options.name is not None:
        NAME.check("--name", options.name)
    folder = options.data_dir or DATA_DIR
    host, token_file = options.host or HOST, options.token_file
    if token_file is None:
        if options.database is not None:
            raise InvalidValue("--token-file", None, "a file, the same for every replica")
        token_file = folder / TOKEN_NAME
    must_be_there = options.database is not None or not is_loopback(host)
    token = load_token(token_file) if must_be_there else load_or_create_token(token_file)
    return ProcessOptions(
        where=options.database or str(folder),
        token=token,
        host=host,
        port=options.port,
        name=options.name,
        advertise=options.advertise,
        snapshot_every=options.snapshot_every,
    )


@with_options(UpOptions)
def up(options: UpOptions) -> None:
    """Run one server process."""
    from bailiwick import BailiwickError, InvalidValue
    from bailiwick.server.process import run_process

    process = check_options(options)
    try:
        run_process(process)
    except InvalidValue:
        raise
    except BailiwickError as error:
        typer.echo(f"bailiwick: {error}", err=True)
        raise typer.Exit(ExitCode.FAULT) from None
    except Exception as error:
        # Ours: with the place, but not with every caller who was told of it on the way.
        traceback.print_exception(error, limit=-PLACES_SHOWN)
        raise typer.Exit(ExitCode.FAULT) from None
