"""Answers what people ask a shared Slurm: for a project, in its account, as their own Unix user.

Rules:

- The platform has decided that he may: the project has a part, and another's queue is open to him.
  Account and partition follow from that decision; nobody gives either himself.
- A program is run by the Unix user of who asked, so Slurm itself is asked the same once more, and
  sees to it that he sees and cancels his own jobs alone.
- Who is none of the cluster's people has no user there: nothing is run.
- A program is run once. Whose a job is, Slurm's own submit policy writes.
"""

from __future__ import annotations

from bailiwick.operators.kit import Kit, reply
from bailiwick.operators.slurm.queue.answering import RUN_S, reply_of, run_once
from bailiwick.operators.slurm.queue.programs import (
    SHARED_RULES,
    USAGE,
    CallRefused,
    QueuePlace,
    argv_of,
)
from bailiwick.operators.slurm.shared.mapping import SharedTerms
from bailiwick.operators.slurm.shared.people import unix_of
from bailiwick.operators.slurm.shared.shape import partition_of
from bailiwick.operators.slurm.wanted import ClusterWish
from bailiwick.wire.instances import CallPart, CallReply, TakenCall
from bailiwick.wire.shared import SharedRuntimeView

NOBODY = 77
"""How a program ends that somebody may not run."""


class SharedQueueAnswers:
    """Answers what is asked of the cluster of one runtime."""

    def __call__(self, call: TakenCall, kit: Kit) -> CallReply:
        """Run what is asked in the controller, once, as who asked; what it wrote."""
        if call.part is None:
            return reply(USAGE, stderr="this cluster is shared: ask it for a project\n")
        if not _knows(kit.runtime(), call.principal, project=call.part.project):
            told = f"you have no user here: it takes scheduler.queue.submit at {call.part.project}"
            return reply(NOBODY, stderr=f"{told} itself\n")
        try:
            argv = argv_of(call, place_of(call.part, ClusterWish.parse(kit.instance.parameters)))
        except CallRefused as refused:
            return reply(USAGE, stderr=f"{refused}\n")
        question = {
            "do": "slurm",
            "argv": argv,
            "stdin": call.stdin,
            "user": unix_of(call.principal).name,
            "wait_s": RUN_S,
        }
        return reply_of(run_once(kit, question, is_shared=True))


def place_of(part: CallPart, wish: ClusterWish) -> QueuePlace:
    """The account and the partition of a decision; raises ``CallRefused``."""
    terms = SharedTerms(queues=tuple(wish.queues.split(",")))
    queue = part.queue or terms.queues[0]
    if queue not in terms.queues:
        raise CallRefused(f"no queue {queue} here; these are: {', '.join(terms.queues)}")
    where = partition_of(part.owner, queue, terms=terms)
    return QueuePlace(part.project, where, SHARED_RULES)


def _knows(view: SharedRuntimeView, principal: str, *, project: str) -> bool:
    """Whether somebody may submit for a project, as the operator is told."""
    return any(each.principal == principal and project in each.projects for each in view.people)
