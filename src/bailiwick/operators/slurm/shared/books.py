"""The accounting's books: what Slurm has, what it shall have, and the changes between.

Rules:

- What is to go is closed first, so that nothing is taken meanwhile; then what is new is added; what
  was closed is removed last, which Slurm refuses while there are jobs: :mod:`.plans` end those.
- The same books give no change: what is done twice is done once.
- Nobody is a coordinator, and nobody an administrator but who is kept: a coordinator raises the
  limits of people, his own too.
- Slurm's own account ``root`` and its limits ``normal`` are left as they are.
- An association without a partition would be one for all of them; there are none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from bailiwick.operators.slurm.shared.limits import QueueLimits
from bailiwick.operators.slurm.shared.shape import SlurmShape, own_qos

ROOT: Final = "root"
NORMAL: Final = "normal"
FLAG: Final = "DenyOnLimit"
Words: TypeAlias = tuple[str, ...]
AssociationKey: TypeAlias = tuple[str, str, str]
"""User, account, partition."""
_WCKEY: Final = ("wckey=own", "defaultwckey=own")
"""Who comes back after he was removed has no key by himself, and without one no job is taken."""
CLEAR: Final = -1
"""What takes a limit away."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An account, or an association of a user with one."""

    qos: frozenset[str]
    is_closed: bool = False


@dataclass(frozen=True, slots=True)
class AccountingBooks:
    """All of the accounting that a shared runtime decides."""

    accounts: Mapping[str, Entry] = field(default_factory=dict)
    qos: Mapping[str, QueueLimits] = field(default_factory=dict)
    associations: Mapping[AssociationKey, Entry] = field(default_factory=dict)
    default_accounts: Mapping[str, str] = field(default_factory=dict)
    coordinators: frozenset[tuple[str, str]] = frozenset()
    """Account and user."""
    administrators: frozenset[str] = frozenset()


def books_of(shape: SlurmShape) -> AccountingBooks:
    """What the accounting shall have."""
    homes: dict[str, str] = {}
    for grant in shape.grants:
        if grant.policy is None:
            homes.setdefault(grant.user, grant.account)
    return AccountingBooks(
        {name: Entry(frozenset((own_qos(name),))) for name in shape.accounts},
        {each.name: each.limits for each in shape.qos},
        {each.key: Entry(frozenset((each.qos,))) for each in shape.grants},
        homes,
    )


def difference(found: AccountingBooks, wanted: AccountingBooks) -> tuple[Words, ...]:
    """The calls of ``sacctmgr`` that make the one of the other, in order."""
    wide = sorted({user for user, _, partition in found.associations if not partition})
    found = _without(found, frozenset(wide))
    return (
        # No word names the one without a partition alone, and Slurm removes nobody's default
        # account: such a user goes altogether, and what is wanted of him is added again.
        *(_call("remove", "user", "where", f"name={user}") for user in wide),
        *_close(found, wanted),
        *_open_limits(found, wanted),
        *_open_accounts(found, wanted),
        *_open_associations(found, wanted),
        *_remove(found, wanted),
    )


def _without(found: AccountingBooks, gone: frozenset[str]) -> AccountingBooks:
    """The books without these users."""
    return replace(
        found,
        associations={key: each for key, each in found.associations.items() if key[0] not in gone},
        default_accounts={u: home for u, home in found.default_accounts.items() if u not in gone},
        coordinators=frozenset(each for each in found.coordinators if each[1] not in gone),
        administrators=found.administrators - gone,
    )


def _close(found: AccountingBooks, wanted: AccountingBooks) -> Iterator[Words]:
    for account, user in sorted(found.coordinators):
        yield _call("remove", "coordinator", f"account={account}", f"names={user}")
    for user in sorted(found.administrators):
        yield _call("modify", "user", "where", f"name={user}", "set", "adminlevel=None")
    for name in sorted(found.accounts.keys() - wanted.accounts.keys()):
        if not found.accounts[name].is_closed:
            yield _call("modify", "account", "where", f"name={name}", "set", *_account_limits(0))
    for key in sorted(found.associations.keys() - wanted.associations.keys()):
        if not found.associations[key].is_closed:
            yield _call("modify", "user", "where", *_where(key), "set", *_user_limits(0))


def _open_limits(found: AccountingBooks, wanted: AccountingBooks) -> Iterator[Words]:
    for name, limits in sorted(wanted.qos.items()):
        before = found.qos.get(name)
        if before is None:
            yield _call("add", "qos", name, f"Flags={FLAG}", *_limit_words(limits, QueueLimits()))
        elif before != limits:
            words = _limit_words(limits, before)
            yield _call("modify", "qos", "where", f"name={name}", "set", *words)


def _open_accounts(found: AccountingBooks, wanted: AccountingBooks) -> Iterator[Words]:
    for name, entry in sorted(wanted.accounts.items()):
        before = found.accounts.get(name)
        qos = _qos_words(entry)
        if before is None:
            yield _call("add", "account", name, *qos)
        elif before != entry:
            opened = _account_limits(CLEAR) if before.is_closed else ()
            yield _call("modify", "account", "where", f"name={name}", "set", *qos, *opened)


def _open_associations(found: AccountingBooks, wanted: AccountingBooks) -> Iterator[Words]:
    known = {user for user, _, _ in found.associations}
    for key, entry in sorted(wanted.associations.items()):
        before = found.associations.get(key)
        qos = _qos_words(entry)
        user, account, partition = key
        if before is None:
            place = (f"account={account}", f"partition={partition}")
            key_words = () if user in known else _WCKEY
            known.add(user)
            yield _call("add", "user", user, *place, *qos, *key_words)
        elif before != entry:
            opened = _user_limits(CLEAR) if before.is_closed else ()
            yield _call("modify", "user", "where", *_where(key), "set", *qos, *opened)
    # One who is new has the first account that he was given.
    given: dict[str, str] = dict(found.default_accounts)
    for user, account, _ in sorted(wanted.associations.keys() - found.associations.keys()):
        given.setdefault(user, account)
    for user, account in sorted(wanted.default_accounts.items()):
        if given.get(user) != account:
            words = (f"name={user}", "set", f"DefaultAccount={account}")
            yield _call("modify", "user", "where", *words)


def _remove(found: AccountingBooks, wanted: AccountingBooks) -> Iterator[Words]:
    staying = {user for user, _, _ in wanted.associations}
    # Who goes altogether goes in one call: his default account is not removed by itself.
    for user in sorted({user for user, _, _ in found.associations} - staying):
        yield _call("remove", "user", "where", f"name={user}")
    for key in sorted(found.associations.keys() - wanted.associations.keys()):
        if key[0] in staying:
            yield _call("remove", "user", "where", *_where(key))
    for name in sorted(found.accounts.keys() - wanted.accounts.keys()):
        yield _call("remove", "account", "where", f"name={name}")
    for name in sorted(found.qos.keys() - wanted.qos.keys()):
        yield _call("remove", "qos", "where", f"name={name}")


def _call(*words: str) -> Words:
    return ("sacctmgr", "-iQ", *words)


def _where(key: AssociationKey) -> Words:
    user, account, partition = key
    return (f"name={user}", f"account={account}", f"partition={partition}")


def _qos_words(entry: Entry) -> Words:
    names = ",".join(sorted(entry.qos))
    return (f"qos={names}", f"defaultqos={names}")


def _account_limits(number: int) -> Words:
    return (f"GrpSubmitJobs={number}", f"GrpJobs={number}")


def _user_limits(number: int) -> Words:
    return (f"MaxSubmitJobs={number}", f"MaxJobs={number}")


def _limit_words(wanted: QueueLimits, before: QueueLimits) -> Iterable[str]:
    """What is to be said to have these limits where those were."""
    tres = dict.fromkeys(before.tres, CLEAR) | dict(wanted.tres)
    said = {name: n for name, n in tres.items() if before.tres.get(name) != n}
    if said:
        yield "GrpTRES=" + ",".join(f"{name}={n}" for name, n in sorted(said.items()))
    for word, old, new in (
        ("GrpJobs", before.jobs, wanted.jobs),
        ("GrpSubmitJobs", before.submitted, wanted.submitted),
        ("MaxWall", before.minutes, wanted.minutes),
    ):
        if old != new:
            yield f"{word}={CLEAR if new is None else new}"
