"""``python -m bailiwick.tools.isolation.searcher``: searches one policy, in a process of its own.

Rules:

- What is wished for comes as one line of JSON on standard input; what is found goes out as lines of
  JSON, each an event and its data. It reads and writes nothing else.
- It gives way to everybody else on the machine, and is bounded in memory, in computing time and by
  the clock. When whoever asked goes, its input ends, and it ends with it.
- The last line says that it is over, and why. Without one it was ended from outside.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.model.history import ModelHistory, ModelState, job_name
from bailiwick.isolation.model.story import tell_steps, tell_violation, whose_jobs
from bailiwick.isolation.model.ways import (
    Round,
    RoundGoing,
    RoundOver,
    plan_rounds,
    seek_ways,
)
from bailiwick.isolation.model.world import ModelWorld, make_world
from bailiwick.isolation.trace import TraceStep

NICE: Final = 19
MEMORY_BYTES_MAX: Final = 2 * 2**30
CPU_S_SPARE: Final = 30
"""Above the time by the clock: a second guard, which nothing that still runs can pass."""
WISH_BYTES_MAX: Final = 2**20
TELL_S: Final = 0.2
"""Between two words about how far it is."""

_WAYS: Final = "{} ways around it were found."
_ENDS: Final = {
    "none": "No way around it was found, and every scheduler that is wrong on purpose was.",
    "cut": "No way around it was found before the time was over: a part was not searched.",
    "bounded": "No way around it was found as far as was searched: a round reached its bound.",
    "missed": "This proves nothing: a scheduler that is wrong on purpose was not found.",
    "idle": "This proves nothing: in so small a world no rule refuses anybody.",
}


@dataclass(frozen=True, slots=True)
class SearchWish:
    """What is to be searched, and how far."""

    text: str
    jobs: int
    steps: int
    states_max: int
    time_s: float


@dataclass(slots=True)
class _Told:
    """What has been told so far."""

    rounds: tuple[Round, ...]
    over: list[RoundOver] = field(default_factory=list)
    is_cut: bool = False

    @property
    def ways(self) -> int:
        return sum(each.is_way for each in self.over)

    def sentence(self) -> str:
        """How it ended, in words."""
        trials = [each for each in self.over if each.round.fault is not None]
        if self.ways:
            return "1 way around it was found." if self.ways == 1 else _WAYS.format(self.ways)
        if self.is_cut:
            return _ENDS["cut"]
        if any(each.is_missed for each in trials):
            return _ENDS["missed"]
        if not trials:
            return _ENDS["idle"]
        bound = any(not each.is_whole and each.round.steps is None for each in self.over)
        return _ENDS["bounded"] if bound else _ENDS["none"]


def main() -> None:
    """Search as the line on standard input says."""
    wish = SearchWish(**json.loads(sys.stdin.buffer.readline(WISH_BYTES_MAX)))
    _bound(wish)
    threading.Thread(target=_end_with_asker, daemon=True).start()
    for event, data in search_events(wish):
        line = json.dumps({"event": event, "data": data}, ensure_ascii=True)
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    os._exit(0)  # at once: the thread that listens would be waited for


def _bound(wish: SearchWish) -> None:
    os.nice(NICE)
    cpu_s = int(wish.time_s) + CPU_S_SPARE
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _end_with_asker() -> None:
    while os.read(sys.stdin.fileno(), 4096):  # nothing comes but the end
        pass
    os._exit(0)


def search_events(wish: SearchWish) -> Iterator[tuple[str, dict[str, Any]]]:
    """Everything that is told of a search: how far it is, what it found, and how it ended."""
    began_s = time.monotonic()
    world = make_world(parse_policy(wish.text))
    told = _Told(plan_rounds(world, jobs=wish.jobs, steps=wish.steps))
    spoke_s, number = 0.0, 0
    for item in seek_ways(world, told.rounds, states_max=wish.states_max):
        now_s = time.monotonic()
        match item:
            case RoundGoing():
                if item.number != number or now_s - spoke_s >= TELL_S:
                    spoke_s, number = now_s, item.number
                    yield "progress", _progress(told, item)
                if now_s - began_s > wish.time_s:
                    told.is_cut = True
                    break
            case RoundOver():
                told.over.append(item)
                if item.is_way and item.history is not None:
                    yield "found", spell_story(world, item, history=item.history)
    if not told.ways:
        yield "nothing", {"sentence": told.sentence(), **_searched(world, told)}
    reason = "time_over" if told.is_cut else "complete"
    yield "ended", {"reason": reason, "ways": told.ways, "sentence": told.sentence()}


def _progress(told: _Told, item: RoundGoing) -> dict[str, Any]:
    done = sum(each.states for each in told.over)
    return {
        "round": item.number,
        "rounds": len(told.rounds),
        "question": item.round.question.value,
        "sentence": f"Looking at {item.round.says}.",
        "jobs": item.round.jobs,
        "steps": item.looked.steps,
        "states": done + item.looked.states,
    }


def _searched(world: ModelWorld, told: _Told) -> dict[str, Any]:
    """How far was looked."""
    nodes, seats, sorts = len(world.sites), len(world.seats), len(world.subjects)
    left = f" ({world.left_out} sorts of work are left out)" if world.left_out else ""
    return {
        "world": f"{nodes} nodes, {seats} seats, {sorts} sorts of work{left}",
        "states": sum(each.states for each in told.over),
        "rounds": [
            {
                "question": each.round.question.value,
                "sentence": f"{each.round.says}: {_result(each)}",
                "jobs": each.round.jobs,
                "states": each.states,
                "is_whole": each.is_whole,
                "is_found": each.history is not None,
            }
            for each in told.over
        ],
    }


def _result(over: RoundOver) -> str:
    if over.history is not None:
        return f"found, in {len(over.history.steps)} steps"
    if over.is_missed:
        return "NOT FOUND"
    far = "all that can be" if over.is_whole else "not all that can be"
    return f"nothing in {over.states} states, {far}"


# -- a story -----------------------------------------------------------------------------------


def spell_story(world: ModelWorld, over: RoundOver, *, history: ModelHistory) -> dict[str, Any]:
    """A way around the policy: whose jobs, on which nodes, step by step, and which rule."""
    whose = whose_jobs(history)
    nodes = {seat.name: seat.node for seat in world.seats}
    lines = {rule.name: rule.line for rule in world.policy.rules}
    excuse, fault = over.round.excuse, over.round.fault
    excused = "" if excuse is None else f", but {excuse.says}"
    return {
        "question": over.round.question.value,
        "sentence": _because(over),
        "excuse": None if excuse is None else {"rule": excuse.rule, "line": excuse.line or None},
        "fault": None if fault is None else fault.name,
        "nodes": [site.node for site in world.sites],
        "jobs": [
            {
                "job": job_name(index),
                "who": whose[job_name(index)],
                "tenant": subject.tenant,
                "project": subject.project,
            }
            for index, subject in enumerate(history.subjects)
        ],
        "steps": [
            _step(number, step, told, whose=whose, nodes=nodes, state=state)
            for number, (step, told, state) in enumerate(
                zip(history.steps, tell_steps(history), history.states[1:], strict=True), 1
            )
        ],
        "broken": [
            {
                "rule": each.rule,
                "line": lines.get(each.rule) or None,
                "kind": None if each.kind is None else each.kind.value,
                "domain": each.domain,
                "jobs": [*each.who],
                "sentence": f"{tell_violation(each, whose)}{excused}.",
            }
            for each in history.broken
        ],
    }


def _because(over: RoundOver) -> str:
    if over.round.excuse is not None:
        return f"The policy itself lets this happen: {over.round.excuse.says}."
    return "A scheduler that keeps the policy step by step can be driven past it."


def _step(
    number: int,
    step: TraceStep,
    told: str,
    *,
    whose: dict[str, str],
    nodes: dict[str, str],
    state: ModelState,
) -> dict[str, Any]:
    """What happens, and where everybody is after it."""
    node = step.node if step.node is not None else next((nodes[s] for s in step.seats), None)
    return {
        "number": number,
        "do": step.do.value,
        "job": step.job,
        "who": None if step.job is None else whose[step.job],
        "node": node,
        "rule": step.rule,
        "sentence": f"{told}.",
        "places": [
            {
                "job": job_name(index),
                "phase": job.phase.value,
                "node": next((nodes[seat] for seat in sorted(job.seats)), None),
                "seats": sorted(job.seats),
            }
            for index, job in enumerate(state.jobs)
        ],
        "lost": sorted(state.down),
    }


if __name__ == "__main__":
    main()
