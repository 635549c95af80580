"""The kernel: commands in, sealed records and answers out, one after the other.

Rules:

- A command is decided, and each of its events sealed and applied, before the next command is
  looked at. What it gives back must be made durable before anybody is answered.
- What a command leads to is sealed under its correlation id; what a tick does, under that of what
  brought it about (:mod:`.story`). The actor is always who sent the command.
- Time never goes back: a command told an earlier time than the last is decided as of the last.
  It does not leap either (:mod:`.fleet.clock`): such a command is refused, and nothing changed.
  Only where time is made up, as in a simulation, is every time believed.
- The same actor and key give the first answer again; with another command it is a conflict.
- An error before the first event changed nothing. One after it means that this kernel is lost:
  it refuses everything, and a new one is made from what was stored.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from bailiwick.journal.anchor import GENESIS, Anchor
from bailiwick.journal.chain import Chain
from bailiwick.journal.record import Context, Record
from bailiwick.kernel.answers import (
    Answer,
    Done,
    Granted,
    Queued,
    Refused,
    Remembered,
    TokenDenied,
    TokenGranted,
)
from bailiwick.kernel.codec import command_digest
from bailiwick.kernel.commands import Command, Envelope, Tick
from bailiwick.kernel.events import Event
from bailiwick.kernel.fleet.clock import check_step
from bailiwick.kernel.fleet.commands import Elect
from bailiwick.kernel.fleet.events import ClockRepaired, StateCheckpoint
from bailiwick.kernel.owner import FLEET
from bailiwick.kernel.slices import apply, decide, event_of
from bailiwick.kernel.snapshot import FORMAT_NUMBER, digest_of, encode
from bailiwick.kernel.spelling import Body
from bailiwick.kernel.state import State
from bailiwick.kernel.story.book import NO_COURSE
from bailiwick.kernel.story.courses import course_of
from bailiwick.kernel.trust.events import TokenIssued, TokenRefused
from bailiwick.kernel.trust.tokens import as_told
from bailiwick.kernel.work.commands import Submit
from bailiwick.kernel.work.events import AdmissionApproved, AdmissionDenied, RequestQueued
from bailiwick.kernel.work.lease_events import RenewalDenied
from bailiwick.vocab.errors import Conflict, InvalidValue, InvariantBroken, Unavailable

_ANSWERS = (AdmissionApproved, AdmissionDenied, RequestQueued)


class Step(NamedTuple):
    """One event as it took effect: what a second state needs instead of reading its line."""

    event: Event
    at_ms: int
    answered: tuple[tuple[str, str], Remembered] | None = None
    """Under which actor and key it is remembered as an answer, and as which."""
    course: str = NO_COURSE
    """The record's correlation id."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer, and the lines that must be durable before it is given (none for a repeat)."""

    answer: Answer
    lines: tuple[bytes, ...]
    steps: tuple[Step, ...] = ()
    """What each line did."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state as bytes, their digest, and the record that says it."""

    data: bytes
    digest: str
    line: bytes
    step: Step


class Kernel:
    """One deterministic machine: a state, and the chain of records that made it."""

    def __init__(
        self, state: State | None = None, anchor: Anchor = GENESIS, *, simulated: bool = False
    ) -> None:
        self.state = State() if state is None else state
        self.chain = Chain(anchor)
        self._simulated = simulated
        self._told_ms = 0
        self._lost = False
        self.not_compared = 0
        """Checkpoints that a replay passed over: of another format, so they cannot be compared."""
        if self.chain.size != self.state.size:
            raise InvariantBroken(f"{self.chain.size} records, but a state of {self.state.size}")

    @property
    def is_lost(self) -> bool:
        """Whether a command failed half way: what is in memory is not what the journal says."""
        return self._lost

    def execute(self, envelope: Envelope, now_ms: int) -> Outcome:
        """Decide a command, seal what follows from it, and apply that."""
        if self._lost:
            raise Unavailable("the kernel", "an earlier command failed half way")
        now = self._believe(now_ms, elects=isinstance(envelope.command, Elect))
        digest = None
        if envelope.key is not None:
            digest = command_digest(envelope.command)
            known = self.state.answers.get(envelope.actor, envelope.key)
            if known is not None:
                return _repeated(envelope.key, known, digest)
        return self._run(envelope, digest, now)

    def checkpoint(self, actor: str, now_ms: int) -> Checkpoint:
        """The state as bytes, and the record that vouches for them."""
        now = self._believe(now_ms)
        data = encode(self.state)
        digest = sha256(data).hexdigest()
        sizes = len(self.state.leases), len(self.state.line.entries)
        event = StateCheckpoint(digest, *sizes, FORMAT_NUMBER)
        line = self._seal(event, Context(actor, "checkpoint"), event.body(), now=now)
        return Checkpoint(data, digest, line, Step(event, now, course="checkpoint"))

    def repair_clock(self, after_ms: int, *, actor: str, why: str) -> Outcome:
        """Set the journal's time to another, which no command can; nobody may lead meanwhile."""
        event = ClockRepaired(self.state.clock_ms, after_ms, why)
        if after_ms == event.before_ms or self.state.size == 0:
            raise InvalidValue("after_ms", after_ms, f"another time than {event.before_ms}")
        line = self._seal(event, Context(actor, "repair"), event.body(), now=after_ms)
        self._told_ms = after_ms
        return Outcome(
            Done(self.state.size - 1), (line,), (Step(event, after_ms, course="repair"),)
        )

    def _believe(self, now_ms: int, *, elects: bool = False) -> int:
        """The time as of which to decide, if it is not too far ahead."""
        clock_ms = self.state.clock_ms
        if not self._simulated:
            last_ms = max(self._told_ms, clock_ms)
            check_step(self.state.settings, last_ms=last_ms, now_ms=now_ms, elects=elects)
            self._told_ms = max(last_ms, now_ms)
        return max(now_ms, clock_ms)

    def _run(self, envelope: Envelope, digest: str | None, now: int) -> Outcome:
        lines: list[bytes] = []
        steps: list[Step] = []
        answer: Answer | None = None
        owner, context = FLEET, envelope.cause
        own = course = envelope.correlation_id
        is_tick = isinstance(envelope.command, Tick)
        stamp: Body = {} if digest is None else {"key": envelope.key, "command": digest}
        begun = self.chain.size
        try:
            for event in decide(self.state, envelope.command, now):
                body = event.body()
                found = (course_of(self.state, event) or own) if is_tick else own
                if event.owner != owner or found != course:
                    owner, course = event.owner, found
                    context = context.within(*owner, correlation_id=course)
                told = _answer_of(envelope.command, event, now, seq=self.chain.size)
                answers = told is not None and (answer is None or isinstance(answer, Granted))
                if answers:
                    answer = _joined(answer, told)
                    body |= stamp
                lines.append(self._seal(event, context, body, now=now))
                step = Step(event, now, course=course)
                if answers and stamp:
                    known = _answered(envelope.actor, body, told, at_ms=now)
                    step = Step(event, now, known, course)
                    _note_answer(self.state, step)
                steps.append(step)
        except BaseException:
            self._lost = self._lost or self.chain.size != begun
            raise
        return Outcome(Done(None) if answer is None else answer, tuple(lines), tuple(steps))

    def _seal(self, event: Event, context: Context, body: Body, *, now: int) -> bytes:
        """Seal the event, then apply it: a record that cannot be written changes nothing."""
        line = self.chain.seal(event.kind, context, at_ms=now, body=body).line
        apply(self.state, event, now, course=context.correlation_id)
        return line

    def replay(self, records: Iterable[Record], *, check_digests: bool = False) -> None:
        """Apply records that were sealed before and are verified; their chain must be this one."""
        for record in records:
            step = step_of(record)
            event = step.event
            if check_digests and isinstance(event, StateCheckpoint):
                self._check_digest(record.seq, event)
            take_step(self.state, step)

    def _check_digest(self, seq: int, told: StateCheckpoint) -> None:
        """Stop if the state is not what a record says; of another format it cannot be told."""
        if told.format != FORMAT_NUMBER:
            self.not_compared += 1
        elif (found := digest_of(self.state)) != told.digest:
            raise InvariantBroken(f"record {seq} says the state was {told.digest}, it is {found}")

    def follow(self, records: Iterable[Record], anchor: Anchor) -> list[Step]:
        """Replay verified records, stand at the anchor behind them, and tell what each did."""
        steps = []
        for record in records:
            steps.append(step_of(record))
            take_step(self.state, steps[-1])
        self.chain = Chain(anchor)
        if self.chain.size != self.state.size:
            raise InvariantBroken(f"{self.chain.size} records, but a state of {self.state.size}")
        return steps


def take_step(state: State, step: Step) -> None:
    """Have a step that another kernel took, or a record told of, take effect here."""
    apply(state, step.event, step.at_ms, course=step.course)
    _note_answer(state, step)


def _note_answer(state: State, step: Step) -> None:
    if step.answered is not None:
        settings, book = state.settings, state.answers
        book.put(*step.answered)
        book.forget(step.at_ms - settings.keys_ms, keep_max=settings.keys_max)


def step_of(record: Record) -> Step:
    """What a verified record did."""
    event, course = event_of(record), record.correlation_id
    if record.body.get("key") is None:
        return Step(event, record.at_ms, course=course)
    told = _answer_of(None, event, record.at_ms, seq=record.seq)
    body = dict(record.body)
    known = _answered(record.actor, body, told, at_ms=record.at_ms)
    return Step(event, record.at_ms, known, course)


def _answered(
    actor: str, body: Body, told: Answer | None, *, at_ms: int
) -> tuple[tuple[str, str], Remembered]:
    entry = Remembered(at_ms, str(body["command"]), Done(None) if told is None else told)
    return (actor, str(body["key"])), entry


def _repeated(key: str, known: Remembered, digest: str) -> Outcome:
    if known.command != digest:
        raise Conflict("idempotency key", key, "was used for another command", hint="use a new one")
    return Outcome(known.answer, ())


def _answer_of(command: Command | None, event: Event, now_ms: int, *, seq: int) -> Answer | None:
    """What an event answers, if it is the one that answers its command.

    A record that carries a key is such an event by that alone, so replaying needs no command.
    """
    if isinstance(command, Submit) and not isinstance(event, _ANSWERS):
        return None
    match event:
        case AdmissionApproved(entry_id=None):  # out of the line a tick starts them, for others
            return Granted(event.lease_ids, event.nodes, now_ms + event.request.ttl_ms)
        case AdmissionDenied() | RenewalDenied():
            return Refused(event.denied)
        case RequestQueued():
            return Queued(event.entry_id, event.denied)
        case TokenIssued():
            return _granted(event)
        case TokenRefused():
            return TokenDenied(as_told(event.reason))
        case _:
            return Done(seq)


def _granted(event: TokenIssued) -> TokenGranted:
    tenant, project = event.owner
    return TokenGranted(
        event.token_id,
        str(tenant),
        None if project is None else str(project),
        event.lease_id,
        event.generation,
        event.audience,
        event.operations,
        event.expires_ms,
    )


def _joined(before: Answer | None, told: Answer | None) -> Answer | None:
    """The answer so far; a gang in several records is one answer."""
    if isinstance(before, Granted) and isinstance(told, Granted):
        ids, nodes = before.lease_ids + told.lease_ids, before.nodes + told.nodes
        return Granted(ids, nodes, told.expires_ms)
    return told if before is None else before
