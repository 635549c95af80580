"""Calls of instances and of shared runtimes: parse, call one service, spell the answer."""

from __future__ import annotations

from dataclasses import asdict

from bailiwick.apps.calls import CallAnswer, CallQuestion
from bailiwick.kernel import Done as KernelDone
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Changing, Here
from bailiwick.server.http.params import PathNumber
from bailiwick.server.http.routes.instances import Place
from bailiwick.server.http.routes.shared import Part
from bailiwick.server.http.spelling import spell_done
from bailiwick.services.apps import calls
from bailiwick.services.apps.calls import CallWish
from bailiwick.services.apps.instances import InstancePlace
from bailiwick.services.apps.shared import calls as shared_calls
from bailiwick.services.apps.shared.calls import QueueWish
from bailiwick.services.apps.shared.parts import PartPlace
from bailiwick.services.caller import Deferred
from bailiwick.store.calls.rows import CallRow
from bailiwick.vocab.apps import CallVerb
from bailiwick.wire import instances as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.shared import NewSharedSubmit


@answers("instance_queue.submit")
async def call_to_submit(asked: Changing, place: Place, *, body: wire.NewCall) -> wire.CallDone:
    """Ask an instance to take work into its queue, and wait for what it says.

    The same request under the same ``Idempotency-Key`` asks nothing anew: it goes on waiting. After
    ``within_s`` the answer is ``call_unanswered``.
    """
    return await _ask(asked, place, verb=CallVerb.SUBMIT, body=body)


@answers("instance_queue.read")
async def call_to_read(asked: Changing, place: Place, *, body: wire.NewCall) -> wire.CallDone:
    """Ask an instance what is in its queue; as to submit, but it changes nothing there."""
    return await _ask(asked, place, verb=CallVerb.READ, body=body)


@answers("instance_queue.cancel")
async def call_to_cancel(asked: Changing, place: Place, *, body: wire.NewCall) -> wire.CallDone:
    """Ask an instance to take work out of its queue; as to submit."""
    return await _ask(asked, place, verb=CallVerb.CANCEL, body=body)


@answers("instance_call.read")
async def read_call(asked: Here, place: Place, *, call_id: PathNumber) -> wire.InstanceCall:
    """How far a call has come, and its answer; what was asked is told to nobody."""
    found = await calls.read(asked, asked.calls, place=place, call_id=call_id)
    return _call(asked, found)


@answers("instance_call.take")
async def take_call(asked: Changing, place: Place, *, body: wire.CallWait) -> wire.CallTaken:
    """Take the oldest question that nobody took: for the instance's operator.

    It is handed out once. Whoever takes it and does not answer leaves it unanswered.
    """
    found = await calls.take(asked, asked.calls, place=place, wait_s=body.wait_s)
    return wire.CallTaken(call=None if found is None else _question(found))


@answers("instance_call.answer")
async def answer_call(
    asked: Changing, place: Place, *, call_id: PathNumber, body: wire.CallReply
) -> Done:
    """Answer a question that one took: once, and before its time is over."""

    def told() -> CallAnswer:
        return CallAnswer(body.exit_code, body.stdout, body.stderr, body.is_truncated)

    await calls.answer(asked, asked.calls, place=place, call_id=call_id, told=told)
    return spell_done(KernelDone(None))


# -- of shared runtimes -----------------------------------------------------------------------


@answers("shared_queue.submit")
async def call_runtime_to_submit(
    asked: Changing, part: Part, *, body: NewSharedSubmit
) -> wire.CallDone:
    """Ask a shared runtime, for a project that has a part, to take work; wait for what it says.

    Refused with ``shared_runtime_refused`` and the word for it: ``not_attached``, ``no_policy``.
    """
    where = QueueWish(body.owner, body.queue)
    return await _ask_runtime(asked, part, where, wish=_wish(CallVerb.SUBMIT, body))


@answers("shared_queue.read")
async def call_runtime_to_read(asked: Changing, part: Part, *, body: wire.NewCall) -> wire.CallDone:
    """Ask a shared runtime about the project's own work."""
    return await _ask_runtime(asked, part, QueueWish(), wish=_wish(CallVerb.READ, body))


@answers("shared_queue.cancel")
async def call_runtime_to_cancel(
    asked: Changing, part: Part, *, body: wire.NewCall
) -> wire.CallDone:
    """Ask a shared runtime to drop work of the project."""
    return await _ask_runtime(asked, part, QueueWish(), wish=_wish(CallVerb.CANCEL, body))


async def _ask_runtime(
    asked: Asked, part: PartPlace, where: QueueWish, *, wish: Deferred[CallWish]
) -> wire.CallDone:
    found = await shared_calls.ask(asked, asked.calls, part=part, where=where, wish=wish)
    return _done(asked, found)


# -- spelling --------------------------------------------------------------------------------


async def _ask(
    asked: Asked, place: InstancePlace, *, verb: CallVerb, body: wire.NewCall
) -> wire.CallDone:
    found = await calls.ask(asked, asked.calls, place=place, wish=_wish(verb, body))
    return _done(asked, found)


def _wish(verb: CallVerb, body: wire.NewCall) -> Deferred[CallWish]:
    def wish() -> CallWish:
        question = CallQuestion(tuple(body.argv), body.stdin)
        within_ms = body.within_s * 1_000
        return CallWish(verb=verb, question=question, within_ms=within_ms, wait_s=body.wait_s)

    return wish


def _done(asked: Asked, found: CallRow | None) -> wire.CallDone:
    if found is None:
        return wire.CallDone(answer="done", seq=None, call=None)
    return wire.CallDone(answer="done", seq=found.call_id, call=_call(asked, found))


def _call(asked: Asked, found: CallRow) -> wire.InstanceCall:
    said = found.answer
    return wire.InstanceCall(
        call_id=found.call_id,
        instance_id=found.place.instance_id,
        verb=found.verb,
        phase=found.phase(asked.clock.now_ms()),
        principal=found.principal,
        correlation_id=found.correlation_id,
        asked_ms=found.asked_ms,
        expires_ms=found.expires_ms,
        reply=None
        if said is None
        else wire.CallReply(
            exit_code=said.exit_code,
            stdout=said.stdout,
            stderr=said.stderr,
            is_truncated=said.is_truncated,
        ),
    )


def _question(found: CallRow) -> wire.TakenCall:
    assert found.question is not None  # it was not answered yet
    part = found.question.part
    return wire.TakenCall(
        call_id=found.call_id,
        **found.place._asdict(),
        verb=found.verb,
        principal=found.principal,
        correlation_id=found.correlation_id,
        argv=list(found.question.argv),
        stdin=found.question.stdin,
        expires_ms=found.expires_ms,
        part=None if part is None else wire.CallPart(**asdict(part)),
    )
