"""From which version of an app one can go to which: never in a circle.

>>> find_cycle([("1.0.0", "1.1.0"), ("1.1.0", "1.2.0")])
()
>>> find_cycle([("1.0.0", "1.1.0"), ("1.1.0", "1.0.0")])
('1.0.0', '1.1.0', '1.0.0')
"""

from __future__ import annotations

from collections.abc import Iterable


def find_cycle(paths: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The versions of a way that comes back to where it began; nothing if there is none."""
    ways: dict[str, list[str]] = {}
    for start, end in paths:
        ways.setdefault(start, []).append(end)
    done = set[str]()
    for first, steps in ways.items():
        if first in done:
            continue
        trail, branches = [first], [iter(steps)]
        while trail:  # bounded: each version is entered once
            step = next(branches[-1], None)
            if step is None:
                branches.pop()
                done.add(trail.pop())
            elif step in trail:
                return (*trail[trail.index(step) :], step)
            elif step not in done:
                trail.append(step)
                branches.append(iter(ways.get(step, ())))
    return ()
