"""A server that shows its pages, a browser, and people who come in with codes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tests.processes.harness import Server
from tests.support.browser import Person, person
from tests.support.waiting import until

PRINTED = re.compile(r"^  (http://\S+)/#code=(\S+)$", re.MULTILINE)
NOT_YET = "/v1/session)"
"""Who is not logged in asks whether he is; a browser says aloud that the answer was no."""
ASK = """async calls => {
  const session = await (await fetch('/v1/session')).json();
  const headers = {'content-type': 'application/json', 'x-csrf-token': session.csrf};
  const answers = [];
  for (const [method, path, body] of calls) {
    const answer = await fetch(path, {method, headers, body: body && JSON.stringify(body)});
    answers.push([answer.status, await answer.json()]);
  }
  return answers;
}"""
Call: TypeAlias = tuple[str, str, object]
"""A method, a path and a body."""


@dataclass
class Campus:
    """A server, a browser, and the administrator who came in with the printed address."""

    server: Server
    browser: Any
    admin: Person

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """What the administrator's page gets from the API."""
        return self.ask_all([(method, path, body)])[0]

    def ask_all(self, calls: list[Call]) -> list[Any]:
        """The same for many, one after the other."""
        answers = self.admin.page.evaluate(ASK, calls)
        for status, answer in answers:
            assert status in {200, 201, 202}, answer
        return [answer for _, answer in answers]

    def code_for(self, name: str, role: str, place: str) -> str:
        """A login code for somebody who has this role there."""
        self.ask("PUT", f"/v1/{place}/members", {"member": name, "role": role})
        wish = {"principal": name, "single_use": True, "ttl_s": 3600}
        return str(self.ask("POST", "/v1/tokens", wish)["token"])


def log_in(who: Person, code: str) -> None:
    """Come in with a code, as the printed address does it."""
    who.forgives = (NOT_YET,)
    who.page.goto(f"{who.address}/#code={code}")
    who.page.get_by_role("button", name="Log in", exact=True).click()
    who.page.get_by_role("navigation", name="Pages").wait_for()
    who.settle()


@contextmanager
def web_campus(browser: Any, folder: Path, *more: str) -> Iterator[Campus]:
    """One server with this machine as its node, and the administrator logged in."""
    words = (*more, "--data-dir", str(folder / "data"), "--trust-jobs")
    server = Server(folder, "web", *words, is_node=True).start()
    try:
        out = folder / "web-1.out"
        printed = until(lambda: PRINTED.search(out.read_text()), "it prints an address")
        assert printed[1] == server.address
        with person(browser, server.address) as admin:
            admin.page.goto(f"{printed[1]}/#code={printed[2]}")
            field = admin.page.get_by_label("One-time login code")
            assert field.input_value() == printed[2]
            assert admin.page.url == f"{server.address}/login"
            log_in(admin, printed[2])
            yield Campus(server, browser, admin)
    finally:
        if server.runs:
            server.stop()
