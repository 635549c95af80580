"""What a record can tell: every kind in one row of its slice's table, gathered into one enum.

Rules:

- A record's kind is one of :class:`RecordKind`; a reader refuses any other, and so does a writer.
- A new kind is a row in the file of its slice and nothing else: whoever keeps a list of kinds
  (shapes, exports, metrics, the SIEM's page, the API) makes it from here.
- A preemption names its typed reason, its victim, its preemptor and what it freed; without them
  it cannot be built.
- A reason is a closed word where an enum for it exists; a ``NAME`` where people give it too (why a
  node is in quarantine).
- No body holds a secret: a token is named by its id, evidence by its digest. Keys that nodes
  enrolled with are public ones.

>>> RecordKind("lease_preempted").scope
<KindScope.TENANT: 'tenant'>
>>> RecordKind.LEASE_RENEWED.check({"lease_id": 4, "generation": 2, "expires_ms": 9_000})
>>> RecordKind.LEASE_PREEMPTED.check({"lease_id": 4})
Traceback (most recent call last):
...
bailiwick.journal.fields.RecordRefused: lease_preempted.reason: expected a value, got nothing
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from bailiwick.journal.body_spec import BodySpec
from bailiwick.journal.kinds.apps import AppKinds
from bailiwick.journal.kinds.bookings import BookingKinds
from bailiwick.journal.kinds.cells import CellKinds
from bailiwick.journal.kinds.fleet import FleetKinds
from bailiwick.journal.kinds.health import HealthKinds
from bailiwick.journal.kinds.isolation import IsolationKinds
from bailiwick.journal.kinds.maintenance import MaintenanceKinds
from bailiwick.journal.kinds.mig import MigKinds
from bailiwick.journal.kinds.money import MoneyKinds
from bailiwick.journal.kinds.people import PeopleKinds
from bailiwick.journal.kinds.row import KindRow
from bailiwick.journal.kinds.shared import SharedKinds
from bailiwick.journal.kinds.trust import TrustKinds
from bailiwick.journal.kinds.work import WorkKinds
from bailiwick.journal.ocsf import Ocsf
from bailiwick.journal.words import KindScope
from bailiwick.vocab.errors import InvariantBroken

_SLICES = (
    *(WorkKinds, FleetKinds, PeopleKinds, MoneyKinds, TrustKinds, IsolationKinds, AppKinds),
    *(SharedKinds, CellKinds, MaintenanceKinds, MigKinds, BookingKinds, HealthKinds),
)


def _gather(slices: Iterable[type[object]]) -> dict[str, KindRow]:
    """All rows by their word, in the order of their numbers."""
    rows = [each for of in slices for each in vars(of).values() if isinstance(each, KindRow)]
    rows.sort(key=lambda each: each.number)
    by_word = {each.word: each for each in rows}
    if len(by_word) < len(rows) or len({each.number for each in rows}) < len(rows):
        raise InvariantBroken("two kinds of record have one word or one number")
    return by_word


_ROWS = _gather(_SLICES)


class RecordKind(
    WorkKinds,
    FleetKinds,
    PeopleKinds,
    MoneyKinds,
    TrustKinds,
    IsolationKinds,
    AppKinds,
    SharedKinds,
    CellKinds,
    MaintenanceKinds,
    MigKinds,
    BookingKinds,
    HealthKinds,
    StrEnum,
):
    """What a record tells. One kind for each decision and each privileged action."""

    # Each row's name becomes a member; to the type checker it is one by the row's own type.
    vars().update({word.upper(): word for word in _ROWS})

    def __init__(self, word: str) -> None:
        row = _ROWS[word]
        self.number: int = row.number
        self.scope: KindScope = row.scope
        """Whose the record is. A lease without a tenant would escape its owner's view."""
        self.body: BodySpec = row.body
        self.ocsf: Ocsf = row.ocsf
        self.moves_shares: bool = row.moves_shares

    def check(self, body: object) -> None:
        """Refuse a body that is not what this kind holds."""
        self.body.check(self.value, body)
