"""A real OpenID Connect provider on loopback, and somebody who goes through its pages.

The provider is npm's ``oidc-provider`` (``tests/support/oidc``), in a process of its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx2

from bailiwick.services.logins.providers import Provider, read_providers
from tests.support.ports import free_port
from tests.support.tools import need
from tests.support.waiting import WAIT_S, until

HERE = Path(__file__).with_name("oidc")
MODULES = Path(__file__).resolve().parents[2] / ".oidc" / "node_modules"
SECRET = "a secret: with signs+/"
STEPS_MAX = 30


@dataclass(slots=True)
class OidcProvider:
    """The provider that runs."""

    issuer: str

    def settings(self, *, client_id: str = "bailiwick", more: str = "") -> str:
        """How an operator names it."""
        secret = 'client_secret_file = "secret"\n' if client_id == "bailiwick" else ""
        return (
            f'[campus]\ntitle = "Campus login"\nissuer = "{self.issuer}"\n'
            f'client_id = "{client_id}"\nscopes = ["profile", "groups"]\n{secret}{more}'
        )

    def provider(self, **more: Any) -> Provider:
        """The same, read."""
        return read_providers(self.settings(**more), read_secret=lambda name: SECRET)["campus"]

    def put_people(self, people: dict[str, list[str]]) -> None:
        """Who is in which groups from now on."""
        assert httpx2.post(f"{self.issuer}/people", content=json.dumps(people)).text == "ok"


@contextmanager
def oidc_provider(*redirect_uris: str, people: dict[str, list[str]]) -> Iterator[OidcProvider]:
    """A provider that sends browsers back to these addresses."""
    need("oidc")
    port = free_port()
    issuer = f"http://127.0.0.1:{port}"
    told = {"port": port, "redirect_uris": redirect_uris, "people": people}
    node = shutil.which("node")
    assert node is not None
    process = subprocess.Popen(
        [node, str(HERE / "provider.mjs"), json.dumps(told)],
        env={**os.environ, "OIDC_MODULES": str(MODULES)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until(lambda: _is_up(issuer, process), "the provider listens")
        yield OidcProvider(issuer)
    finally:
        process.kill()
        process.wait(WAIT_S)


def _is_up(issuer: str, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, "the provider ended"
    try:
        return httpx2.get(f"{issuer}/.well-known/openid-configuration").status_code == 200
    except httpx2.HTTPError:
        return False


class Visitor:
    """Somebody in front of a browser: he goes where he is sent, and fills in every form."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.client = httpx2.Client(timeout=WAIT_S, follow_redirects=False)

    def visit(self, url: str, *, until_url: str | None = None) -> httpx2.Response:
        """Go on from here until there is nothing more to do, or to an address that is wanted.

        That address is not asked: its redirect is answered, for who plays the rest.
        """
        answer = self.client.get(url)
        for _ in range(STEPS_MAX):
            place = answer.headers.get("location")
            if place is not None:
                there = urljoin(str(answer.url), place)
                if until_url is not None and there.startswith(until_url):
                    return answer
                answer = self.client.get(there)
                continue
            form = re.search(r"<form(.*?)</form>", answer.text, re.DOTALL)
            if form is None or answer.status_code >= 400:
                return answer
            answer = self._fill_in(str(answer.url), form[1])
        raise AssertionError("no end of pages")

    def _fill_in(self, url: str, form: str) -> httpx2.Response:
        action = re.search(r'action="([^"]*)"', form)
        fields: dict[str, str] = {}
        for each in re.findall(r"<(?:input|button)[^>]*>", form):
            name, value = (re.search(rf'{key}="([^"]*)"', each) for key in ("name", "value"))
            if name is not None and name[1] != "abort":
                fields[name[1]] = unescape(value[1]) if value is not None else ""
        if "login" in fields:
            fields |= {"login": self.name, "password": "any"}
        place = urljoin(url, unescape(action[1])) if action is not None else url
        return self.client.post(place, data=fields)
