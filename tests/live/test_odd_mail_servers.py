"""Mail servers that say yes where something else has to come: nothing was handed over to them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from bailiwick.events.retrying import Answered, NotReached
from bailiwick.reconcile.notices.mailer import Mailer
from bailiwick.services.notices.mail import MailHead, SmtpTerms, code_mail
from bailiwick.vocab.apps import DeliveryFault
from bailiwick.vocab.notices import SmtpTls
from tests.support.waiting import WAIT_S

PLAIN = {
    "greeting": "220 hello",
    "EHLO": "250-me\r\n250-STARTTLS\r\n250 AUTH PLAIN",
    "DATA": "354 go on",
    ".": "250 taken",
    "QUIT": "221 bye",
}


@contextmanager
def scripted(words: Mapping[str, str]) -> Iterator[int]:
    """A server for one connection that answers each command as it is told; its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=_converse, args=(listening, {**PLAIN, **words}))
        thread.start()
        yield listening.getsockname()[1]
        thread.join(WAIT_S)
        assert not thread.is_alive()


def _converse(listening: socket.socket, words: Mapping[str, str]) -> None:
    connection, _ = listening.accept()
    is_body = False
    with connection, connection.makefile("rwb", buffering=0) as stream:
        stream.write(words["greeting"].encode() + b"\r\n")
        for line in stream:
            word = line.split()[0].decode().upper() if line.split() else ""
            if is_body and word != ".":
                continue
            said = words.get(word, "250 OK")
            is_body = word == "DATA" and said.startswith("354")
            try:
                stream.write(said.encode() + b"\r\n")
            except OSError:  # it has hung up
                return
            if word == "QUIT":
                return


def outcome_of(words: Mapping[str, str], *, tls: SmtpTls, user: str | None = None) -> object:
    """What became of one letter to such a server."""
    message = code_mail("x", MailHead("f@x.org", "a@b.org", 0), principal="ann", address="")
    with scripted(words) as port:
        given = SmtpTerms(
            host="127.0.0.1",
            port=port,
            sender="f@x.org",
            tls=tls,
            user=user,
            password=None if user is None else "pw",
            timeout_s=WAIT_S,
        )
        return Mailer(given)(message)


def test_a_server_that_keeps_to_the_words_takes_a_letter() -> None:
    assert outcome_of({}, tls=SmtpTls.NONE) == Answered(250)


@pytest.mark.parametrize(
    ("words", "tls", "user"),
    [
        ({"greeting": "250 hello"}, SmtpTls.NONE, None),
        ({"STARTTLS": "250 OK"}, SmtpTls.STARTTLS, None),
        ({"AUTH": "250 OK"}, SmtpTls.NONE, "fleet"),
        ({"MAIL": "251 elsewhere"}, SmtpTls.NONE, None),
        ({"RCPT": "252 perhaps"}, SmtpTls.NONE, None),
        ({"DATA": "250 OK"}, SmtpTls.NONE, None),
        ({".": "354 more"}, SmtpTls.NONE, None),
    ],
)
def test_a_yes_in_the_wrong_place_is_no_letter_that_was_taken(
    words: dict[str, str], tls: SmtpTls, user: str | None
) -> None:
    found = outcome_of(words, tls=tls, user=user)
    assert found == NotReached(DeliveryFault.NO_CONNECTION)
