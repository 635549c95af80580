"""The client against a server that does exactly as it is told: keys, tries, pages, the feed."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from bailiwick.client import connection
from bailiwick.client.connection import check_server
from bailiwick.client.errors import Misunderstood, Refusal, Unreachable
from bailiwick.client.http_client import Client
from bailiwick.vocab.errors import InvalidValue
from bailiwick.wire.actions.journal import CHECKPOINT_READ, RECORD_WATCH
from bailiwick.wire.actions.leases import LEASE_REQUEST, QUEUE_CANCEL
from bailiwick.wire.actions.tenants import TENANT_CHANGE, TENANT_CREATE, TENANT_LIST, TENANT_READ
from bailiwick.wire.actions.tokens import LOGIN
from bailiwick.wire.answers import Granted, WouldGrant
from bailiwick.wire.people import Login, NewTenant, ScopeChange
from bailiwick.wire.work import LeaseRequest

DONE = {"answer": "done", "seq": 7}
TENANT = {"tenant": "lab", "display_name": "", "is_open": True, "revision": 3}


@dataclass
class Said:
    """One answer to give: a status with JSON or text, or a line that goes dead."""

    status: int = 200
    body: Any = field(default_factory=lambda: dict(DONE))
    headers: dict[str, str] = field(default_factory=dict)
    hangs_up: bool = False


@dataclass
class Script:
    """What the server is to say, and what it was asked."""

    url: str = ""
    answers: list[Said] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)


def problem(code: str, *, retryable: bool = False) -> dict[str, Any]:
    told = {"code": code, "message": "so", "correlation_id": "theirs", "details": {}}
    return told | {"retryable": retryable}


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    monkeypatch.setattr(connection, "PAUSE_S", 0.001)
    found = Script()

    class Handler(BaseHTTPRequestHandler):
        def do(self) -> None:
            size = int(self.headers.get("content-length", 0))
            body = self.rfile.read(size)
            found.asked.append(
                {
                    "method": self.command,
                    "path": self.path,
                    "body": json.loads(body) if body else None,
                    **{name.lower(): value for name, value in self.headers.items()},
                }
            )
            said = found.answers.pop(0)
            if said.hangs_up:
                self.close_connection = True
                return
            data = said.body if isinstance(said.body, str) else json.dumps(said.body)
            self.send_response(said.status)
            for name, value in said.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data.encode())))
            self.end_headers()
            self.wfile.write(data.encode())

        do_GET = do_POST = do_PATCH = do_DELETE = do

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_change_bears_a_token_a_key_and_a_name(script: Script) -> None:
    script.answers = [Said(), Said()]
    with Client(script.url, "secret") as client:
        assert client.send(TENANT_CREATE, body=NewTenant(tenant="lab")).seq == 7
        first = client.correlation_id
        client.send(QUEUE_CANCEL, path={"entry_id": 1}, dry_run=True)
    one, two = script.asked
    assert one["authorization"] == "Bearer secret"
    assert one["body"] == {"tenant": "lab"}
    assert one["x-correlation-id"] == first
    assert one["idempotency-key"] != two["idempotency-key"]
    assert two["path"] == "/v1/queue/1?dry_run=true"


def test_the_same_key_is_sent_again_after_a_lost_line_and_a_503(script: Script) -> None:
    unavailable = Said(503, problem("unavailable", retryable=True))
    script.answers = [Said(hangs_up=True), unavailable, Said()]
    with Client(script.url, "t") as client:
        assert client.send(TENANT_CREATE, body=NewTenant(tenant="lab")).seq == 7
    assert len({asked["idempotency-key"] for asked in script.asked}) == 1
    assert len(script.asked) == 3


def test_tries_are_bounded(script: Script) -> None:
    script.answers = [Said(503, problem("not_leader", retryable=True)) for _ in range(9)]
    with Client(script.url, "t", tries=3) as client, pytest.raises(Refusal) as caught:
        client.send(TENANT_READ, path={"tenant": "lab"})
    assert len(script.asked) == 3
    assert caught.value.correlation_id == "theirs"


@pytest.mark.parametrize(
    ("status", "code"),
    [(412, "stale"), (429, "rate_limited"), (409, "refused"), (403, "forbidden")],
)
def test_what_the_same_request_cannot_cure_is_not_repeated(
    script: Script, status: int, code: str
) -> None:
    script.answers = [Said(status, problem(code, retryable=True))]
    with Client(script.url, "t") as client, pytest.raises(Refusal) as caught:
        client.send(TENANT_READ, path={"tenant": "lab"})
    assert (caught.value.status, caught.value.problem.code.value) == (status, code)
    assert len(script.asked) == 1


def test_what_hands_out_a_secret_is_never_sent_twice(script: Script) -> None:
    script.answers = [Said(hangs_up=True), Said(503, problem("unavailable", retryable=True))]
    with Client(script.url) as client:
        for error in (Unreachable, Refusal):
            with pytest.raises(error):
                client.send(LOGIN, body=Login(code="c"))
    assert len(script.asked) == 2


def test_nobody_there_is_unreachable_and_named() -> None:
    with Client("http://127.0.0.1:9", "t", tries=1) as client, pytest.raises(Unreachable) as caught:
        client.send(TENANT_READ, path={"tenant": "lab"})
    assert "127.0.0.1:9 does not answer: no connection" in str(caught.value)
    assert caught.value.correlation_id == client.correlation_id


@pytest.mark.parametrize(
    "said",
    [
        Said(200, {"answer": "granted"}),
        Said(200, "<html>"),
        Said(404, "<html>"),
        Said(200, {**DONE, "more": 1}),
    ],
)
def test_an_answer_of_another_contract_is_misunderstood(script: Script, said: Said) -> None:
    script.answers = [said]
    with Client(script.url, "t") as client, pytest.raises(Misunderstood):
        client.send(QUEUE_CANCEL, path={"entry_id": 1})


def test_a_gateway_that_answers_for_nobody_is_unreachable(script: Script) -> None:
    script.answers = [Said(502, "<html>"), Said(500, "gone"), Said(504, "<html>")]
    with Client(script.url, "t", tries=3) as client, pytest.raises(Unreachable, match="status 504"):
        client.send(TENANT_READ, path={"tenant": "lab"})
    assert len(script.asked) == 3


def test_pages_become_one_list(script: Script) -> None:
    script.answers = [
        Said(body={"items": [TENANT], "next": "lab"}),
        Said(body={"items": [], "next": "mid"}),
        Said(body={"items": [TENANT | {"tenant": "z"}], "next": None}),
    ]
    with Client(script.url, "t") as client:
        page = client.pages(TENANT_LIST)
    assert [row.tenant for row in page.items] == ["lab", "z"]
    assert page.next is None
    cursors = [asked["path"].partition("cursor=")[2] for asked in script.asked]
    assert [cursor.partition("&")[0] for cursor in cursors] == ["", "lab", "mid"]


def test_a_list_is_bounded_and_says_that_there_is_more(script: Script) -> None:
    script.answers = [Said(body={"items": [TENANT, TENANT], "next": "x"})]
    with Client(script.url, "t") as client:
        page = client.pages(TENANT_LIST, rows_max=1)
    assert (len(page.items), page.next) == (1, "x")


def test_a_server_that_repeats_its_cursor_does_not_hold_us(script: Script) -> None:
    script.answers = [Said(body={"items": [], "next": "x"}), Said(body={"items": [], "next": "x"})]
    with Client(script.url, "t") as client:
        assert client.pages(TENANT_LIST).items == []


def test_an_etag_is_read_and_sent(script: Script) -> None:
    script.answers = [Said(body=TENANT, headers={"etag": '"3"'}), Said()]
    with Client(script.url, "t") as client:
        found, etag = client.send_tagged(TENANT_READ, path={"tenant": "lab"})
        client.send(
            TENANT_CHANGE, path={"tenant": "lab"}, body=ScopeChange(is_open=True), etag=etag
        )
    assert found.revision == 3
    assert script.asked[1]["if-match"] == '"3"'


def test_a_text_is_answered_as_it_stands(script: Script) -> None:
    script.answers = [Said(body="bailiwick/journal\n7\n")]
    with Client(script.url, "t") as client:
        assert client.send(CHECKPOINT_READ) == "bailiwick/journal\n7\n"


def test_a_request_is_answered_and_its_dry_run_is_a_plan(script: Script) -> None:
    granted = {"answer": "granted", "lease_ids": [1], "nodes": ["n1"], "expires_ms": 9}
    price = {"currency": "EUR", "micros_per_hour": 1, "micros_total": 1, "is_upper_bound": False}
    plan = {"plan": "grant", "nodes": ["n1"], "price": price}
    script.answers = [Said(201, granted), Said(body=plan)]
    with Client(script.url, "t") as client:
        assert isinstance(client.send(LEASE_REQUEST, body=LeaseRequest(tenant="lab")), Granted)
        assert isinstance(client.plan(LEASE_REQUEST, body=LeaseRequest(tenant="lab")), WouldGrant)
        with pytest.raises(InvalidValue, match="has a plan"):
            client.plan(TENANT_CREATE, body=NewTenant(tenant="lab"))
    assert [asked["path"] for asked in script.asked] == ["/v1/leases", "/v1/leases?dry_run=true"]


def test_a_name_in_a_path_stays_one_piece_of_it(script: Script) -> None:
    script.answers = [Said(body=TENANT)]
    with Client(script.url, "t") as client:
        client.send(TENANT_READ, path={"tenant": "a/b?c"})
        with pytest.raises(InvalidValue, match="path of tenant"):
            client.send(TENANT_READ)
    assert script.asked[0]["path"] == "/v1/tenants/a%2Fb%3Fc"


def feed(*events: str) -> Said:
    return Said(body="".join(events), headers={"content-type": "text/event-stream"})


def test_the_feed_goes_on_where_it_was_lost(script: Script) -> None:
    script.answers = [
        feed(": beat\nid: 4\n\n"),
        feed("event: a\nid: 5\ndata: one\n\n", "id: 8\n\n"),
        Said(503, problem("unavailable", retryable=True)),
        Said(hangs_up=True),
        feed('event: end\nid: 9\ndata: {"reason":"server_ending"}\n\n'),
        feed("event: b\nid: 10\ndata: two\n\n", 'event: end\ndata: {"reason":"complete"}\n\n'),
    ]
    with Client(script.url, "t") as client:
        found = list(client.follow(RECORD_WATCH, query={"tenant": "lab", "kinds": None}))
    assert [(event.kind, event.place, event.data) for event in found] == [
        ("a", "5", "one"),
        ("b", "10", "two"),
    ]
    assert [asked.get("last-event-id") for asked in script.asked] == [
        *(None, "4", "8", "8", "8", "9")
    ]
    assert all(asked["path"] == "/v1/watch?tenant=lab" for asked in script.asked)


@pytest.mark.parametrize(("word", "status"), [("token_ended", 401), ("forbidden", 403)])
def test_a_feed_that_is_ended_for_good_is_a_refusal(script: Script, word: str, status: int) -> None:
    script.answers = [feed(f'event: end\ndata: {{"reason":"{word}"}}\n\n')]
    with Client(script.url, "t") as client, pytest.raises(Refusal) as caught:
        list(client.follow(RECORD_WATCH))
    assert caught.value.status == status


def test_a_feed_that_is_refused_is_not_tried_again(script: Script) -> None:
    script.answers = [Said(403, problem("forbidden"))]
    with Client(script.url, "t") as client, pytest.raises(Refusal):
        list(client.follow(RECORD_WATCH))


def test_a_feed_of_nobody_ends_after_bounded_tries(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "FEED_TRIES", 3)
    script.answers = [Said(hangs_up=True) for _ in range(3)]
    with Client(script.url, "t") as client, pytest.raises(Unreachable):
        list(client.follow(RECORD_WATCH))
    assert len(script.asked) == 3


@pytest.mark.parametrize(
    "server", ["ftp://x", "localhost:7077", "", "http://", "http://10.0.0.1:7077", "http://db"]
)
def test_a_server_that_would_leak_the_token_or_is_none_is_refused(server: str) -> None:
    with pytest.raises(InvalidValue, match="server: expected http"):
        check_server(server)


@pytest.mark.parametrize(
    "server", ["http://127.0.0.1:7077/", "http://[::1]:7077", "http://localhost", "https://db"]
)
def test_this_machine_and_encrypted_ones_are_servers(server: str) -> None:
    assert check_server(server) == server.rstrip("/")
