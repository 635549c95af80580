"""How a webhook's receiver knows who wrote: Standard Webhooks, with secrets that are kept nowhere.

Rules:

- A secret is made from the server's own key and what the journal names (scope, webhook, id of the
  secret). So there is no table of secrets to steal, and every replica has the same ones.
- A message is signed as https://www.standardwebhooks.com says: HMAC-SHA256 over its id, the time of
  sending in seconds and the very bytes of its body, with dots between; one signature for each
  secret that counts.
- An id is the event's own: the same in every try, so that a receiver knows what it had already.

>>> spell_secret(bytes(32))
'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='
>>> known = b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")  # the standard's own example
>>> message, body = "msg_p5jXN8AQM9LWM0D4loKWxJek", b'{"test": 2432232314}'
>>> headers_of(message, at_s=1614265330, body=body, secrets=[known])["webhook-signature"]
'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from hmac import digest
from typing import Final

from bailiwick.events.cloud import CONTENT_TYPE
from bailiwick.iam import Scope

PURPOSE: Final = b"webhook secrets"
"""What the server's key for secrets is for."""
PREFIX: Final = "whsec_"


def secret_of(key: bytes, scope: Scope, *, webhook: str, secret_id: str) -> bytes:
    """The 32 bytes that a webhook's messages are signed with."""
    named = "\n".join((scope.tenant or "", scope.project or "", webhook, secret_id))
    return digest(key, named.encode(), "sha256")


def spell_secret(secret: bytes) -> str:
    """A secret as it is handed to a receiver."""
    return PREFIX + b64encode(secret).decode("ascii")


def read_secret(text: str) -> bytes:
    """The bytes of a secret as it was handed out."""
    return b64decode(text.removeprefix(PREFIX), validate=True)


def message_id(journal: str, seq: int) -> str:
    """By what a message is known, in every try and replay of it."""
    return f"evt_{journal}_{seq}"


def headers_of(message: str, *, at_s: int, body: bytes, secrets: Sequence[bytes]) -> dict[str, str]:
    """The headers under which a message is sent."""
    signed = b"".join((message.encode(), b".", str(at_s).encode(), b".", body))
    signatures = (b64encode(digest(each, signed, "sha256")).decode("ascii") for each in secrets)
    return {
        "content-type": CONTENT_TYPE,
        "webhook-id": message,
        "webhook-timestamp": str(at_s),
        "webhook-signature": " ".join(f"v1,{each}" for each in signatures),
    }
