"""Evidence of checks, as tests make it: all of it good, and generated."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from bailiwick.apps.manifest import Manifest
from bailiwick.apps.readiness.evidence import (
    FOREIGN_ACTIONS,
    CheckClaims,
    CheckEvidence,
    CheckFacts,
    ConnectionWatch,
    ForeignTry,
    HeardEvent,
    OperatorKill,
    PolicyTry,
    RunbookTry,
    StepFact,
)
from bailiwick.vocab.apps import InstanceRefusal
from bailiwick.vocab.readiness import ForeignScope, LifecycleEvent, LifeStep
from tests.support.app_manifests import hello

RUNBOOK = """# Symptom
It is red.
# Correlation id
It stands in the error.
# Steps
1. `bailiwick trace ID` tells the rest.
"""
OTHER, TENANT = ForeignScope.OTHER_PROJECT, ForeignScope.OTHER_TENANT


def checked_manifest(**changes: Any) -> Manifest:
    """A manifest whose runbook is complete."""
    return hello(**({"runbook": RUNBOOK} | changes))


def good_claims(digest: str, **changes: Any) -> CheckClaims:
    """Nothing is wrong with it."""
    fields: dict[str, Any] = {
        "digest": digest,
        "tenant": "lab",
        "project": "vision",
        "instance_id": 1,
        "first_seq": 10,
        "last_seq": 90,
        "operator": "bot",
        "connections": ConnectionWatch(40),
        "foreign": tuple(ForeignTry(OTHER, each, 404) for each in FOREIGN_ACTIONS),
        "heard": tuple(HeardEvent(each, 10 + at) for at, each in enumerate(LifecycleEvent)),
        "policy": PolicyTry("main", 80, InstanceRefusal.ARTIFACT_UNUSABLE),
        "kills": tuple(OperatorKill(each, 20 + at) for at, each in enumerate(LifeStep)),
        "runbook": RunbookTry(1, 0),
    }
    return CheckClaims(**(fields | changes))


def good_facts(**changes: Any) -> CheckFacts:
    """All steps were lived through."""
    move = {"before": "0.9.0", "version": "1.0.0"}
    steps = tuple(
        StepFact(step=each, **move, asked_seq=20, kills=1, seen_seq=30, ended_seq=40)
        for each in LifeStep
    )
    reached = tuple(HeardEvent(each, 10 + at) for at, each in enumerate(LifecycleEvent))
    fields: dict[str, Any] = {"reached": reached, "steps": steps, "acts": 4, "strangers": 0}
    return CheckFacts(**(fields | changes))


def good_evidence(digest: str, **changes: Any) -> CheckEvidence:
    """What a good app leads to; claims and facts can be changed by name."""
    facts = {
        each: changes.pop(each)
        for each in ("reached", "steps", "acts", "strangers")
        if each in changes
    }
    return CheckEvidence("1.0.0", good_claims(digest, **changes), good_facts(**facts))


def _some(kind: Any) -> Any:
    return st.sampled_from(list(kind))


_STEPS = st.builds(
    StepFact,
    step=_some(LifeStep),
    before=st.sampled_from(["0.9.0", "1.0.0", "2.0.0"]),
    version=st.sampled_from(["0.9.0", "1.0.0", "2.0.0"]),
    asked_seq=st.just(20),
    kills=st.integers(0, 2),
    seen_seq=st.sampled_from([0, 30]),
    ended_seq=st.sampled_from([0, 40]),
)
_EVENTS = st.lists(_some(LifecycleEvent), unique=True, max_size=5).map(
    lambda found: tuple(HeardEvent(each, 10) for each in found)
)
_FOREIGN = st.builds(
    lambda skipped, answers: tuple(
        ForeignTry(OTHER, each, status)
        for each, status in zip(FOREIGN_ACTIONS[skipped:], answers * 8, strict=False)
    ),
    st.integers(0, 2),
    st.sampled_from([[404, 403], [403], [404, 404, 200]]),
)


@st.composite
def evidences(draw: st.DrawFn, digest: str) -> CheckEvidence:
    """Any evidence: mostly good, with some of it changed."""
    choices: dict[str, Any] = {
        "operator": st.none(),
        "connections": st.none()
        | st.builds(ConnectionWatch, st.integers(0, 3), st.sampled_from([(), ("10.0.0.1:53",)])),
        "foreign": _FOREIGN,
        "heard": _EVENTS,
        "reached": _EVENTS,
        "policy": st.none()
        | st.builds(
            PolicyTry,
            st.sampled_from(["main", "elsewhere"]),
            st.just(80),
            st.none() | _some(InstanceRefusal),
        ),
        "steps": st.lists(_STEPS, max_size=3, unique_by=lambda each: each.step).map(tuple),
        "acts": st.integers(0, 2),
        "strangers": st.integers(0, 2),
        "runbook": st.none() | st.sampled_from([RunbookTry(1, 0), RunbookTry(1, 1)]),
    }
    names = draw(st.lists(_some(choices), unique=True, max_size=4))
    return good_evidence(digest, **{name: draw(choices[name]) for name in names})
