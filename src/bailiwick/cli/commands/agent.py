"""``bailiwick agent``: what the machine under one's hands has, as the fleet would see it.

Rules:

- It reads and reports; it executes nothing. ``inventory`` and ``health`` talk to nobody, ``run`` to
  one server.
- A source that is missing is told in the report with its word; the command still ends with 0.
- Ends with 1 if the machine's own numbers cannot be understood, or ``health`` finds what fails it;
  with 2 on a wrong option.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bailiwick.agent.process import KEY_NAME, SOCKET_NAME, AgentOptions, run_agent
from bailiwick.cli import ExitCode
from bailiwick.cli.shared.flags import (
    HOST_MEMBERS,
    JOB_MODE,
    JOB_PATH,
    TRUST_JOBS,
    Output,
    OutputOption,
    with_options,
)
from bailiwick.phrases.amounts import plural, size

if TYPE_CHECKING:
    from rich.console import Console

    from bailiwick.agent.health.once import HealthLook
    from bailiwick.agent.machine.inventory import Inventory

_BLOCK_PATH: Final = typer.Option(
    "--block-path",
    metavar="DIR",
    help="The folder whose free space is offered as block storage.",
)
_HEALTH_LIMIT: Final = typer.Option(
    "--health-limit",
    metavar="NAME=NUMBER",
    help="A limit other than the usual one, such as disk_warn_milli=800; repeat it.",
)
_RUN_OPTIONS: Final[Mapping[str, Any]] = {
    "server": typer.Option(
        "--server", metavar="URL", envvar="BAILIWICK_SERVER", help="Whom to tell."
    ),
    "token_file": typer.Option(
        "--token-file", metavar="FILE", help="The node's token; a new one counts at once."
    ),
    "node": typer.Option("--node", metavar="NAME", help="Else the machine's own name."),
    "label": typer.Option(
        "--label",
        metavar="KEY=VALUE",
        help="A label of the node, such as rack=r12, segment=blue or region=eu; repeat it.",
    ),
    "once": typer.Option("--once", help="One report, one beat, one proof if asked, then end."),
    "ca_file": typer.Option(
        "--ca-file", metavar="FILE", help="Whom to trust for the server's name."
    ),
    "attest": typer.Option(
        "--attest", help="Prove which machine this is: by its TPM, or by a key file."
    ),
    "attest_state": typer.Option(
        "--attest-state",
        metavar="DIR",
        envvar="STATE_DIRECTORY",
        file_okay=False,
        help="Where the keys for that lie; made if absent, for this user alone.",
    ),
    "tpm": typer.Option(
        "--tpm",
        metavar="WAY",
        help="With tpm2: which TPM, as device:/dev/tpmrm0 (the default) or "
        "swtpm:host=127.0.0.1,port=2321.",
    ),
    "event_log": typer.Option(
        "--event-log",
        metavar="FILE",
        help="With tpm2: the firmware's log, if it is not where Linux has it.",
    ),
    "key_file": typer.Option(
        "--key-file",
        metavar="FILE",
        help=f"With ed25519: the key (PEM), made if absent. By default DIR/{KEY_NAME}.",
    ),
    "firmware": typer.Option(
        "--firmware",
        metavar="SHA256|FILE",
        help="With ed25519: the firmware to state, as its digest or as the file itself.",
    ),
    "mint": typer.Option(
        "--mint",
        help="With --attest: mint lease tokens here, with a key of this node's own, for work "
        f"that asks at DIR/{SOCKET_NAME}.",
    ),
    "run_jobs": typer.Option(
        "--run-jobs",
        help="Run the jobs that are placed on this node. They lie in DIR/jobs, and outlive it.",
    ),
    "job_mode": JOB_MODE,
    "trust_jobs": TRUST_JOBS,
    "job_path": JOB_PATH,
    "host_members": HOST_MEMBERS,
    "health": typer.Option(
        "--health/--no-health",
        help="Look what is wrong with the machine, and test it when the server says so.",
    ),
    "health_limit": _HEALTH_LIMIT,
    "block_path": _BLOCK_PATH,
}

app = typer.Typer(help="This machine as a node: its real inventory.", no_args_is_help=True)


@app.callback()
def agent() -> None:
    """This machine as a node: its real inventory."""


@app.command()
def inventory(
    *, block_path: Annotated[Path, _BLOCK_PATH] = Path("/"), output: OutputOption = Output.TABLE
) -> None:
    """Cores, memory, NUMA nodes, caches and GPUs of this machine, and what could not be read.

    Example: bailiwick agent inventory -o json
    """
    from bailiwick.agent.machine.inventory import judge, read_machine
    from bailiwick.agent.report import plain_of
    from bailiwick.agent.words import Unreadable
    from bailiwick.cli.shared.screen import make_console

    try:
        found = judge(read_machine(block_path))
    except Unreadable as error:
        typer.echo(f"bailiwick: {error}", err=True)
        raise typer.Exit(ExitCode.FAULT) from None
    if output is Output.JSON:
        typer.echo(json.dumps(plain_of(found), indent=2))
        return
    show_inventory(make_console(), found)


@app.command()
def health(
    *,
    burn_in: Annotated[
        bool, typer.Option("--burn-in", help="Also have each idle GPU compute for some seconds.")
    ] = False,
    health_limit: Annotated[list[str] | None, _HEALTH_LIMIT] = None,
    block_path: Annotated[Path, _BLOCK_PATH] = Path("/"),
    output: OutputOption = Output.TABLE,
) -> None:
    """What is wrong with this machine: GPUs, links and disks, against the limits.

    One look: heat only warns, and what a driver reported before is not known. Ends with 1 if
    something fails the machine.

    Example: bailiwick agent health --burn-in
    """
    from bailiwick.agent.health.limits import limits_given
    from bailiwick.agent.health.once import look_once
    from bailiwick.cli.shared.screen import make_console
    from bailiwick.vocab.health import HealthLevel

    limits = limits_given(health_limit or ())
    found = look_once(block_path, limits, burn_in=burn_in)
    if output is Output.JSON:
        typer.echo(json.dumps(found.plain(), indent=2))
    else:
        show_health(make_console(), found)
    if any(each.level is HealthLevel.FAIL for each in found.findings):
        raise typer.Exit(ExitCode.FAULT)


def show_health(console: Console, found: HealthLook) -> None:
    """One look at a machine, as a person reads it."""
    from bailiwick.cli.shared.screen import print_rows

    rows = [
        (
            each.level.value,
            each.check.value,
            "-" if each.gpu is None else str(each.gpu),
            str(each.value),
            str(each.limit),
            str(each.code or "-"),
            each.check.human_summary(),
        )
        for each in found.findings
    ]
    if rows:
        names = ("level", "check", "gpu", "value", "limit", "code", "which means*")
        print_rows(console, names, rows=rows, numbers=("gpu", "value", "limit", "code"))
    else:
        console.print("nothing is wrong")
    gpus = f"{plural(found.gpus, 'GPU')} ({found.state.human_summary()})"
    console.print(f"looked at {gpus}; burnt in: {found.burnt}")


@app.command()
@with_options(AgentOptions, _RUN_OPTIONS)
def run(options: AgentOptions) -> None:
    """Report this machine, that it lives and what leases use, and run its jobs, until a signal.

    Example: bailiwick agent run --server https://gpu.example:7077 --token-file node-token --ca-file
    ca.pem
    """
    if not run_agent(options, lambda text: typer.echo(f"bailiwick agent: {text}", err=True)):
        raise typer.Exit(ExitCode.UNREACHABLE)


def show_inventory(console: Console, found: Inventory) -> None:
    """The inventory as a person reads it."""
    from bailiwick.cli.shared.screen import print_rows

    print_rows(console, ("machine", found.host.name + "*"), rows=_machine_rows(found))
    if found.topology.numa_nodes:
        print_rows(
            console,
            ("node", "cpus*", "count", "memory", "gpus"),
            rows=_numa_rows(found),
            title="NUMA nodes",
            numbers=("node", "count", "memory"),
        )
    if found.topology.cache_domains:
        print_rows(
            console,
            ("cache", "id", "cpus*", "count", "size"),
            rows=_cache_rows(found),
            title="Cache domains",
            numbers=("id", "count", "size"),
        )
    if found.gpu_set.gpus:
        print_rows(
            console,
            ("gpu", "model*", "generation", "memory", "mig", "numa", "fabric", "pci", "uuid*"),
            rows=_gpu_rows(found),
            title="GPUs",
            numbers=("gpu", "memory"),
        )
    missing = [*_missing_rows(found)]
    if missing:
        print_rows(console, ("source", "state", "which means*"), rows=missing, title="Not read")


def _machine_rows(found: Inventory) -> Iterator[tuple[str, str]]:
    from bailiwick.phrases.amounts import milli

    host, limits = found.host, found.limits
    yield "system", f"{host.system} {host.kernel}, {host.arch}"
    cores = f"{milli(found.cpu_milli)} usable of {host.cpus}"
    if limits.cpu_milli is not None:
        cores += f" (control group: {milli(limits.cpu_milli)})"
    yield "cores", cores
    memory = f"{size(found.mem_bytes)} usable of {size(host.mem_bytes)}"
    if limits.mem_bytes is not None:
        memory += f" (control group: {size(limits.mem_bytes)})"
    yield "memory", memory
    yield "block storage", f"{size(host.block_free_bytes)} free under {host.block_path}"
    count = len(found.gpu_set.gpus)
    versions = (("driver", found.gpu_set.driver), ("CUDA", found.gpu_set.cuda))
    told = "".join(f", {name} {version}" for name, version in versions if version)
    yield "gpus", f"{count}{told}"


def _numa_rows(found: Inventory) -> Iterator[tuple[str, ...]]:
    from bailiwick.agent.machine.parse import spell_cpus

    for node in found.topology.numa_nodes:
        here = [str(gpu.index) for gpu in found.gpu_set.gpus if gpu.numa_node == node.index]
        cpus = spell_cpus(node.cpus) or "-"
        memory = size(node.mem_bytes) if node.mem_bytes else "-"
        yield str(node.index), cpus, str(len(node.cpus)), memory, ",".join(here) or "-"


def _cache_rows(found: Inventory) -> Iterator[tuple[str, ...]]:
    from bailiwick.agent.machine.parse import spell_cpus

    for domain in found.topology.cache_domains:
        number = "-" if domain.kernel_id is None else str(domain.kernel_id)
        kept = size(domain.size_bytes) if domain.size_bytes else "-"
        cpus = spell_cpus(domain.cpus)
        yield f"L{domain.level}", number, cpus, str(len(domain.cpus)), kept


def _gpu_rows(found: Inventory) -> Iterator[tuple[str, ...]]:
    for gpu in found.gpu_set.gpus:
        yield (
            str(gpu.index),
            gpu.model,
            gpu.generation.value,
            size(gpu.vram_bytes),
            gpu.mig_mode.value,
            "-" if gpu.numa_node is None else str(gpu.numa_node),
            gpu.fabric or "-",
            gpu.bus_id,
            gpu.uuid,
        )


def _missing_rows(found: Inventory) -> Iterator[tuple[str, str, str]]:
    from bailiwick.agent.words import InventorySource, SourceState

    for note in found.sources:
        # Without GPUs there is no PCI device to ask for; that is told once, by NVML.
        quiet = note.source is InventorySource.PCI and note.state is SourceState.NO_DEVICES
        if note.state is not SourceState.READ and not quiet:
            yield note.source.value, note.state.value, note.state.human_summary()
    for unread in found.gpu_set.unread:
        yield f"gpu {unread.index}", unread.fault.value, unread.fault.human_summary()
