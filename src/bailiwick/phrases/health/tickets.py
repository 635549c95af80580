"""The text of a ticket about one machine, for whoever repairs it.

Rules:

- Made of what is known, and of nothing else: the same facts give the same text, to the letter.
- What to do next can be done: it names no command that the node's mode refuses.
- It leaves the house. So it tells how much ran there, and never whose.
- Times are in UTC, because it is read anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bailiwick.phrases.amounts import plural, span
from bailiwick.phrases.health.sentences import next_steps, told_end, told_finding
from bailiwick.phrases.times import told_time
from bailiwick.vocab.health import (
    HealthAction,
    HealthFinding,
    HealthLevel,
    NodeTestOutcome,
)
from bailiwick.vocab.transitions import NodeMode

_OPEN: Final = (NodeMode.ACCEPTING, NodeMode.CORDONED)
"""The modes from which a node is not emptied by itself."""


_UNPASSED: Final = (NodeTestOutcome.FAILED, NodeTestOutcome.TIMED_OUT)


@dataclass(frozen=True, slots=True)
class CaseTest:
    """How a test of the machine ended."""

    outcome: NodeTestOutcome
    ended_ms: int
    took_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCase:
    """What is known of one machine, as of ``now_ms``."""

    node: str
    now_ms: int
    mode: NodeMode
    findings: tuple[HealthFinding, ...] = ()
    failed_ms: int | None = None
    closed: HealthAction = HealthAction.NONE
    models: tuple[str, ...] = ()
    """Of its GPUs, in their order."""
    labels: tuple[str, ...] = ()
    leases: int = 0
    """How many run there still."""
    ending: int = 0
    """How many of them have to go."""
    tests: tuple[CaseTest, ...] = ()
    """The newest first."""
    due_ms: int | None = None
    """Until when a test may take that goes on."""
    can_test: bool = False
    """Whether its agent can test it."""
    is_told: bool = False
    """Whether its agent has ever told how the machine is."""

    @property
    def is_well(self) -> bool:
        """Whether there is nothing to repair, as far as its agent and its last test say."""
        failed = self.tests and self.tests[0].outcome in _UNPASSED
        fine = not (self.findings or failed) and self.closed is HealthAction.NONE
        return fine and self.mode in _OPEN and self.is_told


def ticket_title(case: NodeCase) -> str:
    """What it is about, in one line."""
    fails = [each for each in case.findings if each.level is HealthLevel.FAIL]
    if fails:
        more = f" and {len(fails) - 1} more" if len(fails) > 1 else ""
        return f"Node {case.node}: {fails[0].check.human_summary()}{more}"
    if case.tests and case.tests[0].outcome is NodeTestOutcome.TIMED_OUT:
        return f"Node {case.node}: its test was not answered"
    if case.is_well:
        return f"Node {case.node} is healthy: no ticket is needed"
    return f"Node {case.node}: {'nothing that fails it' if case.findings else 'nothing found'}"


def ticket_text(case: NodeCase) -> str:
    """The whole text."""
    return "\n".join(line for part in _parts(case) for line in (*part, "")).rstrip("\n") + "\n"


def _parts(case: NodeCase) -> Iterator[list[str]]:
    yield [ticket_title(case)]
    yield _standing(case)
    if case.findings:
        told = (f"- {each.level.value}: {told_finding(each)}" for each in case.findings)
        yield ["What was found:", *told]
    yield _machine(case)
    if case.tests or case.due_ms is not None:
        yield ["Tests, the newest first:", *_tests(case)]
    if case.is_well:
        yield ["Its agent found nothing wrong with it. There is nothing to do."]
        return
    yield ["What to do next:", *(f"- {step}" for step in _steps(case))]


def _standing(case: NodeCase) -> list[str]:
    lines = [f"As of {_when(case.now_ms)} the node is {case.mode.value}."]
    if case.failed_ms is not None:
        ago = span(max(0, case.now_ms - case.failed_ms))
        lines.append(f"It has failed since {_when(case.failed_ms)} ({ago}).")
    if case.closed is HealthAction.DRAIN:
        lines.append("It was closed for its health, and what ran there was told to go.")
    if case.closed is HealthAction.HOLD_BACK:
        lines.append(
            "It was closed to new work only: too many nodes were drained for their health already."
        )
    some = f"{case.ending} of them " if case.ending < case.leases else ""
    ending = f", {some}on the way out" if case.ending else ""
    lines.append(f"{plural(case.leases, 'lease')} there{ending}.")
    return lines


def _machine(case: NodeCase) -> list[str]:
    models: dict[str, int] = {}
    for model in case.models:
        models[model or "GPU"] = models.get(model or "GPU", 0) + 1
    gpus = ", ".join(f"{count} x {model}" for model, count in models.items())
    return [f"Machine: {gpus or 'no GPU'}.", f"Labels: {', '.join(case.labels) or 'none'}."]


def _tests(case: NodeCase) -> Iterator[str]:
    if case.due_ms is not None:
        yield f"- goes on, until {_when(case.due_ms)} at the latest"
    for each in case.tests:
        yield f"- {told_end(each.outcome, ended_ms=each.ended_ms, took_ms=each.took_ms)}"


def _steps(case: NodeCase) -> Iterator[str]:
    """What is to be done by hand, as far as the mode of the node allows it."""
    yield from next_steps(case.findings)
    node, mode = case.node, case.mode
    if mode in _OPEN:
        yield f"Have it drained: bailiwick node drain {node}"
    if case.leases:
        yield f"Wait until it is empty: bailiwick node show {node}"
    if mode is NodeMode.FENCE_LOST:
        yield f"Make sure that nothing runs there any more: bailiwick node clear-fence {node}"
    if mode in (*_OPEN, NodeMode.DRAINING, NodeMode.DRAINED):
        yield f"Say that it is worked on: bailiwick node maintenance {node}"
    if case.due_ms is not None:
        yield f"Wait for its test: bailiwick node show {node}"
        return
    how = "it is tested first" if case.can_test else "its agent cannot test it"
    yield f"When it is repaired: bailiwick node uncordon {node} ({how})"


def _when(at_ms: int) -> str:
    return f"{told_time(at_ms)[:19]} UTC"
