"""What is sealed of a check."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import ClassVar, Self

from bailiwick.apps.readiness.judge import ConditionFinding
from bailiwick.journal.fields import TEXT_MAX
from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.apps.spelling import bare_digest, named_digest
from bailiwick.kernel.owner import Fields, Owner
from bailiwick.kernel.spelling import Body
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.readiness import (
    ConditionState,
    Readiness,
    ReadinessCondition,
    ReadinessReason,
)


@dataclass(frozen=True, slots=True)
class AppChecked:
    """A version was checked: what was found, and what follows from it."""

    kind: ClassVar = RecordKind.APP_CHECKED
    owner: Owner
    app: str
    version: str
    digest: str
    """Of the version's manifest."""
    verdict: Readiness
    findings: tuple[ConditionFinding, ...]
    evidence: str

    @property
    def evidence_digest(self) -> str:
        """What the evidence is known by."""
        return sha256(self.evidence.encode()).hexdigest()

    def body(self) -> Body:
        """The verdict, each condition, and the evidence in pieces."""
        text = self.evidence
        return {
            "app": self.app,
            "version": self.version,
            "digest": bare_digest(self.digest),
            "verdict": self.verdict.value,
            **findings_body(self.findings),
            "evidence": [text[at : at + TEXT_MAX] for at in range(0, len(text), TEXT_MAX)],
            "evidence_digest": self.evidence_digest,
        }

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        found = cls(
            owner,
            body["app"],
            body["version"],
            named_digest(body["digest"]),
            Readiness(body["verdict"]),
            findings_from(body),
            "".join(body["evidence"]),
        )
        if found.evidence_digest != body["evidence_digest"]:
            raise InvalidValue("evidence_digest", body["evidence_digest"], found.evidence_digest)
        return found


def findings_body(findings: Iterable[ConditionFinding]) -> Body:
    """Findings as lists of labels: how each condition stands, why, and its numbers."""
    held = [*findings]
    return {
        "conditions": [f"{each.condition}={each.state}" for each in held],
        "reasons": [f"{each.condition}={each.reason}" for each in held],
        "numbers": [
            f"{each.condition}.{name}={number}"
            for each in held
            for name, number in sorted(each.numbers.items())
        ],
    }


def findings_from(body: Fields) -> tuple[ConditionFinding, ...]:
    """The findings that a record tells."""
    reasons = dict(each.split("=") for each in body["reasons"])
    numbers: dict[str, dict[str, int]] = {}
    for each in body["numbers"]:
        place, number = each.split("=")
        condition, name = place.split(".")
        numbers.setdefault(condition, {})[name] = int(number)
    return tuple(
        ConditionFinding(
            ReadinessCondition(condition),
            ConditionState(state),
            ReadinessReason(reasons[condition]),
            numbers.get(condition, {}),
        )
        for condition, state in (each.split("=") for each in body["conditions"])
    )
