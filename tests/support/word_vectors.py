"""Sentences as the command line says them, for the pages that say the same in a browser.

The file that this makes is committed beside the pages' code, and a test makes it again: what a page
says of a decision cannot drift from what the command line says of it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, Final, get_args
from unittest.mock import patch

from bailiwick.cli.shared.denials import phrase_denial, phrase_estimate, phrase_remedy
from bailiwick.phrases.health.sentences import told_finding, told_findings
from bailiwick.phrases.words import SENTENCES
from bailiwick.server.problems import PROBLEMS
from bailiwick.vocab.health import HealthCheck, HealthFinding, HealthLevel
from bailiwick.vocab.words import (
    Dimension,
    FilterReason,
    HardwareGeneration,
    LeaseClass,
    PendingReason,
    Priority,
    ResourceKind,
)
from bailiwick.wire import answers as ans
from bailiwick.wire.denials import NodesKeptApart
from bailiwick.wire.health import NodeFinding
from bailiwick.wire.work import Remedy

FILE: Final = Path(__file__).resolve().parents[2] / "web/src/words/vectors.json"
NOW_MS: Final = 1_790_000_000_000
EACH: Final = 12
"""How many of every kind, beside those at the edges."""
DENIALS: Final = get_args(get_args(ans.Denial)[0])
EDGES: Final = (0, 1, 2, 999, 1_000, 1_001, 60_000, 2**30, 2**40 + 1)
UNITS: Final = (*Dimension, *ResourceKind, "members", "nodes", "nvidia_hopper", "")


def lists() -> dict[str, dict[str, str]]:
    """All that ``/v1/words`` tells."""
    told = {name: dict(said) for name, said in SENTENCES.items()}
    return told | {"error_code": {code.value: row.meaning for code, row in PROBLEMS.items()}}


def make_vectors() -> str:
    """The whole file."""
    chance = Random(20)
    with _standing_still():
        cases = [*_denials(chance), *_remedies(chance), *_estimates(chance), *_health(chance)]
    words = json.dumps(lists(), indent=1)
    rows = ",\n".join(json.dumps(case) for case in cases)
    return f'{{"now_ms": {NOW_MS},\n"words": {words},\n"cases": [\n{rows}\n]}}\n'


def _denials(chance: Random) -> Iterator[dict[str, Any]]:
    for kind in DENIALS:
        for number in range(EACH + len(EDGES)):
            edge = EDGES[number] if number < len(EDGES) else None
            values = {name: _value(name, chance, edge) for name in kind.model_fields}
            if kind is NodesKeptApart and number % 2:
                values["rule"] = None
            values["detail"] = get_args(kind.model_fields["detail"].annotation)[0]
            denied = kind.model_validate(values)
            said = phrase_denial(denied)
            yield {"kind": "denial", "value": denied.model_dump(mode="json"), "said": said}


def _value(name: str, chance: Random, edge: int | None) -> object:
    chosen: dict[str, tuple[object, ...]] = {
        "reason": tuple(PendingReason),
        "denied_scope": (None, ["lab"], ["lab", "vision"]),
        "resource": tuple(ResourceKind),
        "dimension": tuple(Dimension),
        "denied_generation": tuple(HardwareGeneration),
        "node": ("node-1", "rack7-n03"),
        "rule": ("vault", "no-neighbours"),
        "closed_by": tuple(FilterReason),
        "asked_priority": tuple(Priority),
        "priority_max": tuple(Priority),
        "asked_class": tuple(LeaseClass),
    }
    if name in chosen:
        return chance.choice(chosen[name])
    if name in ("until_ms", "starts_ms"):
        return NOW_MS + (edge if edge is not None else chance.randrange(-(10**8), 10**9))
    return edge if edge is not None else chance.randrange(10 ** chance.randrange(1, 14))


def _remedies(chance: Random) -> Iterator[dict[str, Any]]:
    words = get_args(Remedy.model_fields["remedy"].annotation)
    for word in words:
        for number in range(EACH + len(EDGES)):
            amount = EDGES[number] if number < len(EDGES) else chance.randrange(10**12)
            own = sorted(chance.sample(range(1, 9_999), chance.choice((0, 0, 1, 3))))
            value = {"remedy": word, "amount": amount, "unit": chance.choice(UNITS)}
            remedy = Remedy.model_validate(value | {"lease_ids": own})
            yield {
                "kind": "remedy",
                "value": remedy.model_dump(mode="json"),
                "said": phrase_remedy(remedy),
            }


def _estimates(chance: Random) -> Iterator[dict[str, Any]]:
    for basis in get_args(ans.Estimate.model_fields["basis"].annotation):
        for away in (None, -1, 0, 1, 59_999, *(chance.randrange(10**9) for _ in range(EACH))):
            starts_ms = None if away is None else NOW_MS + away
            value = ans.Estimate(starts_ms=starts_ms, basis=basis)
            said = phrase_estimate(value)
            yield {"kind": "estimate", "value": value.model_dump(mode="json"), "said": said}


def _health(chance: Random) -> Iterator[dict[str, Any]]:
    """Findings, and how many of them there are; the first GPU is number 0."""
    made: list[HealthFinding] = []
    for check in HealthCheck:
        for edge in EDGES[:6]:
            gpu = chance.choice((None, 0, 7))
            code = chance.choice((0, 79, 1_163))
            level = chance.choice(tuple(HealthLevel))
            found = HealthFinding(check, level, gpu, value=edge, limit=edge // 2, code=code)
            made.append(found)
            yield {"kind": "finding", "value": _wired(found), "said": told_finding(found)}
    for many in (0, 1, 1, 2, 2, 3, 5, 8):
        some = chance.sample(made, many)
        value = {"findings": [_wired(each) for each in some]}
        yield {"kind": "findings", "value": value, "said": told_findings(some)}


def _wired(found: HealthFinding) -> dict[str, Any]:
    fields = ("check", "level", "gpu", "value", "limit", "code")
    values = {name: getattr(found, name) for name in fields}
    return NodeFinding.model_validate(values).model_dump(mode="json")


@contextmanager
def _standing_still() -> Iterator[None]:
    """The clock of whoever reads stands at ``NOW_MS``, in UTC."""
    try:
        with patch.dict(os.environ, {"TZ": "UTC"}), patch("time.time", lambda: NOW_MS / 1000):
            time.tzset()
            yield
    finally:
        time.tzset()
