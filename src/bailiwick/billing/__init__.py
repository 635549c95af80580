"""Billing: what work costs, what of it is charged, how much may be spent, and the bill."""

from bailiwick.billing.accounts import Books, EntryKind, LedgerEntry, Posting
from bailiwick.billing.charges import ChargeCause, cause_of, is_charged
from bailiwick.billing.estimates import CostEstimate, EstimateRequest, estimate
from bailiwick.billing.export import invoice_csv
from bailiwick.billing.focus import focus_csv
from bailiwick.billing.invoice_body import body_of, canonical_bytes, digest_of, invoice_of
from bailiwick.billing.invoices import (
    Agreed,
    Difference,
    Invoice,
    InvoiceHead,
    InvoiceScope,
    compare,
    correct,
    entry_of,
    split_by_tenant,
)
from bailiwick.billing.lines import CardId, LineKey, Price, RatedLine
from bailiwick.billing.rates import LIST_PRICES, RateBook, RateCard
from bailiwick.billing.rating import rate

__all__ = [
    "LIST_PRICES",
    "Agreed",
    "Books",
    "CardId",
    "ChargeCause",
    "CostEstimate",
    "Difference",
    "EntryKind",
    "EstimateRequest",
    "Invoice",
    "InvoiceHead",
    "InvoiceScope",
    "LedgerEntry",
    "LineKey",
    "Posting",
    "Price",
    "RateBook",
    "RateCard",
    "RatedLine",
    "body_of",
    "canonical_bytes",
    "cause_of",
    "compare",
    "correct",
    "digest_of",
    "entry_of",
    "estimate",
    "focus_csv",
    "invoice_csv",
    "invoice_of",
    "is_charged",
    "rate",
    "split_by_tenant",
]
