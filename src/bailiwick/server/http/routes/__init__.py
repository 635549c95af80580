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
    people,
    quotas,
    rates,
    replicas,
    settings,
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
    "people",
    "proofs",
    "quotas",
    "rates",
    "replicas",
    "seen",
    "settings",
    "tokens",
    "trust",
    "usage",
    "watch",
    "work",
]
