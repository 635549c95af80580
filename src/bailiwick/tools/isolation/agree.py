"""Three checkers of one policy, held against each other: Alloy, the search, and the kernel.

Rules:

- All three get the same policy and the same machines, and answer one question: does a rule break?
  Alloy and the search ask it of the model (:mod:`bailiwick.isolation.model`), the explorer of the
  kernel's own code.
- Each is asked of the scheduler as it should be and of every fault of the case. A fault that one of
  them does not find, or a break that only one of them sees, is a row on which they do not agree.
- Of the scheduler as it should be, Alloy says that it holds if no history breaks a rule and one
  step from any sound state keeps every rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.model.commands import CheckScope
from bailiwick.isolation.model.faults import Fault, parse_fault
from bailiwick.isolation.model.search import search
from bailiwick.isolation.model.shape import FleetShape
from bailiwick.isolation.model.world import ModelWorld, make_world
from bailiwick.tools.isolation.check import make_model, run_commands
from bailiwick.tools.isolation.explore import explore_kernel

JOBS = 3
"""Jobs in the model: a claim that is not counted needs three to be seen."""

SEARCH_DEPTH = 8
SCOPE = CheckScope(jobs=JOBS, steps=3, fault_steps=6)


class Verdict(StrEnum):
    """What a checker says of a policy and a scheduler."""

    HOLDS = "holds"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class AgreeCase:
    """A policy, its machines, and the faults that it shows."""

    policy: str
    faults: tuple[str, ...]
    shape: FleetShape = FleetShape(hosts=1)  # noqa: RUF009  frozen
    depth: int = 2
    """Commands in a row that the kernel gets."""
    fault_depth: int | None = None
    """The same for faults, where they need more."""

    def world(self) -> ModelWorld:
        """The world that all three look at."""
        return make_world(parse_policy(self.policy), shape=self.shape)


@dataclass(frozen=True, slots=True)
class AgreeRow:
    """What the checkers say of one scheduler under one policy."""

    policy: str
    fault: str | None
    alloy: Verdict | None
    """None if it was not asked."""
    search: Verdict
    kernel: Verdict

    @property
    def agrees(self) -> bool:
        """Whether all who were asked say the same, and what must be said."""
        wanted = Verdict.HOLDS if self.fault is None else Verdict.BROKEN
        return {self.alloy or wanted, self.search, self.kernel} == {wanted}


def agree_table(case: AgreeCase, *, with_alloy: bool = True) -> Iterator[AgreeRow]:
    """The rows of a case: the scheduler as it should be, then each fault."""
    world = case.world()
    told = _alloy(world, case.faults) if with_alloy else {}
    for name in (None, *case.faults):
        fault = None if name is None else _fault(name)
        depth = case.depth if fault is None else case.fault_depth or case.depth
        found = search(world, jobs=_jobs(fault), depth=SEARCH_DEPTH, fault=fault)
        explored = explore_kernel(world, depth=depth, fault=fault)
        yield AgreeRow(
            case.policy,
            name,
            told.get(name),
            _verdict(found.history is not None),
            _verdict(bool(explored.broken)),
        )


def _alloy(world: ModelWorld, faults: tuple[str, ...]) -> dict[str | None, Verdict]:
    model = make_model(world, SCOPE)
    names = {"holds", "one_step", *(f"fault_{name}" for name in faults)}
    commands = [each for each in model.commands if each.name in names]
    assert len(commands) == len(names), "every fault of a case can be seen in its world"
    broken: dict[str | None, bool] = {}
    for found in run_commands(world, model, commands=commands):
        fault = found.command.fault
        key = None if fault is None else fault.name
        broken[key] = broken.get(key, False) or found.is_found
    return {key: _verdict(each) for key, each in broken.items()}


def _jobs(fault: Fault | None) -> int:
    """Two are enough for most, and a third makes the search long."""
    return JOBS if fault is not None and fault.name == "claim_uncounted" else JOBS - 1


def _fault(name: str) -> Fault:
    found = parse_fault(name)
    assert found is not None, name
    return found


def _verdict(is_broken: bool) -> Verdict:
    return Verdict.BROKEN if is_broken else Verdict.HOLDS
