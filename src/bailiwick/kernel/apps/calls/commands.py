"""The command that has a call of an instance sealed; what is asked is not in it."""

from __future__ import annotations

from dataclasses import dataclass

from bailiwick.journal.fields import DIGEST, INTEGER_MAX
from bailiwick.vocab.apps import CALL_MS_MAX, CallVerb
from bailiwick.vocab.values import check_integer, check_kind, check_name


@dataclass(frozen=True, slots=True, kw_only=True)
class CallInstance:
    """Somebody asks an instance something: which verb it is, and the digest of what is asked."""

    tenant: str
    project: str
    instance_id: int
    verb: CallVerb
    digest: str
    """Of the question's one spelling, bare."""
    within_ms: int
    """So long somebody waits for the answer."""

    def __post_init__(self) -> None:
        check_name("tenant", self.tenant)
        check_name("project", self.project)
        check_integer("instance_id", self.instance_id, low=1, high=INTEGER_MAX)
        check_kind("verb", self.verb, CallVerb)
        DIGEST.check("digest", self.digest)
        check_integer("within_ms", self.within_ms, low=1, high=CALL_MS_MAX)
