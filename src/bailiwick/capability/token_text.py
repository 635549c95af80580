"""A token's text: a prefix that says how it is written, and base64url without padding.

One token has one spelling: text that decodes to the same bytes in another spelling is no token.

>>> decoded("x1.", encoded("x1.", b"\\xff\\xfe"))
b'\\xff\\xfe'
>>> decoded("x1.", "x1.__5")
Traceback (most recent call last):
...
ValueError: not the one spelling of a token
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64

_TO_URL = bytes.maketrans(b"+/", b"-_")
_FROM_URL = bytes.maketrans(b"-_+/=", b"+/!!!")  # what is not of the alphabet stays so
_PADDING = (b"", b"!", b"==", b"=")
# The last character before padding has bits that no byte takes; they are zero.
_LAST = (None, b"", b"AQgw", b"AEIMQUYcgkosw048")


def encoded(prefix: str, raw: bytes) -> str:
    """The text of these bytes."""
    return prefix + b2a_base64(raw, newline=False).translate(_TO_URL).rstrip(b"=").decode("ascii")


def decoded(prefix: str, token: str) -> bytes:
    """The bytes of a text that begins with the prefix; ``ValueError`` if it is no token."""
    text = token[len(prefix) :].encode("ascii")
    size = len(text) % 4
    last = _LAST[size]
    if not token.startswith(prefix) or (last is not None and text[-1:] not in last):
        raise ValueError("not the one spelling of a token")
    return a2b_base64(text.translate(_FROM_URL) + _PADDING[size], strict_mode=True)
