"""Where the journal lasts: in files, or in SQLite and PostgreSQL; keys, proofs and export.

``open_store`` loads the database packages when it is called, and nothing here does before.

The names below are the package; what is not here may change.
"""

from bailiwick.store.journal.export import ocsf_event
from bailiwick.store.journal.files import (
    JournalDamaged,
    JournalDirectory,
    TileDiffers,
    Verdict,
    describe,
    read_anchor,
    read_lines,
    replace_file,
    verify_directory,
    verify_file,
)
from bailiwick.store.journal.keys import load_or_create_key
from bailiwick.store.journal.proof import (
    Proven,
    RecordProof,
    Unproven,
    check_proof,
    parse_proof,
    prove_record,
)
from bailiwick.store.journal.words import siem_page
from bailiwick.store.journal.writer import CHECKPOINT_EVERY, JournalWriter, Recovery
from bailiwick.store.opening import open_store

__all__ = [
    "CHECKPOINT_EVERY",
    "JournalDamaged",
    "JournalDirectory",
    "JournalWriter",
    "Proven",
    "RecordProof",
    "Recovery",
    "TileDiffers",
    "Unproven",
    "Verdict",
    "check_proof",
    "describe",
    "load_or_create_key",
    "ocsf_event",
    "open_store",
    "parse_proof",
    "prove_record",
    "read_anchor",
    "read_lines",
    "replace_file",
    "siem_page",
    "verify_directory",
    "verify_file",
]
