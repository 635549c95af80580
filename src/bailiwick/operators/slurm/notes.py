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


@dataclass(frozen=True, slots=True)
class ClusterNotes:
    """What was done so far."""

    members: Mapping[str, MemberNote] = field(default_factory=dict)
    base: str = ""
    """By what one sees that other parameters are wanted than were applied."""
    parameters: Mapping[str, object] = field(default_factory=dict)
    """Those that were applied."""
    key: str = ""
    """The mark of the key that all members have."""
    slots: Mapping[str, int] = field(default_factory=dict)
    """Of a shared runtime: which worker's name in Slurm each contributed one has."""

    @classmethod
    def read(cls, notes: Mapping[str, object]) -> ClusterNotes:
        """As they were written; what is odd is dropped, and its member told again what to be."""
        found: dict[str, MemberNote] = {}
        told = notes.get("members")
        for key, row in told.items() if isinstance(told, dict) else ():
            match row:
                case [int(member_id), str(revision), bool(is_proved)]:
                    found[str(key)] = MemberNote(member_id, revision, is_proved=is_proved)
                case _:
                    pass
        base, parameters, key = (notes.get(name) for name in ("base", "parameters", "key"))
        return cls(
            found,
            base if isinstance(base, str) else "",
            parameters if isinstance(parameters, dict) else {},
            key if isinstance(key, str) else "",
            _numbers(notes.get("slots")),
        )

    def spell(self) -> dict[str, object]:
        """The same as JSON.

        >>> ClusterNotes.read(ClusterNotes({"worker-0": MemberNote(7, "ab")}, "x").spell())
        ClusterNotes(members={'worker-0': MemberNote(member_id=7, revision='ab', \
is_proved=False)}, base='x', parameters={}, key='', slots={})
        """
        rows = {
            key: [note.member_id, note.revision, note.is_proved]
            for key, note in sorted(self.members.items())
        }
        return {
            "members": rows,
            "base": self.base,
            "parameters": dict(self.parameters),
            "key": self.key,
            **({"slots": dict(self.slots)} if self.slots else {}),
        }


def _numbers(told: object) -> dict[str, int]:
    rows = told.items() if isinstance(told, dict) else ()
    return {str(key): number for key, number in rows if type(number) is int}
