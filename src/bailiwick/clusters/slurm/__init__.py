"""A Slurm cluster's books: read, judged row by row, put on devices, and metered.

Rules:

- The sums are those of the accounting database, to the second: what its rows claim and the devices
  allow is counted, whatever else is known; what is known better is a finding beside it.
- GPUs only. Jobs without any are counted as such and not metered.
"""

from __future__ import annotations

from bailiwick.clusters.accounting import MeteredBooks, Question, Tell
from bailiwick.clusters.slurm.commands import Answers, make_books, read_answers
from bailiwick.clusters.slurm.judging import judge
from bailiwick.clusters.slurm.naming import Naming
from bailiwick.clusters.slurm.rows import SlurmBooks
from bailiwick.clusters.slurm.sweep import Sweep
from bailiwick.metering.event_fold import EventMeter

__all__ = ["meter", "meter_books"]


def meter(question: Question, tell: Tell) -> MeteredBooks:
    """Read a cluster's books, or saved ones, and meter what they tell."""
    answers = read_answers(question, tell)
    tell("metering")
    books = make_books(answers)
    return meter_books(books, question, notes=_open_questions(answers))


def meter_books(
    books: SlurmBooks, question: Question, *, notes: tuple[str, ...] = ()
) -> MeteredBooks:
    """Meter books that were read."""
    judged = judge(books)
    naming = Naming(question, books.cluster, books.parents, books.preempted_qos)
    sweep = Sweep(books, naming)
    events = EventMeter()
    for at_ms, event in sweep.events(judged.runs):
        events.add(at_ms, event)
    sweep.check_capacity()
    sweep.check_devices()
    report = events.report(books.to_ms, findings=(*judged.findings, *sweep.findings))
    told = [*notes, "Slurm keeps whole seconds: so a job's time may be a second off at either end"]
    if judged.without_gpus:
        told.append(f"{judged.without_gpus:,} jobs without GPUs are not metered")
    return MeteredBooks(report, f"GPU time of {books.cluster}", tuple(told))


def _open_questions(answers: Answers) -> tuple[str, ...]:
    notes = []
    if not answers.exits:
        notes.append(
            "without the nodes' logs (--node-logs) a job that ended while the controller was away "
            "can be suspected, not proven, and only since the controller's last start"
        )
    if not answers.is_asked_for_runaways:
        notes.append("jobs that never ended were not asked for: that needs an operator's rights")
    return tuple(notes)
