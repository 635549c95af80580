"""The whole search for a way around a policy: which rounds, and what came of each.

Rules:

- First whether the rules hold: with one or two jobs in histories of any length, with more in those
  of a few steps. Then, for each excuse of the policy, who meets by it. Last the search itself is
  tried: schedulers that are wrong on purpose must be found wrong, or nothing was proven.
- Every round is bounded in states, and there are so many rounds at most.
- It tells how far it is, every way as it is found, and each round when it is over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from bailiwick.isolation.model.excuses import Excuse, excuses
from bailiwick.isolation.model.faults import Fault, faults_shown
from bailiwick.isolation.model.history import ModelHistory
from bailiwick.isolation.model.search import Looked, SearchResult, seek
from bailiwick.isolation.model.world import ModelWorld
from bailiwick.isolation.policy import Spread

JOBS_MAX: Final = 3
STEPS_MAX: Final = 12
EXCUSES_MAX: Final = 8
"""Excuses that are looked into; of a policy with more, the first of them."""
FEW: Final = 2
"""Jobs whose histories are searched to their end."""
_FAULT_STEPS: Final = 7
_ANY_STEPS: Final = 1_000


class WayQuestion(StrEnum):
    """What a round asks."""

    RULES = "rules"
    """Whether a history breaks a rule."""
    EXCUSE = "excuse"
    """Whether an exception, or a rule's hours, let somebody meet."""
    FAULT = "fault"
    """Whether a scheduler that is wrong on purpose is found wrong."""


@dataclass(frozen=True, slots=True)
class Round:
    """One question, with so many jobs and in histories of so many steps; without, of any length."""

    question: WayQuestion
    jobs: int
    steps: int | None
    says: str
    excuse: Excuse | None = None
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class RoundGoing:
    """How far a round is."""

    number: int
    round: Round
    looked: Looked


@dataclass(frozen=True, slots=True)
class RoundOver:
    """What came of a round."""

    number: int
    round: Round
    states: int
    is_whole: bool
    """Whether all states that any number of steps leads to were looked at."""
    history: ModelHistory | None

    @property
    def is_way(self) -> bool:
        """Whether it found a way around the policy: faults are there to be found."""
        return self.history is not None and self.round.question is not WayQuestion.FAULT

    @property
    def is_missed(self) -> bool:
        """Whether it did not find what is there."""
        return self.history is None and self.round.question is WayQuestion.FAULT


WayItem: TypeAlias = RoundGoing | RoundOver


def plan_rounds(world: ModelWorld, *, jobs: int, steps: int) -> tuple[Round, ...]:
    """The rounds of a search, in their order."""
    few = min(jobs, FEW)
    found = [Round(WayQuestion.RULES, few, None, f"every rule, {_jobs(few)}, any number of steps")]
    if jobs > FEW:
        says = f"every rule, {_jobs(jobs)}, {steps} steps"
        found.append(Round(WayQuestion.RULES, jobs, steps, says))
    for each in excuses(world.policy)[:EXCUSES_MAX]:
        several = min(jobs, max(few, _crowd(world)))
        limit = None if several <= FEW else steps
        found.append(Round(WayQuestion.EXCUSE, several, limit, each.asks, excuse=each))
    for fault in faults_shown(world, jobs=few):
        says = f"whether the seeded fault {fault.name} is found"
        found.append(Round(WayQuestion.FAULT, few, _FAULT_STEPS, says, fault=fault))
    return tuple(found)


def _jobs(count: int) -> str:
    return "1 job" if count == 1 else f"{count} jobs"


def _crowd(world: ModelWorld) -> int:
    """Jobs of which a rule of numbers speaks, and one more."""
    return max((r.most + 1 for r in world.policy.rules if isinstance(r, Spread)), default=0)


def seek_ways(
    world: ModelWorld, rounds: tuple[Round, ...], *, states_max: int
) -> Iterator[WayItem]:
    """Go through the rounds; each is bounded in states by itself."""
    for number, each in enumerate(rounds, 1):
        yield RoundGoing(number, each, Looked(0, 0))
        told = seek(
            world,
            jobs=each.jobs,
            depth=_ANY_STEPS if each.steps is None else each.steps,
            fault=each.fault,
            judged=None if each.excuse is None else each.excuse.without,
            states_max=states_max,
        )
        for item in told:
            match item:
                case Looked():
                    yield RoundGoing(number, each, item)
                case SearchResult():
                    yield RoundOver(number, each, item.states, item.is_whole, item.history)
