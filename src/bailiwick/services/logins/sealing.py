"""Notes that the server gives away to get them back: nobody else reads or writes them.

Rules:

- Sealed with AES-GCM under a key that only the server's replicas can make, for one purpose each.
- A note says until when it counts. One that is too old, changed or another's is no note.

>>> box = NoteBox(bytes(32))
>>> text = box.seal("login", {"state": "s"}, until_s=100)
>>> box.open("login", text, now_s=99)
{'state': 's'}
>>> box.open("device", text, now_s=99), box.open("login", text, now_s=100)
(None, None)
"""

from __future__ import annotations

import base64
import binascii
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

CHARS_MAX: Final = 3_500
"""What fits into a cookie."""
_NONCE_BYTES: Final = 12


@dataclass(frozen=True, slots=True)
class NoteBox:
    """Seals and opens notes under one key of 32 bytes."""

    key: bytes = field(repr=False)

    def seal(self, purpose: str, said: Mapping[str, str], *, until_s: int) -> str:
        """A note that counts until then."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        plain = json.dumps({"until_s": until_s, "said": dict(said)}).encode()
        sealed = AESGCM(self.key).encrypt(nonce, plain, purpose.encode())
        return base64.urlsafe_b64encode(nonce + sealed).rstrip(b"=").decode()

    def open(self, purpose: str, text: str, *, now_s: int) -> dict[str, str] | None:
        """What a note says, if it is one of ours for this purpose and still counts."""
        if len(text) > CHARS_MAX or not text.isascii():
            return None
        try:
            raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
            plain = AESGCM(self.key).decrypt(
                raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], purpose.encode()
            )
        except (binascii.Error, ValueError, InvalidTag):
            return None
        found = json.loads(plain)
        said: dict[str, str] = found["said"]
        return said if now_s < found["until_s"] else None
