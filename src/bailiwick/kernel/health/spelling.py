"""Findings as text: how records and snapshots spell them.

>>> from bailiwick.vocab.health import HealthCheck, HealthFinding, HealthLevel
>>> spell_finding(HealthFinding(HealthCheck.ECC, HealthLevel.FAIL, gpu=3, value=2))
'ecc/fail/3/2/0/0'
>>> read_finding("disk/warn/-/96/95/0").value
96
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bailiwick.vocab.health import HealthCheck, HealthFinding, HealthLevel

_NOBODY = "-"


def spell_finding(found: HealthFinding) -> str:
    """What was looked at, how bad it is, on which GPU, and the numbers."""
    gpu = _NOBODY if found.gpu is None else str(found.gpu)
    words = found.check.value, found.level.value, gpu
    return "/".join((*words, *(str(n) for n in (found.value, found.limit, found.code))))


def read_finding(text: str) -> HealthFinding:
    """The finding that is spelled so."""
    check, level, gpu, *numbers = text.split("/")
    where = None if gpu == _NOBODY else int(gpu)
    value, limit, code = map(int, numbers)
    return HealthFinding(HealthCheck(check), HealthLevel(level), where, value, limit, code)


def spell_findings(findings: Iterable[HealthFinding]) -> list[str]:
    """Each as text, in their order."""
    return [spell_finding(each) for each in findings]


def read_findings(texts: Iterable[str]) -> tuple[HealthFinding, ...]:
    """The findings that are spelled so."""
    return tuple(read_finding(text) for text in texts)


def finding_body(found: HealthFinding) -> dict[str, Any]:
    """A finding inside a command."""
    body: dict[str, Any] = {"check": found.check.value, "level": found.level.value}
    body |= {name: getattr(found, name) for name in ("value", "limit", "code")}
    return body if found.gpu is None else body | {"gpu": found.gpu}


def finding_from(body: Mapping[str, Any]) -> HealthFinding:
    """The finding that a command tells."""
    numbers = {name: body[name] for name in ("gpu", "value", "limit", "code") if name in body}
    return HealthFinding(HealthCheck(body["check"]), HealthLevel(body["level"]), **numbers)
