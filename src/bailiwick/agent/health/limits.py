"""From which number on something is wrong with a machine; each can be set by its name.

>>> limits_given(["disk_warn_milli=800"]).disk_warn_milli
800
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Final

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer

NUMBER_MAX: Final = 2**40


@dataclass(frozen=True, slots=True)
class HealthLimits:
    """What is still fine: more than a limit is not."""

    ecc_uncorrected: int = 0
    """Memory errors that could not be corrected, since the driver was loaded."""
    retired_pages: int = 59
    """Pages of memory taken out of use for good."""
    thermal_margin_c: int = 2
    """Degrees below the one at which a GPU slows itself down, from which on it is told."""
    lasting_looks: int = 3
    """Looks in a row, before what may pass (heat, a link that is down) is more than a warning."""
    link_errors: int = 1_000
    """Errors of a GPU's links from one look to the next."""
    disk_warn_milli: int = 900
    """How much of a disk is used, in thousandths. However full, it only warns: jobs can fill it."""
    clock_warn_ms: int = 2_000
    clock_fail_ms: int = 30_000
    """How far the clock surely is from the server's."""
    xid_hold_ms: int = 3_600_000
    """How long an XID counts."""
    look_every_ms: int = 30_000
    """How often it is looked."""
    burn_in_s: int = 10
    """How long each GPU computes in a test; 0 is not at all."""
    burn_memory_mib: int = 8_192
    """How much of its memory is tried then, at most."""

    def __post_init__(self) -> None:
        for field in fields(self):
            check_integer(field.name, getattr(self, field.name), low=0, high=NUMBER_MAX)
        check_integer("burn_in_s", self.burn_in_s, low=0, high=120)


def limits_given(texts: Iterable[str]) -> HealthLimits:
    """Limits as they are typed, ``NAME=NUMBER``; the others are as they are."""
    names = [field.name for field in fields(HealthLimits)]
    given: dict[str, int] = {}
    for text in texts:
        name, _, number = text.partition("=")
        if name not in names or not number.isascii() or not number.isdigit():
            raise InvalidValue("--health-limit", text, f"NAME=NUMBER of {', '.join(names)}")
        given[name] = int(number[:20])
    return replace(HealthLimits(), **given)
