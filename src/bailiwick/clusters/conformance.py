"""Which clusters can be put on trial: work is submitted to them and cancelled, by the steps of one.

Rules:

- A target cancels only what it submitted itself, and all of that when it is reset.
- A submission that the scheduler does not take is no failure: it kept the work out.
- A node goes down only if nothing runs on it that the target did not submit, and is up again when
  the target is reset. Who does not let a step happen raises :class:`StepNotPossible`.
- Settling goes on until every job runs or has been considered and waits. Each look on the way is
  handed out, so that a meeting that is over soon is seen too.
- Each sort of cluster is one row here and a function ``begin(question)`` in the module it names,
  imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Final, NamedTuple, Protocol, cast

from bailiwick.clusters.live import LiveQuestion
from bailiwick.isolation.conformance import TrialNode
from bailiwick.isolation.placements import Placement
from bailiwick.isolation.policy import Subject


class SubmissionRefused(Exception):
    """The scheduler did not take the work."""


class StepNotPossible(Exception):
    """What a step asks for cannot be done there, and why: the trial says nothing then."""


class ConformanceTarget(Protocol):
    """A scheduler on trial. Placements carry the names of the trial's jobs as their ids."""

    def now_ms(self) -> int:
        """The time by which a policy is judged."""

    def nodes(self) -> Sequence[TrialNode]:
        """The nodes that work may be placed on."""

    def submit(
        self, job: str, subject: Subject, *, cores: int, gpus: int, node: str | None
    ) -> None:
        """Submit work, with the wish for a node; :class:`SubmissionRefused` if it is not taken."""

    def cancel(self, job: str) -> None:
        """End work that was submitted, or take it back."""

    def lose(self, node: str) -> None:
        """Take a node down, and its work with it; :class:`StepNotPossible` if that must not be."""

    def regain(self, node: str) -> None:
        """Take a node up again that was lost."""

    def settle(self, *, is_last: bool) -> Iterator[tuple[Placement, ...]]:
        """What is placed, look by look, until nothing more follows from the steps so far."""

    def reset(self) -> None:
        """Cancel what was submitted, wait until it is gone, and take up what was taken down."""


class ConformanceCluster(NamedTuple):
    """One sort of cluster."""

    name: str
    help: str
    module: str

    def begin(self, question: LiveQuestion) -> ConformanceTarget:
        """The cluster as a target."""
        start = cast(Callable[[LiveQuestion], ConformanceTarget], import_module(self.module).begin)
        return start(question)


CONFORMANCE_CLUSTERS: Final = (
    ConformanceCluster(
        "slurm",
        "A Slurm cluster, by sbatch, scancel, squeue and sinfo.",
        "bailiwick.clusters.slurm.conformance",
    ),
)
