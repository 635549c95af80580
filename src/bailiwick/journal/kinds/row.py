"""One kind of record in one row, and the types of fields that rows of several slices share.

Rules:

- A row says all there is to say of a kind: its word and number, whose such a record is, what its
  body holds, how it is told in OCSF, and whether it moves a share of a device to another owner.
- A word or a number is never given to another kind: old journals have to stay readable. The
  numbers are the order of lists for people; those missing were kinds that nobody wrote.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bailiwick.journal.body_spec import BodySpec, Fields
from bailiwick.journal.fields import DIGEST, PRINCIPAL, TEXT, Amounts, Words
from bailiwick.journal.ocsf import Ocsf
from bailiwick.journal.words import KindScope
from bailiwick.vocab.errors import InvariantBroken
from bailiwick.vocab.words import HardwareGeneration, PreemptionReason, Priority

if TYPE_CHECKING:
    from bailiwick.journal.kinds import RecordKind

FLEET, PROJECT = KindScope.FLEET, KindScope.PROJECT
PRIORITY = Words((Priority,))
REASON = Words((PreemptionReason,))
GPU_GENERATION = Words((HardwareGeneration,))
GPU_AMOUNTS = Amounts(HardwareGeneration)
CHANGE: Fields = {"before": TEXT, "after": TEXT}
# Any record that answers a command may carry the command's idempotency key and digest.
_KEYED: Fields = {"key": PRINCIPAL, "command": DIGEST}


@dataclass(frozen=True, slots=True)
class KindRow:
    """All there is to say of one kind of record."""

    word: str
    number: int
    ocsf: Ocsf
    body: BodySpec
    scope: KindScope
    moves_shares: bool

    def __set_name__(self, owner: type[object], name: str) -> None:
        if name != self.word.upper():
            raise InvariantBroken(f"{owner.__name__}.{name} is the kind {self.word!r}")

    if TYPE_CHECKING:
        # A class that gathers rows has the kinds themselves by these names: see RecordKind.
        def __get__(self, instance: object, owner: type[object]) -> RecordKind: ...


def row(
    word: str,
    number: int,
    *,
    ocsf: Ocsf,
    body: BodySpec,
    scope: KindScope = KindScope.TENANT,
    moves_shares: bool = False,
) -> KindRow:
    """A kind of record; unless told otherwise a tenant's own, and no business of the meter."""
    keyed = BodySpec(body.required, {**body.optional, **_KEYED})
    return KindRow(word, number, ocsf, keyed, scope, moves_shares)
