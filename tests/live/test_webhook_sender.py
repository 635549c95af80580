"""One try at one address: the name is looked up once, judged, and bound to the connection."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.events.retrying import Answered, NotReached, SendOutcome
from bailiwick.reconcile.webhooks import sender as sender_module
from bailiwick.reconcile.webhooks.sender import Sender
from bailiwick.vocab.apps import DeliveryFault
from tests.support.certificates import make_certificate
from tests.support.waiting import WAIT_S
from tests.support.webhook_receiver import Receiver, receiving

NAME = "hooks.example"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_certificate(tmp_path_factory.mktemp("tls"), NAME)


@pytest.fixture
def receiver(certificate: tuple[Path, Path]) -> Iterator[Receiver]:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate)
    with receiving(tls) as found:
        yield found


class Names:
    """A resolver that answers what it is told, and counts."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers, self.asked = list(answers), list[str]()

    def __call__(self, host: str, port: int, **more: Any) -> list[Any]:
        del more
        self.asked.append(host)
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if not found:
            raise socket.gaierror("no such name")
        kinds = [socket.AF_INET6 if ":" in each else socket.AF_INET for each in found]
        pairs = zip(kinds, found, strict=True)
        return [(kind, socket.SOCK_STREAM, 6, "", (each, port)) for kind, each in pairs]


def send(
    url: str, certificate: tuple[Path, Path], *, private: bool = True, timeout_s: float = 20.0
) -> SendOutcome:
    async def play() -> SendOutcome:
        trust = ssl.create_default_context(cafile=str(certificate[0]))
        sender = Sender(allow_private=private, trust=trust, timeout_s=timeout_s)
        try:
            return await sender.send("w", url, headers={"webhook-id": "m"}, body=b"{}")
        finally:
            await sender.close()

    return asyncio.run(play())


def test_the_connection_goes_to_the_address_that_was_judged(
    receiver: Receiver, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A name that changes its mind: public when it is judged, this machine a moment later.
    names = Names(["127.0.0.1"], ["10.255.255.1"])
    monkeypatch.setattr(sender_module.socket, "getaddrinfo", names)
    url = f"https://{NAME}:{receiver.port}/in?a=b"
    assert send(url, certificate) == Answered(204)
    assert names.asked.count(NAME) == 1
    (message,) = receiver.messages
    assert (message.path, message.headers["host"]) == ("/in?a=b", f"{NAME}:{receiver.port}")


def test_one_address_that_is_not_allowed_spoils_all(
    receiver: Receiver, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = Names(["127.0.0.1", "169.254.169.254"])
    monkeypatch.setattr(sender_module.socket, "getaddrinfo", names)
    refused = NotReached(DeliveryFault.NO_ADDRESS)
    assert send(f"https://{NAME}:{receiver.port}/", certificate) == refused
    names.answers = [["93.184.216.34", "::ffff:127.0.0.1"]]
    assert send(f"https://{NAME}:{receiver.port}/", certificate, private=False) == refused
    assert receiver.messages == []


@pytest.mark.parametrize("address", ["100.100.100.200", "fd00:ec2::254", "169.254.169.254"])
def test_a_name_that_leads_to_a_clouds_credentials_is_never_asked(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    names = Names([address])
    monkeypatch.setattr(sender_module.socket, "getaddrinfo", names)
    assert send(f"https://{NAME}/", certificate) == NotReached(DeliveryFault.NO_ADDRESS)
    assert names.asked == [NAME], "it was judged by what the name means"


def test_the_next_address_is_tried_where_nobody_answers(
    receiver: Receiver, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender_module.socket, "getaddrinfo", Names(["::1", "127.0.0.1"]))
    assert send(f"https://{NAME}:{receiver.port}/", certificate) == Answered(204)


def test_a_certificate_of_another_name_is_not_believed(
    receiver: Receiver, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender_module.socket, "getaddrinfo", Names(["127.0.0.1"]))
    url = f"https://other.example:{receiver.port}/"
    assert send(url, certificate) == NotReached(DeliveryFault.CERTIFICATE)
    assert receiver.messages == []


def test_a_name_that_is_not_there_is_as_one_that_is_not_allowed(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender_module.socket, "getaddrinfo", Names([]))
    missing = send(f"https://{NAME}/", certificate)
    # As a name that is there, and inside: nobody learns which names the operator's network has.
    monkeypatch.setattr(sender_module.socket, "getaddrinfo", Names(["10.0.0.1"]))
    inside = send(f"https://{NAME}/", certificate, private=False)
    assert missing == inside == NotReached(DeliveryFault.NO_ADDRESS)
    plain = send("http://127.0.0.1:9/", certificate, private=False)
    assert plain == NotReached(DeliveryFault.ADDRESS_NOT_ALLOWED)


def test_an_answer_that_is_no_http_and_a_fault_of_ours_end_one_try(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object, **more: object) -> bool:
        raise RuntimeError("nobody thought of this")

    monkeypatch.setattr(sender_module, "are_allowed", broken)
    assert send("https://127.0.0.1:9/", certificate) == NotReached(DeliveryFault.NO_CONNECTION)


def test_a_redirect_is_told_and_not_followed(
    receiver: Receiver, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender_module.socket, "getaddrinfo", Names(["127.0.0.1"]))
    receiver.answer = lambda message: (307, {"location": f"https://{NAME}:{receiver.port}/two"})
    assert send(f"https://{NAME}:{receiver.port}/one", certificate) == Answered(307)
    assert [message.path for message in receiver.messages] == ["/one"]


def test_a_pause_that_is_asked_for_is_told(
    receiver: Receiver, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender_module.socket, "getaddrinfo", Names(["127.0.0.1"]))
    receiver.answer = lambda message: (429, {"retry-after": "7"})
    assert send(f"https://{NAME}:{receiver.port}/", certificate) == Answered(429, 7)
    receiver.answer = lambda message: 0
    late = send(f"https://{NAME}:{receiver.port}/", certificate, timeout_s=0.3)
    assert late == NotReached(DeliveryFault.TIMEOUT)


def test_no_proxy_of_the_environment_is_used(
    receiver: Receiver, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setattr(sender_module.socket, "getaddrinfo", Names(["127.0.0.1"]))
    assert send(f"https://{NAME}:{receiver.port}/", certificate) == Answered(204)


def test_a_lookup_that_hangs_is_not_begun_again_and_holds_up_nobody_else(
    receiver: Receiver, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    hangs, quick, asked = threading.Event(), Names(["127.0.0.1"]), list[str]()

    def lookup(host: str, port: int, **more: Any) -> list[Any]:
        asked.append(host)
        if host == "slow.example":
            hangs.wait(WAIT_S)
        return quick(host, port, **more)

    monkeypatch.setattr(sender_module.socket, "getaddrinfo", lookup)

    async def play() -> list[SendOutcome]:
        trust = ssl.create_default_context(cafile=str(certificate[0]))
        sender = Sender(allow_private=True, trust=trust, timeout_s=0.3)
        patient = Sender(allow_private=True, trust=trust, timeout_s=WAIT_S)
        given: dict[str, Any] = {"headers": {}, "body": b"{}"}
        found = [await sender.send("w", "https://slow.example/", **given) for _ in range(2)]
        url = f"https://{NAME}:{receiver.port}/"
        found.append(await patient.send("other", url, **given))
        hangs.set()
        await sender.close()
        await patient.close()
        return found

    late, refused, good = asyncio.run(play())
    assert late == NotReached(DeliveryFault.TIMEOUT)
    assert refused == NotReached(DeliveryFault.NO_ADDRESS)
    assert good == Answered(204)
    assert asked.count("slow.example") == 1
