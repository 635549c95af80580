"""The fleet as a picture of letters: a row for each node, a letter for each GPU, by tenant.

``.`` is free, ``x`` is what nobody can be given now (the node is closed) or, where not all leases
may be seen, what you could not be given. Tenants beyond the letters share ``+``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from string import ascii_letters
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bailiwick.wire.fleet import Picture

FREE: Final = "."
TAKEN: Final = "x"
MORE: Final = "+"


def map_lines(picture: Picture) -> Iterator[str]:
    """A line for each node with GPUs, by name, and what the letters say."""
    letters = _letters(picture)
    cells = _cells(picture, letters)
    width = max((len(name) for name, row in cells if row), default=0)
    counts: Counter[str] = Counter()
    for name, row in cells:
        if row:
            counts.update(row)
            yield f"{name:<{width}}  {''.join(row)}"
    yield ""
    named = dict(zip(picture.tenants, letters, strict=True))
    for tenant, letter in named.items():
        if letter != MORE:
            yield f"{letter}  {tenant}: {counts[letter]:,}"
    for letter, said in ((MORE, "other tenants"), (FREE, "free"), (TAKEN, "closed or taken")):
        if counts[letter]:
            yield f"{letter}  {said}: {counts[letter]:,}"


def _letters(picture: Picture) -> list[str]:
    many = len(picture.tenants)
    return [*ascii_letters[:many], *(MORE * (many - len(ascii_letters)))]


def _cells(picture: Picture, letters: list[str]) -> list[tuple[str, list[str]]]:
    nodes, held = picture.nodes, picture.held
    rows = []
    for at, (name, kind) in enumerate(zip(nodes.node, nodes.kind, strict=True)):
        row = [FREE if nodes.takes_leases[at] else TAKEN] * len(picture.kinds[kind])
        if nodes.free_milli is not None:
            row = [FREE if milli else TAKEN for milli in nodes.free_milli[at]]
        rows.append((name, row))
    holders = zip(held.node, held.devices, held.tenant, strict=True)
    for node, devices, tenant in reversed([*holders]):  # of several on one, the first is shown
        row = rows[node][1]
        for device in range(len(row)):
            if devices >> device & 1:
                row[device] = letters[tenant]
    return rows
