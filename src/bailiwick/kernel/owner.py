"""Whose a record is, and what all events share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from bailiwick.scheduler.request import PlacementRequest

Fields: TypeAlias = Mapping[str, Any]

MEMBERS_MAX = 256
"""Members of a gang, or leases of a node, in one record; more are told in several."""


class Owner(NamedTuple):
    """Whose a record is."""

    tenant: str | None = None
    project: str | None = None

    @classmethod
    def of(cls, request: PlacementRequest) -> Owner:
        """The owner of a request."""
        return cls(request.tenant, request.project)


FLEET = Owner()


@dataclass(frozen=True, slots=True)
class OfFleet:
    """An event of the whole fleet."""

    @property
    def owner(self) -> Owner:
        """Nobody's in particular."""
        return FLEET
