"""Lists of hosts and of numbers as Slurm writes them: ``h[1-2,05],a1`` and ``0-2,5``.

Rules:

- Leading zeros are part of a name: ``n[08-10]`` is n08, n09, n10.
- A list never grows beyond ``HOSTS_MAX``, whatever it says.

>>> expand_hosts("h[1-2],a1")
('h1', 'h2', 'a1')
>>> expand_hosts("r[1-2]n[08-09]")
('r1n08', 'r1n09', 'r2n08', 'r2n09')
>>> expand_numbers("0-2,5")
(0, 1, 2, 5)
"""

from __future__ import annotations

import re
from itertools import product
from typing import Final

from bailiwick.vocab.errors import InvalidValue

HOSTS_MAX: Final = 100_000
NUMBERS_MAX: Final = 4_096

# Commas between hosts, not those within brackets.
_HOST = re.compile(r"(?:[^,\[\]]|\[[0-9,-]+\])+")
_LIST = re.compile(rf"{_HOST.pattern}(?:,{_HOST.pattern})*")
_PIECE = re.compile(r"\[([0-9,-]+)\]|([^\[\]]+)")
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


def expand_hosts(text: str) -> tuple[str, ...]:
    """Every host of a list, in its order."""
    if not _LIST.fullmatch(text):
        raise InvalidValue("hosts", text, "a list of hosts, such as h[1-2],a1")
    hosts: list[str] = []
    for entry in _HOST.findall(text):
        pieces = [
            _spelled(numbers) if numbers else [plain] for numbers, plain in _PIECE.findall(entry)
        ]
        count = len(hosts)
        for piece in pieces:
            count = max(1, count) * len(piece)
        if count > HOSTS_MAX:
            raise InvalidValue("hosts", text, f"at most {HOSTS_MAX} hosts")
        hosts += ["".join(parts) for parts in product(*pieces)]
    return tuple(hosts)


def _spelled(text: str) -> list[str]:
    found: list[str] = []
    for part in text.split(","):
        ends = _RANGE.fullmatch(part)
        if ends is None:
            raise InvalidValue("hosts", text, "numbers and ranges")
        low, high = ends[1], ends[2] or ends[1]
        if int(high) - int(low) >= HOSTS_MAX or len(found) > HOSTS_MAX:
            raise InvalidValue("hosts", text, f"at most {HOSTS_MAX} hosts")
        found += [f"{number:0{len(low)}}" for number in range(int(low), int(high) + 1)]
    return found


def expand_numbers(text: str) -> tuple[int, ...]:
    """Every number of a list."""
    found = tuple(int(each) for each in _spelled(text))
    if len(found) > NUMBERS_MAX:
        raise InvalidValue("numbers", text, f"at most {NUMBERS_MAX} numbers")
    return found
