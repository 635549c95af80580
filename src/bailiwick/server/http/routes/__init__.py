"""Who answers what is asked over HTTP: parse, call one service, spell the answer.

``HANDLERS`` is complete here, because the modules of all nouns are imported here.
"""

from bailiwick.server.http.answering import HANDLERS
from bailiwick.server.http.routes import (
    apps,
    artifacts,
    budgets,
    capabilities,
    decisions,
    execs,
    graphs,
    instances,
    invoices,
    isolation,
    jobs,
    journal,
    leases,
    nodes,
    queue,
    rates,
    server,
    tenants,
    tokens,
    trust,
    usage,
    watch,
    work,
)

__all__ = [
    "HANDLERS",
    "apps",
    "artifacts",
    "budgets",
    "capabilities",
    "decisions",
    "execs",
    "graphs",
    "instances",
    "invoices",
    "isolation",
    "jobs",
    "journal",
    "leases",
    "nodes",
    "queue",
    "rates",
    "server",
    "tenants",
    "tokens",
    "trust",
    "usage",
    "watch",
    "work",
]
