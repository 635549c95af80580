"""An instance as the operator looks at it now: who is there, what was done, and what to say of it.

A member that is replaced stays under its name until it has ended: of two with one name the older is
the one that is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bailiwick.operators.kit import Kit
from bailiwick.operators.slurm.notes import ClusterNotes, MemberNote
from bailiwick.operators.slurm.questions import MemberTalk
from bailiwick.operators.slurm.shared.slots import name_in, plan_slots
from bailiwick.operators.slurm.wanted import CONTROLLER
from bailiwick.vocab.apps import InstancePhase, MemberPhase
from bailiwick.wire.instances import Instance, InstanceMember
from bailiwick.wire.shared import SharedRuntimeView

_UP = (MemberPhase.READY, MemberPhase.DRAINING)


@dataclass(frozen=True, slots=True)
class Scene:
    """One look at one instance."""

    instance: Instance
    kit: Kit
    talk: MemberTalk
    running: Mapping[str, InstanceMember]
    notes: ClusterNotes
    view: SharedRuntimeView | None = None
    """The runtime that it is behind, if it is a shared one."""

    @classmethod
    def of(
        cls,
        instance: Instance,
        kit: Kit,
        *,
        talk: MemberTalk,
        view: SharedRuntimeView | None = None,
    ) -> Scene:
        """As it is now; members are known by their names in Slurm."""
        running: dict[str, InstanceMember] = {}
        notes = ClusterNotes.read(kit.notes)
        if view is not None:
            keys = [each.component_key for each in kit.members]
            notes = replace(notes, slots=plan_slots(keys, notes.slots))
        for each in kit.members:  # the oldest first
            key: str | None = each.component_key
            if view is not None:
                key = name_in(notes.slots, each.component_key)
            if each.phase in _UP and key is not None:
                running.setdefault(key, each)
        return cls(instance, kit, talk, running, notes, view)

    @property
    def mark(self) -> object:
        """By what one sees that nothing happened since."""
        members = [(each.member_id, each.phase) for each in self.kit.members]
        return self.instance.generation, members, self.notes, self.view

    @property
    def leaving(self) -> dict[str, InstanceMember]:
        """Those that are to go."""
        rows = self.running.items()
        return {key: each for key, each in rows if each.phase is MemberPhase.DRAINING}

    @property
    def ready(self) -> dict[str, MemberNote]:
        """Workers that were told what to be and are to stay."""
        return {
            key: note
            for key, note in self.notes.members.items()
            if key != CONTROLLER and self.running[key].phase is MemberPhase.READY
        }

    def is_replaced(self, member: InstanceMember) -> bool:
        """Whether another waits to take its place."""
        rest = (each for each in self.kit.members if each.member_id > member.member_id)
        return any(each.component_key == member.component_key for each in rest)

    def ask(self, key: str, **question: Any) -> dict[str, Any]:
        """Ask one that is there."""
        return self.talk.ask(self.running[key], question)

    def ask_controller(self, **question: Any) -> dict[str, Any]:
        """Ask the controller."""
        return self.ask(CONTROLLER, **question)

    def with_notes(self, **changed: Any) -> Scene:
        """Write down what was done; nothing is written if nothing was."""
        notes = replace(self.notes, **changed)
        self.kit.write_notes(notes.spell())
        return replace(self, notes=notes)

    def noted(self, key: str) -> MemberNote | None:
        """What was done to the member that is there under a name; nothing of one before it."""
        note, member = self.notes.members.get(key), self.running.get(key)
        return note if note and member and note.member_id == member.member_id else None

    def report(self, reason: str, *, phase: InstancePhase | None = None) -> None:
        """Say how it is, unless that was said."""
        is_seen_to = self.instance.observed_generation == self.instance.generation
        if not is_seen_to or self.instance.reason != reason[:256]:
            self.kit.report(phase=phase, reason=reason)
