"""A server that is killed while it mails a notice: nothing is lost, and repeats are known."""

from __future__ import annotations

import re
import threading
from pathlib import Path

from tests.processes.harness import Server, running
from tests.support.mail_server import mail_server
from tests.support.waiting import WAIT_S, until

ADDRESS = "ann@lab.example"


def test_a_notice_that_was_under_way_is_mailed_by_the_next_start_under_the_same_id(
    tmp_path: Path,
) -> None:
    with mail_server() as mail:
        words = ("--smtp", f"127.0.0.1:{mail.port}", "--smtp-from", "fleet@gpu.example")
        data = ("--data-dir", str(tmp_path / "data"))
        server = Server(tmp_path, "one", *data, *words, "--smtp-tls", "none")
        seen: list[str] = []
        refused = threading.Event()
        with running(server):
            with server.client() as client:
                choice = {"kind": "node_drained", "channels": ["inbox", "email"]}
                client.ask("PUT", "/v1/notices", {"email": ADDRESS, "choices": [choice]})
                code = re.search(r"notify verify (\S+)", mail.messages[0].get_content())
                assert code is not None
                client.ask("POST", "/v1/notices/verify", {"code": code[1]})

                def answer(message: object) -> str:
                    seen.append(message["message-id"])  # type: ignore[index]
                    refused.set()
                    return "451 not now"

                mail.answer = answer
                node = {"node": "n-1", "resources": {"cpu_milli": 1000}}
                client.ask("POST", "/v1/nodes", node)
                client.ask("PUT", "/v1/nodes/n-1/mode", {"mode": "draining"})
                assert refused.wait(WAIT_S), "it is tried"
            server.kill9()
            mail.answer = lambda message: "250 OK"
            server.start()
            (_, notice) = until(lambda: mail.messages[1:] and mail.messages, "it is mailed")
            with server.client() as client:
                told = client.ask("GET", "/v1/inbox", None)["items"]
    assert notice["subject"] == "Bailiwick: Node n-1 is drained"
    assert notice["message-id"] == seen[0]
    assert [each["title"] for each in told] == ["Node n-1 is drained"]
