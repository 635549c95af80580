"""Work of nodes: parse, call one service, spell the answer."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated

from fastapi import Depends, Query

from bailiwick.executors.node.agents import FIRST, AgentWord
from bailiwick.executors.node.work import Seen, WorkRow, parse_seen
from bailiwick.executors.port import Unstarted
from bailiwick.kernel import Done as KernelDone
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import PathName
from bailiwick.server.http.spelling import spell_done
from bailiwick.services import work
from bailiwick.services.work import PrintedPart, WorkWish
from bailiwick.vocab.errors import Damaged, InvalidValue
from bailiwick.wire import node_work as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import INTEGER_MAX
from bailiwick.wire.words import JobModeWord

After = Annotated[int, Query(ge=0, le=INTEGER_MAX, description="The version that is known.")]
Life = Annotated[int, Query(ge=1, le=INTEGER_MAX, description="When the agent began, in ms.")]
Version = Annotated[
    str | None,
    Query(max_length=64, pattern=r"^[0-9A-Za-z.+!_-]+$", description="The agent's version."),
]
Mode = Annotated[JobModeWord | None, Query(description="How the agent keeps jobs apart.")]
Knows = Annotated[
    str | None,
    Query(
        max_length=2000,
        pattern=r"^[a-z_.,]+$",
        description="The words of a specification that the agent understands.",
    ),
]
WaitS = Annotated[int, Query(ge=0, le=20, description="How long to wait for a change.")]


def _agent_word(agent: Version = None, job_mode: Mode = None, knows: Knows = None) -> AgentWord:
    words = FIRST if knows is None else frozenset(knows.split(","))
    return AgentWord(agent, job_mode, words)


@answers("node.work")
async def read_work(
    asked: Here,
    node: PathName,
    *,
    life: Life,
    after: After = 0,
    wait_s: WaitS = 0,
    says: Annotated[AgentWord, Depends(_agent_word)],
) -> wire.NodeWork:
    """What is to run, end or be forgotten on a node; ``wait_s`` holds the answer back."""
    wish = WorkWish(node=node, life=life, after=after, wait_s=wait_s, says=says)
    ending = asked.house.parts.ending
    found = await work.read_work(asked, asked.desk, wish=wish, ending=ending)
    terms = [wire.LeaseTerm(lease_id=i, left_ms=left) for i, left in found.terms.items()]
    items = [_item(row) for row in found.rows]
    return wire.NodeWork(node=node, version=found.version, items=items, terms=terms)


@answers("node.observe")
async def observe(asked: Changing, node: PathName, *, body: wire.WorkReport) -> Done:
    """What a node's agent saw of its jobs; told again it changes nothing."""
    await work.observe(
        asked, asked.desk, node=node, life=body.life, seen=lambda: [_seen(s) for s in body.seen]
    )
    kept = asked.house.parts.jobs
    if kept is not None:
        kept.wake()
    return spell_done(KernelDone(None))


@answers("node.output")
async def take_output(
    asked: Changing, node: PathName, *, body: wire.OutputReport
) -> wire.OutputTaken:
    """What jobs of a node printed, each from a byte on; the answer says where each goes on."""

    def parts() -> list[PrintedPart]:
        return [
            PrintedPart(each.lease_id, each.offset, _bytes(each.data), each.is_truncated)
            for each in body.pieces
        ]

    found = await work.take_output(asked, asked.desk, node=node, life=body.life, parts=parts)
    positions = [wire.OutputPosition(lease_id=i, next_offset=at) for i, at in found.items()]
    return wire.OutputTaken(node=node, positions=positions)


def _item(row: WorkRow) -> wire.WorkItem:
    return wire.WorkItem(
        lease_id=row.lease_id,
        wish=row.wish.value,
        spec=row.spec,
        warn_until_ms=row.warn_until_ms,
        output_bytes=row.output_bytes,
        is_unstarted=row.seen is not None and isinstance(row.seen.status, Unstarted),
    )


def _seen(told: wire.SeenJob) -> Seen:
    needs = {
        "running": ("pid", "start_ticks", "boot_id"),
        "exited": ("ended_ms",),
        "lost": ("reason",),
        "unstarted": ("fault",),
    }.get(told.state, ())
    for name in needs:
        if getattr(told, name) is None:
            raise InvalidValue(name, None, f"a value, of a job that is {told.state}")
    if told.state == "exited" and (told.code is None) == (told.signal is None):
        raise InvalidValue("code", told.code, "either a code or a signal")
    try:
        return parse_seen({**told.model_dump(), "note": told.note or ""})
    except Damaged as error:
        raise InvalidValue("seen", told.state, "what an agent can see") from error


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidValue("data", "(not shown)", "base64") from None
