"""Leave to pull an artifact: who gets it, for what and for how long.

Rules:

- It is given for an artifact of an instance that may be used there now, while an operation on the
  instance goes on, and for minutes.
- What it is good for is asked again whenever it is used (``AppBook.find_fault``).
- Those that ran out are forgotten, and there are so many at most.
"""

from __future__ import annotations

from collections.abc import Iterator

from bailiwick.apps.artifacts import Unusable
from bailiwick.iam import Scope
from bailiwick.kernel.apps import commands as cmd
from bailiwick.kernel.apps import events as ev
from bailiwick.kernel.apps.book import (
    CREDENTIAL_TTL_MS_MAX,
    CREDENTIALS_MAX,
    AppBook,
    PullCredential,
)
from bailiwick.kernel.events import Event
from bailiwick.kernel.owner import Owner
from bailiwick.vocab.apps import InstanceRefusal, PullFault
from bailiwick.vocab.errors import Conflict, InstanceRefused, LimitReached, NotFound


def decide(book: AppBook, command: cmd.IssueArtifactCredential, *, now_ms: int) -> Iterator[Event]:
    """The leave that follows, or why there is none."""
    scope = Scope(command.tenant, command.project)
    held = book.instances.get(command.tenant, command.project, instance_id=command.instance_id)
    found = book.resolved(held, command.digest)
    if found is None:
        raise NotFound("artifact of this instance", command.digest)
    if command.credential_id in book.credentials:
        raise Conflict("credential", command.credential_id, "exists already")
    if not now_ms < command.expires_ms <= now_ms + CREDENTIAL_TTL_MS_MAX:
        told = f"would not end within {CREDENTIAL_TTL_MS_MAX} ms"
        raise Conflict("credential", command.credential_id, told)
    credential = PullCredential(
        credential_id=command.credential_id,
        scope=scope,
        instance_id=command.instance_id,
        operation_id=held.operation(command.operation_id).id,
        digest=command.digest,
        audience=command.audience,
        expires_ms=command.expires_ms,
    )
    fault = book.find_fault(
        credential, audience=command.audience, digest=command.digest, now_ms=now_ms
    )
    if fault is PullFault.OPERATION_ENDED:
        raise Conflict("operation", command.operation_id, "has ended")
    if fault is not None:
        why = found.reason.value if isinstance(found, Unusable) else fault.value
        refusal = InstanceRefusal.ARTIFACT_UNUSABLE
        raise InstanceRefused(refusal, held.instance.name, digest=command.digest, why=why)
    oldest = next(iter(book.credentials.values()), credential)
    if len(book.credentials) >= CREDENTIALS_MAX and oldest.expires_ms > now_ms:
        raise LimitReached("credentials", CREDENTIALS_MAX)
    yield ev.ArtifactCredentialIssued(Owner(*scope), held.instance.app, credential)


def put_credential(book: AppBook, credential: PullCredential, *, at_ms: int) -> None:
    """Remember one, and forget those at the front that ran out."""
    held = book.credentials
    while held:  # bounded: every round forgets one
        oldest = next(iter(held.values()))
        if oldest.expires_ms > at_ms:
            break
        del held[oldest.credential_id]
    held[credential.credential_id] = credential
