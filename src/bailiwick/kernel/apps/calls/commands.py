"""The command that has a call of an instance sealed; what is asked is not in it."""

from __future__ import annotations

from dataclasses import dataclass

from bailiwick.journal.fields import DIGEST, INTEGER_MAX, PRINCIPAL
from bailiwick.vocab.apps import CALL_MS_MAX, CallVerb
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer, check_kind, check_name


@dataclass(frozen=True, slots=True, kw_only=True)
class CallInstance:
    """Somebody asks an instance something: which verb it is, and the digest of what is asked.

    Through a shared runtime it is asked for a project that has a part: then that is ``project``.
    """

    tenant: str
    project: str
    instance_id: int
    verb: CallVerb
    digest: str
    """Of the question's one spelling, bare."""
    within_ms: int
    """So long somebody waits for the answer."""
    runtime: str | None = None
    """The shared runtime that the instance is behind, if it is asked through that."""
    by: str | None = None
    """Who asks, there: a policy may be for a person."""
    owner: str | None = None
    """Whose queue is meant, if it is another project's: only to submit."""
    queue: str | None = None
    """None: the first of the project's own."""

    def __post_init__(self) -> None:
        check_name("tenant", self.tenant)
        check_name("project", self.project)
        check_integer("instance_id", self.instance_id, low=1, high=INTEGER_MAX)
        check_kind("verb", self.verb, CallVerb)
        DIGEST.check("digest", self.digest)
        check_integer("within_ms", self.within_ms, low=1, high=CALL_MS_MAX)
        for name in ("runtime", "owner", "queue"):
            if getattr(self, name) is not None:
                check_name(name, getattr(self, name))
        if self.by is not None:
            PRINCIPAL.check("by", self.by)
        if (self.runtime is None) != (self.by is None):
            raise InvalidValue("by", self.by, "who asks through a shared runtime, else nobody")
        if self.runtime is None and (self.owner or self.queue):
            raise InvalidValue("runtime", None, "the shared runtime whose queue it is")
        if self.owner is not None and (self.verb is not CallVerb.SUBMIT or self.queue is None):
            raise InvalidValue("owner", self.owner, "none but to submit to a queue that is named")
