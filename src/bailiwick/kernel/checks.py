"""What commands of several slices check alike when they are built."""

from __future__ import annotations

from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.vocab.values import check_integer, check_name


def check_id(name: str, value: object) -> None:
    """The number of a lease or an entry."""
    check_integer(name, value, low=1, high=INTEGER_MAX)


def check_grace(grace_ms: int | None) -> None:
    """How long work may go on; ``None`` leaves it to the settings."""
    if grace_ms is not None:
        check_integer("grace_ms", grace_ms, low=0, high=2**52)


def check_scope(tenant: object, project: object) -> None:
    """A tenant, or a project of it."""
    check_name("tenant", tenant)
    if project is not None:
        check_name("project", project)
