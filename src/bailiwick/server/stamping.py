"""The stamps of this ledger: their key, and the note that says since when there must be some.

Rules:

- The key is made from the authority's own, which replicas share already: whoever has that one can
  log in as anybody, so a key of its own would guard nothing more.
- The note lies in the process's folder, outside of the database, and is replaced as a whole.
"""

from __future__ import annotations

import os
from pathlib import Path

from bailiwick.runtime.stamps import Stamps
from bailiwick.services.authority import Authority
from bailiwick.vocab.errors import InvalidValue

NOTE_NAME = "stamped"
"""In a data directory: the number of the first record that must be under a stamp."""

PURPOSE = b"journal stamps"


def open_stamps(folder: Path, authority: Authority) -> Stamps:
    """What a server of this ledger makes and checks stamps with."""
    note = folder / NOTE_NAME
    return Stamps(
        authority.key_for(PURPOSE), _read(note), remember=lambda since: _write(note, since)
    )


def _read(note: Path) -> int | None:
    try:
        text = note.read_text("ascii")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InvalidValue("stamp note", str(note), f"a file we can read ({error})") from None
    if not text.strip().isdigit():
        raise InvalidValue("stamp note", str(note), "the number of a record")
    return int(text)


def _write(note: Path, since: int) -> None:
    note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    scratch = note.with_name(f".{note.name}.{os.getpid()}")
    with scratch.open("w", encoding="ascii") as file:
        file.write(f"{since}\n")
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(note)
