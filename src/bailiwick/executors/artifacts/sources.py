"""Where artifacts come from: a registry, a place on the web, or a folder; each asked by digest.

Rules:

- A blob lies at ``ADDRESS/sha256/DIGITS``; its signatures beside it, ``.minisig`` and
  ``.sigstore.json``. A redirect to another host is refused: who may send bytes is the source.
- A registry's artifact is a manifest and all that it names. Signatures are manifests that refer to
  it (the distribution API's referrers), each with one layer, which is the signature's text. A blob
  may come by a redirect, as registries do; no token goes along.
- ``file://`` is a folder of the server's own machine: only the platform's sources are there.
- What is missing is missing, what is wrong is ``VerificationFailed``, what may be better later is
  ``Unavailable``.
"""

from __future__ import annotations

import io
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import httpx2

from bailiwick.apps.manifest import check_digest
from bailiwick.apps.signatures import SIGNATURE_BYTES_MAX
from bailiwick.executors.artifacts.store import ArtifactStore, IncomingBytes
from bailiwick.executors.images.registry import (
    DOCUMENT_BYTES_MAX,
    ContentDiffers,
    Credentials,
    ImageReference,
    NotThere,
    RegistryClient,
)
from bailiwick.vocab.apps import VerificationReason
from bailiwick.vocab.errors import InvalidValue, NotFound, Unavailable, VerificationFailed

PARTS_MAX: Final = 512
"""Manifests and blobs of one artifact."""
SIGNATURES_MAX: Final = 16
_TYPES: Final = frozenset(
    (
        "application/vnd.dev.sigstore.bundle.v0.3+json",
        "application/vnd.bailiwick.minisign.v1",
    )
)
_BESIDE: Final = (".minisig", ".sigstore.json")
_PIECE: Final = 1 << 20


class ArtifactOrigin(Protocol):
    """What can be asked for an artifact."""

    def fetch(self, digest: str, store: ArtifactStore, *, size_max: int) -> tuple[str, ...]:
        """Bring it here with all that it names: the digests of all its parts, itself first."""
        ...

    def signatures(self, digest: str) -> list[str]:
        """The texts of its signatures."""
        ...


class WebBlobs:
    """Blobs behind an address of the web."""

    def __init__(self, address: str, transport: httpx2.BaseTransport) -> None:
        self._base = address.rstrip("/") + "/sha256/"
        headers = {"Accept-Encoding": "identity", "User-Agent": "bailiwick-artifacts/1"}
        timeout = httpx2.Timeout(30.0, connect=10.0)
        self._http = httpx2.Client(headers=headers, timeout=timeout, transport=transport)

    def fetch(self, digest: str, store: ArtifactStore, *, size_max: int) -> tuple[str, ...]:
        """Bring it here; from where the last fetch ended, if the place can do that."""
        if store.has(digest):
            return (digest,)
        with store.drafting(digest, size_max=size_max) as draft, _told():
            if draft.size:
                self._receive(draft, offset=draft.size)
            if not draft.is_whole:  # what was here may have been no part of it
                draft.restart()
                self._receive(draft, offset=0)
        return (digest,)

    def _receive(self, draft: IncomingBytes, *, offset: int) -> None:
        headers = {"Range": f"bytes={offset}-"} if offset else {}
        with self._http.stream("GET", self._url(draft.digest), headers=headers) as response:
            if offset and response.status_code != 206:
                return  # nothing to go on from; the next asks for all of it
            self._check(response, draft.digest)
            for piece in response.iter_raw():
                draft.write(piece)

    def signatures(self, digest: str) -> list[str]:
        """Those that lie beside it."""
        found = list[str]()
        for end in _BESIDE:
            with suppress(NotFound):
                found.append(self._small(self._url(digest) + end, digest))
        return found

    def _small(self, url: str, digest: str) -> str:
        data = b""
        with _told(), self._http.stream("GET", url) as response:
            self._check(response, digest)
            for piece in response.iter_raw():
                data += piece
                if len(data) > SIGNATURE_BYTES_MAX:
                    break
        return _text(data)

    def _url(self, digest: str) -> str:
        return self._base + digest.removeprefix("sha256:")

    def _check(self, response: httpx2.Response, digest: str) -> None:
        match response.status_code:
            case 200 | 206:
                return
            case 404 | 410:
                raise NotFound("artifact at its source", digest)
            case 301 | 302 | 303 | 307 | 308:
                raise InvalidValue("source", "a redirect", "the bytes from the source itself")
            case code:
                raise Unavailable("the source", f"it answers {code}")


class FolderBlobs:
    """Blobs in a folder of this machine."""

    def __init__(self, address: str) -> None:
        self._folder = Path(urlsplit(address).path or "/") / "sha256"

    def fetch(self, digest: str, store: ArtifactStore, *, size_max: int) -> tuple[str, ...]:
        """Copy it."""
        if store.has(digest):
            return (digest,)
        with store.drafting(digest, size_max=size_max) as draft:
            draft.restart()
            for piece in self._read(digest.removeprefix("sha256:"), digest):
                draft.write(piece)
        return (digest,)

    def signatures(self, digest: str) -> list[str]:
        """Those that lie beside it."""
        found = list[str]()
        for end in _BESIDE:
            with suppress(NotFound):
                pieces = self._read(digest.removeprefix("sha256:") + end, digest)
                found.append(_text(next(pieces, b"")))
        return found

    def _read(self, name: str, digest: str) -> Iterator[bytes]:
        try:
            # A device or a pipe would have no end, and a link leads elsewhere.
            handle = os.open(self._folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            raise NotFound("artifact at its source", digest) from None
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise NotFound("artifact at its source", digest)
            while piece := file.read(_PIECE):  # bounded by the draft
                yield piece


class Registry:
    """One repository of a registry."""

    def __init__(
        self,
        address: str,
        transport: httpx2.BaseTransport,
        *,
        credentials: Credentials | None = None,
    ) -> None:
        host, _, repository = address.partition("/")
        if not repository:
            raise InvalidValue("address", address, "a registry and a path in it")
        reference = ImageReference(host, repository, "")
        self._client = RegistryClient(reference, credentials, transport=transport)

    def fetch(self, digest: str, store: ArtifactStore, *, size_max: int) -> tuple[str, ...]:
        """A manifest and all that it names; what is here already is not fetched again."""
        parts, left = list[str](), size_max
        todo: list[tuple[str, int | None]] = [(digest, None)]
        while todo:  # bounded: each round takes one, and there are at most PARTS_MAX
            each, size = todo.pop(0)
            if each in parts:
                continue
            parts.append(each)
            if len(parts) > PARTS_MAX:
                raise VerificationFailed(digest, VerificationReason.TOO_LARGE)
            if size is None:
                data = self._manifest(each, store)
                left -= len(data)
                todo += _named(data, digest)
            else:
                left -= size
                if left < 0:
                    raise VerificationFailed(digest, VerificationReason.TOO_LARGE)
                self._blob(each, size, store=store)
        return tuple(parts)

    def _manifest(self, digest: str, store: ArtifactStore) -> bytes:
        if not store.has(digest):
            with store.drafting(digest, size_max=DOCUMENT_BYTES_MAX) as draft:
                draft.restart()
                with _typed(digest):
                    draft.write(self._client.manifest(digest))
        return store.read(digest, size_max=DOCUMENT_BYTES_MAX)

    def _blob(self, digest: str, size: int, *, store: ArtifactStore) -> None:
        if store.has(digest):
            return
        with store.drafting(digest, size_max=size) as draft:
            draft.restart()
            with _typed(digest):
                self._client.blob(digest, size, into=draft)

    def signatures(self, digest: str) -> list[str]:
        """Those that the registry says refer to it; which they are is told by what they sign."""
        told = self._client.referrers(digest)
        try:
            rows = [] if told is None else _rows(_object(told), "manifests")
        except InvalidValue:
            return [""]
        found = [each for each in rows if each.get("artifactType") in _TYPES]
        return [self._signature(each) for each in found[:SIGNATURES_MAX]]

    def _signature(self, row: Mapping[str, Any]) -> str:
        """The text of one; one that is not as it should be is none that holds."""
        text = io.BytesIO()
        try:
            manifest = _object(self._client.manifest(check_digest("digest", row.get("digest"))))
            (layer,) = _rows(manifest, "layers")
            digest, size = _descriptor(layer)
            if size <= SIGNATURE_BYTES_MAX:
                self._client.blob(digest, size, into=text)
        except ValueError:  # InvalidValue is one
            return ""
        return _text(text.getvalue())


@contextmanager
def _told() -> Iterator[None]:
    """What went wrong on the way, as what may be better later."""
    try:
        yield
    except httpx2.HTTPError as error:
        raise Unavailable("the source", type(error).__name__) from None


@contextmanager
def _typed(digest: str) -> Iterator[None]:
    """A registry's faults in the words of artifacts."""
    try:
        yield
    except ContentDiffers:
        raise VerificationFailed(digest, VerificationReason.DIGEST_DIFFERS) from None
    except NotThere:
        raise NotFound("artifact at its source", digest) from None


def _named(data: bytes, digest: str) -> list[tuple[str, int | None]]:
    """What a manifest names: other manifests, or its config and its layers with their sizes."""
    try:
        manifest = _object(data)
        inner = [_descriptor(row)[0] for row in _rows(manifest, "manifests")]
        if "manifests" in manifest:
            return [(each, None) for each in inner]
        rows = [manifest.get("config"), *_rows(manifest, "layers")]
        return [_descriptor(row) for row in rows]
    except InvalidValue:
        # It is what its digest says, and no manifest: whoever registered it meant something else.
        raise VerificationFailed(digest, VerificationReason.DIGEST_DIFFERS) from None


def _object(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidValue("manifest", "(it)", "an object")
    return found


def _rows(manifest: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    rows = manifest.get(name, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InvalidValue(name, "(them)", "a list of descriptors")
    if len(rows) > PARTS_MAX:
        raise InvalidValue(name, len(rows), f"at most {PARTS_MAX}")
    return rows


def _descriptor(row: object) -> tuple[str, int]:
    if not isinstance(row, dict):
        raise InvalidValue("descriptor", "(it)", "an object")
    digest, size = row.get("digest"), row.get("size")
    if type(size) is not int or size < 0:
        raise InvalidValue("size", size, "a number of bytes")
    return check_digest("digest", digest), size


def _text(data: bytes) -> str:
    """The text of a signature; what is none is one that nobody made."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return ""
