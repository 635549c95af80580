"""The whole state as bytes, and back: a cache of the fold, whose digest the journal can vouch for.

Rules:

- Equal states give equal bytes, whatever way they came to be: everything is written in an order
  that follows from the journal, and no cache or handle of this process is written at all.
- Reading never trusts: bytes whose SHA-256 is not the one expected are refused, and a snapshot of
  another format is too.
- Each slice writes its own part: one line of JSON, and behind it the table of leases.
"""

from __future__ import annotations

import json
from hashlib import sha256

from bailiwick.journal.record import encode_json
from bailiwick.kernel.answers import Remembered
from bailiwick.kernel.codec import decode_answer, encode_answer
from bailiwick.kernel.slice import Plain
from bailiwick.kernel.slices import SLICES
from bailiwick.kernel.state import State
from bailiwick.vocab.errors import Damaged

FORMAT_NUMBER = 5
FORMAT = f"bailiwick-state/v{FORMAT_NUMBER}"


def encode(state: State) -> bytes:
    """The state as bytes."""
    header: Plain = {
        "format": FORMAT,
        "size": state.size,
        "clock_ms": state.clock_ms,
        "answers": [
            [*name, kept.at_ms, kept.command, encode_answer(kept.answer)]
            for name, kept in state.answers.entries.items()
        ],
        "courses": state.courses.dump(),
    }
    for each in SLICES:
        header |= each.dump(state)
    rows: bytes = header.pop("rows")
    return encode_json(header).encode() + b"\n" + rows


def digest_of(state: State) -> str:
    """SHA-256 over the state's bytes: equal for equal states."""
    return sha256(encode(state)).hexdigest()


def decode(data: bytes, digest: str, *, engine: str = "auto") -> State:
    """The state that these bytes are, if they are the ones that were digested."""
    if sha256(data).hexdigest() != digest:
        raise Damaged("snapshot", f"{len(data)} bytes", "its digest is another")
    end = data.index(b"\n")
    header: Plain = json.loads(data[:end])
    if header.get("format") != FORMAT:
        raise Damaged("snapshot", "format", f"{header.get('format')!r} is not {FORMAT!r}")
    header["rows"] = memoryview(data)[end + 1 :]
    state = State(engine=engine)
    state.size, state.clock_ms = header["size"], header["clock_ms"]
    for each in SLICES:
        each.load(state, header)
    for each in SLICES:
        each.settle(state, header)
    state.courses.load(header.get("courses", {}))
    for actor, key, at_ms, command, row in header["answers"]:
        state.answers.put((actor, key), Remembered(at_ms, command, decode_answer(row)))
    return state
