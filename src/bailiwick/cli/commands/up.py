"""The command ``bailiwick up``: the whole product in one process, on a folder or a database.

Rules:

- Reached from this machine only, unless it is given a certificate.
- With a database the key file must be named: every replica needs the same one.
- Jobs run on Linux. Elsewhere the server has no node of its own, and says so when it starts.
- Ends with 0 after a signal, 1 if it cannot go on (and says where and why), 2 on a wrong option.
"""

from __future__ import annotations

import dataclasses
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.shared.flags import (
    HOST_MEMBERS,
    JOB_MODE,
    JOB_PATH,
    TRUST_JOBS,
    with_options,
)
from bailiwick.cli.shared.mail_flags import MailOptions, mail_of

if TYPE_CHECKING:
    from bailiwick.apps.addresses import Network
    from bailiwick.executors.clusters import ClusterPlan
    from bailiwick.executors.local.modes import Apart
    from bailiwick.server.port import Tls
    from bailiwick.server.process import ProcessOptions

DATA_DIR = Path("bailiwick-data")
HOST = "127.0.0.1"
SNAPSHOT_EVERY = 100_000
PLACES_SHOWN = 6
NO_JOBS_HERE = (
    "jobs run on Linux machines; here Bailiwick serves, and `bailiwick agent` brings nodes"
)

command = typer.Typer(add_completion=False)

HELP = (
    "Run Bailiwick until it is told to stop (SIGTERM or Ctrl-C).\n\n"
    "Alone, with everything in one folder and this machine as a node:  bailiwick up\n\n"
    "With a simulated campus that lives beside it:  bailiwick up --demo\n\n"
    "As one of several replicas:  bailiwick up --database postgresql://user@db/fleet "
    "--key-file /etc/bailiwick/authority.pem --tls-cert cert.pem --tls-key key.pem "
    "--host 10.0.0.1\n\n"
    "Prints where it listens, a login that works once, and what to try; changes of role go to "
    "stderr. One process leads; the others follow, answer reads, pass changes on, and one of them "
    "leads within seconds if the leader goes away. Ends with 0 after a signal, 1 if it cannot go "
    "on (a damaged journal, tables of a newer version, an address in use), 2 on a wrong option. A "
    "database that cannot be reached is waited for."
)


@dataclasses.dataclass(frozen=True, slots=True)
class UpOptions(MailOptions):
    """What ``bailiwick up`` can be told."""

    data_dir: Annotated[
        Path | None,
        typer.Option(
            "--data-dir",
            metavar="DIR",
            file_okay=False,
            help="Where everything lies: the journal (SQLite, unless --database), keys, jobs, "
            f"traces; made if absent. By default ./{DATA_DIR}.",
        ),
    ] = None
    database: Annotated[
        str | None,
        typer.Option(
            "--database",
            metavar="URL",
            help="Keep the journal in PostgreSQL: postgresql://user@host/name. A password is "
            "better kept in ~/.pgpass, where no list of processes shows it.",
        ),
    ] = None
    host: Annotated[
        str | None,
        typer.Option(
            "--host",
            help="The address to listen on. Any but this machine's own needs --tls-cert. "
            f"By default {HOST}.",
        ),
    ] = None
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port; 0 takes any that is free.")
    ] = 7077
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Add a simulated campus with live traffic, to look around in."),
    ] = False
    node: Annotated[
        bool | None,
        typer.Option(
            "--node/--no-node",
            help="Whether this machine is a node that runs jobs. By default it is, unless "
            "--database or a --host for others is given. Needs Linux.",
        ),
    ] = None
    job_mode: Annotated[str | None, JOB_MODE] = None
    trust_jobs: Annotated[bool, TRUST_JOBS] = False
    job_path: Annotated[list[str] | None, JOB_PATH] = None
    host_members: Annotated[bool, HOST_MEMBERS] = False
    jobs_on: Annotated[
        list[str] | None,
        typer.Option(
            "--jobs-on",
            metavar="KIND[@WHERE]=DIR",
            help="Run jobs on a cluster too, whose machines then are nodes; DIR is a folder that "
            "they see as well. WHERE is its configuration file or its address, if not "
            "where the environment says. Repeatable.",
        ),
    ] = None
    private_webhooks: Annotated[
        bool,
        typer.Option(
            "--private-webhooks",
            help="Let webhooks lead to private networks, and over plain HTTP to this machine.",
        ),
    ] = False
    providers: Annotated[
        Path | None,
        typer.Option(
            "--providers",
            metavar="FILE",
            help="Through whom people log in (OpenID Connect), as TOML: docs/logging-in.md. "
            "Replicas share it.",
        ),
    ] = None
    public_url: Annotated[
        str | None,
        typer.Option(
            "--public-url",
            metavar="URL",
            help="Where browsers reach this server, if a proxy stands before it. By default as "
            "--advertise and --port.",
        ),
    ] = None
    artifact_network: Annotated[
        list[str] | None,
        typer.Option(
            "--artifact-network",
            metavar="NETWORK",
            help="A private network, such as 10.1.0.0/16, in which tenants may have sources of "
            "artifacts. By default only addresses of the internet. Repeatable.",
        ),
    ] = None
    cell_keys: Annotated[
        Path | None,
        typer.Option(
            "--cell-keys",
            metavar="DIR",
            exists=True,
            file_okay=False,
            help="How this server gets into its cells: in DIR/CELL stands `URL ACCOUNT KEY`, of "
            "the cell and a service account there: docs/cells.md. Replicas share it.",
        ),
    ] = None
    tls_cert: Annotated[
        Path | None,
        typer.Option("--tls-cert", metavar="FILE", help="A certificate (PEM) for HTTPS."),
    ] = None
    tls_key: Annotated[
        Path | None, typer.Option("--tls-key", metavar="FILE", help="Its private key (PEM).")
    ] = None
    tls_ca: Annotated[
        Path | None,
        typer.Option(
            "--tls-ca",
            metavar="FILE",
            help="Whose certificates other replicas show. By default the system's.",
        ),
    ] = None
    key_file: Annotated[
        Path | None,
        typer.Option(
            "--key-file",
            metavar="FILE",
            help="The key that signs tokens; replicas share one. Made in the data directory if "
            "absent; with --database it must be there. By default DIR/authority.pem.",
        ),
    ] = None
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
    login: Annotated[
        bool | None,
        typer.Option(
            "--login/--no-login",
            help="Whether this start prints an administrator's login. By default the first start "
            "does, and every start that only this machine reaches.",
        ),
    ] = None
    otlp: Annotated[
        str | None,
        typer.Option(
            "--otlp",
            metavar="URL",
            help="Send spans to this OpenTelemetry collector (OTLP over HTTP) as well. By default "
            "as OTEL_EXPORTER_OTLP_ENDPOINT says.",
        ),
    ] = None
    snapshot_every: Annotated[
        int, typer.Option("--snapshot-every", min=10, max=10**9, hidden=True)
    ] = SNAPSHOT_EVERY


def check_options(options: UpOptions) -> ProcessOptions:
    """The process that was meant; a wrong or dangerous combination is refused."""
    from bailiwick.server.login_files import check_public_url, load_federation, load_providers

    return dataclasses.replace(
        _process_of(options),
        providers=load_providers(options.providers),
        federation=load_federation(options.providers),
        public_url=check_public_url(options.public_url),
        mail=mail_of(options),
        cell_keys=options.cell_keys,
    )


def _process_of(options: UpOptions) -> ProcessOptions:
    from bailiwick import InvalidValue
    from bailiwick.journal.fields import NAME
    from bailiwick.reconcile.this_node import can_be_node
    from bailiwick.server.keys import (
        AUTHORITY_NAME,
        CAPABILITY_NAME,
        load_key,
        load_or_create_key,
    )
    from bailiwick.server.process import ProcessOptions, is_loopback
    from bailiwick.services.authority import Authority
    from bailiwick.services.capabilities import new_seed, read_seed

    if options.database is not None and "://" not in options.database:
        raise InvalidValue("--database", "...", "postgresql://user@host/name")
    if options.database is not None and options.node:
        told = "nothing: with --database, machines are nodes by `bailiwick agent`"
        raise InvalidValue("--node", True, told)
    if options.node and not can_be_node():
        raise InvalidValue("--node", True, f"Linux: {NO_JOBS_HERE}")
    if options.name is not None:
        NAME.check("--name", options.name)
    tls, host = _tls_of(options), options.host or HOST
    alone = is_loopback(host)
    if not alone and tls is None:
        told = "an address of this machine alone, or --tls-cert and --tls-key"
        raise InvalidValue("--host", host, told)
    if options.database is not None and options.key_file is None:
        raise InvalidValue("--key-file", None, "a file, the same for every replica")
    folder = options.data_dir or DATA_DIR
    key_file = options.key_file or folder / AUTHORITY_NAME
    if options.database is not None:
        key = load_key(key_file)
    else:
        key = load_or_create_key(key_file, Authority.new_key)
    Authority.from_pem(key)  # refused here, before anything is made
    seed = read_seed(load_or_create_key(key_file.with_name(CAPABILITY_NAME), new_seed))
    default = alone and options.database is None
    return ProcessOptions(
        where=options.database or str(folder),
        folder=folder,
        authority=key,
        capability=seed,
        host=host,
        port=options.port,
        name=options.name,
        advertise=options.advertise,
        tls=tls,
        apart=_apart_of(options, folder=folder, key_file=key_file),
        clusters=_clusters_of(options.jobs_on or []),
        webhooks_private=options.private_webhooks,
        artifact_networks=_networks_of(options.artifact_network or []),
        is_node=_is_node(options, default),
        shows_login=default if options.login is None else options.login,
        demo=options.demo,
        otlp=options.otlp,
        snapshot_every=options.snapshot_every,
    )


def _is_node(options: UpOptions, default: bool) -> bool:
    """Whether this machine runs jobs; only such a one gives members its host."""
    from bailiwick import InvalidValue
    from bailiwick.reconcile.this_node import can_be_node

    found = default and can_be_node() if options.node is None else options.node
    if options.host_members and not found:
        raise InvalidValue("--host-members", True, "a machine that is a node (--node)")
    return found


def _apart_of(options: UpOptions, *, folder: Path, key_file: Path) -> Apart:
    from bailiwick.executors.local.modes import apart_of

    return apart_of(
        options.job_mode,
        trust_jobs=options.trust_jobs,
        job_path=options.job_path,
        hidden=(folder, *(() if key_file.parent == folder else (key_file.parent,))),
        host_members=options.host_members,
    )


def _networks_of(texts: list[str]) -> tuple[Network, ...]:
    from ipaddress import ip_network

    from bailiwick import InvalidValue

    try:
        return tuple(ip_network(text) for text in texts)
    except ValueError:
        told = "a network, such as 10.1.0.0/16"
        raise InvalidValue("--artifact-network", " ".join(texts), told) from None


def _clusters_of(texts: list[str]) -> tuple[ClusterPlan, ...]:
    from bailiwick import InvalidValue

    found = tuple(_cluster_of(text) for text in texts)
    if len({each.folder for each in found}) < len(found):
        raise InvalidValue("--jobs-on", " ".join(texts), "a folder of its own for each cluster")
    return found


def _cluster_of(text: str) -> ClusterPlan:
    from bailiwick import InvalidValue
    from bailiwick.executors.clusters import ClusterPlan
    from bailiwick.executors.registry import find_cluster

    named, _, folder = text.partition("=")
    word, _, where = named.partition("@")
    kind = find_cluster(word)
    if not folder:
        raise InvalidValue("--jobs-on", text, f"{kind.name}=DIR")
    if not where and not kind.is_available():
        raise InvalidValue("--jobs-on", word, f"a cluster ({kind.needs})")
    return ClusterPlan(kind.name, Path(folder).resolve(), where)


def _tls_of(options: UpOptions) -> Tls | None:
    from bailiwick import InvalidValue
    from bailiwick.server.port import Tls

    if options.tls_cert is None and options.tls_key is None:
        return None
    if options.tls_cert is None or options.tls_key is None:
        missing = "--tls-cert" if options.tls_cert is None else "--tls-key"
        raise InvalidValue(missing, None, "a file: a certificate and its key go together")
    tls = Tls(options.tls_cert, options.tls_key, options.tls_ca)
    tls.check()
    return tls


@command.command(help=HELP)
@with_options(UpOptions)
def up(options: UpOptions) -> None:
    """Run one server process."""
    from bailiwick import BailiwickError, InvalidValue
    from bailiwick.reconcile.this_node import can_be_node
    from bailiwick.server.process import run_process

    process = check_options(options)
    if options.node is None and options.database is None and not can_be_node():
        typer.echo(f"bailiwick: {NO_JOBS_HERE}", err=True)
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
