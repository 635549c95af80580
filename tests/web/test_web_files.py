"""What the server serves beside the API: the built files, pages for people, and nothing else."""

from __future__ import annotations

import gzip
import http.client
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.server.http.app import AppTerms
from bailiwick.server.http.web import HEADERS, NOT_BUILT, POLICY, load_web
from tests.support.http_house import http_house
from tests.support.http_server import Served

PAGE = {"accept": "text/html,*/*;q=0.8"}
SCRIPT = b"export const answer = 42;\n" * 40


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small web, and a secret beside it."""
    folder = tmp_path_factory.mktemp("built")
    web = folder / "web"
    (web / "assets").mkdir(parents=True)
    (folder / "secret.txt").write_text("nobody may read this")
    (web / "index.html").write_text("<!doctype html><title>Bailiwick</title>")
    (web / "assets" / "main-abc123.js").write_bytes(SCRIPT)
    (web / "assets" / "main-abc123.js.gz").write_bytes(gzip.compress(SCRIPT, mtime=0))
    (web / "icon.svg").write_text("<svg/>")
    (web / ".hidden").write_text("no")
    return web


@pytest.fixture(scope="module")
def house(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with http_house(tmp_path_factory.mktemp("house"), AppTerms(web=built)) as made:
        yield made


@pytest.fixture(scope="module")
def port(house: Any) -> Iterator[int]:
    """The same server at a real port."""
    served = Served(house.app, house.token)
    served.open()
    yield served.port
    served.close()


@pytest.mark.parametrize(
    "path", ["/", "/jobs", "/jobs/7", "/tenants/lab/projects/vision", "/login"]
)
def test_every_address_of_a_page_answers_the_page_which_is_never_kept(
    house: Any, path: str
) -> None:
    answer = house.client.get(path, headers=PAGE)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "<title>Bailiwick</title>" in answer.text
    assert answer.headers["cache-control"] == "no-store"


def test_a_file_with_its_hash_in_its_name_is_kept_for_ever(house: Any) -> None:
    answer = house.client.get("/assets/main-abc123.js")
    assert answer.content == SCRIPT
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert house.client.get("/icon.svg").headers["cache-control"] == "no-cache"


def test_a_twin_that_was_compressed_is_sent_to_who_takes_it(house: Any) -> None:
    taken = house.client.get(
        "/assets/main-abc123.js", headers={"accept-encoding": "br, gzip;q=0.8"}
    )
    assert (taken.headers["content-encoding"], taken.content) == ("gzip", SCRIPT)
    plain = house.client.get("/assets/main-abc123.js", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.headers["vary"] == "accept-encoding"


def test_every_answer_says_what_a_page_may_do(house: Any) -> None:
    for path in ("/", "/assets/main-abc123.js", "/icon.svg"):
        answer = house.client.get(path, headers=PAGE)
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    allowed = dict(part.split(" ", 1) for part in POLICY.split("; "))
    assert allowed["default-src"] == "'none'"
    assert allowed["frame-ancestors"] == "'none'"
    assert not any(word in POLICY for word in ("unsafe", "data:", "http", "*"))


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/assets/../../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/assets/%2e%2e%2f%2e%2e%2fsecret.txt",
        "/assets//../../secret.txt",
        "//secret.txt",
        "/assets/..\\..\\secret.txt",
        "/.hidden",
        "/assets",
        "/assets/",
        "/index.html.gz",
        "/assets/main-abc123.js.gz",
        "/assets/main-abc123.js%00",
    ],
)
def test_no_path_leads_out_of_the_built_folder_or_lists_it(port: int, path: str) -> None:
    """By a real port, and byte for byte: a client would tidy the path up first."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    line.putrequest("GET", path, skip_host=False)
    line.endheaders()
    answer = line.getresponse()
    body = answer.read()
    line.close()
    assert answer.status in {400, 404}
    assert b"nobody may read this" not in body


def test_asking_for_the_head_alone_says_the_same_without_the_body(house: Any) -> None:
    for path in ("/", "/assets/main-abc123.js"):
        whole, head = (house.client.request(how, path, headers=PAGE) for how in ("GET", "HEAD"))
        assert (head.status_code, head.content) == (200, b"")
        kept = ("content-length", "content-type", "content-security-policy", "cache-control")
        assert [head.headers[name] for name in kept] == [whole.headers[name] for name in kept]


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/nothing", "/v1/jobs/x/y", "/healthz/more"])
def test_what_is_wrong_under_the_api_stays_json_even_for_a_browser(house: Any, path: str) -> None:
    answer = house.client.get(path, headers=PAGE)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_who_wants_no_page_is_told_in_the_envelope(house: Any) -> None:
    for answer in (
        house.client.get("/nothing", headers={"accept": "application/json"}),
        house.client.get("/assets/gone-123.js", headers=PAGE),
        house.client.post("/", headers=PAGE),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_where_nothing_was_built_a_page_says_how(tmp_path: Path) -> None:
    assert load_web(tmp_path / "nowhere") == {}
    with http_house(tmp_path / "house", AppTerms(web=tmp_path / "nowhere")) as house:
        answer = house.client.get("/", headers=PAGE)
        assert house.client.get("/healthz").status_code == 200
    assert (answer.status_code, answer.content) == (503, NOT_BUILT)
    assert b"make web" in answer.content
    assert answer.headers["content-security-policy"] == POLICY
