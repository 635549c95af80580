"""What a cluster's programs answered, as JSON: read whole, bounded, and not otherwise judged.

Rules:

- These answers hold fractions and much that nobody here reads, so they are not read as strictly as
  what people send us; the readers check every field they use.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

from bailiwick.vocab.errors import InvalidValue, NotFound

ANSWER_BYTES_MAX: Final = 2**30


def read_answer(path: Path) -> object:
    """What a file holds; ``-`` is standard input."""
    if str(path) == "-":
        return parse_answer("standard input", sys.stdin.buffer.read(ANSWER_BYTES_MAX + 1))
    try:
        with path.open("rb") as file:
            return parse_answer(str(path), file.read(ANSWER_BYTES_MAX + 1))
    except FileNotFoundError:
        raise NotFound("file", str(path)) from None


def parse_answer(name: str, raw: bytes) -> object:
    """One JSON document, or several one after the other as a list of them."""
    if len(raw) > ANSWER_BYTES_MAX:
        raise InvalidValue(name, len(raw), f"at most {ANSWER_BYTES_MAX} bytes")
    try:
        text, decoder, found, at = raw.decode(), json.JSONDecoder(), [], 0
        while (at := _next(text, at)) < len(text):  # bounded: every round reads on
            value, at = decoder.raw_decode(text, at)
            found.append(value)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise InvalidValue(name, raw[:40], f"JSON ({error})") from None
    if not found:
        raise InvalidValue(name, "nothing", "a JSON document")
    return found[0] if len(found) == 1 else found


def _next(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():  # bounded: by the text
        at += 1
    return at
