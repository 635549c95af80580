"""``bailiwick node``: machines of the fleet, and the modes in which an operator puts them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli.commands.node_standing import add_node_verbs
from bailiwick.cli.jobs.lists import FormatOption, JobFormat
from bailiwick.cli.shared.ask import Ask, noun, path_word, verb
from bailiwick.cli.shared.completions import complete_nodes
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.output import Columns, Format, draw_details
from bailiwick.cli.shared.screen import make_console, print_rows
from bailiwick.cli.shared.session import load_session
from bailiwick.cli.trees.node_tree import show_topology
from bailiwick.phrases.amounts import milli, size
from bailiwick.phrases.times import age
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.units import parse_bytes, parse_cores, parse_span
from bailiwick.vocab.words import HardwareGeneration

if TYPE_CHECKING:
    from bailiwick.wire.fleet import Gpu, Node

app = noun("Nodes: the machines of the fleet and their modes.")

_NodeName = Annotated[
    str, typer.Argument(metavar="NODE", help="Its name.", autocompletion=complete_nodes)
]
_Grace = Annotated[
    str | None,
    typer.Option("--grace", metavar="SPAN", help="How long work may still take, such as 5m."),
]


def _gpus(found: Node) -> str:
    """What devices a node has, counted by generation and model."""
    counts: dict[str, int] = {}
    for gpu in found.gpus:
        name = gpu.model or gpu.generation.value
        counts[name] = counts.get(name, 0) + 1
    return ", ".join(f"{count} × {name}" for name, count in counts.items()) or "-"


def _gpus_free(found: Node) -> str:
    """What of its devices whoever asks could be given now."""
    if found.free is None or not found.gpus:
        return "-"
    return milli(found.free.gpu_milli)


def _mode(found: Node) -> str:
    return f"{found.mode.value}, quarantined" if found.quarantined else found.mode.value


def _takes_leases(found: Node) -> str:
    """Whether, and why not where the mode does not tell it already."""
    if found.takes_leases:
        return "yes"
    is_gated = found.mode is NodeMode.ACCEPTING and not found.quarantined
    return f"no: {found.attestation.value}" if is_gated else "no"


NODES: Columns[Node] = Columns(
    ("node", "mode", "takes leases", "heard", "gpus*", "free", "cores", "memory", "storage"),
    lambda n: (
        n.node,
        _mode(n),
        _takes_leases(n),
        n.liveness,
        _gpus(n),
        _gpus_free(n),
        milli(n.resources.cpu_milli),
        size(n.resources.mem_bytes),
        size(n.resources.block_bytes),
    ),
    lambda n: n.node,
    numbers=("free", "cores", "memory", "storage"),
    empty="no node yet; bailiwick agent run on a machine makes it one",
)


def _path(node: str) -> dict[str, str]:
    return {"node": path_word("NODE", node)}


WIDE: Columns[Node] = dataclasses.replace(
    NODES,
    headings=(*NODES.headings, "jobs kept apart", "agent"),
    row=lambda n: (*NODES.row(n), n.job_mode or "-", n.agent_version or "-"),
)


@verb(app, "list", lists=True)
def list_nodes(ask: Ask, *, output: FormatOption = JobFormat.TABLE) -> None:
    """The machines of the fleet, and how many GPUs are free for you; wide, with their agents too.

    Example: bailiwick node list -o wide
    """
    from bailiwick.wire.actions.nodes import NODE_LIST

    is_wide = output is JobFormat.WIDE
    ask.output = Format.TABLE if is_wide else Format(output.value)
    ask.list(NODE_LIST, columns=WIDE if is_wide else NODES)


@verb(app, "show")
def show_node(
    ask: Ask,
    node: _NodeName,
    *,
    topology: Annotated[
        bool,
        typer.Option("--topology", help="As a tree: caches, memory, GPUs, and who holds them."),
    ] = False,
) -> None:
    """One machine: its mode, whether it is heard of, and what it has.

    Example: bailiwick node show n1 --topology
    """
    from bailiwick.wire.actions.nodes import NODE_READ

    found = ask.client.send(NODE_READ, path=_path(node))
    if topology:
        show_topology(ask, found)
        return
    ask.printer.thing(found, name=found.node, draw=lambda: _draw(found))


def _draw(found: Node) -> None:
    heard = "never" if found.last_seen_ms is None else f"{age(found.last_seen_ms)} ago"
    rows = [
        ("mode", _mode(found)),
        ("takes leases", _takes_leases(found)),
        ("heard of", f"{heard} ({found.liveness})"),
        ("attestation", found.attestation.value),
        ("cores", milli(found.resources.cpu_milli)),
        ("memory", size(found.resources.mem_bytes)),
        ("block storage", size(found.resources.block_bytes)),
        ("gpus", _gpus(found)),
        ("free for you now", _free(found)),
        ("labels", ", ".join(found.labels) or "-"),
        ("of them an operator's", ", ".join(found.labels_given) or "-"),
        ("jobs kept apart", found.job_mode or "it runs no jobs"),
        ("members on the host", "yes" if found.host_members else "no"),
    ]
    if found.agent_version is not None:
        rows.append(("agent", found.agent_version))
    if found.claims:
        proven = ", ".join(f"attested.{name}={value}" for name, value in found.claims.items())
        rows.append(("proven", proven))
    draw_details("node", found.node, rows=rows)
    if found.gpus:
        draw_gpus(found.gpus)


def _free(found: Node) -> str:
    if found.free is None:
        return "not told"
    free = found.free
    told = f"{milli(free.cpu_milli)} cores, {size(free.mem_bytes)}"
    return f"{milli(free.gpu_milli)} GPUs, {told}" if found.gpus else told


def _gpu_rows(gpus: list[Gpu]) -> list[tuple[str, ...]]:
    return [
        (
            str(index),
            gpu.model or "-",
            gpu.generation.value,
            size(gpu.vram_bytes),
            gpu.fabric or "-",
            "yes" if gpu.partitionable else "no",
        )
        for index, gpu in enumerate(gpus)
    ]


def draw_gpus(gpus: list[Gpu]) -> None:
    """The devices of a node."""
    print_rows(
        make_console(),
        ("gpu", "model*", "generation", "memory", "fabric", "partitionable"),
        rows=_gpu_rows(gpus),
        title="GPUs",
        numbers=("gpu", "memory"),
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RegisterOptions:
    """What ``bailiwick node register`` can be told."""

    node: _NodeName
    cpus: Annotated[str, typer.Option("--cpus", help="Cores.")] = "0"
    mem: Annotated[str, typer.Option("--mem", help="Memory, such as 512GiB.")] = "0B"
    block: Annotated[str, typer.Option("--block", help="Block storage.")] = "0B"
    gpu: Annotated[
        list[str] | None,
        typer.Option("--gpu", metavar="[N x]GENERATION[:VRAM]", help="GPUs; repeat it."),
    ] = None
    label: Annotated[
        list[str] | None, typer.Option("--label", metavar="KEY=VALUE", help="Repeat it.")
    ] = None
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Decide the same, change nothing.")] = (
        False
    )
    output: Annotated[
        Format, typer.Option("--output", "-o", help="A table for people, or the wire model.")
    ] = Format.TABLE


@app.command("register")
@with_options(RegisterOptions)
def register_node(options: RegisterOptions) -> None:
    """Have a machine join by hand; bailiwick agent run does it from what is really there.

    Example: bailiwick node register n9 --cpus 64 --mem 512GiB --gpu 8xnvidia_hopper:80GiB --label
    zone=a
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.nodes import NODE_REGISTER
    from bailiwick.wire.fleet import NewNode

    resources = {
        "cpu_milli": parse_cores("--cpus", options.cpus),
        "mem_bytes": parse_bytes("--mem", options.mem),
        "block_bytes": parse_bytes("--block", options.block),
    }
    gpus = [device for text in options.gpu or () for device in parse_devices(text)]
    body = make_body(
        NewNode, node=options.node, resources=resources, gpus=gpus, labels=options.label or []
    )
    ask = Ask(load_session(), output=options.output, dry_run=options.dry_run)
    ask.change(NODE_REGISTER, body=body, told=f"node {options.node} is there")


def parse_devices(text: str) -> list[dict[str, Any]]:
    """Devices as they are typed.

    >>> parse_devices("2xnvidia_hopper:80GiB")[1]["vram_bytes"]
    85899345920
    """
    count, times, rest = text.partition("x")
    if not times or not count.strip().isdigit():
        count, rest = "1", text
    generation, _, vram = rest.strip().partition(":")
    if not 1 <= int(count) <= 16:
        raise InvalidValue("--gpu", text, "1 to 16 devices")
    device = {
        "generation": HardwareGeneration.from_word(generation),
        "vram_bytes": parse_bytes("--gpu", vram) if vram else 0,
    }
    return [device] * int(count)


# -- modes -----------------------------------------------------------------------------------


def _change_mode(ask: Ask, node: str, mode: str, *, question: str = "", **more: Any) -> None:
    from bailiwick.cli.outlook.consequences import draw_mode
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.nodes import NODE_MODE
    from bailiwick.wire.fleet import ModeChange

    given = {name: value for name, value in more.items() if value is not None}
    body = make_body(ModeChange, mode=mode, **given)
    path, told = _path(node), f"node {node} is {mode}"
    if question:
        ask.foresee(NODE_MODE, path=path, body=body, tell=draw_mode)
        ask.confirm(question)
    ask.change(NODE_MODE, path=path, body=body, told=told, tell=draw_mode)


def _grace_ms(grace: str | None) -> int | None:
    return None if grace is None else parse_span("--grace", grace)


@verb(app, "drain", changes=True)
def drain(
    ask: Ask,
    node: _NodeName,
    *,
    reason: Annotated[
        str,
        typer.Option(
            "--reason",
            help="operator_drain, maintenance_window, operator_mig_profile_change or "
            "policy_violation_recovery.",
        ),
    ] = "operator_drain",
    grace: _Grace = None,
) -> None:
    """Take no new work there, and evict what runs, with a warning and a grace period.

    Example: bailiwick node drain n1 --reason maintenance_window --grace 10m
    """
    question = f"Drain {node}? What runs there is warned, then ended."
    grace_ms = _grace_ms(grace)
    _change_mode(ask, node, "draining", question=question, reason=reason, grace_ms=grace_ms)


@verb(app, "cordon", changes=True)
def cordon(ask: Ask, node: _NodeName) -> None:
    """Take no new work there; what runs may end by itself.

    Example: bailiwick node cordon n1
    """
    _change_mode(ask, node, "draining", evict=False)


@verb(app, "maintenance", changes=True)
def maintenance(ask: Ask, node: _NodeName) -> None:
    """Say that a drained (or fenced) node is being worked on.

    Example: bailiwick node maintenance n1
    """
    _change_mode(ask, node, "maintenance")


@verb(app, "clear-fence", changes=True)
def clear_fence(ask: Ask, node: _NodeName) -> None:
    """Say that a node whose teardown failed was looked after; it goes to maintenance first.

    Example: bailiwick node clear-fence n1 -y
    """
    from bailiwick.wire.actions.nodes import NODE_READ

    mode = ask.client.send(NODE_READ, path=_path(node)).mode
    if mode is not NodeMode.FENCE_LOST:
        raise InvalidValue("NODE", node, f"a node that is fence_lost; it is {mode.value}")
    ask.confirm(f"Has somebody made sure that nothing is left running on {node}?")
    _change_mode(ask, node, "maintenance")


@verb(app, "return", changes=True)
def return_node(ask: Ask, node: _NodeName) -> None:
    """Say that the work on a node is over; uncordon then lets leases on it.

    Example: bailiwick node return n1
    """
    _change_mode(ask, node, "returning")


@verb(app, "uncordon", changes=True)
def uncordon(ask: Ask, node: _NodeName) -> None:
    """Let new leases on a node again.

    Example: bailiwick node uncordon n1
    """
    _change_mode(ask, node, "accepting")


@verb(app, "quarantine", changes=True)
def quarantine(
    ask: Ask,
    node: _NodeName,
    *,
    reason: Annotated[str, typer.Argument(metavar="REASON", help="A short word for the record.")],
    grace: _Grace = None,
) -> None:
    """Close a node that is not trusted, and evict what runs there.

    Example: bailiwick node quarantine n1 strange_firmware -y
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.nodes import NODE_QUARANTINE
    from bailiwick.wire.fleet import Quarantine

    ask.confirm(f"Quarantine {node}? What runs there is ended, guaranteed leases too.")
    grace_ms = _grace_ms(grace)
    given = {} if grace_ms is None else {"grace_ms": grace_ms}
    body = make_body(Quarantine, reason=reason, **given)
    told = f"node {node} is quarantined"
    ask.change(NODE_QUARANTINE, path=_path(node), body=body, told=told)


add_node_verbs(app)


@verb(app, "depart", changes=True)
def depart(ask: Ask, node: _NodeName) -> None:
    """Say that a machine is gone; what ran there has ended.

    Example: bailiwick node depart n1 -y
    """
    from bailiwick.wire.actions.nodes import NODE_DEPART

    ask.confirm(f"Is {node} really gone? What ran there is taken to have ended.")
    ask.change(NODE_DEPART, path=_path(node), told=f"node {node} is gone")
