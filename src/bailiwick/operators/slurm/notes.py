"""What the operator writes down about a cluster: who was told what, and who is proved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class MemberNote:
    """One member: which it is, the revision that it has, and whether jobs came back from it."""

    member_id: int
    revision: str
    is_proved: bool = field(default=False, kw_only=True)


def read_notes(notes: Mapping[str, object]) -> tuple[dict[str, MemberNote], str]:
    """The members that were told what to be, and the parameters of then; what is odd is dropped."""
    found: dict[str, MemberNote] = {}
    told = notes.get("members")
    for key, row in told.items() if isinstance(told, dict) else ():
        match row:
            case [int(member_id), str(revision), bool(is_proved)]:
                found[str(key)] = MemberNote(member_id, revision, is_proved=is_proved)
            case _:
                pass  # somebody else's: the member is told again what to be
    base = notes.get("base")
    return found, base if isinstance(base, str) else ""


def spell_notes(members: Mapping[str, MemberNote], base: str) -> dict[str, object]:
    """The same as JSON.

    >>> read_notes(spell_notes({"worker-0": MemberNote(7, "ab")}, "x"))
    ({'worker-0': MemberNote(member_id=7, revision='ab', is_proved=False)}, 'x')
    """
    rows = {
        key: [note.member_id, note.revision, note.is_proved]
        for key, note in sorted(members.items())
    }
    return {"members": rows, "base": base}
