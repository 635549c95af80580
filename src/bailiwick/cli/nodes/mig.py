"""``bailiwick node mig``: have a node's GPUs divided into MIG instances, or made whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.nodes.modes import Grace, NodeName, grace_ms
from bailiwick.cli.shared.ask import Ask, path_word, verb
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.wire.mig import NodeMig


def add_mig_verb(nodes: typer.Typer) -> None:
    """What ``bailiwick node`` does with MIG profiles."""
    verb(nodes, "mig", changes=True)(change_mig)


def change_mig(
    ask: Ask,
    node: NodeName,
    *,
    gpu: Annotated[
        list[int] | None,
        typer.Option("--gpu", metavar="N", min=0, max=15, help="Its number; repeat it."),
    ] = None,
    profiles: Annotated[
        str | None,
        typer.Option(
            "--profiles", metavar="NAME,...", help="The instances of each GPU; none: whole again."
        ),
    ] = None,
    grace: Grace = None,
    cancel: Annotated[
        bool, typer.Option("--cancel", help="Call off what was begun there.")
    ] = False,
) -> None:
    """Empty a node, have its agent divide GPUs into MIG instances, and take it back.

    Everybody there goes, guaranteed leases too. Without --profiles the GPUs are whole again.

    Example: bailiwick node mig n1 --gpu 0 --profiles 3g.71gb,4g.71gb --grace 10m --dry-run

    Example: bailiwick node mig n1 --cancel
    """
    from bailiwick.cli.outlook.consequences import draw_mode
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.nodes import NODE_MIG, NODE_MIG_CANCEL
    from bailiwick.wire.mig import MigWish

    path = {"node": path_word("NODE", node)}
    if cancel:
        if gpu or profiles or grace:
            raise InvalidValue("--cancel", True, "no --gpu, --profiles or --grace beside it")
        ask.change(NODE_MIG_CANCEL, path=path, told=f"{node} is not repartitioned")
        return
    if not gpu:
        raise InvalidValue("--gpu", "nothing", "the number of a GPU; node show tells them")
    wanted = [name.strip() for name in (profiles or "").split(",") if name.strip()]
    given = {"gpus": gpu, "profiles": wanted, "grace_ms": grace_ms(grace)}
    body = make_body(MigWish, **given)
    ask.foresee(NODE_MIG, path=path, body=body, tell=draw_mode)
    ask.confirm(f"Empty {node} and repartition its GPUs? What runs there is warned, then ended.")
    told = f"{node} is emptied, then its GPUs are repartitioned"
    ask.change(NODE_MIG, path=path, body=body, told=told, tell=draw_mode)


def spell_mig(found: NodeMig | None) -> str:
    """How far a change of MIG profiles has come, in a few words."""
    if found is None:
        return "-"
    which = ", ".join(str(gpu) for gpu in found.gpus)
    wanted = f"GPU {which} into {', '.join(found.profiles) or 'one whole'}"
    if found.cause is not None:
        return f"{wanted}: failed, {found.cause.human_summary()}"
    return f"{wanted}: {found.phase.value}"
