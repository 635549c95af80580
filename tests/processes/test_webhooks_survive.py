"""A server that is killed while it sends events: nothing is lost, and repeats are known."""

from __future__ import annotations

from pathlib import Path

from tests.processes.harness import Server, running
from tests.support.app_manifests import hello
from tests.support.waiting import until
from tests.support.webhook_receiver import is_genuine, receiving


def test_what_was_under_way_is_sent_again_under_the_same_id_and_nothing_is_lost(
    tmp_path: Path,
) -> None:
    server = Server(tmp_path, "one", "--data-dir", str(tmp_path / "data"), "--private-webhooks")
    with receiving() as receiver, running(server):
        receiver.answer = lambda message: 0  # it has the message, and does not say so
        with server.client() as client:
            place = {"webhook": "w", "tenant": "lab", "url": receiver.url}
            body = {**place, "types": ["apps.version.*"]}
            secret = client.ask("PUT", "/v1/webhooks", body)["secret"]
            for number in range(3):
                manifest = hello(version=f"1.0.{number}").canonical
                client.ask("POST", "/v1/apps", {"document": manifest, "tenant": "lab"})
        (first,) = receiver.wait_for(1)
        server.kill9()
        receiver.answer = lambda message: 204
        server.start()
        found = receiver.wait_for(4)
        until(lambda: server.role() == "leading", "it leads again")
    assert found[1].message_id == first.message_id
    assert found[1].body == first.body
    versions = [message.event["data"]["version"] for message in found]
    assert versions == ["1.0.0", "1.0.0", "1.0.1", "1.0.2"]
    assert len({message.message_id for message in found}) == 3
    assert all(is_genuine(message, secret) for message in found)
