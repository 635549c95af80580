"""``bailiwick agent``: what the machine under one's hands has, as the fleet would see it.

Rules:

- It reads and reports; it executes nothing. ``inventory`` talks to nobody, ``run`` to one server.
- A source that is missing is told in the report with its word; the command still ends with 0.
- Ends with 1 if the machine's own numbers cannot be understood, 2 on a wrong option.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.agent_run import AgentOptions, BlockPathOption, run_agent
from bailiwick.cli.bench import Output, with_options
from bailiwick.cli.journal_screen import OutputOption
from bailiwick.cli.screen import size

if TYPE_CHECKING:
    from rich.console import Console

    from bailiwick.agent.inventory import Inventory

app = typer.Typer(help="This machine as a node: its real inventory.", no_args_is_help=True)


@app.callback()
def agent() -> None:
    """This machine as a node: its real inventory."""


@app.command()
def inventory(
    *, block_path: BlockPathOption = Path("/"), output: OutputOption = Output.TABLE
) -> None:
    """Cores, memory, NUMA nodes, caches and GPUs of this machine, and what could not be read."""
    from bailiwick.agent.inventory import judge, read_machine
    from bailiwick.agent.report import plain_of
    from bailiwick.agent.words import Unreadable
    from bailiwick.cli.screen import make_console

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
@with_options(AgentOptions)
def run(options: AgentOptions) -> None:
    """Report this machine, that it lives and what leases use, until a signal; runs nothing."""
    run_agent(options)


def show_inventory(console: Console, found: Inventory) -> None:
    """The inventory as a person reads it."""
    from bailiwick.cli.screen import print_rows

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
    from bailiwick.cli.screen import milli

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
    from bailiwick.agent.parse import spell_cpus

    for node in found.topology.numa_nodes:
        here = [str(gpu.index) for gpu in found.gpu_set.gpus if gpu.numa_node == node.index]
        cpus = spell_cpus(node.cpus) or "-"
        memory = size(node.mem_bytes) if node.mem_bytes else "-"
        yield str(node.index), cpus, str(len(node.cpus)), memory, ",".join(here) or "-"


def _cache_rows(found: Inventory) -> Iterator[tuple[str, ...]]:
    from bailiwick.agent.parse import spell_cpus

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
    from bailiwick.agent.words import Source, SourceState

    for note in found.sources:
        # Without GPUs there is no PCI device to ask for; that is told once, by NVML.
        quiet = note.source is Source.PCI and note.state is SourceState.NO_DEVICES
        if note.state is not SourceState.READ and not quiet:
            yield note.source.value, note.state.value, note.state.human_summary()
    for unread in found.gpu_set.unread:
        yield f"gpu {unread.index}", unread.fault.value, unread.fault.human_summary()
