"""Middleware: who is let through, what the others are told, and what the service sees."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable, Iterable
from typing import Any
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from bailiwick.capability import KeyRing, Operation, Revocations, Use
from bailiwick.guard import Guard, Known
from bailiwick.guard.guard import CLAIMS, AsgiApp, wall_ms
from tests.support.lease_tokens import MAKERS, Kit, kit

Answer = tuple[int, dict[str, str], Any]


def needs(method: str, path: str) -> Use:
    operation = Operation.MEM_READ if method == "GET" else Operation.MEM_WRITE
    return Use(operation, resource=f"lease-7{path}".rstrip("/"))


@pytest.fixture(params=sorted(MAKERS))
def each(request: pytest.FixtureRequest) -> Kit:
    return kit(request.param)


def guard_of(each: Kit, *, now_ms: int = 0, **known: Any) -> Guard:
    return Guard("node-1", lambda: Known(each.ring, **known), now_ms=lambda: now_ms)


# --- two ways to ask -----------------------------------------------------------------------------


async def read_page(request: Request) -> JSONResponse:
    return JSONResponse({"tenant": request.scope[CLAIMS].tenant})


STARLETTE = Starlette(routes=[Route("/{page:path}", read_page, methods=["GET", "PUT"])])


def by_asgi(guard: Guard, method: str, path: str, *bearers: str) -> Answer:
    """One request to a Starlette application behind the guard."""
    sent: list[Any] = []
    headers = [(b"Authorization", bearer.encode("latin-1")) for bearer in bearers]
    scope = {"type": "http", "method": method, "path": path, "headers": headers}
    scope |= {"query_string": b"", "http_version": "1.1", "scheme": "http", "root_path": ""}
    asyncio.run(guard.asgi(STARLETTE, needs)(scope, _nothing, _into(sent)))
    start, body = sent[0], b"".join(each.get("body", b"") for each in sent[1:])
    told = {name.decode(): value.decode() for name, value in start["headers"]}
    return start["status"], told, json.loads(body)


def by_wsgi(guard: Guard, method: str, path: str, *bearers: str) -> Answer:
    """One request to a WSGI application behind the guard, both held to the standard."""

    def app(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        body = json.dumps({"tenant": environ[CLAIMS].tenant}).encode()
        start("200 OK", [("content-type", "application/json"), ("content-length", str(len(body)))])
        return [body]

    environ: dict[str, Any] = {"REQUEST_METHOD": method, "PATH_INFO": path}
    environ |= {"SCRIPT_NAME": "", "QUERY_STRING": ""}
    if bearers:
        environ["HTTP_AUTHORIZATION"] = ",".join(bearers)
    setup_testing_defaults(environ)
    environ["wsgi.input"] = io.BytesIO()
    started: list[Any] = []
    answer = validator(guard.wsgi(app, needs))(environ, lambda *told: started.append(told))
    body = b"".join(answer)
    answer.close()  # type: ignore[attr-defined]
    [(status, headers)] = started
    return int(status[:3]), dict(headers), json.loads(body)


async def _nothing() -> dict[str, Any]:
    return {"type": "http.request", "body": b""}


def _into(sent: list[Any]) -> Callable[[Any], Any]:
    async def send(message: Any) -> None:
        sent.append(message)

    return send


@pytest.fixture(params=[by_asgi, by_wsgi], ids=["asgi", "wsgi"])
def ask(request: pytest.FixtureRequest) -> Callable[..., Answer]:
    return request.param  # type: ignore[no-any-return]


# --- what happens --------------------------------------------------------------------------------


def test_a_good_token_reaches_the_service_with_its_claims(
    each: Kit, ask: Callable[..., Answer]
) -> None:
    token = each.mint()
    for method, scheme in (("GET", "Bearer"), ("PUT", "bearer")):
        status, _, body = ask(guard_of(each), method, "/pages/1", f"{scheme} {token}")
        assert (status, body) == (200, {"tenant": "team-a"})


def test_without_a_token_the_answer_is_401_and_says_what_is_missing(
    each: Kit, ask: Callable[..., Answer]
) -> None:
    for bearers in ([], ["Basic YTpi"], ["Bearer"], [each.mint()]):
        status, headers, body = ask(guard_of(each), "GET", "/", *bearers)
        assert (status, body["code"]) == (401, "unauthenticated")
        assert headers["www-authenticate"] == "Bearer"


def test_a_refused_token_is_403_with_the_word_of_its_fault(
    each: Kit, ask: Callable[..., Answer]
) -> None:
    read_only = each.narrow(each.mint(), operations=[Operation.MEM_READ])
    cases = [
        ("PUT", read_only, "operation_not_allowed"),
        ("GET", each.mint(expires_ms=0), "expired"),
        ("GET", each.mint(audience="node-2"), "wrong_audience"),
        ("GET", each.mint(resource="lease-8"), "wrong_resource"),
        ("GET", each.other().mint(), "unknown_key"),
        ("GET", "hello", "malformed"),
        ("GET", "", "malformed"),
    ]
    for method, token, fault in cases:
        status, headers, body = ask(guard_of(each), method, "/", f"Bearer {token}")
        assert (status, body["code"], body["details"]) == (403, "forbidden", {"fault": fault})
        assert (headers["content-type"], body["retryable"]) == ("application/json", False)


def test_a_path_that_spells_no_resource_is_refused_and_no_failure(
    each: Kit, ask: Callable[..., Answer]
) -> None:
    bearer = f"Bearer {each.mint()}"
    for path in ("/a//b", "/../x", "/é", "/" + "a" * 300):
        status, _, body = ask(guard_of(each), "GET", path, bearer)
        assert (status, body["details"]) == (403, {"fault": "wrong_resource"})
        assert ask(guard_of(each), "GET", path)[0] == 401


def test_two_authorizations_are_no_authorization(each: Kit) -> None:
    bearer = f"Bearer {each.mint()}"
    assert by_asgi(guard_of(each), "GET", "/", bearer, bearer)[0] == 401
    assert by_wsgi(guard_of(each), "GET", "/", bearer, bearer)[0] == 403  # joined by the server


def test_a_revoked_token_is_refused(each: Kit, ask: Callable[..., Answer]) -> None:
    revoked = Revocations()
    revoked.ended(7, at_ms=0)
    status, _, body = ask(guard_of(each, revoked=revoked), "GET", "/", f"Bearer {each.mint()}")
    assert (status, body["details"]) == (403, {"fault": "revoked"})


def test_past_what_is_known_nobody_is_let_in(each: Kit, ask: Callable[..., Answer]) -> None:
    bearer = f"Bearer {each.mint()}"
    assert ask(guard_of(each, until_ms=100, now_ms=99), "GET", "/", bearer)[0] == 200
    status, _, body = ask(guard_of(each, until_ms=100, now_ms=100), "GET", "/", bearer)
    assert (status, body["code"], body["retryable"]) == (503, "unavailable", True)


def test_the_token_is_not_repeated_in_the_answer(each: Kit, ask: Callable[..., Answer]) -> None:
    token = each.mint(expires_ms=0)
    assert token not in json.dumps(ask(guard_of(each), "GET", "/", f"Bearer {token}"))


def test_a_web_socket_is_guarded_too(each: Kit) -> None:
    reached: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope[CLAIMS])

    guarded = guard_of(each).asgi(app, needs)
    assert _socket(guarded, each.mint()) == []
    assert reached[0].tenant == "team-a"
    told = _socket(guarded, each.mint(expires_ms=0))
    assert told == [{"type": "websocket.close", "code": 1008, "reason": "expired"}]
    assert _socket(guarded, None)[0]["reason"] == "unauthenticated"
    assert len(reached) == 1


def _socket(app: AsgiApp, token: str | None) -> list[Any]:
    sent: list[Any] = []
    headers = [] if token is None else [(b"authorization", f"Bearer {token}".encode())]
    scope = {"type": "websocket", "path": "/", "headers": headers}
    asyncio.run(app(scope, _nothing, _into(sent)))
    return sent


def test_starting_and_stopping_a_service_needs_no_token(each: Kit) -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    asyncio.run(guard_of(each).asgi(app, needs)({"type": "lifespan"}, _nothing, _into([])))
    assert seen == ["lifespan"]


def test_the_clock_of_the_machine_is_used_unless_another_is_given() -> None:
    each = kit("hmac")
    guard = Guard("node-1", lambda: Known(KeyRing((each.minter.key,))))
    assert by_wsgi(guard, "GET", "/", f"Bearer {each.mint()}")[2]["details"] == {"fault": "expired"}
    good = each.mint(expires_ms=wall_ms() + 300_000)
    assert by_wsgi(guard, "GET", "/", f"Bearer {good}")[0] == 200
