"""All actions, by name.

To add one: a row in the file of its noun, its handler in the noun's routes, and a request in
``tests/support/http_actions.py``; then ``WRITE_OPENAPI=1 pytest tests/contract/test_openapi.py``.

>>> find_action("lease.renew").summary
'Renew a lease'
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from bailiwick.vocab.errors import NotFound
from bailiwick.wire.actions import (
    apps,
    bookings,
    budgets,
    cells,
    credentials,
    events,
    execs,
    graphs,
    instances,
    invoices,
    isolation,
    jobs,
    journal,
    leases,
    maintenance,
    nodes,
    notices,
    rates,
    server,
    shared,
    tenants,
    tokens,
    trust,
    usage,
)
from bailiwick.wire.actions.action import Action, Where

_NOUNS: Final = (
    tenants,
    tokens,
    credentials,
    notices,
    nodes,
    maintenance,
    bookings,
    cells,
    trust,
    isolation,
    leases,
    jobs,
    execs,
    graphs,
    apps,
    instances,
    shared,
    events,
    usage,
    rates,
    budgets,
    invoices,
    journal,
    server,
)


def _rows() -> Iterator[Action[Any, Any]]:
    for noun in _NOUNS:
        yield from (row for row in vars(noun).values() if isinstance(row, Action))


_ALL: Final = {row.name: row for row in _rows()}

ACTIONS: Final = {name: row for name, row in _ALL.items() if row.where is not Where.OPEN}
"""Everything that can be asked with a login."""

OPEN: Final = {name: row for name, row in _ALL.items() if row.where is Where.OPEN}
"""What is asked before anybody is known."""


def find_action(name: str) -> Action[Any, Any]:
    """The row of that name."""
    if name not in _ALL:
        raise NotFound("action", name)
    return _ALL[name]
