"""Where something may be done: the whole fleet, one tenant, or one project of a tenant.

>>> Scope("lab").covers(Scope("lab", "vision"))
True
>>> Scope("lab", "vision").covers(Scope("lab"))
False
"""

from __future__ import annotations

from typing import NamedTuple

from bailiwick.iam.words import ScopeLevel
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_name


class Scope(NamedTuple):
    """The fleet (no tenant), a tenant, or a project. A tuple, because every request makes some."""

    tenant: str | None = None
    project: str | None = None

    @classmethod
    def of(cls, tenant: str | None, project: str | None = None) -> Scope:
        """The scope of these names, if they are well-formed."""
        if tenant is None:
            if project is not None:
                raise InvalidValue("project", project, "none without a tenant")
            return FLEET
        check_name("tenant", tenant)
        if project is not None:
            check_name("project", project)
        return cls(str(tenant), None if project is None else str(project))

    @classmethod
    def parse(cls, text: str) -> Scope:
        """The tenant or project that a text names, as ``str`` spells it; never the fleet."""
        tenant, _, project = text.partition("/")
        return cls.of(tenant, project or None)

    @property
    def level(self) -> ScopeLevel:
        """How wide it is."""
        if self.tenant is None:
            return ScopeLevel.FLEET
        return ScopeLevel.TENANT if self.project is None else ScopeLevel.PROJECT

    def covers(self, other: Scope) -> bool:
        """Whether everything in the other scope is in this one."""
        if self.tenant is None:
            return True
        if self.tenant != other.tenant:
            return False
        return self.project is None or self.project == other.project

    @property
    def around(self) -> tuple[Scope, ...]:
        """This scope and every wider one, narrow first."""
        if self.tenant is None:
            return (self,)
        if self.project is None:
            return (self, FLEET)
        return (self, Scope(self.tenant), FLEET)

    def __str__(self) -> str:
        return "fleet" if self.tenant is None else "/".join(filter(None, self))


FLEET = Scope()
