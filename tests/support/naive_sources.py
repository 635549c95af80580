"""The aggregator of ``proofs/sources.v``, equation by equation, and a buffer in front of it.

Nothing is ever forgotten here and nothing is bounded, so what it answers is what the proofs are
about. Where :class:`bailiwick.metering.sources.Sources` has a bound, a test must allow for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bailiwick.metering.sources import SourceEvent

Key = tuple[str, int, int]


@dataclass
class NaiveSources:
    """What was accepted, by key; the place of each source; what waits."""

    accepted: list[SourceEvent] = field(default_factory=list)
    known: dict[Key, bytes] = field(default_factory=dict)
    place: dict[str, tuple[int, int]] = field(default_factory=dict)
    waiting: dict[Key, SourceEvent] = field(default_factory=dict)

    def judge(self, event: SourceEvent) -> str:
        """The model's answer, in the model's words."""
        known = self.known.get((event.source, event.epoch, event.sequence))
        if known is not None:
            return "duplicate" if known == event.payload else "conflict"
        epoch, following = self.place.get(event.source, (0, 0))
        is_next = event.sequence == following if event.epoch == epoch else event.sequence == 0
        if event.epoch >= epoch and is_next:
            return "accepted"
        return "fenced" if event.epoch < epoch else "early"

    def receive(self, event: SourceEvent) -> str:
        """One step of the model."""
        answer = self.judge(event)
        if answer == "accepted":
            self.accepted.append(event)
            self.known[event.source, event.epoch, event.sequence] = event.payload
            self.place[event.source] = (event.epoch, event.sequence + 1)
        return answer

    def deliver(self, event: SourceEvent) -> tuple[str, list[SourceEvent]]:
        """The answer, and all that is accepted by it: what waits is delivered again."""
        before = len(self.accepted)
        answer = self.receive(event)
        while "accepted" in [self.receive(each) for each in self.waiting.values()]:
            pass  # each round accepts one more of what waits, or is the last
        return answer, self.accepted[before:]
