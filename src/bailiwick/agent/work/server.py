"""The server as the agent's jobs see it: what is to be so, what was seen, what was printed."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, NoReturn

from bailiwick.agent.heartbeat import Away
from bailiwick.agent.server import HttpServer
from bailiwick.agent.work.wishes import PrintedPiece, PulledWork, Superseded, WorkItem
from bailiwick.client.bodies import make_body
from bailiwick.client.errors import Misunderstood, Refusal, Unreachable
from bailiwick.executors.node.agents import AgentWord
from bailiwick.executors.node.work import Seen, Wish, spell_seen
from bailiwick.vocab.errors import ErrorCode
from bailiwick.wire import node_work
from bailiwick.wire.actions import nodes

HELD_BACK_S = 40.0
"""How long an answer may take that is held back on purpose."""


class HttpWork:
    """One connection of an agent that began at ``life`` and says this of itself; ``with`` it."""

    def __init__(self, http: HttpServer, *, node: str, life: int, says: AgentWord) -> None:
        self._http, self._node, self._life, self._says = http, node, life, says

    def __enter__(self) -> HttpWork:
        return self

    def __exit__(self, *raised: object) -> None:
        self._http.__exit__(*raised)

    def work(self, *, after: int, wait_s: int) -> PulledWork:
        """What changed after a version; held back until something has."""
        query: dict[str, Any] = {"life": self._life, "after": after, "wait_s": wait_s}
        query |= {"agent": self._says.version, "job_mode": self._says.job_mode}
        query |= {"knows": ",".join(sorted(self._says.knows))}
        try:
            told = self._http.client().send(nodes.NODE_WORK, path={"node": self._node}, query=query)
        except (Unreachable, Misunderstood) as error:
            raise Away(str(error)) from None
        except Refusal as refusal:
            _judge(refusal)
        items = [
            WorkItem(
                each.lease_id,
                Wish(each.wish),
                each.spec,
                each.warn_until_ms,
                each.output_bytes,
                each.is_unstarted,
            )
            for each in told.items
        ]
        terms = {each.lease_id: each.left_ms for each in told.terms}
        return PulledWork(told.version, items, terms)

    def observe(self, seen: Sequence[Seen]) -> None:
        """Tell what was seen."""
        rows = [{k: v for k, v in spell_seen(each).items() if v is not None} for each in seen]
        body = make_body(node_work.WorkReport, life=self._life, seen=rows)
        try:
            self._http.client().send(nodes.NODE_OBSERVE, path={"node": self._node}, body=body)
        except (Unreachable, Misunderstood) as error:
            raise Away(str(error)) from None
        except Refusal as refusal:
            _judge(refusal)

    def send_output(self, pieces: Sequence[PrintedPiece]) -> dict[int, int | None]:
        """Tell what was printed; where to go on, or nowhere."""
        rows = [
            {
                "lease_id": each.lease_id,
                "offset": each.offset,
                "data": base64.b64encode(each.data).decode(),
                "is_truncated": each.is_truncated,
            }
            for each in pieces
        ]
        body = make_body(node_work.OutputReport, life=self._life, pieces=rows)
        try:
            told = self._http.client().send(nodes.NODE_OUTPUT, path={"node": self._node}, body=body)
        except (Unreachable, Misunderstood) as error:
            raise Away(str(error)) from None
        except Refusal as refusal:
            _judge(refusal)
        return {each.lease_id: each.next_offset for each in told.positions}


def _judge(refusal: Refusal) -> NoReturn:
    """Another counts, or it is tried again: jobs that run are worth the patience."""
    if refusal.problem.code is ErrorCode.CONFLICT:
        raise Superseded from None
    raise Away(str(refusal)) from None
