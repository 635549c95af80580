"""Whose books the stand-alone meter can read: clusters that somebody else runs.

Rules:

- Reading changes nothing there.
- Each way of accounting is one row here and one package beside this module with a function
  ``meter(question, tell)``; it is imported when it is asked for. Its name is the command's name.
- What the books say twice, impossibly or not at all is in the report's findings; only what cannot
  be read at all is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias, cast

from bailiwick.metering.counters import Counter
from bailiwick.metering.report import Report
from bailiwick.vocab.words import HardwareGeneration, LeaseClass


class NoAnswer(Exception):
    """A program of the cluster could not be asked, or did not answer."""


class By(StrEnum):
    """What of a job its tenant, project or tag is taken from."""

    TOP_ACCOUNT = "top-account"
    ACCOUNT = "account"
    USER = "user"
    QOS = "qos"
    PARTITION = "partition"
    WCKEY = "wckey"
    COMMENT = "comment"
    JOB_NAME = "job-name"
    CLUSTER = "cluster"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be metered, and where it is read."""

    from_ms: int | None = None
    to_ms: int | None = None
    """From when to when; nothing means what the files tell, else from midnight (UTC) to now."""
    now_ms: int = 0
    cluster: str | None = None
    files: Path | None = None
    """A folder of saved answers, instead of asking the cluster."""
    save: Path | None = None
    """Where to save the answers."""
    node_logs: Path | None = None
    tenant_by: By = By.TOP_ACCOUNT
    project_by: By = By.ACCOUNT
    tag_by: tuple[By, ...] = (By.WCKEY, By.COMMENT)
    """The first of these that a job has."""
    classes: Mapping[str, LeaseClass] = field(default_factory=dict)
    generations: Mapping[str, HardwareGeneration] = field(default_factory=dict)


class MeteredBooks(NamedTuple):
    """A report, and what a reader should know about it beside the findings."""

    report: Report
    title: str
    notes: tuple[str, ...]


Tell: TypeAlias = Callable[[str], None]
"""Called with what is being done, so that a person who waits can be told."""


@dataclass(frozen=True, slots=True)
class Accounting:
    """One way of accounting."""

    name: str
    help: str
    module: str

    def meter(self, question: Question, tell: Tell) -> MeteredBooks:
        """Read the books and meter what they tell."""
        read = cast(Callable[[Question, Tell], MeteredBooks], import_module(self.module).meter)
        return read(question, tell)

    def counters(self, question: Question, tell: Tell) -> tuple[Counter, ...]:
        """Read what the books count for leases, to be compared with a journal."""
        read = cast(
            Callable[[Question, Tell], tuple[Counter, ...]],
            import_module(self.module + ".counters").read_counters,
        )
        return read(question, tell)


ACCOUNTINGS: Final = (
    Accounting(
        "slurm",
        "A Slurm cluster's GPU time, from its accounting and its nodes' history.\n\n"
        "Reads sacct, sacctmgr, scontrol and squeue, and changes nothing. Ends with 3 if anything "
        "that they tell cannot be, and names every job that it is about.",
        "bailiwick.clusters.slurm",
    ),
)
