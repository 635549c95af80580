"""The loop that has an operator's function answer what people ask its instances.

Rules:

- A question is taken and then answered. It is handed out once: if the replica dies between both,
  whoever asked is told that nobody answered, and nothing is done twice.
- Of one instance one question is answered at a time, the oldest first.
- A function that raises is an answer too: that it failed, and nothing of why. The log has the kind
  of error, for its words may be those that were asked.
- What was asked, and what was answered, is not logged.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from bailiwick.client import ClientError, Refusal
from bailiwick.client.http_client import Places
from bailiwick.operators.kit.answers import reply
from bailiwick.operators.kit.connections import Connections
from bailiwick.operators.kit.instance_kit import Kit
from bailiwick.operators.kit.logs import KitLog
from bailiwick.operators.kit.work_queue import WorkQueue
from bailiwick.vocab.errors import BailiwickError, ErrorCode
from bailiwick.wire.actions.instances import INSTANCE_CALL_ANSWER, INSTANCE_CALL_TAKE
from bailiwick.wire.instances import CallReply, CallWait, TakenCall

OnCall: TypeAlias = Callable[[TakenCall, Kit], CallReply]

FAILED: Final = reply(70, stderr="the operator could not answer; its log says more\n")
_WAIT_S: Final = 5
_LOOK_S: Final = 0.5
_AGAIN_S: Final = 5.0
"""After something that went wrong on the way."""


class CallLoop:
    """Takes questions of instances of which was heard, where its replica leads."""

    def __init__(
        self,
        on_call: OnCall,
        connections: Connections,
        *,
        home: Mapping[str, str],
        leads: Callable[[], bool],
        kit_of: Callable[[int], Kit | None],
        log: KitLog,
    ) -> None:
        self._on_call, self._connections, self._home = on_call, connections, home
        self._leads, self._kit_of, self._log = leads, kit_of, log
        self._queue, self._changed = WorkQueue(), threading.Condition()
        self._expected: set[int] = set()

    def hear(self, number: int) -> None:
        """Something was asked of this instance; the record of it comes just before the question."""
        with self._changed:
            self._expected.add(number)
        self.look_at((number,))

    def look_at(self, numbers: Iterable[int]) -> None:
        """Something may have been asked of these instances."""
        with self._changed:
            for number in numbers:
                self._queue.add(number, due=time.monotonic())
            self._changed.notify_all()

    def run(self, stop: threading.Event) -> None:
        """Go on until told to stop; what was begun is done."""
        while not stop.is_set():  # until told to stop
            number = self._next()
            if number is None:
                continue
            due = None
            try:
                while not stop.is_set() and self._leads() and self._answer_one(number):
                    pass  # bounded: a server lets so many wait, and each is handed out once
            except (ClientError, BailiwickError) as error:
                self._log.about(instance_id=number).failure("could not be asked", error)
                due = time.monotonic() + _AGAIN_S
            with self._changed:
                self._queue.put_back(number, due=due)

    def _next(self) -> int | None:
        with self._changed:
            found = self._queue.take(time.monotonic()) if self._leads() else None
            if found is None:
                self._changed.wait(_LOOK_S)
            return found

    def _answer_one(self, number: int) -> bool:
        """Take one question and answer it; whether there was one."""
        client, path = self._connections.client(), self._path(number)
        with self._changed:
            wait_s = _WAIT_S if number in self._expected else 0
            self._expected.discard(number)
        try:
            body = CallWait(wait_s=wait_s)
            call = client.send(INSTANCE_CALL_TAKE, body=body, path=path).call
        except Refusal as refusal:
            if refusal.problem.code is ErrorCode.NOT_FOUND:  # the instance is gone
                return False
            raise
        if call is None:
            return False
        log = self._log.about(instance_id=number, call_id=call.call_id)
        said = self._ask(call, log)
        try:
            client.send(INSTANCE_CALL_ANSWER, body=said, path={**path, "call_id": call.call_id})
        except Refusal as refusal:
            log.failure("came too late", refusal)
        else:
            told = {"verb": call.verb.value, "correlation_id": call.correlation_id}
            log.info("answered", principal=call.principal, exit_code=said.exit_code, **told)
        return True

    def _ask(self, call: TakenCall, log: KitLog) -> CallReply:
        try:
            kit = self._kit_of(call.instance_id)
            return FAILED if kit is None else self._on_call(call, kit)
        except Exception as error:  # of somebody else's function: anything
            # What it says may hold what was asked, which no log has.
            log.warning("could not answer", error=type(error).__name__)
            return FAILED

    def _path(self, number: int) -> Places:
        return {**self._home, "instance_id": number}
