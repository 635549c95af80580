"""Who answers what is asked over HTTP: parse, call one service, spell the answer.

``HANDLERS`` is complete here, because the modules of all nouns are imported here.
"""

from bailiwick.server.http import (
    asking,
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
    work,
)
from bailiwick.server.http.answering import HANDLERS

__all__ = [
    "HANDLERS",
    "asking",
    "budgets",
    "capabilities",
    "counting",
    "fleet",
    "invoices",
    "jobs",
    "operate",
    "people",
    "proofs",
    "rates",
    "seen",
    "standing",
    "tokens",
    "trust",
    "usage",
    "watch",
    "work",
]
