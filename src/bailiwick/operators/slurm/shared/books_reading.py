"""Reading the accounting's books from what ``sacctmgr`` prints.

Rules:

- The calls are here with their fields, so that a line is read by what was asked for. What is not
  understood is an error, and no books: a wrong reading would remove what somebody needs.
- Slurm's own account and limits are not read: they are nobody's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from bailiwick.operators.slurm.shared.books import (
    NORMAL,
    ROOT,
    AccountingBooks,
    AssociationKey,
    Entry,
)
from bailiwick.operators.slurm.shared.limits import QueueLimits
from bailiwick.vocab.errors import InvalidValue

_SHOW: Final = ("sacctmgr", "-nP", "show")
ASSOCIATIONS: Final = (
    *_SHOW,
    "association",
    "format=account,user,partition,qos,grpsubmitjobs,grpjobs,maxsubmitjobs,maxjobs",
)
LIMITS: Final = (*_SHOW, "qos", "format=name,grptres,grpjobs,grpsubmitjobs,maxwall")
USERS: Final = (*_SHOW, "user", "format=user,defaultaccount,adminlevel")
COORDINATORS: Final = (*_SHOW, "account", "withcoordinator", "format=account,coordinators")
_WALL: Final = re.compile(r"(?:(\d+)-)?(\d+):(\d\d):(\d\d)\Z")
_MEMORY_MIB: Final = {"": 1, "M": 1, "G": 1_024, "T": 1_024**2, "P": 1_024**3}


class BooksPrinted(NamedTuple):
    """What the four calls printed."""

    associations: str
    limits: str
    users: str
    coordinators: str


def load_books(run: Callable[[tuple[str, ...]], str]) -> AccountingBooks:
    """The books, through somebody who calls a program and hands over what it printed."""
    return read_books(BooksPrinted(run(ASSOCIATIONS), run(LIMITS), run(USERS), run(COORDINATORS)))


def read_books(printed: BooksPrinted) -> AccountingBooks:
    """The books."""
    accounts: dict[str, Entry] = {}
    associations: dict[AssociationKey, Entry] = {}
    for row in _rows(printed.associations, 8):
        account, user, partition, qos, *limits = row
        if account == ROOT:
            continue
        closed = limits[2:] if user else limits[:2]
        entry = Entry(frozenset(qos.split(",")) - {""}, "0" in closed)
        if user:
            associations[user, account, partition] = entry
        else:
            accounts[account] = entry
    people = [row for row in _rows(printed.users, 3) if row[0] != ROOT]
    return AccountingBooks(
        accounts,
        {row[0]: _limits(row) for row in _rows(printed.limits, 5) if row[0] != NORMAL},
        associations,
        {user: account for user, account, _ in people if account},
        frozenset(
            (account, user)
            for account, users in _rows(printed.coordinators, 2)
            for user in users.split(",")
            if user
        ),
        frozenset(user for user, _, level in people if level not in ("", "None")),
    )


def _rows(text: str, count: int) -> Iterator[list[str]]:
    for line in text.splitlines():
        words = line.split("|")
        if len(words) != count:
            raise InvalidValue("sacctmgr", line, f"{count} fields")
        yield words


def _limits(row: list[str]) -> QueueLimits:
    _, tres, jobs, submitted, wall = row
    found = dict(_one_tres(each) for each in tres.split(",") if each)
    return QueueLimits(found, _number(jobs), _number(submitted), _minutes(wall))


def _one_tres(text: str) -> tuple[str, int]:
    name, _, value = text.partition("=")
    digits = value.rstrip("MGTP")
    unit = _MEMORY_MIB.get(value[len(digits) :])
    if not digits.isdigit() or unit is None or (unit > 1 and name != "mem"):
        raise InvalidValue("tres", text, "NAME=NUMBER")
    return name, int(digits) * unit


def _number(text: str) -> int | None:
    if text and not text.isdigit():
        raise InvalidValue("limit", text, "a number")
    return int(text) if text else None


def _minutes(text: str) -> int | None:
    if not text:
        return None
    found = _WALL.match(text)
    if found is None:
        raise InvalidValue("maxwall", text, "[DAYS-]HOURS:MINUTES:SECONDS")
    days, hours, minutes, _ = (int(each or 0) for each in found.groups())
    return days * 1_440 + hours * 60 + minutes
