"""Traces in a file: read strictly, and written so that they read the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.judge import Violation
from bailiwick.isolation.model.shape import FleetShape, make_sites, seats_of
from bailiwick.isolation.policy import Subject
from bailiwick.isolation.trace import (
    IsolationTrace,
    TraceJob,
    TraceSeat,
    TraceStep,
    TraceWord,
    read_trace,
    spell_trace,
)
from bailiwick.vocab.errors import InvalidValue

SITES = make_sites(FleetShape(fabrics=2, caches=2))
SEATS = tuple(TraceSeat(s.name, s.node, s.cache, s.device) for s in seats_of(SITES))
TRACE = IsolationTrace(
    "vault: dedicated host for tenant bank\n",
    SITES,
    SEATS,
    (
        TraceJob("J1", Subject("bank", "core", {"team": "red"}), ("night",)),
        TraceJob("J2", Subject("lab")),
    ),
    (
        TraceStep(TraceWord.ARRIVE, "J1"),
        TraceStep(TraceWord.PLACE, "J1", ("n1.1",)),
        TraceStep(TraceWord.UNLABEL, node="n1", label="zone=in"),
        TraceStep(TraceWord.CLEAR, rule="vault", domain="n1"),
    ),
    (
        Violation("vault", DomainKind.HOST, "n1", ("J1", "J2")),
        Violation("nodes", None, "n1", ("J1",)),
    ),
    "forgets_host",
)


def test_a_trace_is_read_as_it_was_written() -> None:
    assert read_trace(spell_trace(TRACE).encode()) == TRACE


def changed(change: dict[str, Any]) -> bytes:
    return json.dumps(json.loads(spell_trace(TRACE)) | change).encode()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"format": "bailiwick.isolation-trace/2"}, "format"),
        ({"more": 1}, "the document: key"),
        ({"policy": ""}, "policy"),
        ({"seats": [{"name": "x", "node": "gone", "cache": 0}]}, "seat x"),
        ({"seats": [{"name": "x", "node": "n1", "cache": 9}]}, "seat x: cache"),
        ({"seats": [{"name": "x", "node": "n1", "cache": 0, "device": 9}]}, "seat x: device"),
        ({"seats": [{"name": "x", "node": "n1", "cache": True}]}, "seats[0].cache"),
        ({"seats": [{"name": "x", "node": "n1", "cache": 0}] * 2}, "seats[1].name"),
        ({"jobs": []}, "steps[0].job"),
        ({"steps": [{"step": 2, "do": "arrive", "job": "J1"}]}, "steps[0].step"),
        ({"steps": [{"step": 1, "do": "dance", "job": "J1"}]}, "steps[0].do"),
        ({"steps": [{"step": 1, "do": "lose", "node": "n9"}]}, "steps[0].node"),
        ({"steps": [{"step": 1, "do": "regain", "job": "J1"}]}, "steps[0].node"),
        ({"steps": [{"step": 1, "do": "place", "job": "J1"}]}, "steps[0].seats"),
        ({"steps": [{"step": 1, "do": "clear", "rule": "vault"}]}, "steps[0].domain"),
        ({"steps": {}}, "steps"),
        ({"forbidden": [{"rule": "r", "kind": "shed", "domain": "n1"}]}, "forbidden[0].kind"),
    ],
)
def test_what_a_trace_may_not_say_is_refused_with_its_place(
    change: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidValue) as refused:
        read_trace(changed(change))
    assert refused.value.field == field


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(InvalidValue) as refused:
        read_trace(b'{"format":\n "x",\n oops}')
    assert refused.value.field == "line 3"
