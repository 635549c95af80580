"""What is remembered of money beside what is spent: which invoices were issued."""

from __future__ import annotations

from typing import NamedTuple

from bailiwick.kernel.owner import Owner


class Issued(NamedTuple):
    """What is remembered of an invoice: enough to see that nothing is billed twice."""

    owner: Owner
    digest: str
    from_ms: int
    to_ms: int
    invoice: str
    corrects: str | None
    journal_size: int
