"""The socket that a server listens on."""

from __future__ import annotations

import socket

import pytest

from bailiwick.server.process import _bind, is_loopback
from bailiwick.vocab.errors import Conflict


def test_answers_do_not_wait_for_acknowledgements() -> None:
    bound = _bind("127.0.0.1", 0)
    try:
        # asyncio sets TCP_NODELAY on what is accepted from a socket whose protocol is named.
        assert bound.proto == socket.IPPROTO_TCP
    finally:
        bound.close()


def test_an_address_in_use_says_what_to_do() -> None:
    bound = _bind("127.0.0.1", 0)
    bound.listen()
    try:
        with pytest.raises(Conflict, match="--port"):
            _bind("127.0.0.1", bound.getsockname()[1])
    finally:
        bound.close()


@pytest.mark.parametrize(
    ("host", "alone"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("", False)],
)
def test_which_addresses_only_this_machine_reaches(host: str, alone: bool) -> None:
    assert is_loopback(host) is alone
