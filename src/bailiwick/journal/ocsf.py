"""How a kind of record is told to collectors that speak OCSF, in the numbers of OCSF 1.3.

>>> Ocsf(ENTITY, DELETE, LOW).class_uid.name
'ENTITY_MANAGEMENT'
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final


class OcsfClass(IntEnum):
    """The OCSF classes that records map to; the thousands are the category."""

    COMPLIANCE_FINDING = 2003
    DETECTION_FINDING = 2004
    ACCOUNT_CHANGE = 3001
    AUTHORIZE_SESSION = 3003
    ENTITY_MANAGEMENT = 3004
    USER_ACCESS_MANAGEMENT = 3005
    API_ACTIVITY = 6003


class OcsfSeverity(IntEnum):
    """How much attention an event asks for."""

    INFORMATIONAL = 1
    LOW = 2
    MEDIUM = 3
    HIGH = 4
    CRITICAL = 5


@dataclass(frozen=True, slots=True)
class Ocsf:
    """How a kind of record is told in OCSF."""

    class_uid: OcsfClass
    activity_id: int
    severity: OcsfSeverity = OcsfSeverity.INFORMATIONAL
    is_failure: bool = False


# Short names, so that a row of the table of kinds is a row.
API, ENTITY = OcsfClass.API_ACTIVITY, OcsfClass.ENTITY_MANAGEMENT
ACCESS, ACCOUNT = OcsfClass.USER_ACCESS_MANAGEMENT, OcsfClass.ACCOUNT_CHANGE
SESSION, DETECTION = OcsfClass.AUTHORIZE_SESSION, OcsfClass.DETECTION_FINDING
COMPLIANCE = OcsfClass.COMPLIANCE_FINDING
LOW, MEDIUM, HIGH = OcsfSeverity.LOW, OcsfSeverity.MEDIUM, OcsfSeverity.HIGH
CREATE: Final = 1
UPDATE: Final = 3
DELETE: Final = 4
"""Of API activity and entity management."""
OTHER: Final = 99
