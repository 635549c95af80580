"""How a part in a shared Slurm ends: in which order, and when, so that nothing of it goes on.

Rules:

- First nothing more is taken, then what is there is ended and waited for, then what allowed it is
  removed: Slurm refuses to remove an account that has jobs.
- Who had a job that has ended could requeue it as long as Slurm knows it. So what an ended part
  still has is cancelled again until that time has passed; else it would run when the project comes
  back.
- A worker that is withdrawn takes nothing new from the grace before its end on; what runs on it is
  sent elsewhere when the time is left that Slurm gives a job to end; at the end it goes, with
  whatever is left on it. Slurm's own word that a node is down ends nothing.
- A step is a command, or a wait with a bound. Doing one again does no harm, so a plan that was
  interrupted begins anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from bailiwick.operators.slurm.shared.shape import QueueGrant

AGAIN_EVERY_S: Final = 5
_SPARE_S: Final = 30
"""What a job may take longer to go than Slurm was told to give it."""
_MODIFY_USER: Final = ("sacctmgr", "-iQ", "modify", "user", "where")
_CLOSE: Final = ("GrpSubmitJobs=0", "GrpJobs=0")
_CLOSE_USER: Final = ("MaxSubmitJobs=0", "MaxJobs=0")


@dataclass(frozen=True, slots=True)
class Call:
    """One of Slurm's programs, with its words."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AwaitNone:
    """Ask until nothing is listed; what is still listed then is a failure of the plan."""

    words: tuple[str, ...]
    within_s: int


@dataclass(frozen=True, slots=True)
class CallAgain:
    """Call it now and again until the time has passed."""

    words: tuple[str, ...]
    for_s: int
    every_s: int


@dataclass(frozen=True, slots=True)
class SendAway:
    """Requeue each job on a node; cancel those that are not to be requeued."""

    node: str


@dataclass(frozen=True, slots=True)
class EndWorker:
    """End the member with all that is in it: its lease is over."""

    node: str


PlanStep: TypeAlias = Call | AwaitNone | CallAgain | SendAway | EndWorker


@dataclass(frozen=True, slots=True)
class TimedStep:
    """A step, and not before when."""

    at_ms: int
    step: PlanStep


def plan_end_jobs(
    account: str, *, partitions: Iterable[str], kill_wait_s: int
) -> tuple[PlanStep, ...]:
    """Have nothing more taken for an account, and end what there is, guests' work too."""
    queues = sorted(partitions)
    cancels = [Call(_cancel(f"--account={account}"))]
    cancels += [Call(_cancel(f"--partition={queue}")) for queue in queues]
    within_s = kill_wait_s + _SPARE_S
    waits = [AwaitNone(_list("-A", account), within_s)]
    waits += [AwaitNone(_list("-p", queue), within_s) for queue in queues]
    close = ("sacctmgr", "-iQ", "modify", "account", "where", f"name={account}", "set", *_CLOSE)
    return (Call(close), *cancels, *waits)


def plan_detach(
    account: str,
    *,
    partitions: Iterable[str],
    homes: Mapping[str, str],
    kill_wait_s: int,
    min_job_age_s: int,
) -> tuple[PlanStep, ...]:
    """How a project's part ends, with what guests run in its partitions.

    ``homes`` are the default accounts, by user, of people who stay with another project.
    """
    moves = [
        Call((*_MODIFY_USER, f"name={user}", "set", f"DefaultAccount={home}"))
        for user, home in sorted(homes.items())
    ]
    return (
        *plan_end_jobs(account, partitions=partitions, kill_wait_s=kill_wait_s),
        *moves,
        Call(("sacctmgr", "-iQ", "remove", "account", "where", f"name={account}")),
        CallAgain(_cancel(f"--account={account}"), min_job_age_s, AGAIN_EVERY_S),
    )


def plan_end_of_grant(
    grant: QueueGrant, *, kill_wait_s: int, min_job_age_s: int
) -> tuple[PlanStep, ...]:
    """How what a policy allowed ends for one person: his other jobs go on."""
    where = (f"name={grant.user}", f"account={grant.account}", f"partition={grant.partition}")
    cancel = _cancel(
        f"--user={grant.user}", f"--account={grant.account}", f"--partition={grant.partition}"
    )
    listed = _list("-u", grant.user, "-A", grant.account, "-p", grant.partition)
    return (
        Call((*_MODIFY_USER, *where, "set", *_CLOSE_USER)),
        Call(cancel),
        AwaitNone(listed, kill_wait_s + _SPARE_S),
        Call(("sacctmgr", "-iQ", "remove", "user", "where", *where)),
        CallAgain(cancel, min_job_age_s, AGAIN_EVERY_S),
    )


def plan_withdraw(
    node: str, *, deadline_ms: int, grace_ms: int, kill_wait_s: int, now_ms: int
) -> tuple[TimedStep, ...]:
    """How a worker goes back to its project by its deadline, whatever runs on it."""
    drain = ("scontrol", "update", f"nodename={node}", "state=drain", "reason=withdrawn")
    times = (
        (deadline_ms - max(grace_ms, kill_wait_s * 1_000), Call(drain)),
        (deadline_ms - kill_wait_s * 1_000, SendAway(node)),
        (deadline_ms, EndWorker(node)),
    )
    return tuple(TimedStep(max(at_ms, now_ms), step) for at_ms, step in times)


def _cancel(*which: str) -> tuple[str, ...]:
    return ("scancel", "--quiet", *which)


def _list(*which: str) -> tuple[str, ...]:
    """Every job that is not gone; those that are completing too."""
    return ("squeue", "-hr", "-o", "%i", *which)
