"""Which artifacts may be used: by what is known of them and by the policy, not by a list of hosts.

Rules:

- An artifact is known by its digest. It is used if it is registered as what the manifest says it
  is, comes from a source that is there and that the policy allows, is in an allowed channel, is
  not retired, and is verified; where the source names keys, by one that it still names. What is
  unknown or not trusted is not used.
- Every step is told, in the order of :class:`ArtifactRefusal`, also of one that is used.
- An address has no user and no password in it: nothing secret is written down.

>>> check_address(ArtifactKind.OCI, "registry.lab.example:5000/apps")
'registry.lab.example:5000/apps'
>>> check_address(ArtifactKind.BLOB, "https://me:secret@store.example/apps")  # doctest: +ELLIPSIS
Traceback (most recent call last):
...
bailiwick.vocab.errors.InvalidValue: address: expected ... without user, ..., got '(not shown)'
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Final, TypeAlias

from bailiwick.apps.manifest import ArtifactRef
from bailiwick.apps.overlays import EffectivePolicy
from bailiwick.vocab.apps import (
    ArtifactKind,
    ArtifactLifecycle,
    ArtifactRefusal,
    ArtifactTrust,
    Channel,
    PolicyAxis,
    SourceTier,
)
from bailiwick.vocab.errors import InvalidValue

ADDRESS_MAX: Final = 512
KEYS_MAX: Final = 8
_HOST: Final = r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(?::[0-9]{1,5})?"
_OCI: Final = re.compile(rf"{_HOST}(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*")
_BLOB: Final = re.compile(rf"(?:https://{_HOST}|file://)(?:/[A-Za-z0-9._~-]+)*/?")
_KEY: Final = re.compile(r"RW[A-Za-z0-9+/]{54}")
SIGSTORE_PREFIX: Final = "sigstore:"
"""Before a public key for Sigstore bundles: its SubjectPublicKeyInfo in base64."""
_SPKI: Final = (
    (bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d03010703420004"), 91),  # P-256
    (bytes.fromhex("302a300506032b6570032100"), 44),  # Ed25519
)


def check_address(kind: ArtifactKind, address: str) -> str:
    """The address if it is one of such a store, without anything secret in it."""
    pattern, expected = _BLOB, "an https:// or file:// address"
    if kind is ArtifactKind.OCI:
        pattern, expected = _OCI, "a registry and a path, such as registry.example:5000/apps,"
    if len(address) > ADDRESS_MAX or not pattern.fullmatch(address):
        rest = "without user, password, query or fragment"
        raise InvalidValue("address", "(not shown)", f"{expected} {rest}")
    return address


def check_key(key: str) -> str:
    """The key if it is a public one as minisign prints it, or one for Sigstore bundles."""
    if key.startswith(SIGSTORE_PREFIX):
        if not _is_spki(key.removeprefix(SIGSTORE_PREFIX)):
            expected = f"{SIGSTORE_PREFIX} and a public key on P-256 or Ed25519 (DER in base64)"
            raise InvalidValue("key", key, expected)
    elif not _KEY.fullmatch(key):
        raise InvalidValue("key", key, "the 56 characters of a minisign public key, RW first")
    return key


def _is_spki(text: str) -> bool:
    """Whether it is a SubjectPublicKeyInfo of one of the two sorts, spelled in the one way."""
    try:
        raw = b64decode(text, validate=True)
    except ValueError:
        return False
    is_known = any(raw.startswith(head) and len(raw) == size for head, size in _SPKI)
    return is_known and b64encode(raw).decode() == text


@dataclass(frozen=True, slots=True)
class ArtifactSource:
    """Where artifacts come from: everybody's place, or one tenant's own."""

    name: str
    tier: SourceTier
    kind: ArtifactKind
    address: str
    keys: tuple[str, ...] = ()
    """Public keys that sign what comes from there."""
    is_allowed: bool = True


@dataclass(frozen=True, slots=True)
class Artifact:
    """What is known of some bytes."""

    digest: str
    kind: ArtifactKind
    source: str
    lifecycle: ArtifactLifecycle = ArtifactLifecycle.PUBLISHED
    trust: ArtifactTrust = ArtifactTrust.UNVERIFIED
    channel: Channel = Channel.DEV
    revision: int = 1
    key: str | None = None
    """The public key by which it is trusted, if it was verified by a signature."""

    def is_trusted_by(self, source: ArtifactSource | None) -> bool:
        """Whether it is verified and, where its source names keys, by one that it still names."""
        if self.trust is not ArtifactTrust.VERIFIED:
            return False
        return source is None or not source.keys or self.key in source.keys


@dataclass(frozen=True, slots=True)
class ArtifactStep:
    """One thing that was asked of an artifact, and what was found."""

    asked: ArtifactRefusal
    holds: bool
    """Whether it may go on: the refusal does not apply."""
    found: str


@dataclass(frozen=True, slots=True)
class Usable:
    """It may be used; what was asked."""

    digest: str
    steps: tuple[ArtifactStep, ...]


@dataclass(frozen=True, slots=True)
class Unusable:
    """It may not: the first reason, and all that was asked up to it."""

    digest: str
    reason: ArtifactRefusal
    steps: tuple[ArtifactStep, ...]


Resolution: TypeAlias = Usable | Unusable


def resolve(
    ref: ArtifactRef,
    artifact: Artifact | None,
    *,
    source: ArtifactSource | None,
    policy: EffectivePolicy,
) -> Resolution:
    """Whether what a manifest names may be used under this policy."""
    steps = list[ArtifactStep]()
    for step in _steps(ref, artifact, source, policy=policy):
        steps.append(step)
        if not step.holds:
            return Unusable(ref.digest, step.asked, tuple(steps))
    return Usable(ref.digest, tuple(steps))


def _steps(
    ref: ArtifactRef,
    artifact: Artifact | None,
    source: ArtifactSource | None,
    *,
    policy: EffectivePolicy,
) -> list[ArtifactStep]:
    why = ArtifactRefusal
    if artifact is None:
        return [ArtifactStep(why.NOT_REGISTERED, False, "nothing is known of this digest")]
    by_source = policy.why_not(PolicyAxis.SOURCES, ref.source)
    by_channel = policy.why_not(PolicyAxis.CHANNELS, artifact.channel.value)
    there = source is not None and source.is_allowed and source.kind is artifact.kind
    is_trusted = artifact.is_trusted_by(source)
    is_stale = artifact.trust is ArtifactTrust.VERIFIED and not is_trusted
    is_retired = artifact.lifecycle is ArtifactLifecycle.RETIRED
    return [
        ArtifactStep(why.NOT_REGISTERED, True, artifact.digest),
        ArtifactStep(why.KIND_DIFFERS, artifact.kind is ref.kind, artifact.kind.value),
        ArtifactStep(why.SOURCE_DIFFERS, artifact.source == ref.source, artifact.source),
        ArtifactStep(
            why.SOURCE_UNKNOWN, there, ref.source if source is None else source.tier.value
        ),
        ArtifactStep(why.SOURCE_NOT_ALLOWED, by_source is None, by_source or "allowed"),
        ArtifactStep(
            why.CHANNEL_NOT_ALLOWED, by_channel is None, by_channel or artifact.channel.value
        ),
        ArtifactStep(why.RETIRED, not is_retired, artifact.lifecycle.value),
        ArtifactStep(
            why.NOT_VERIFIED, is_trusted, "another key's" if is_stale else artifact.trust.value
        ),
    ]
