"""A browser meets a replica that follows: its cookie counts there, and a login through it, too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from bailiwick.server.http.cookies import COOKIE
from tests.processes.harness import Server, running
from tests.support.oidc_provider import SECRET, OidcProvider, Visitor, oidc_provider
from tests.support.waiting import WAIT_S, until


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("browsers")


class Two:
    """A leader and a follower on one folder, at which browsers are sent to the follower."""

    def __init__(self, folder: Path) -> None:
        words = ("--data-dir", str(folder / "data"), "--providers", str(folder / "providers.toml"))
        self.follower = Server(folder, "two", *words)
        self.url = f"http://127.0.0.1:{self.follower._port}"
        self.leader = Server(folder, "one", *words, "--public-url", self.url)
        self.follower._arguments = self.leader._arguments


@pytest.fixture(scope="module")
def two(folder: Path) -> Iterator[Two]:
    made = Two(folder)
    with oidc_provider(f"{made.url}/v1/login/campus/callback", people={"ann": ["ops"]}) as campus:
        _write(folder, campus)
        with running(made.leader):
            until(lambda: made.leader.is_one_of("leading"), "it leads")
            with running(made.follower):
                until(lambda: made.follower.is_one_of("following"), "it follows")
                yield made


def _write(folder: Path, campus: OidcProvider) -> None:
    roles = '\n[[campus.roles]]\ngroup = "ops"\nrole = "fleet_operator"\n'
    (folder / "providers.toml").write_text(campus.settings(more=roles))
    secret = folder / "secret"
    secret.touch(mode=0o600)
    secret.write_text(SECRET)


def kept(answer: httpx2.Response) -> dict[str, str]:
    """The cookie of an answer, as a request bears it; a Secure one goes over loopback, too."""
    lines = answer.headers.get_list("set-cookie")
    values = {line.partition("=")[0]: line.partition("=")[2].partition(";")[0] for line in lines}
    return {"Cookie": f"{COOKIE}={values[COOKIE]}"}


def ask(two: Two, method: str, path: str, **more: Any) -> httpx2.Response:
    headers = {"Origin": two.url, **more.pop("headers", {})}
    return httpx2.request(
        method, f"{two.url}{path}", headers=headers, timeout=WAIT_S, follow_redirects=False, **more
    )


def test_a_browsers_session_lives_at_a_replica_that_follows(two: Two) -> None:
    with two.leader.client() as admin:
        body = {"principal": "admin", "single_use": True}
        code = admin.ask("POST", "/v1/tokens", body, key="a-code")["token"]
    foreign = {"Origin": "https://evil.example"}
    wish = {"code": code}
    assert ask(two, "POST", "/v1/session", json=wish, headers=foreign).status_code == 403

    def begin() -> httpx2.Response | None:
        found = ask(two, "POST", "/v1/session", json=wish)
        return found if found.status_code == 200 else None

    begun = until(begin, "it knows the code, and who leads")
    cookie, csrf = kept(begun), {"X-CSRF-Token": begun.json()["csrf"]}
    until(
        lambda: ask(two, "GET", "/v1/session", headers=cookie).status_code == 200,
        "it knows the token",
    )
    tenant = {"tenant": "by-cookie"}
    assert ask(two, "POST", "/v1/tenants", json=tenant, headers=cookie).status_code == 403
    made = ask(two, "POST", "/v1/tenants", json=tenant, headers=cookie | csrf)
    assert made.status_code == 200, made.text
    renewed = ask(two, "POST", "/v1/session/renewal", json={}, headers=cookie | csrf)
    assert renewed.json()["csrf"] == csrf["X-CSRF-Token"]
    fresh = kept(renewed)
    assert fresh != cookie
    ended = ask(two, "DELETE", "/v1/session", headers=fresh | csrf)
    assert (ended.status_code, kept(ended)) == (200, {"Cookie": f"{COOKIE}="})


def test_a_login_through_a_provider_ends_at_a_replica_that_follows(two: Two) -> None:
    visitor = Visitor("ann")
    back = visitor.visit(f"{two.url}/v1/login/campus?to=/here", until_url=two.url)
    # The client keeps Secure cookies for HTTPS alone; a browser gives loopback its own.
    note = {"Cookie": "; ".join(f"{each.name}={each.value}" for each in visitor.client.cookies.jar)}
    ended = ask(two, "GET", back.headers["location"].removeprefix(two.url), headers=note)
    assert (ended.status_code, ended.headers["location"]) == (303, "/here"), ended.text

    def look() -> httpx2.Response | None:
        found = ask(two, "GET", "/v1/whoami", headers=kept(ended))
        return found if found.status_code == 200 else None

    who = until(look, "it knows the token").json()
    assert (who["principal"], who["roles"][0]["role"]) == ("campus:ann", "fleet_operator")


def test_a_search_around_the_policy_is_made_by_the_replica_that_was_asked(two: Two) -> None:
    """It changes nothing and computes for a while, so the leader is spared it."""
    headers = {"Authorization": f"Bearer {two.leader.token}"}
    policy = "apart: never share cache, rack, host among tenants"
    until(
        lambda: ask(two, "GET", "/v1/whoami", headers=headers).status_code == 200,
        "it knows the token",
    )
    wish = {"text": policy, "jobs": 3}
    with httpx2.stream(
        "POST", f"{two.url}/v1/isolation/search", json=wish, headers=headers, timeout=WAIT_S
    ) as answer:
        assert answer.status_code == 200
        lines = answer.iter_lines()  # kept: without it the client would hang up
        next(lines)
        until(lambda: searchers(two.follower), "it searches")
        assert not searchers(two.leader)
    until(lambda: not searchers(two.follower), "it ends when its asker leaves")


def searchers(server: Server) -> list[str]:
    """Who computes a search for a server; by each one's parent, for lists of children may miss."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            words = stat.with_name("cmdline").read_text()
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            if parent == server.pid and "isolation.searcher" in words:
                found.append(words)
    return found
