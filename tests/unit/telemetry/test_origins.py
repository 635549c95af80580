"""A lease is traced back to the request that it was asked with."""

from __future__ import annotations

from typing import Any

from bailiwick.telemetry.origins import Origin, Origins


def fact(kind: str, correlation: str, **body: Any) -> Any:
    return {
        "kind": kind,
        "correlation_id": correlation,
        "tenant": "lab",
        "project": "p",
        "body": body,
    }


def test_a_lease_that_was_granted_at_once() -> None:
    origins = Origins()
    origins.follow(fact("admission_approved", "req-1", lease_ids=[4, 5]))
    assert origins.of(4) == origins.of(5) == Origin("req-1", "lab", "p")


def test_a_lease_that_waited_comes_from_the_request_and_not_from_the_tick() -> None:
    origins = Origins()
    origins.follow(fact("request_queued", "req-2", entry_id=9))
    origins.follow(fact("admission_approved", "tick", lease_ids=[6], entry_id=9, members_left=1))
    origins.follow(fact("admission_approved", "tick", lease_ids=[7], entry_id=9))
    assert origins.of(6) == origins.of(7) == Origin("req-2", "lab", "p")


def test_what_was_never_seen_or_long_ago_comes_from_nowhere() -> None:
    origins = Origins(kept_max=2)
    origins.follow(fact("admission_approved", "tick", lease_ids=[1], entry_id=3))
    assert origins.of(1).correlation_id == "tick"
    for number in (2, 3):
        origins.follow(fact("admission_approved", f"req-{number}", lease_ids=[number]))
    assert origins.of(1) == Origin()
    assert origins.of(3).correlation_id == "req-3"


def test_a_cancelled_request_is_forgotten() -> None:
    origins = Origins()
    origins.follow(fact("request_queued", "req-4", entry_id=9))
    origins.follow(fact("request_cancelled", "req-5", entry_id=9, cause="asked"))
    origins.follow(fact("admission_approved", "tick", lease_ids=[8], entry_id=9))
    assert origins.of(8).correlation_id == "tick"
