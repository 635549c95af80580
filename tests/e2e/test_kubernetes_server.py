"""Pods and nodes over HTTP, from a server that a test makes: pages, tokens, and what goes wrong."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from bailiwick.clusters.accounting import NoAnswer
from bailiwick.clusters.kubernetes import live
from bailiwick.clusters.live import LiveQuestion
from bailiwick.vocab.errors import InvalidValue
from tests.support.certificates import make_certificate

TOKEN = "a.b.c"
Answer = tuple[int, bytes]


def page(*items: dict[str, Any], more: str = "") -> Answer:
    return 200, json.dumps(
        {"kind": "List", "metadata": {"continue": more}, "items": items}
    ).encode()


def node(name: str) -> dict[str, Any]:
    return {"kind": "Node", "metadata": {"name": name}, "status": {"capacity": {"cpu": "4"}}}


class ApiServer(ThreadingHTTPServer):
    """Answers as the test says, and remembers what it was asked."""

    daemon_threads = True

    def __init__(self, answer: Callable[[str], Answer]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer, self.asked = answer, list[tuple[str, str | None]]()
        self.length_more = 0
        """Bytes that are promised and never come."""
        self.location = ""


class _Handler(BaseHTTPRequestHandler):
    server: ApiServer

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers.get("Authorization")))
        code, body = self.server.answer(self.path)
        self.send_response(code)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.send_header("Content-Length", str(len(body) + self.server.length_more))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def serve() -> Iterator[Callable[[Callable[[str], Answer]], ApiServer]]:
    begun: list[ApiServer] = []

    def begin(answer: Callable[[str], Answer]) -> ApiServer:
        server = ApiServer(answer)
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        begun.append(server)
        return server

    yield begin
    for server in begun:
        server.shutdown()
        server.server_close()


Serve = Callable[[Callable[[str], Answer]], ApiServer]


def reader(server: ApiServer, token_file: Path | None = None) -> Callable[[], Any]:
    url = f"http://127.0.0.1:{server.server_port}/"
    return live.watch(LiveQuestion(server=url, token_file=token_file))


def two_pages(path: str) -> Answer:
    if path.startswith("/api/v1/pods"):
        return page()
    return page(node("n2")) if "continue=" in path else page(node("n1"), more="a/b")


def test_all_pages_are_read_with_the_token_as_the_file_holds_it_now(
    serve: Serve, tmp_path: Path
) -> None:
    server, token = serve(two_pages), tmp_path / "token"
    token.write_text(f"{TOKEN}\n")
    read = reader(server, token)
    assert {*read().sites} == {"n1", "n2"}
    assert {header for _, header in server.asked} == {f"Bearer {TOKEN}"}
    token.write_text("renewed")
    read()
    assert server.asked[-1][1] == "Bearer renewed"


def test_a_list_that_expired_is_begun_again_but_not_for_ever(serve: Serve) -> None:
    told: list[str] = []

    def once(path: str) -> Answer:
        if "continue=" in path and not told:
            told.append(path)
            return 410, b"{}"
        return two_pages(path)

    assert {*reader(serve(once))().sites} == {"n1", "n2"}
    always = serve(lambda path: (410, b"{}") if "continue=" in path else two_pages(path))
    with pytest.raises(NoAnswer, match="expire before"):
        reader(always)()


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ((200, b'{"items": ['), "answered no list"),
        ((200, b""), "answered no list"),
        ((200, b" " * 5_000), "more than 4096 bytes"),
        ((403, b"{}"), "answered 403"),
        ((410, b"{}"), "answered 410"),
    ],
)
def test_what_is_no_answer_is_an_error_of_that_reading_alone(
    serve: Serve, answer: Answer, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "ANSWER_BYTES_MAX", 4_096)
    answers = [answer]
    server = serve(lambda path: answers.pop() if answers else two_pages(path))
    read = reader(server)
    with pytest.raises(NoAnswer, match=told):
        read()
    assert {*read().sites} == {"n1", "n2"}


def test_all_pages_together_are_bounded(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "ANSWER_BYTES_MAX", 4_096)
    with pytest.raises(NoAnswer, match="more than 4096 bytes"):
        reader(serve(lambda _: page(node("n1"), more="on")))()


def test_a_body_that_is_cut_or_comes_too_slowly_is_told(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(two_pages)
    server.length_more = 10
    with pytest.raises(NoAnswer, match="10 bytes too early"):
        reader(server)()
    monkeypatch.setattr(live, "PAGE_S", -1)
    with pytest.raises(NoAnswer, match="was not whole"):
        reader(serve(two_pages))()


def test_the_token_follows_no_redirection(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)
    thief = serve(two_pages)
    server = serve(lambda _: (302, b""))
    server.location = f"http://127.0.0.1:{thief.server_port}/api/v1/nodes"
    with pytest.raises(NoAnswer, match="answered 302"):
        reader(server, tmp_path / "token")()
    assert thief.asked == []


def test_a_token_goes_nowhere_without_tls_and_a_wrong_ca_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="https"):
        live.watch(LiveQuestion(server="http://cluster.example.org"))
    with pytest.raises(InvalidValue, match="--ca-file"):
        live.watch(LiveQuestion(server="https://127.0.0.1", ca_file=tmp_path / "gone"))


def test_over_tls_the_server_must_be_the_one_of_the_ca_file_before_it_gets_the_token(
    serve: Serve, tmp_path: Path
) -> None:
    certificate, key = make_certificate(tmp_path)
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "other").mkdir()
    another, _ = make_certificate(tmp_path / "other")
    server = serve(two_pages)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    # The handshake waits for the handler's thread, so that a refused one ends no listening.
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )

    def read_trusting(ca_file: Path | None) -> Any:
        url = f"https://127.0.0.1:{server.server_port}"
        question = LiveQuestion(server=url, token_file=tmp_path / "token", ca_file=ca_file)
        return live.watch(question)()

    for wrong in (None, another):
        with pytest.raises(NoAnswer, match="CERTIFICATE_VERIFY_FAILED"):
            read_trusting(wrong)
    assert server.asked == []
    assert {*read_trusting(certificate).sites} == {"n1", "n2"}
    assert {header for _, header in server.asked} == {f"Bearer {TOKEN}"}
