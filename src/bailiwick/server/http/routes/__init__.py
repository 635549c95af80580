"""Who answers what is asked over HTTP: parse, call one service, spell the answer.

``HANDLERS`` is complete here, because the modules of all nouns are imported here.
"""

from bailiwick.server.http import (
    budgets,
    capabilities,
    counting,
    fleet,
    invoices,
    jobs,
    operate,
    people,
    proofs,
    rates,
    seen,
    standing,
    tokens,
    trust,
    usage,
    watch,
)
from bailiwick.server.http.answering import HANDLERS
from bailiwick.server.http.routes import journal, leases, nodes, queue

__all__ = [
    "HANDLERS",
    "budgets",
    "capabilities",
    "counting",
    "fleet",
    "invoices",
    "jobs",
    "journal",
    "leases",
    "nodes",
    "operate",
    "people",
    "proofs",
    "queue",
    "rates",
    "seen",
    "standing",
    "tokens",
    "trust",
    "usage",
    "watch",
]
