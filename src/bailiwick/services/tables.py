"""The store's tables beside the journal: what was metered, counted, found, billed, and the past.

Each is folded from the journal or kept for it; all of one store belong together.
"""

from __future__ import annotations

from dataclasses import dataclass

from bailiwick.services.history import History
from bailiwick.store.counter_rows import CounterBook
from bailiwick.store.finding_rows import FindingBook
from bailiwick.store.invoice_rows import InvoiceBook
from bailiwick.store.meter_rows import MeterBook
from bailiwick.store.sql_store import SqlStore


@dataclass(frozen=True, slots=True)
class StoreTables:
    """The tables of one store, by what they answer."""

    meter: MeterBook
    """What was used, to the last unit."""
    counters: CounterBook
    """What nodes counted, to be compared with the journal."""
    findings: FindingBook
    """What was found by comparing."""
    invoices: InvoiceBook
    """What every issued bill says."""
    history: History
    """What the journal says of the past."""

    @classmethod
    def of(cls, store: SqlStore) -> StoreTables:
        """All tables of this store."""
        return cls(
            MeterBook(store),
            CounterBook(store),
            FindingBook(store),
            InvoiceBook(store),
            History(store),
        )
