"""Threads deliver events of many sources to one meter that crashes, for the oracle to judge.

Each source sends some events twice, some early, some with another payload under a known name, some
of an epoch that is over; it starts again without its outbox, so in a newer epoch. The meter commits
now and then, and dies before or after a commit: what was not committed never happened, so its lines
are dropped with it, and the source sends it again.
"""

from __future__ import annotations

import threading
from random import Random
from types import ModuleType
from typing import Any

from bailiwick.metering.share import ANY, Parts
from tests.support.core_races import often_interrupted

SENDERS, SHARES, EPOCHS, EVENTS = 4, 3, 3, 40


class Aggregator:
    """A meter fed by sources, and the oracle's journal of what became of each delivery."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.lock = threading.Lock()
        self.lines: list[str] = []
        self.ledger: list[Any] = []
        self.positions: dict[str, Any] = {}
        self.crashes = 0
        self.start()

    def start(self) -> None:
        """From what is durable, and from nothing else."""
        self.sources = self.module.Sources(self.positions.values(), remembered_max=65_536)
        self.parts = Parts()
        self.parts.accounts.extend([0] * 8)
        self.part_of: dict[int, int] = {}
        self.opened: dict[int, int] = {}
        self.pending: list[Any] = []
        self.said: list[str] = []
        self.accepted = {_key(each) for each in self.ledger}
        for event in self.ledger:
            self.apply(event)

    def deliver(self, event: Any) -> None:
        """One delivery, as it arrives."""
        answer = self.sources.offer(event)
        word = self.word(event, answer)
        self.said.append(f"{_line(event)} {word}")
        for number, each in enumerate(getattr(answer, "events", ())):
            if number:  # it was held back, and is delivered again
                self.said.append(f"{_line(each)} accepted")
            self.accepted.add(_key(each))
            self.pending.append(each)
            self.apply(each)
            self.tell(int(each.payload.split()[1]))

    def word(self, event: Any, answer: Any) -> str:
        """What the model calls it; to the model, what is held back did not arrive yet."""
        name = type(answer).__name__
        if name == "Conflicting" and _key(event) not in self.accepted:
            return "early"
        return {
            "Due": "accepted",
            "HeldBack": "early",
            "TooFarAhead": "early",
            "Duplicate": "duplicate",
            "Conflicting": "conflict",
            "Fenced": "fenced",
        }[name]

    def apply(self, event: Any) -> None:
        """What an accepted event does to the core."""
        kind, share, *rest = event.payload.decode().split()
        numbers = [ANY if word == "-" else int(word) for word in rest]
        part = self.part_of.get(int(share))
        if kind == "register" and part is None:
            opened = self.parts.open(1, holder=0, account=0, at_ms=numbers[0])
            self.part_of[int(share)], self.opened[int(share)] = opened, numbers[0]
        elif kind == "switch" and part is not None:
            expected, holder, account, at_ms = numbers
            self.parts.switch(part, expected, holder=holder, account=account, at_ms=at_ms)
        elif kind == "settle" and part is not None:
            holder, account = self.parts.holder[part], self.parts.account[part]
            self.parts.switch(part, ANY, holder=holder, account=account, at_ms=numbers[0])

    def tell(self, share: int) -> None:
        """What the core says of a share now."""
        part, parts = self.part_of.get(share), self.parts
        if part is not None:
            row = (parts.cursor_ms[part], parts.holder[part], parts.account[part])
            self.said.append(" ".join(map(str, ("share", share, self.opened[share], *row))))
        self.said += [f"counter {owner} {ticks}" for owner, ticks in enumerate(parts.accounts)]
        self.said.append(f"total {sum(parts.measured)}")

    def commit(self, *, dies: bool) -> None:
        """Effects and positions at once; then say so, unless the process dies first."""
        positions = self.sources.uncommitted()
        self.ledger += self.pending
        self.lines += self.said
        self.pending, self.said = [], []
        self.positions |= {each.source: each for each in positions}
        if dies:
            self.crash()
        else:
            self.sources.commit(positions)

    def crash(self) -> None:
        """Nothing that is not durable is left."""
        self.crashes += 1
        self.start()

    def place(self, source: str) -> tuple[int, int]:
        """Where a source is told to go on: never beyond what is durable."""
        if source not in self.positions:
            return 0, 0
        told: tuple[int, int] = (
            self.sources.epoch_of(source),
            self.sources.acknowledged_up_to(source),
        )
        durable = self.positions[source]
        assert told <= (durable.epoch, durable.next_sequence), "acknowledged before it was durable"
        return told


def _key(event: Any) -> tuple[str, int, int]:
    return event.source, event.epoch, event.sequence


def _line(event: Any) -> str:
    number = event.source.removeprefix("source-")
    return f"deliver {number} {event.epoch} {event.sequence} {event.payload.decode()}"


def some_payload(chance: Random, sender: int, turn: int) -> bytes:
    """An event about one of the sender's own shares; job numbers never come back."""
    share, at_ms, job = sender * SHARES + chance.randrange(SHARES), turn * 3, 2 + turn
    at_ms += chance.choice((0, 0, 1, 5, 20))
    owner, victim = chance.randrange(2, 8), max(0, job - chance.randrange(1, 4))
    return chance.choice(
        [
            f"register {share} {at_ms}",
            *[f"switch {share} 0 {job} {owner} {at_ms}"] * 3,
            *[f"switch {share} {victim} 0 0 {at_ms}"] * 2,
            f"switch {share} - {job} {owner} {at_ms}",
            f"switch {share} - 1 1 {at_ms}",
            f"settle {share} {at_ms}",
        ]
    ).encode()


def race_sources(module: ModuleType, seed: int) -> tuple[str, Aggregator]:
    """The journal of one race, and the meter at its end."""
    meter = Aggregator(module)
    errors: list[BaseException] = []

    def guarded(sender: int) -> None:
        try:
            send_all(meter, sender, Random(f"{seed} {sender}"))
        except BaseException as error:  # told by the thread that started this one
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(sender,)) for sender in range(SENDERS)]
    with often_interrupted():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]
    meter.commit(dies=False)
    return "\n".join([*meter.lines, ""]), meter


def send_all(meter: Aggregator, sender: int, chance: Random) -> None:
    """Every epoch of one source, until all but its last few events are durable."""
    name, turn = f"source-{sender}", 0
    for epoch in range(1, EPOCHS + 1):
        made = []
        for _ in range(EVENTS):
            turn += 1
            made.append(some_payload(chance, sender, turn))
        left = chance.randrange(3)
        for _ in range(40 * EVENTS):  # far more than it takes
            with meter.lock:
                durable = meter.place(name)
                if durable >= (epoch, EVENTS - left):
                    break
                following = durable[1] if durable[0] == epoch else 0
                send_one(meter, (name, epoch), made, following=following, chance=chance)
                roll = chance.random()
                if roll < 0.15:
                    meter.commit(dies=chance.random() < 0.1)
                elif roll < 0.16:
                    meter.crash()
        else:
            raise AssertionError(f"{name} does not get on in epoch {epoch}")


def send_one(
    meter: Aggregator,
    named: tuple[str, int],
    made: list[bytes],
    *,
    following: int,
    chance: Random,
) -> None:
    """Mostly the next few in order; sometimes what should never have been sent."""
    name, epoch = named
    event = meter.module.SourceEvent
    roll = chance.random()
    if roll < 0.05 and epoch > 1:
        meter.deliver(event(name, epoch - 1, chance.choice((0, 1, 500)), b"settle 0 1"))
    elif roll < 0.1:
        meter.deliver(event(name, epoch, chance.randrange(EVENTS), b"settle 0 7"))
    elif roll < 0.25:
        back = chance.randrange(max(1, following))
        meter.deliver(event(name, epoch, back, made[back]))
    else:
        numbers = list(range(following, min(len(made), following + chance.randrange(1, 5))))
        if chance.random() < 0.4:
            chance.shuffle(numbers)
        for number in numbers:
            meter.deliver(event(name, epoch, number, made[number]))
