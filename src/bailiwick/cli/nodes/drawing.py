"""A node for people: a row of a list, or all that is told of one."""

from __future__ import annotations

import dataclasses
from time import time_ns
from typing import TYPE_CHECKING

import typer

from bailiwick.cli.nodes.health import health_rows
from bailiwick.cli.nodes.mig import spell_mig
from bailiwick.cli.shared.output import Columns, draw_details
from bailiwick.cli.shared.screen import make_console, owner, print_rows, printable
from bailiwick.phrases.amounts import milli, size
from bailiwick.phrases.times import age, clock, moment
from bailiwick.vocab.transitions import NodeMode

if TYPE_CHECKING:
    from bailiwick.wire.fleet import Node, NodeHolder

NOTE_CHARS = 40
"""So much of a node's first note is in a list."""


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


def _gpus_held(found: Node) -> str:
    """What leases that whoever asks may read hold of its devices."""
    return milli(sum(found.gpus_held_milli)) if found.gpus else "-"


def _held_by(found: Node) -> str:
    """Whose leases those are, each once."""
    return ", ".join(sorted({owner(h.tenant, h.project) for h in found.holders})) or "-"


def _noted(found: Node) -> str:
    """The first note, cut short, and how many more there are."""
    if not found.notes:
        return "-"
    first = printable(found.notes[0].text)
    first = first if len(first) <= NOTE_CHARS else f"{first[: NOTE_CHARS - 1]}…"
    more = len(found.notes) - 1
    return f"{first} (+{more})" if more else first


def _mode(found: Node) -> str:
    return f"{found.mode.value}, quarantined" if found.quarantined else found.mode.value


def _takes_leases(found: Node) -> str:
    """Whether, and why not where the mode does not tell it already."""
    now_ms = time_ns() // 1_000_000
    maintained, booked, until = found.maintained_ms, found.booked_ms, found.booked_until_ms
    if maintained is not None and (maintained <= now_ms or not found.takes_leases):
        return f"no, maintenance from {clock(maintained)}"
    if found.takes_leases:
        if booked is not None and until is not None and booked <= now_ms:
            return f"no, booked until {clock(until)}"
        later = (("booked", booked), ("maintenance", maintained))
        coming = [(at_ms, word) for word, at_ms in later if at_ms is not None]
        return f"yes, {min(coming)[1]} from {clock(min(coming)[0])}" if coming else "yes"
    is_gated = found.mode is NodeMode.ACCEPTING and not found.quarantined
    return f"no: {found.attestation.value}" if is_gated else "no"


NODES: Columns[Node] = Columns(
    (
        *("node", "mode", "takes leases", "heard", "gpus*", "free", "held"),
        *("cores", "memory", "storage", "notes"),
    ),
    lambda n: (
        n.node,
        _mode(n),
        _takes_leases(n),
        n.liveness,
        _gpus(n),
        _gpus_free(n),
        _gpus_held(n),
        milli(n.resources.cpu_milli),
        size(n.resources.mem_bytes),
        size(n.resources.block_bytes),
        _noted(n),
    ),
    lambda n: n.node,
    numbers=("free", "held", "cores", "memory", "storage"),
    empty="no node yet; bailiwick agent run on a machine makes it one",
)


WIDE: Columns[Node] = dataclasses.replace(
    NODES,
    headings=(*NODES.headings, "held by", "jobs kept apart", "agent"),
    row=lambda n: (*NODES.row(n), _held_by(n), n.job_mode or "-", n.agent_version or "-"),
)


def draw_node(found: Node) -> None:
    """All that is told of a node."""
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
        ("maintained", _maintained(found)),
        ("booked", _booked(found)),
        ("jobs kept apart", found.job_mode or "it runs no jobs"),
        ("members on the host", "yes" if found.host_members else "no"),
    ]
    if found.mig is not None:
        rows.append(("repartitioning", spell_mig(found.mig)))
    if found.health is not None:
        rows += health_rows(found.health)
    if found.agent_version is not None:
        rows.append(("agent", found.agent_version))
    if found.claims:
        proven = ", ".join(f"attested.{name}={value}" for name, value in found.claims.items())
        rows.append(("proven", proven))
    draw_details("node", found.node, rows=rows)
    if found.gpus:
        _draw_gpus(found)
    if found.holders:
        _draw_holders(found)
    if found.notes:
        _draw_notes(found)


def _maintained(found: Node) -> str:
    return "-" if found.maintained_ms is None else f"from {moment(found.maintained_ms)}"


def _booked(found: Node) -> str:
    if found.booked_ms is None or found.booked_until_ms is None:
        return "-"
    return f"from {moment(found.booked_ms)} until {clock(found.booked_until_ms)}"


def _free(found: Node) -> str:
    if found.free is None:
        return "not told"
    free = found.free
    told = f"{milli(free.cpu_milli)} cores, {size(free.mem_bytes)}"
    return f"{milli(free.gpu_milli)} GPUs, {told}" if found.gpus else told


def _gpu_rows(found: Node) -> list[tuple[str, ...]]:
    return [
        (
            str(index),
            gpu.model or "-",
            gpu.generation.value,
            size(gpu.vram_bytes),
            gpu.fabric or "-",
            "yes" if gpu.partitionable else "no",
            _of_device(found.gpus_free_milli, index),
            _of_device(found.gpus_held_milli, index),
            ", ".join(_share(each) for each in found.holders if index in each.devices) or "-",
        )
        for index, gpu in enumerate(found.gpus)
    ]


def _of_device(amounts: list[int], index: int) -> str:
    return milli(amounts[index]) if index < len(amounts) else "-"


def _share(held: NodeHolder) -> str:
    share = "" if held.device_milli == 1000 else f" {milli(held.device_milli)}"
    return f"{owner(held.tenant, held.project)} (lease-{held.lease_id}{share})"


def _draw_gpus(found: Node) -> None:
    heads = ("gpu", "model*", "generation", "memory", "fabric", "partitionable")
    print_rows(
        make_console(),
        (*heads, "free", "held", "held by*"),
        rows=_gpu_rows(found),
        title="GPUs",
        numbers=("gpu", "memory", "free", "held"),
    )


def _draw_holders(found: Node) -> None:
    rows = [
        (
            f"lease-{each.lease_id}",
            owner(each.tenant, each.project),
            each.lease_class.value,
            ", ".join(map(str, each.devices)) or "-",
            milli(each.cpu_milli),
            _until(each),
        )
        for each in found.holders
    ]
    heads = ("lease", "of", "class", "gpus", "cores", "until")
    print_rows(make_console(), heads, rows=rows, title="Leases", numbers=("cores",))
    for each in found.holders:
        if each.fenced:
            clear = f"bailiwick lease clear-fence lease-{each.lease_id}"
            typer.echo(f"nobody could say that nothing of lease-{each.lease_id} runs any more;")
            typer.echo(f"  once somebody has made sure: {clear}")
    more = found.leases - len(found.holders)
    if more:
        typer.echo(f"and {more} more: bailiwick lease list tells them")


def _until(each: NodeHolder) -> str:
    if each.fenced:
        return "fenced" if each.fenced_ms is None else f"fenced since {moment(each.fenced_ms)}"
    return "has to go" if each.ending else moment(each.expires_ms)


def _draw_notes(found: Node) -> None:
    rows = [
        (str(each.note_id), each.author, moment(each.until_ms), printable(each.text))
        for each in found.notes
    ]
    print_rows(make_console(), ("note", "by", "until", "text*"), rows=rows, title="Notes")
