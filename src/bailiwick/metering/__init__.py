"""Metering: whose every share of every device was at every instant, exactly, from the journal."""

from bailiwick.metering.fold import JournalMeter
from bailiwick.metering.meter import Meter, SharePool
from bailiwick.metering.owners import (
    IDLE,
    UNAVAILABLE,
    Account,
    Idle,
    Leased,
    Owner,
    Payer,
    Stage,
    UnavailableCapacity,
    UnavailableCause,
    free_owner,
)
from bailiwick.metering.records import FoldedRecord, MeterFinding, MeterFindingWord
from bailiwick.metering.share import Parts, SharedParts
from bailiwick.metering.sources import Position, SourceEvent, Sources
from bailiwick.metering.values import Balance, Line, Part, Segment, Share, Use

__all__ = [
    "IDLE",
    "UNAVAILABLE",
    "Account",
    "Balance",
    "FoldedRecord",
    "Idle",
    "JournalMeter",
    "Leased",
    "Line",
    "Meter",
    "MeterFinding",
    "MeterFindingWord",
    "Owner",
    "Part",
    "Parts",
    "Payer",
    "Position",
    "Segment",
    "Share",
    "SharePool",
    "SharedParts",
    "SourceEvent",
    "Sources",
    "Stage",
    "UnavailableCapacity",
    "UnavailableCause",
    "Use",
    "free_owner",
]
