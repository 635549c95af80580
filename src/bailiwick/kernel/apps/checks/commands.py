"""The command that has a check of an app judged and sealed."""

from __future__ import annotations

from dataclasses import dataclass

from bailiwick.apps.readiness.evidence import read_evidence
from bailiwick.apps.semver import check_version
from bailiwick.kernel.apps.names import check_app
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_kind


@dataclass(frozen=True, slots=True)
class RecordAppCheck:
    """What a check of one version found; the facts in it are read from the journal."""

    app: str
    version: str
    evidence: str
    """Its one spelling."""

    def __post_init__(self) -> None:
        check_app(self.app)
        check_version("version", self.version)
        if read_evidence(check_kind("evidence", self.evidence, str)).version != self.version:
            raise InvalidValue("evidence", "(not shown)", f"what was found of {self.version}")
