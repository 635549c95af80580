"""How far this machine's clock is from the server's, as far as one answer can tell.

Rules:

- An answer has the server's time in whole seconds, stamped at some moment between asking and
  hearing, and by many servers up to a second late. All of that is the bound of the estimate.
- What cannot be read is no estimate.

>>> estimate_skew("Thu, 01 Jan 1970 00:00:10 GMT", sent_ms=10_800, took_ms=400)
{'offset_ms': 0, 'error_ms': 1200}
"""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import Final

STAMP_MS: Final = 2_000
"""Between a whole second and the moment at which it was stamped: cut off, and late."""
DATE_CHARS_MAX: Final = 64


def estimate_skew(date: str, *, sent_ms: int, took_ms: int) -> dict[str, int] | None:
    """By how many milliseconds the server's clock is ahead, give or take ``error_ms``."""
    if took_ms < 0 or len(date) > DATE_CHARS_MAX:
        return None
    try:
        stamped_ms = round(parsedate_to_datetime(date).timestamp()) * 1000
    except (ValueError, TypeError, OverflowError):
        return None
    middle = (took_ms + STAMP_MS) // 2
    offset_ms = stamped_ms + STAMP_MS // 2 - sent_ms - took_ms // 2
    return {"offset_ms": offset_ms, "error_ms": middle}
