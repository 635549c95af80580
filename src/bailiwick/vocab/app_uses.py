"""What the time of a member's lease is used for: by these labels the platform says it.

Rules:

- A lease of a member has all six labels, and they are given by the platform alone: a request that
  brings one is refused. What lacks one, or says a word that there is none of, is no member's.
- What they say of an instance does not change while it is there, so neither does the label.

>>> told = ["bailiwick.app=lab.hello", "bailiwick.backend=bare_metal", "bailiwick.instance=7"]
>>> told += ["bailiwick.mode=tenant_dedicated", "bailiwick.part=workload"]
>>> member_use_in(told)
>>> found = member_use_in([*told, "bailiwick.scope=project", "team=red"])
>>> found.instance_id, found.app, found.part.value
(7, 'lab.hello', 'workload')
>>> found.labels()["bailiwick.instance"]
'7'
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from bailiwick.vocab.apps import ControlPlaneScope, MemberPart, OperatingMode

INSTANCE_LABEL: Final = "bailiwick.instance"
"""Of work that is a member's: the number of its instance."""
PART_LABEL: Final = "bailiwick.part"
_LABELS: Final = (
    INSTANCE_LABEL,
    "bailiwick.app",
    "bailiwick.mode",
    "bailiwick.scope",
    "bailiwick.backend",
    PART_LABEL,
)
"""One for each field of what is told, in its order."""


class MemberUse(NamedTuple):
    """Which instance of which app a lease is for, how that is run, and what for."""

    instance_id: int
    app: str
    mode: OperatingMode
    scope: ControlPlaneScope
    backend: str
    part: MemberPart

    @classmethod
    def of(cls, words: Sequence[str]) -> MemberUse:
        """The same from words."""
        number, app, mode, scope, backend, part = words
        if not (number.isascii() and number.isdecimal()):
            raise ValueError("instance_id")
        return cls(
            int(number),
            app,
            OperatingMode(mode),
            ControlPlaneScope(scope),
            backend,
            MemberPart(part),
        )

    def words(self) -> list[str]:
        """Each field as a word, in order."""
        return [str(each) for each in self]

    def labels(self) -> dict[str, str]:
        """As a lease is labelled."""
        return dict(zip(_LABELS, self.words(), strict=True))

    def plain(self) -> dict[str, str | int]:
        """As an invoice tells it."""
        return {
            "instance_id": self.instance_id,
            "app": self.app,
            "operating_mode": self.mode.value,
            "control_plane_scope": self.scope.value,
            "runtime_backend": self.backend,
            "part": self.part.value,
        }


def member_use_in(labels: Iterable[str]) -> MemberUse | None:
    """What the labels of a lease (``key=value``) say; ``None`` if it is no member's."""
    told = dict(label.split("=", 1) for label in labels)
    if PART_LABEL not in told:
        return None
    words = [told.get(label) for label in _LABELS]
    try:
        return MemberUse.of([word for word in words if word is not None])
    except ValueError:
        return None
