"""Credentials for a pull: made for one who asks, one artifact and one operation; and the bytes.

Rules:

- Who may change a project's instances may have a credential made for one of their operations. The
  kernel decides and seals for whom, for what and until when; the credential is made afterwards from
  just that, and a key of the server's. It is in the answer that made it and nowhere else.
- Bytes are handed to whoever shows a credential *and* is its audience by his own token: neither of
  the two alone is worth anything.
- Everything is asked again at every pull: that it has not run out, the operation goes on, the app
  may still be used there, and the artifact is still trusted. What is refused is sealed with a word.
- A text that we did not sign is told apart from none: both are unknown.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bailiwick.apps.artifacts import Artifact, ArtifactSource
from bailiwick.executors.artifacts.fetching import Fetcher
from bailiwick.iam import Scope
from bailiwick.kernel.apps.book import CREDENTIAL_TTL_MS_MAX, PullCredential
from bailiwick.kernel.apps.commands import IssueArtifactCredential
from bailiwick.runtime.replica import View
from bailiwick.services.apps.verifying import StillFetching, awaited
from bailiwick.services.caller import AccessDenied, Caller, Deferred, Hidden, Refusal
from bailiwick.vocab.apps import PullFault
from bailiwick.vocab.errors import Unavailable
from bailiwick.vocab.values import check_integer

PREFIX: Final = "bwp1"
TTL_S_MAX: Final = CREDENTIAL_TTL_MS_MAX // 1000
CREDENTIAL_CHARS_MAX: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class PullWish:
    """A credential to be made; without an ``audience``, for whoever asks."""

    instance_id: int
    operation_id: int
    digest: str
    audience: str | None
    ttl_s: int


@dataclass(frozen=True, slots=True)
class IssuedCredential:
    """What was sealed, and the credential; empty in a dry run."""

    held: PullCredential
    text: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class PullAsked:
    """What somebody wants, and what he shows for it."""

    digest: str
    part: str | None
    shown: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class PulledPart:
    """Bytes to be handed out: where they lie, and what they are."""

    path: Path
    digest: str


async def issue_credential(
    caller: Caller, scope: Scope, *, wish: PullWish, key: bytes
) -> IssuedCredential:
    """Let somebody pull an artifact of an instance while an operation goes on."""
    caller.require(scope)
    check_integer("ttl_s", wish.ttl_s, low=1, high=TTL_S_MAX)
    command = IssueArtifactCredential(
        tenant=str(scope.tenant),
        project=str(scope.project),
        instance_id=wish.instance_id,
        operation_id=wish.operation_id,
        digest=wish.digest,
        audience=wish.audience or caller.principal.name,
        credential_id=caller.ids(),
        # A moment less than the most: the kernel's clock may be a little behind ours.
        expires_ms=caller.clock.now_ms() + 1000 * wish.ttl_s - 1,
    )
    await caller.change(command)
    held = PullCredential(
        credential_id=command.credential_id,
        scope=scope,
        instance_id=command.instance_id,
        operation_id=command.operation_id,
        digest=command.digest,
        audience=command.audience,
        expires_ms=command.expires_ms,
    )
    return IssuedCredential(held, "" if caller.dry_run else spell_credential(held, key))


def spell_credential(held: PullCredential, key: bytes) -> str:
    """What its audience shows: its id, and a seal over all that it says."""
    told = (*map(str, held.scope), str(held.instance_id), str(held.operation_id), held.digest)
    parts = (PREFIX, held.credential_id, *told, held.audience, str(held.expires_ms))
    message = b"".join(len(part.encode()).to_bytes(4, "big") + part.encode() for part in parts)
    seal = urlsafe_b64encode(hmac.digest(key, message, "sha256")).decode().rstrip("=")
    return f"{PREFIX}.{held.credential_id}.{seal}"


async def pull(
    caller: Caller, wanted: PullAsked, *, fetcher: Deferred[Fetcher], key: bytes
) -> PulledPart:
    """An artifact, or a part of it, for whoever may have it now."""
    caller.require_login()
    digest, shown = wanted.digest, wanted.shown
    now_ms, who = caller.clock.now_ms(), caller.principal.name

    def look(view: View) -> PullFault | tuple[Artifact, ArtifactSource]:
        book = view.state.apps
        held = book.credentials.get(_id_of(shown))
        if held is None or not hmac.compare_digest(spell_credential(held, key), shown):
            return PullFault.UNKNOWN_CREDENTIAL
        fault = book.find_fault(held, audience=who, digest=digest, now_ms=now_ms)
        artifact = book.artifact(digest, held.scope)
        source = None if artifact is None else book.source(artifact.source, held.scope)
        if fault is not None or artifact is None or source is None:
            return fault or PullFault.NOT_USABLE
        return artifact, source

    found = await caller.lookup(look)
    if isinstance(found, PullFault):
        raise _refused(caller, found)
    hands = fetcher()
    fetched = await awaited(hands, hands.begin(hands.fetch, found[0], of=found[1]))
    if isinstance(fetched, StillFetching):
        raise Unavailable("the artifact", "it is still being fetched; ask again")
    part = wanted.part or digest
    if part not in fetched.parts:
        raise Hidden()
    return PulledPart(hands.store.path(part), part)


def _id_of(shown: str) -> str:
    if len(shown) > CREDENTIAL_CHARS_MAX or not shown.isascii() or shown.count(".") != 2:
        return ""
    return shown.split(".")[1]


def _refused(caller: Caller, fault: PullFault) -> AccessDenied:
    message = f"this credential does not give it to you: {fault.value}"
    return AccessDenied(Refusal(f"pull_{fault.value}", caller.principal.name), message)
