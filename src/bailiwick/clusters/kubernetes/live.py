"""What runs on a Kubernetes cluster now, from its API server or from saved objects.

Rules:

- The API server is asked for pods and nodes with a bearer token, in pages, over TLS only, but for
  one on this machine (``kubectl proxy``). Listing both is all that is asked for and all that the
  token needs to allow.
- The server is not trusted with this process: all pages of a list together are bounded in bytes,
  each page in time however slowly it comes, and the token follows no redirection. What it answers
  otherwise than it should is an error of that reading.
- A list whose next page has expired (410) is begun again, once.
"""

from __future__ import annotations

import ssl
import time
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Final
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from bailiwick.clusters.accounting import NoAnswer
from bailiwick.clusters.json_files import ANSWER_BYTES_MAX, parse_answer, read_answer
from bailiwick.clusters.live import LiveQuestion, Read
from bailiwick.isolation.adapters.cluster import ClusterReading, SubjectWords
from bailiwick.isolation.adapters.kubernetes import NAMESPACE, read_kubernetes
from bailiwick.vocab.errors import InvalidValue, NotFound

PAGE: Final = 500
PAGES_MAX: Final = 2_000
WAIT_S: Final = 30
"""Without a byte."""
PAGE_S: Final = 120
"""For one page."""
_CHUNK: Final = 2**16
_GONE: Final = 410
_HERE = ("localhost", "127.0.0.1", "::1")
_PATHS = ("/api/v1/nodes", "/api/v1/pods")


def watch(question: LiveQuestion) -> Read:
    """What reads the cluster's pods and nodes."""
    if bool(question.files) == (question.server is not None):
        raise InvalidValue("files", len(question.files), "files of objects, or --server URL")
    if question.labels_by:
        raise InvalidValue("--labels-by", question.labels_by, "nothing: a pod's labels are read")
    words = SubjectWords(question.tenant_by or NAMESPACE, question.project_by)
    server = None if question.server is None else _Server(question)

    def read() -> ClusterReading:
        if server is None:
            found = [read_answer(path) for path in question.files]
        else:
            found = [page for path in _PATHS for page in server.pages(path)]
        return read_kubernetes(found, naming=words, known=question.sites)

    return read


class _Server:
    """One API server, and how to speak to it."""

    def __init__(self, question: LiveQuestion) -> None:
        self._url = (question.server or "").rstrip("/")
        parts = urlsplit(self._url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidValue("--server", self._url, "https://HOST:PORT")
        if parts.scheme == "http" and parts.hostname not in _HERE:
            raise InvalidValue("--server", self._url, "https, unless it is on this machine")
        self._token_file = question.token_file
        cafile = None if question.ca_file is None else str(question.ca_file)
        try:
            context = ssl.create_default_context(cafile=cafile)
        except OSError as error:
            raise InvalidValue("--ca-file", cafile, f"certificates to read ({error})") from None
        self._opener = OpenerDirector()  # without what follows redirections
        for handler in (
            ProxyHandler(),
            HTTPHandler(),
            HTTPSHandler(context=context),
            HTTPErrorProcessor(),
            HTTPDefaultErrorHandler(),
        ):
            self._opener.add_handler(handler)

    def pages(self, path: str) -> list[object]:
        """Everything that a list holds."""
        try:
            return self._pages(path)
        except _Expired:
            pass
        try:
            return self._pages(path)
        except _Expired:
            raise NoAnswer(
                f"{self._url}: the pages of {path} expire before they are read"
            ) from None

    def _pages(self, path: str) -> list[object]:
        found: list[object] = []
        token, left = "", ANSWER_BYTES_MAX
        for _ in range(PAGES_MAX):
            more = f"&continue={quote(token)}" if token else ""
            raw = self._get(f"{path}?limit={PAGE}{more}", most=left)
            left -= len(raw)
            try:
                page = parse_answer(path, raw)
            except InvalidValue as error:
                raise NoAnswer(f"{self._url} answered no list: {error}") from None
            found.append(page)
            token = _continue(page)
            if not token:
                return found
        raise NoAnswer(f"{path} has more than {PAGE * PAGES_MAX} objects")

    def _get(self, path: str, *, most: int) -> bytes:
        request = Request(self._url + path, headers={"Accept": "application/json"})
        if self._token_file is not None:
            request.add_header("Authorization", f"Bearer {_token(self._token_file)}")
        try:
            with self._opener.open(request, timeout=WAIT_S) as answer:
                return _read(answer, path, most=most)
        except HTTPError as error:
            if error.code == _GONE and "&continue=" in path:
                raise _Expired from None
            raise NoAnswer(f"{self._url} answered {error.code} to {path}") from None
        except (URLError, HTTPException, TimeoutError, OSError) as error:
            raise NoAnswer(f"{self._url} gave no answer: {error}") from None


class _Expired(Exception):
    """The server no longer knows where this list was left off."""


def _read(answer: HTTPResponse, path: str, *, most: int) -> bytes:
    """The whole body, if it is not too long and does not take too long."""
    until_s, found = time.monotonic() + PAGE_S, bytearray()
    while chunk := answer.read1(_CHUNK):  # bounded: in bytes and in time
        found += chunk
        if len(found) > most:
            raise NoAnswer(f"{path} is more than {ANSWER_BYTES_MAX} bytes")
        if time.monotonic() > until_s:
            raise NoAnswer(f"{path} was not whole after {PAGE_S:.0f} s")
    if answer.length:
        raise NoAnswer(f"{path} ended {answer.length} bytes too early")
    return bytes(found)


def _continue(page: object) -> str:
    head = page.get("metadata") if isinstance(page, dict) else None
    token = head.get("continue") if isinstance(head, dict) else None
    return token if isinstance(token, str) else ""


def _token(path: Path) -> str:
    """The token as the file holds it now: it is renewed there from time to time."""
    try:
        return path.read_text("ascii").strip()
    except FileNotFoundError:
        raise NotFound("token file", str(path)) from None
