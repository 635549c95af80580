"""One title and one sentence for each thing that people are told of.

Rules:

- Made of facts alone (names and numbers); times are in UTC, because a mail is read anywhere.
- A fact that is missing (a row of another version) leaves its words out, never the sentence.

>>> title_of(NoticeKind.JOB_ENDED, {"job_id": 7, "phase": "failed", "name": "train"})
'Job 7 (train) failed'
>>> array = {"job_id": 7, "phase": "failed", "tasks": 9, "succeeded": 8}
>>> text_of(NoticeKind.JOB_ENDED, array, at_ms=0)
'8 of its 9 tasks succeeded. See: bailiwick job show job-7'
>>> facts = {"lease_id": 3, "expires_ms": 300_000}
>>> text_of(NoticeKind.PREEMPTION_ANNOUNCED, facts, at_ms=0).partition("; ")[0]
'Its time ends at 1970-01-01 00:05:00 UTC, 5m after this was decided'
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from bailiwick.phrases.amounts import plural, span
from bailiwick.phrases.health.sentences import told_eviction
from bailiwick.phrases.times import told_time
from bailiwick.vocab.health import HealthAction, HealthCheck, HealthLevel
from bailiwick.vocab.jobs import JobPhase
from bailiwick.vocab.notices import NoticeKind
from bailiwick.vocab.words import BudgetState, PreemptionReason

Facts = Mapping[str, str | int]

_PHASES = {
    JobPhase.SUCCEEDED.value: "succeeded",
    JobPhase.FAILED.value: "failed",
    JobPhase.CANCELLED.value: "was cancelled",
    JobPhase.PREEMPTED.value: "was preempted",
    JobPhase.EXPIRED.value: "ran out of time",
    JobPhase.REFUSED.value: "was refused",
    JobPhase.LOST.value: "was lost",
}


_DRAINS = {
    HealthAction.DRAIN.value: "is being drained: it is not healthy",
    HealthAction.HOLD_BACK.value: "takes no new work: it is not healthy",
    "test_failed": "did not pass its test",
    "test_timed_out": "did not answer its test",
}


_FINDINGS = "See: bailiwick finding list"


def title_of(kind: NoticeKind, facts: Facts) -> str:
    """What happened, in a few words."""
    match kind:
        case NoticeKind.JOB_ENDED:
            return f"{_named('Job', 'job_id', facts)} {_ending(facts)}"
        case NoticeKind.GRAPH_ENDED:
            return f"{_named('Graph', 'graph_id', facts)} {_ending(facts)}"
        case NoticeKind.PREEMPTION_ANNOUNCED:
            told = "stays after all" if "stays" in facts else "will be preempted"
            return f"Lease {facts.get('lease_id')} {told}"
        case NoticeKind.BUDGET_REACHED:
            return f"{_percent(facts)} % of a budget is spent"
        case NoticeKind.NODE_DRAINED:
            return f"Node {facts.get('node')} {_DRAINS.get(str(facts.get('action')), 'is drained')}"
        case NoticeKind.NODE_LOST:
            is_closed = facts.get("cause") == "quarantined"
            return f"Node {facts.get('node')} {'is in quarantine' if is_closed else 'is gone'}"
        case NoticeKind.FINDING_REPORTED:
            return f"Finding: {facts.get('finding')}"
        case NoticeKind.ISOLATION_VIOLATED:
            return f"Isolation rule {facts.get('rule')} is violated"
        case NoticeKind.MANY_MORE:
            return f"{plural(_number(facts, 'notices'), 'more notice')} in your inbox"
        case NoticeKind.TEST:
            return "A test notice"
        case _:
            assert_never(kind)


def text_of(kind: NoticeKind, facts: Facts, *, at_ms: int) -> str:
    """What happened, and what to look at next."""
    match kind:
        case NoticeKind.JOB_ENDED:
            return _job_text(facts)
        case NoticeKind.GRAPH_ENDED:
            return f"{_tasks(facts)}See: bailiwick graph show graph-{facts.get('graph_id')}"
        case NoticeKind.PREEMPTION_ANNOUNCED if "stays" in facts:
            return _reprieve(facts)
        case NoticeKind.PREEMPTION_ANNOUNCED:
            return _preemption(facts, at_ms)
        case NoticeKind.BUDGET_REACHED:
            is_low = facts.get("state") == BudgetState.LOW_BALANCE.value
            what = "Once all of it is spent, nothing new starts on it"
            what = what if is_low else "Nothing new starts on it until there is more"
            return f"{what}. See: bailiwick budget list"
        case NoticeKind.NODE_DRAINED if "action" in facts:
            return _unhealthy(facts)
        case NoticeKind.NODE_DRAINED:
            return (
                "No work is left on it, so it can be serviced now. Back to work: "
                f"bailiwick node uncordon {facts.get('node')}"
            )
        case NoticeKind.NODE_LOST:
            return f"{_loss(facts)} See: bailiwick node show {facts.get('node')}"
        case NoticeKind.FINDING_REPORTED:
            about = f"about {facts.get('subject')} (severity: {facts.get('severity')})"
            return f"Usage that was counted does not fit the journal, {about}. {_FINDINGS}"
        case NoticeKind.ISOLATION_VIOLATED:
            lease = facts.get("lease_id")
            told = f"Lease {lease} is where the rule forbids it"
            return f"{told}. See: bailiwick lease show lease-{lease}"
        case NoticeKind.MANY_MORE:
            told = "They were not sent, so that you are not flooded"
            return f"{told}. See: bailiwick inbox list --unread"
        case NoticeKind.TEST:
            told = "Notices reach you this way. Somebody with your login asked for this one"
            return f"{told}: if that was not you, see bailiwick session list, and session revoke"
        case _:
            assert_never(kind)


def _named(what: str, number: str, facts: Facts) -> str:
    name = facts.get("name")
    return f"{what} {facts.get(number)}" + ("" if name is None else f" ({name})")


def _ending(facts: Facts) -> str:
    return _PHASES.get(str(facts.get("phase")), "is over")


def _tasks(facts: Facts) -> str:
    if "tasks" not in facts:
        return ""
    return f"{_number(facts, 'succeeded')} of its {_number(facts, 'tasks')} tasks succeeded. "


def _job_text(facts: Facts) -> str:
    if "tasks" in facts:
        return f"{_tasks(facts)}See: bailiwick job show job-{facts.get('job_id')}"
    code = facts.get("exit_code")
    told = f"Its exit code is {code}. " if isinstance(code, int) else ""
    return f"{told}What it printed: bailiwick logs job-{facts.get('job_id')}"


def _preemption(facts: Facts, at_ms: int) -> str:
    until, ends = facts.get("expires_ms"), "Its time ends soon"
    if isinstance(until, int):
        left = span(max(0, until - at_ms))
        ends = f"Its time ends at {told_time(until)[:19]} UTC, {left} after this was decided"
    reason, why = facts.get("reason"), told_eviction(facts)
    if why is None and reason in tuple(PreemptionReason):
        why = PreemptionReason(str(reason)).human_summary()
    why = f" Why: {why}." if why else ""
    told = f"{ends}; what runs on it then is stopped. Save now what must not be lost.{why}"
    return f"{told} See: bailiwick lease explain lease-{facts.get('lease_id')}"


def _reprieve(facts: Facts) -> str:
    until, lease = facts.get("expires_ms"), facts.get("lease_id")
    ends = f", which ends at {told_time(until)[:19]} UTC" if isinstance(until, int) else ""
    told = f"Nobody needs its room any more: what runs on it goes on for its old term{ends}."
    return f"{told} See: bailiwick lease explain lease-{lease}"


def _loss(facts: Facts) -> str:
    if facts.get("cause") == "quarantined":
        return "It takes no work until an operator has looked at it and lets it back."
    leases = plural(_number(facts, "leases"), "lease")
    return f"It fell silent or left the fleet, with {leases} on it."


def _unhealthy(facts: Facts) -> str:
    told = []
    for text in str(facts.get("findings", "")).split():
        check, _, rest = text.partition("/")
        if check in tuple(HealthCheck) and rest.startswith(HealthLevel.FAIL.value):
            gpu = rest.split("/")[1]
            where = "the machine" if gpu == "-" else f"GPU {gpu}"
            told.append(f"{where}: {HealthCheck(check).human_summary()}")
    found = f"{'; '.join(told)}. " if told else ""
    found = found[:1].upper() + found[1:]
    closed = "It takes no work. " if str(facts.get("action")).startswith("test_") else ""
    return f"{found}{closed}The ticket: bailiwick node ticket {facts.get('node')}"


def _percent(facts: Facts) -> int:
    return 100 * _number(facts, "spent_micros") // max(1, _number(facts, "limit_micros"))


def _number(facts: Facts, name: str) -> int:
    found = facts.get(name)
    return found if isinstance(found, int) else 0
