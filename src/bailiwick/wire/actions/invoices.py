"""Invoices: draft, issue, trace to the records, correct."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, TENANT, Action, Where
from bailiwick.wire.base import Page
from bailiwick.wire.billing import Correction, Invoice, InvoiceHead, NewInvoice, Stretch

_P, _W = Permission, Where
_INVOICE = TENANT + "/invoices/{invoice}"

# fmt: off
INVOICE_DRAFT = Action(
    "invoice.draft", "Draft an invoice", "GET", TENANT + "/invoice-draft",
    _P.INVOICE_READ, _W.TENANT_ROWS, NOTHING, Invoice)
INVOICE_LIST = Action(
    "invoice.list", "List invoices", "GET", TENANT + "/invoices",
    _P.INVOICE_READ, _W.TENANT_ROWS, NOTHING, Page[InvoiceHead])
INVOICE_ISSUE = Action(
    "invoice.issue", "Issue an invoice", "POST", TENANT + "/invoices",
    _P.INVOICE_ISSUE, _W.TENANT, NewInvoice, Invoice)
INVOICE_READ = Action(
    "invoice.read", "Read an invoice", "GET", _INVOICE,
    _P.INVOICE_READ, _W.TENANT_ROWS, NOTHING, Invoice)
INVOICE_TRACE = Action(
    "invoice.trace", "Trace a line of an invoice", "GET", _INVOICE + "/lines/{line}",
    _P.INVOICE_READ, _W.TENANT_ROWS, NOTHING, Page[Stretch])
INVOICE_EXPORT = Action(
    "invoice.export", "Export an invoice", "GET", _INVOICE + "/export",
    _P.INVOICE_READ, _W.TENANT_ROWS, NOTHING, str)
INVOICE_CORRECT = Action(
    "invoice.correct", "Correct an invoice", "POST", _INVOICE + "/corrections",
    _P.INVOICE_ISSUE, _W.TENANT, NOTHING, Correction)
# fmt: on
