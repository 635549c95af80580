"""People as Unix knows them where projects share a Slurm: a user for each platform identity.

Rules:

- A user and his number follow from the identity alone: they are the same on every worker, now and
  after any restart, and no list of them is kept.
- The name is for people to read; what tells two apart is the end of it. Two identities with one
  name or one number are left out by :mod:`.shape`, which says so.
- The platform's own probe is a user like others, with an account that no project can have.

>>> unix_of("ann@lab.example")
UnixUser(name='ann-fa18a8', uid=2052526884)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Final, NamedTuple

from bailiwick.operators.slurm.shared.mapping import Person
from bailiwick.wire.shared import SharedPerson

UID_FIRST: Final = 2_000_000_000
UIDS: Final = 100_000_000
"""Above all that systems, containers and the executor give out."""
_READABLE_MAX: Final = 20
_ODD: Final = re.compile(r"[^a-z0-9]+")


class UnixUser(NamedTuple):
    """A user by his name and number; his group has the same."""

    name: str
    uid: int


def unix_of(identity: str) -> UnixUser:
    """The user of a platform identity."""
    digest = sha256(identity.encode()).hexdigest()
    word = _ODD.sub("-", identity.partition("@")[0].lower()).strip("-")[:_READABLE_MAX]
    readable = word if word[:1].isalpha() else f"u{word}"
    return UnixUser(f"{readable}-{digest[:6]}", UID_FIRST + int(digest[6:18], 16) % UIDS)


PROBE_IDENTITY: Final = "bailiwick/probe"
PROBE: Final = unix_of(PROBE_IDENTITY)
"""Who proves that a worker takes jobs."""


def people_of(told: Iterable[SharedPerson]) -> tuple[Person, ...]:
    """Who may submit, as Slurm has to know them."""
    return tuple(
        Person(each.principal, unix_of(each.principal).name, frozenset(each.projects))
        for each in told
    )


def users_of(people: Iterable[Person]) -> tuple[UnixUser, ...]:
    """The users that every member has to know; of two with one number, none."""
    found = {PROBE, *(unix_of(each.identity) for each in people)}
    numbers = [each.uid for each in found]
    return tuple(sorted(each for each in found if numbers.count(each.uid) == 1))
