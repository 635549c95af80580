"""The sealed journal: read it, watch it grow, prove what it says."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, TENANT, Action, Stream, Where
from bailiwick.wire.base import Page
from bailiwick.wire.work import JournalConsistency, JournalRecord

_P, _W = Permission, Where
_RECORD = TENANT + "/records/{seq}"

# fmt: off
RECORD_LIST = Action(
    "record.list", "List journal records", "GET", TENANT + "/records",
    _P.JOURNAL_READ, _W.TENANT, NOTHING, Page[JournalRecord])
RECORD_PROVE = Action(
    "record.prove", "Prove a journal record", "GET", _RECORD + "/proof",
    _P.JOURNAL_READ, _W.TENANT, NOTHING, str)
RECORD_WATCH = Action(
    "record.watch", "Watch the journal", "GET", "/v1/watch",
    _P.JOURNAL_READ, _W.ROWS, NOTHING, Stream)
CHECKPOINT_READ = Action(
    "checkpoint.read", "Read the journal's checkpoint", "GET", "/v1/journal/checkpoint",
    _P.JOURNAL_READ, _W.ROWS, NOTHING, str)
CHECKPOINT_KEY = Action(
    "checkpoint.key", "Read the journal's public key", "GET", "/v1/journal/key",
    _P.JOURNAL_READ, _W.ROWS, NOTHING, str)
CHECKPOINT_COMPARE = Action(
    "checkpoint.compare", "Prove that the journal only grew", "GET", "/v1/journal/consistency",
    _P.JOURNAL_READ, _W.ROWS, NOTHING, JournalConsistency)
# fmt: on
