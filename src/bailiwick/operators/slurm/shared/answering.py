"""Answers what people ask a shared Slurm: for a project, in its account, as their own Unix user.

Rules:

- The platform has decided that he may: the project has a part, and another's queue is open to him.
  Account and partition follow from that decision; nobody gives either himself.
- A program is run by the Unix user of who asked, so Slurm itself is asked the same once more, and
  sees to it that he sees and cancels his own jobs alone.
- Who is none of the cluster's people has no user there: nothing is run.
- A program is run once. Whose a job is, Slurm's own submit policy writes.
- What the platform has just allowed Slurm learns with the operator's next look. Until then the
  answer says that nothing was done and to ask again; waiting here would keep others waiting.
- People have no folder there, so a job whose output is not told where to go would fail: it goes
  nowhere, and who submitted it is told so.
"""

from __future__ import annotations

from typing import Any, Final

from bailiwick.operators.kit import Kit, reply
from bailiwick.operators.slurm.member.shared_host import NO_USER
from bailiwick.operators.slurm.queue.answering import RUN_S, reply_of, run_once
from bailiwick.operators.slurm.queue.programs import (
    SHARED_RULES,
    USAGE,
    CallRefused,
    QueuePlace,
    argv_of,
    script_options,
)
from bailiwick.operators.slurm.shared.mapping import SharedTerms
from bailiwick.operators.slurm.shared.people import unix_of
from bailiwick.operators.slurm.shared.shape import partition_of
from bailiwick.operators.slurm.wanted import ClusterWish
from bailiwick.wire.instances import CallPart, CallReply, TakenCall
from bailiwick.wire.shared import SharedRuntimeView

NOBODY = 77
"""How a program ends that somebody may not run."""
NOT_YET: Final = 75
"""How a program ends that did nothing, and would if it were run again in a moment."""
NOWHERE: Final = "--output=/dev/null"
_UNKNOWN: Final = "Invalid account or account/partition combination"
"""What Slurm says of an account in a queue where its books have none: both are told by us."""


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
        is_dropped = argv[0] == "sbatch" and not _has_output(argv, call.stdin)
        question = {
            "do": "slurm",
            "argv": [argv[0], NOWHERE, *argv[1:]] if is_dropped else argv,
            "stdin": call.stdin,
            "user": unix_of(call.principal).name,
            "wait_s": RUN_S,
        }
        said = run_once(kit, question, is_shared=True)
        if _is_not_yet(said):
            told = "the cluster does not know yet that you may; ask again in a moment\n"
            return reply(NOT_YET, stderr=told)
        if is_dropped and said.get("code") == 0:
            said["err"] += "no --output is given: what the job prints is kept nowhere\n"
        return reply_of(said)


def _is_not_yet(said: dict[str, Any]) -> bool:
    """Whether the cluster refused what the platform allows: then nothing was done."""
    return said.get("error") == NO_USER or (
        said.get("code") == 1 and not said["out"] and _UNKNOWN in said["err"]
    )


def _has_output(argv: list[str], script: str) -> bool:
    """Whether a job says where its output goes, in its words or in its script."""
    options = [*argv, *script_options(SHARED_RULES["sbatch"], script)]
    return any(each.startswith("--output=") for each in options)


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
