"""What follows from one try to reach a webhook: done, again later, or given up.

Rules:

- Any 2xx is done. 410 gives the event up at once, as the receiver asks; so does an answer that a
  mail server calls final.
- Anything else is tried again, after a pause that grows and is blurred, so that many do not come
  back in the same instant. A receiver that names a pause (``Retry-After``) gets it, within bounds.
- After so many tries an event is a dead letter, and the next one follows. Nothing is forgotten: a
  dead letter can be replayed.

>>> plan_after(Answered(204), tries=1, now_ms=0, chance=0.0)
Delivered()
>>> plan_after(Answered(500), tries=1, now_ms=0, chance=0.0)
TryAgain(fault=<DeliveryFault.STATUS: 'status'>, at_ms=1000)
>>> plan_after(Answered(410), tries=1, now_ms=0, chance=0.0)
GivenUp(fault=<DeliveryFault.GONE: 'gone'>)
>>> plan_after(Answered(550, is_final=True), tries=1, now_ms=0, chance=0.0)
GivenUp(fault=<DeliveryFault.STATUS: 'status'>)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from bailiwick.vocab.apps import DeliveryFault

GONE: Final = 410


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPace:
    """How often is tried, and after which pauses."""

    tries_max: int = 8
    first_ms: int = 1_000
    factor: int = 4
    most_ms: int = 3_600_000

    def pause_ms(self, tries: int, chance: float) -> int:
        """How long to wait after so many tries; ``chance``, below 1, makes it up to half longer.

        >>> [RetryPace().pause_ms(tries, 0.0) for tries in (1, 2, 7, 50)]
        [1000, 4000, 3600000, 3600000]
        """
        grown: int = self.factor ** min(tries - 1, 20)
        plain = min(self.first_ms * grown, self.most_ms)
        return plain + int(plain * chance / 2)


@dataclass(frozen=True, slots=True)
class Answered:
    """The receiver said something."""

    status: int
    retry_after_s: int | None = None
    is_final: bool = False
    """Whether it will say the same however often it is asked."""


@dataclass(frozen=True, slots=True)
class NotReached:
    """It did not, or was not asked."""

    fault: DeliveryFault


SendOutcome: TypeAlias = Answered | NotReached


@dataclass(frozen=True, slots=True)
class Delivered:
    """It has the event."""


@dataclass(frozen=True, slots=True)
class TryAgain:
    """Not yet."""

    fault: DeliveryFault
    at_ms: int


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A dead letter."""

    fault: DeliveryFault


DeliveryStep: TypeAlias = Delivered | TryAgain | GivenUp


def plan_after(
    outcome: SendOutcome,
    *,
    tries: int,
    now_ms: int,
    chance: float,
    pace: RetryPace = RetryPace(),  # noqa: B008 - frozen
) -> DeliveryStep:
    """What follows from the last of so many tries."""
    fault = fault_of(outcome)
    if fault is None:
        return Delivered()
    is_final = isinstance(outcome, Answered) and outcome.is_final
    if is_final or fault is DeliveryFault.GONE or tries >= pace.tries_max:
        return GivenUp(fault)
    pause_ms = pace.pause_ms(tries, chance)
    if isinstance(outcome, Answered) and outcome.retry_after_s is not None:
        pause_ms = max(pause_ms, min(1_000 * outcome.retry_after_s, pace.most_ms))
    return TryAgain(fault, now_ms + pause_ms)


def fault_of(outcome: SendOutcome) -> DeliveryFault | None:
    """What was wrong, if anything."""
    if isinstance(outcome, NotReached):
        return outcome.fault
    if 200 <= outcome.status < 300:
        return None
    if outcome.status == GONE:
        return DeliveryFault.GONE
    is_redirect = 300 <= outcome.status < 400
    return DeliveryFault.REDIRECTED if is_redirect else DeliveryFault.STATUS
