"""Endpoints of apps: what a manifest declares, what passes both ways, and who comes in."""

from __future__ import annotations

from json import dumps, loads
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.apps.endpoints.headers import (
    GUARDS,
    TO_APP,
    TO_CALLER,
    is_showable,
    leads_up,
    redirect_of,
    to_app,
    to_caller,
)
from bailiwick.apps.endpoints.local_door import KeptOut, LetIn, LetThrough, LocalDoor
from bailiwick.apps.endpoints.spec import EndpointSpec
from bailiwick.apps.reading import ManifestRefused, load_manifest, read_canonical
from bailiwick.vocab.apps import Privilege
from tests.support.app_manifests import service

SECRETS = ("authorization", "cookie", "proxy-authorization", "idempotency-key")
HOPS = ("connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "host")


def written(**endpoint: Any) -> str:
    plain = loads(service().canonical)
    return dumps(plain | {"endpoints": {"web": endpoint}})


def test_a_declared_endpoint_is_read_and_spelled_the_same_way() -> None:
    for where in (dict[str, Any](port=8_080), dict[str, Any](file="web.json")):
        found = load_manifest(written(role="worker", title="The page", **where))
        assert found.endpoints == {"web": EndpointSpec(role="worker", title="The page", **where)}
        assert read_canonical(found.canonical) == found
    assert "endpoints" not in service().canonical


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"title": "x", "port": 1}, "has no role"),
        ({"role": "worker", "port": 1}, "has no title"),
        ({"role": "worker", "title": "x"}, "a port, or the file"),
        ({"role": "worker", "title": "x", "port": 1, "file": "a"}, "a port, or the file"),
        ({"role": "worker", "title": "x", "port": 0}, "port"),
        ({"role": "worker", "title": "x", "port": "80"}, "port"),
        ({"role": "worker", "title": "x", "file": "../a"}, "file"),
        ({"role": "wroker", "title": "x", "port": 1}, "no role 'wroker'"),
        ({"role": "worker", "title": "a\nb", "port": 1}, "title"),
        ({"role": "worker", "title": "x", "port": 1, "host": "10.0.0.1"}, "host"),
    ],
)
def test_what_cannot_be_served_is_refused(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ManifestRefused) as refused:
        load_manifest(written(**wrong))
    assert told in str(refused.value)


def test_a_role_that_has_the_host_serves_nothing() -> None:
    plain = loads(service().canonical)
    plain["roles"]["worker"]["privileges"] = Privilege.HOST.value
    plain["endpoints"] = {"web": {"role": "worker", "title": "x", "port": 1}}
    with pytest.raises(ManifestRefused, match="nobody is let into its members"):
        load_manifest(dumps(plain))


# -- headers -------------------------------------------------------------------------------------


def test_neither_a_login_nor_a_word_about_the_connection_reaches_the_app() -> None:
    assert not TO_APP & {*SECRETS, *HOPS}
    sent = [(name.title().encode(), b"x") for name in (*SECRETS, *HOPS, "accept")]
    assert [*to_app(sent)] == [(b"Accept", b"x")]


def test_an_app_says_nothing_about_the_platforms_origin() -> None:
    steering = {"set-cookie", "content-security-policy", "service-worker-allowed", "refresh"}
    steering |= {"strict-transport-security", "clear-site-data", "access-control-allow-origin"}
    assert not TO_CALLER & {*steering, *HOPS, *SECRETS}
    said = [(name.encode(), b"x") for name in (*steering, "etag")]
    told = dict(to_caller(said, prefix="/v1/it"))
    assert told.pop(b"etag") == b"x"
    assert told == {name.encode(): text.encode() for name, text in GUARDS.items()}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("/a?b=1", "/v1/it/a?b=1"),
        ("http://localhost:8265/a", "/v1/it/a"),
        ("next", "next"),
        ("?page=2", "?page=2"),
        ("//evil.example/a", None),
        ("https://evil.example/a", None),
        ("http://localhost.evil.example/", None),
        ("http://localhost@evil.example/", None),
        ("javascript:alert(1)", None),
        ("/\\\\evil.example", None),
        ("http://[", None),
        ("", None),
    ],
)
def test_a_redirect_leads_to_the_same_endpoint_or_nowhere(said: str, told: str | None) -> None:
    assert redirect_of(said, prefix="/v1/it") == told


@given(st.text(max_size=60))
def test_no_redirect_leads_to_another_host(said: str) -> None:
    found = redirect_of(said, prefix="/v1/it")
    assert found is None or not found.startswith(("//", "/\\\\"))
    assert found is None or ":" not in found.partition("?")[0].partition("/")[0]


@pytest.mark.parametrize(
    "target", ["/..", "/a/../b", "/./a", "/%2e%2E/a", "/a/..%2fb", "/%252e%252e/"]
)
def test_a_step_up_is_seen_however_it_is_spelled(target: str) -> None:
    assert leads_up(target)


@pytest.mark.parametrize("target", ["/", "/...", "/a..b", "/.well-known/x", "/a?x=/../"])
def test_a_name_with_dots_is_none(target: str) -> None:
    assert not leads_up(target)


@pytest.mark.parametrize("text", ["", "a\r\nb", "a\0", "\u00e9", " a", "x" * 1_001, None, 7])
def test_what_cannot_stand_in_a_header_is_not_shown(text: object) -> None:
    assert not is_showable(text)


# -- a listener on the person's own machine --------------------------------------------------------

DOOR = LocalDoor(8_080, "s3cret")
OWN = {"Host": "127.0.0.1:8080", "Cookie": "bailiwick-8080=s3cret"}


def judged(target: str = "/", method: str = "GET", **headers: str | None) -> Any:
    told = OWN | {name.replace("_", "-"): value for name, value in headers.items()}
    pairs = [(n.encode(), v.encode()) for n, v in told.items() if v is not None]
    return DOOR.judge(method, target, headers=pairs)


def test_who_shows_the_secret_is_let_through() -> None:
    assert judged() == LetThrough()
    assert judged(Cookie="a=b; bailiwick-8080=s3cret;c=d") == LetThrough()
    assert judged(Cookie=None, Authorization="Bearer s3cret") == LetThrough()
    assert judged(Origin="http://127.0.0.1:8080", method="POST") == LetThrough()
    assert judged(Sec_Fetch_Site="same-origin") == LetThrough()


def test_the_printed_address_gives_a_cookie_that_no_page_can_read_or_send_from_elsewhere() -> None:
    entry = judged("/-/open/s3cret", Cookie=None)
    assert isinstance(entry, LetIn)
    assert entry.cookie == "bailiwick-8080=s3cret; Path=/; HttpOnly; SameSite=Strict"
    assert DOOR.address == "http://127.0.0.1:8080/-/open/s3cret"


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ({"Cookie": None}, 403),
        ({"Cookie": "bailiwick-8081=s3cret"}, 403),
        ({"Cookie": "bailiwick-8080="}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": "localhost:8080"}, 421),
        ({"Host": None}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:9090"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Upgrade": "websocket"}, 501),
        ({"method": "CONNECT", "target": "evil.example:443"}, 405),
        ({"target": "http://evil.example/"}, 405),
        ({"target": "/../../../tokens"}, 400),
        ({"target": "/%2e%2e/x"}, 400),
        ({"target": "/-/open/wrong"}, 403),
    ],
)
def test_everybody_else_is_kept_out(how: dict[str, Any], status: int) -> None:
    found = judged(**how)
    assert isinstance(found, KeptOut)
    assert found.status == status
    assert "s3cret" not in found.why
