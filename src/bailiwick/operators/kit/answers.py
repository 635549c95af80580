"""What an operator's function answers when it has looked at an instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Settled:
    """All is as it should be; look again when something happens."""


@dataclass(frozen=True, slots=True)
class Again:
    """Not yet; look again after so many seconds, or when something happens."""

    after_s: float = 5.0


Answer: TypeAlias = Settled | Again
