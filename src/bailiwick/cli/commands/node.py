"""``bailiwick node``: machines of the fleet, and the modes in which an operator puts them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli.jobs.lists import FormatOption, JobFormat
from bailiwick.cli.nodes.chosen import Selector
from bailiwick.cli.nodes.drawing import NODES, WIDE, draw_node
from bailiwick.cli.nodes.health import add_health_verbs
from bailiwick.cli.nodes.metadata import add_node_verbs
from bailiwick.cli.nodes.mig import add_mig_verb
from bailiwick.cli.nodes.modes import Grace, NodeName, add_mode_verbs, grace_ms
from bailiwick.cli.shared.ask import Ask, noun, path_word, verb
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.output import Format
from bailiwick.cli.shared.session import load_session
from bailiwick.cli.trees.node_tree import show_topology
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.units import parse_bytes, parse_cores, parse_generation

if TYPE_CHECKING:
    pass

app = noun("Nodes: the machines of the fleet and their modes.")


def _path(node: str) -> dict[str, str]:
    return {"node": path_word("NODE", node)}


@verb(app, "list", lists=True)
def list_nodes(
    ask: Ask, *, selector: Selector = None, output: FormatOption = JobFormat.TABLE
) -> None:
    """The machines of the fleet, and how many GPUs are free for you and held; wide, by whom too.

    Example: bailiwick node list -l rack=r7 -o wide
    """
    from bailiwick.wire.actions.nodes import NODE_LIST

    is_wide = output is JobFormat.WIDE
    ask.output = Format.TABLE if is_wide else Format(output.value)
    columns = WIDE if is_wide else NODES
    ask.list(NODE_LIST, columns=columns, query={"label": selector or []})


@verb(app, "show")
def show_node(
    ask: Ask,
    node: NodeName,
    *,
    topology: Annotated[
        bool,
        typer.Option("--topology", help="As a tree: caches, memory, GPUs, and who holds them."),
    ] = False,
) -> None:
    """One machine: its mode, whether it is heard of, what it has, who holds it, and its notes.

    Example: bailiwick node show n1 --topology
    """
    from bailiwick.wire.actions.nodes import NODE_READ

    found = ask.client.send(NODE_READ, path=_path(node))
    if topology:
        show_topology(ask, found)
        return
    ask.printer.thing(found, name=found.node, draw=lambda: draw_node(found))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RegisterOptions:
    """What ``bailiwick node register`` can be told."""

    node: NodeName
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
        "generation": parse_generation("--gpu", generation),
        "vram_bytes": parse_bytes("--gpu", vram) if vram else 0,
    }
    return [device] * int(count)


@verb(app, "quarantine", changes=True)
def quarantine(
    ask: Ask,
    node: NodeName,
    *,
    reason: Annotated[str, typer.Argument(metavar="REASON", help="A short word for the record.")],
    grace: Grace = None,
) -> None:
    """Close a node that is not trusted, and evict what runs there.

    Example: bailiwick node quarantine n1 strange_firmware -y
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.nodes import NODE_QUARANTINE
    from bailiwick.wire.fleet import Quarantine

    ask.confirm(f"Quarantine {node}? What runs there is ended, guaranteed leases too.")
    span_ms = grace_ms(grace)
    given = {} if span_ms is None else {"grace_ms": span_ms}
    body = make_body(Quarantine, reason=reason, **given)
    told = f"node {node} is quarantined"
    ask.change(NODE_QUARANTINE, path=_path(node), body=body, told=told)


add_mode_verbs(app)
add_mig_verb(app)
add_health_verbs(app)
add_node_verbs(app)


@verb(app, "depart", changes=True)
def depart(ask: Ask, node: NodeName) -> None:
    """Say that a machine is gone; what ran there has ended.

    Example: bailiwick node depart n1 -y
    """
    from bailiwick.wire.actions.nodes import NODE_DEPART

    ask.confirm(f"Is {node} really gone? What ran there is taken to have ended.")
    ask.change(NODE_DEPART, path=_path(node), told=f"node {node} is gone")
