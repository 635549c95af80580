"""MIG profiles of nodes: parse, call one service, spell the answer."""

from __future__ import annotations

from bailiwick.kernel import ChangeMig
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing
from bailiwick.server.http.foreseen import spell_mode
from bailiwick.server.http.params import PathName
from bailiwick.server.http.parsing import capacity_of
from bailiwick.server.http.spelling import spell_done
from bailiwick.services import mig
from bailiwick.wire.answers import Done
from bailiwick.wire.fleet import MigReport
from bailiwick.wire.foreseen import ModeSet
from bailiwick.wire.mig import MigWish


@answers("node.mig")
async def change_mig(asked: Changing, node: PathName, *, body: MigWish) -> ModeSet:
    """Empty a node, have its agent divide GPUs (or make them whole), and take it back.

    Everybody on the node goes, guaranteed leases too. A dry run tells who.
    """
    gpus, profiles = tuple(body.gpus), tuple(body.profiles)
    done, found = await mig.change_mig(
        asked, lambda: ChangeMig(node, gpus, profiles, body.grace_ms, body.wait_ms)
    )
    consequence = None if found is None else spell_mode(found)
    return ModeSet(answer="done", seq=done.seq, consequence=consequence)


@answers("node.mig_cancel")
async def cancel_mig(asked: Changing, node: PathName) -> Done:
    """Call it off. A node that was not empty yet takes work again; else it stays closed."""
    return spell_done(await mig.cancel_mig(asked, node))


@answers("node.mig_report")
async def report_mig(asked: Changing, node: PathName, *, body: MigReport) -> Done:
    """Say how a node's agent fared, and what its machine has now; the node takes work again."""
    told = body.inventory
    return spell_done(
        await mig.report_mig(
            asked,
            node,
            change_id=body.change_id,
            cause=body.cause,
            tell=lambda: None if told is None else capacity_of(told),
        )
    )
