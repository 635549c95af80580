"""Reads an invoice that somebody saved: bounded, and strictly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.billing.invoices import Invoice

BODY_BYTES_MAX: Final = 2**28


def read_saved(path: Path) -> Invoice:
    """The invoice that was saved in a file: its body, or all that a server tells of it."""
    from bailiwick.billing.invoice_body import digest_of, invoice_of

    try:
        with path.open("rb") as file:
            data = file.read(BODY_BYTES_MAX + 1)
    except OSError as error:
        raise InvalidValue("FILE", str(path), f"a file to read ({error.strerror})") from None
    if len(data) > BODY_BYTES_MAX:
        raise InvalidValue("FILE", str(path), f"at most {BODY_BYTES_MAX} bytes")
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        raise InvalidValue("FILE", str(path), "an invoice as JSON") from None
    told = body if isinstance(body, dict) and "body" in body else {"body": body}
    try:
        invoice = invoice_of(told["body"])
    except InvalidValue as error:
        raise InvalidValue("FILE", str(path), f"an invoice ({error})") from None
    if "digest" in told and told["digest"] != digest_of(invoice):
        raise InvalidValue("digest", told["digest"], f"{digest_of(invoice)}, by its body")
    return invoice
