r"""What a runbook offers to whoever is woken at night.

Rules:

- A section begins at a heading and goes to the next; one that says nothing does not count.
- A step is a numbered or dotted line under *Steps*. A command is what stands between back ticks
  there and begins with ``bailiwick``.

>>> text = "# Symptom\nRed.\n# Correlation id\nIn the error.\n# Steps\n1. `bailiwick trace ID`\n"
>>> read_triage(text)
Triage(sections=3, steps=1, commands=('bailiwick trace ID',))
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from bailiwick.apps.manifest import HEADINGS

COMMANDS_MAX: Final = 64
_HEADING: Final = re.compile(r"#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*")
_STEP: Final = re.compile(r"[ \t]*(?:[0-9]{1,3}[.)]|[-*])[ \t]+\S")
_QUOTED: Final = re.compile(r"`[ \t]*\$?[ \t]*(bailiwick [^`\n]{1,200}?)[ \t]*`")


class Triage(NamedTuple):
    """What a runbook has."""

    sections: int
    """Of those that it must have, how many say something."""
    steps: int
    commands: tuple[str, ...]
    """What is to be typed, in the order of the steps."""


def read_triage(runbook: str) -> Triage:
    """What stands in a runbook."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in runbook.splitlines():
        heading = _HEADING.fullmatch(line)
        if heading is not None:
            lines = sections.setdefault(heading[1].lower(), [])
        elif line.strip():
            lines.append(line)
    steps = [line for line in sections.get("steps", ()) if _STEP.match(line)]
    commands = [each for line in sections.get("steps", ()) for each in _QUOTED.findall(line)]
    told = sum(bool(sections.get(name)) for name in HEADINGS)
    return Triage(told, len(steps), tuple(commands[:COMMANDS_MAX]))
