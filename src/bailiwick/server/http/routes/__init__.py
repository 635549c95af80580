"""Who answers what is asked over HTTP: parse, call one service, spell the answer.

``HANDLERS`` is complete here, because the modules of all nouns are imported here.
"""

from bailiwick.server.http import fleet, jobs, operate, proofs, seen, watch, work
from bailiwick.server.http.answering import HANDLERS
from bailiwick.server.http.routes import (
    budgets,
    capabilities,
    decisions,
    invoices,
    rates,
    server,
    tenants,
    tokens,
    trust,
    usage,
)

__all__ = [
    "HANDLERS",
    "budgets",
    "capabilities",
    "decisions",
    "fleet",
    "invoices",
    "jobs",
    "operate",
    "proofs",
    "rates",
    "seen",
    "server",
    "tenants",
    "tokens",
    "trust",
    "usage",
    "watch",
    "work",
]
