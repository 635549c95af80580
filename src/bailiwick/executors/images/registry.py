"""A registry, read by the distribution API: documents and blobs, each what its digest says.

Rules:

- Only a digest names an image: what a tag means can change between two machines.
- Nothing is kept that is not, to the last byte, what its digest says; and nothing is read past the
  size that its descriptor tells, or past our own bounds.
- Plain HTTP is spoken to this machine alone. A name and a password go only where a registry sends
  for a token, and never into an error or a log; a redirect takes no token to another host.
- What cannot be had is ``Unavailable`` if it may be later, and ``InvalidValue`` otherwise.

>>> parse_reference(f"registry.local:5000/team/tools@sha256:{'0' * 64}").repository
'team/tools'
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urljoin, urlsplit

import httpx2

from bailiwick.client.connection import is_loopback
from bailiwick.vocab.errors import InvalidValue, Unavailable

DOCUMENT_BYTES_MAX: Final = 4 << 20
_REFERENCE: Final = re.compile(
    r"([A-Za-z0-9.-]+(?::[0-9]{1,5})?|\[[0-9a-f:]+\](?::[0-9]{1,5})?)"
    r"/([a-z0-9]+(?:[._/-][a-z0-9]+)*)@(sha256:[0-9a-f]{64})"
)
_ACCEPT: Final = (
    "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, "
    "application/vnd.docker.distribution.manifest.v2+json, "
    "application/vnd.docker.distribution.manifest.list.v2+json"
)
_INDEX: Final = "application/vnd.oci.image.index.v1+json"
_ASKED: Final = re.compile(r'(\w+)="([^"]*)"')
_REDIRECTS_MAX: Final = 3
_PIECE: Final = 1 << 20
_TIMEOUT_S: Final = 60.0


class Sink(Protocol):
    """Where bytes go as they come."""

    def write(self, piece: bytes, /) -> int:
        """Take one more piece."""
        ...


@dataclass(frozen=True, slots=True)
class ImageReference:
    """Which image of which registry."""

    host: str
    repository: str
    digest: str

    @property
    def name(self) -> str:
        """What it is called on this machine unless somebody says otherwise."""
        return self.repository.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who asks; shown nowhere."""

    user: str
    secret: str = field(repr=False)


def parse_reference(text: str) -> ImageReference:
    """``HOST[:PORT]/NAME@sha256:DIGEST``."""
    found = _REFERENCE.fullmatch(text) if len(text) <= 512 else None
    if found is None:
        expected = "REGISTRY/NAME@sha256:DIGEST (a tag may change; its digest says what is meant)"
        raise InvalidValue("image", text[:512], expected)
    return ImageReference(found[1], found[2], found[3])


def load_credentials(path: Path, host: str) -> Credentials | None:
    """Who asks that registry, from a file as container tools keep it; none if it is not named."""
    try:
        about = path.stat()
        data = path.read_bytes() if about.st_size <= DOCUMENT_BYTES_MAX else b""
    except OSError as error:
        raise InvalidValue("--credentials", str(path), f"a file ({error.strerror})") from None
    if stat.S_IMODE(about.st_mode) & 0o077:
        raise InvalidValue("--credentials", str(path), "a file that only you can read")
    try:
        rows = json.loads(data)["auths"]
        found = rows.get(host)
        if found is None:
            return None
        user, colon, secret = base64.b64decode(found["auth"], validate=True).decode().partition(":")
        if not colon:
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError):
        expected = '{"auths": {"REGISTRY": {"auth": "base64 of USER:PASSWORD"}}}'
        raise InvalidValue("--credentials", str(path), expected) from None
    return Credentials(user, secret)


class ContentDiffers(InvalidValue):
    """A registry sent what its digest or its size does not say."""


class NotThere(InvalidValue):
    """A registry does not have it."""


class RegistryClient:
    """Reads one repository of one registry."""

    def __init__(
        self,
        reference: ImageReference,
        credentials: Credentials | None = None,
        *,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        host = urlsplit(f"//{reference.host}").hostname or ""
        scheme = "http" if is_loopback(host) else "https"
        self._base = f"{scheme}://{reference.host}/v2/{reference.repository}/"
        self._repository, self._credentials = reference.repository, credentials
        self._bearer: str | None = None
        self._http = httpx2.Client(
            headers={"Accept-Encoding": "identity", "User-Agent": "bailiwick-images/1"},
            timeout=httpx2.Timeout(_TIMEOUT_S, connect=10.0),
            trust_env=not is_loopback(host),
            transport=transport,
        )

    def close(self) -> None:
        """Hang up."""
        self._http.close()

    def manifest(self, digest: str) -> bytes:
        """A manifest or an index, if it is what its digest says."""
        with self._get(f"manifests/{digest}", accept=_ACCEPT) as response:
            data = b"".join(_bounded(response, DOCUMENT_BYTES_MAX))
        if f"sha256:{hashlib.sha256(data).hexdigest()}" != digest:
            raise ContentDiffers("image", digest, "a manifest that is what its digest says")
        return data

    def referrers(self, digest: str) -> bytes | None:
        """What the registry says refers to a manifest (its signatures); not known by a digest."""
        with suppress(NotThere), self._get(f"referrers/{digest}", accept=_INDEX) as response:
            return b"".join(_bounded(response, DOCUMENT_BYTES_MAX))
        return None

    def blob(self, digest: str, size: int, *, into: Sink) -> None:
        """A blob of that size and digest, written as it comes; what is else is refused."""
        seen, count = hashlib.sha256(), 0
        with self._get(f"blobs/{digest}") as response:
            for piece in _bounded(response, size):
                seen.update(piece)
                count += len(piece)
                into.write(piece)
        if count != size or f"sha256:{seen.hexdigest()}" != digest:
            raise ContentDiffers("image", digest, "a blob that is what its digest says")

    @contextmanager
    def _get(self, path: str, *, accept: str = "*/*") -> Iterator[httpx2.Response]:
        try:
            with self._answered(self._base + path, accept) as response:
                yield response
        except httpx2.HTTPError as error:
            raise Unavailable("the registry", type(error).__name__) from None

    @contextmanager
    def _answered(self, url: str, accept: str) -> Iterator[httpx2.Response]:
        """The answer itself, after redirects and after a token was fetched."""
        for _ in range(_REDIRECTS_MAX + 2):  # one more for a token
            headers = {"Accept": accept}
            if self._bearer is not None and _origin(url) == _origin(self._base):
                headers["Authorization"] = self._bearer
            with self._http.stream("GET", url, headers=headers) as response:
                if response.status_code == 200:
                    yield response
                    return
                url = self._next(url, response)
        raise Unavailable("the registry", "it redirects without an end")

    def _next(self, url: str, response: httpx2.Response) -> str:
        """Where to ask next, after an answer that is none."""
        match response.status_code:
            case 301 | 302 | 303 | 307 | 308:
                return _checked(urljoin(url, response.headers.get("location", "")))
            case 401 if self._bearer is None and _origin(url) == _origin(self._base):
                self._bearer = self._authorize(response.headers.get("www-authenticate", ""))
                return url
            case 401 | 403:
                raise InvalidValue("image", self._repository, "one that you may read there")
            case 404:
                raise NotThere("image", self._repository, "one that the registry has")
            case code:
                raise Unavailable("the registry", f"it answers {code}")

    def _authorize(self, asked: str) -> str:
        """What the registry wants to be shown: by a token of its own, or name and password."""
        scheme, _, rest = asked.partition(" ")
        basic = None
        if self._credentials is not None:
            plain = f"{self._credentials.user}:{self._credentials.secret}".encode()
            basic = f"Basic {base64.b64encode(plain).decode()}"
        if scheme.lower() == "basic" and basic is not None:
            return basic
        told = dict(_ASKED.findall(rest))
        if scheme.lower() != "bearer" or "realm" not in told:
            raise InvalidValue("image", self._repository, "one that you may read there")
        params = {
            "service": told.get("service", ""),
            "scope": f"repository:{self._repository}:pull",
        }
        headers = {} if basic is None else {"Authorization": basic}
        realm = _checked(told["realm"])
        with self._http.stream("GET", realm, params=params, headers=headers) as answer:
            found = _token_of(answer) if answer.status_code == 200 else None
        if found is None:
            raise InvalidValue("image", self._repository, "one that you may read there")
        return f"Bearer {found}"


def _token_of(answer: httpx2.Response) -> str | None:
    try:
        body: Any = json.loads(b"".join(_bounded(answer, _PIECE)))
    except ValueError:
        return None
    found = body.get("token") or body.get("access_token") if isinstance(body, Mapping) else None
    return found if isinstance(found, str) and found.isprintable() else None


def _bounded(response: httpx2.Response, most: int) -> Iterator[bytes]:
    count = 0
    for piece in response.iter_raw(_PIECE):
        count += len(piece)
        if count > most:
            expected = "what its size says, or less"
            raise ContentDiffers("image", f"more than {most} bytes", expected)
        yield piece


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _checked(url: str) -> str:
    parts = urlsplit(url)
    is_plain = parts.scheme == "http" and is_loopback(parts.hostname or "")
    if not (is_plain or parts.scheme == "https") or not parts.hostname:
        raise InvalidValue("image", "(its address)", "a registry that stays with https://")
    return url
