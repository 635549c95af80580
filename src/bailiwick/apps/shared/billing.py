"""Who pays for what of a shared runtime: a rule that is shown and accepted before there is one.

Rules:

- What steers the runtime, and the capacity that the tenant reserves in it, is charged to the
  runtime's owner record: one project of the tenant.
- A contributed worker is charged to the project that contributed it, and to nobody else: its lease
  is that project's own.
- The rule has one spelling and is known by its digest. Whoever has the runtime made names the
  digest that he accepts; of another rule there is none.
- Prices are not part of it: they follow the rate card in force when something is used.
- What use of another project's workers is worth between the two is part of it, if it is worth
  anything: one owes what the other is owed, so a tenant as a whole pays nothing for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from json import dumps, loads
from typing import Any, Final

from bailiwick.apps.manifest import Manifest, RoleShape
from bailiwick.vocab.apps import MemberPart

RULE: Final = "reserved-to-owner, contributed-to-source, 1"
"""What the rule is called; another rule has another name."""
_SETTLED: Final = "settled"


@dataclass(frozen=True, slots=True)
class ReservedLine:
    """So many members of a role, which the owner record pays for."""

    role: str
    part: MemberPart
    count: int
    shape: Mapping[str, Any]
    held: RoleShape
    """The same, as what a member holds."""


@dataclass(frozen=True)  # no slots: the text is kept beside it
class BillingRule:
    """Who would pay for what."""

    runtime: str
    environment: str
    tenant: str
    owner_project: str
    app: str
    version: str
    reserved: tuple[ReservedLine, ...]
    contributable: tuple[str, ...]
    """The roles of which projects may contribute workers, each at its own cost."""
    withdraw_within_ms: int
    rates: Mapping[str, int] = field(default_factory=dict)
    """Micros for one of a unit that is used on another project's workers; else it is worth none."""

    @cached_property
    def text(self) -> str:
        """The one spelling of it."""
        plain = {
            "rule": RULE,
            "runtime": self.runtime,
            "environment": self.environment,
            "tenant": self.tenant,
            "app": self.app,
            "version": self.version,
            "reserved": [
                {
                    "role": line.role,
                    "part": line.part.value,
                    "count": line.count,
                    "shape": line.shape,
                    "payer": self.owner_project,
                }
                for line in self.reserved
            ],
            "contributed": [
                {"role": role, "payer": "the project that contributes it"}
                for role in self.contributable
            ],
            "withdraw_within_ms": self.withdraw_within_ms,
        }
        return settled_rule(_spell(plain), self.rates)

    @property
    def digest(self) -> str:
        """What it is known by."""
        return digest_of_rule(self.text)


def _spell(plain: Mapping[str, Any]) -> str:
    return dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest_of_rule(text: str) -> str:
    """What a rule is known by."""
    return sha256(text.encode()).hexdigest()


def settled_rule(text: str, rates: Mapping[str, int]) -> str:
    """The rule, with what use of another project's workers is worth; without rates, nothing.

    >>> found = settled_rule('{"rule":"r"}', {"cpu_second": 5})
    >>> loads(found)["settled"]["micros"]
    {'cpu_second': 5}
    >>> settled_rule(found, {})
    '{"rule":"r"}'
    """
    plain = loads(text)
    plain.pop(_SETTLED, None)
    if rates:
        plain[_SETTLED] = {
            "debit": "the project that used",
            "credit": "the project whose workers they are",
            "micros": dict(rates),
        }
    return _spell(plain)


def reserved_lines(manifest: Manifest, counts: Mapping[str, int]) -> tuple[ReservedLine, ...]:
    """What the owner record pays for, role by role."""
    return tuple(
        ReservedLine(
            role,
            MemberPart.CONTROL_PLANE if spec.control_plane else MemberPart.WORKLOAD,
            counts.get(role, 0),
            spec.shape.plain(),
            spec.shape,
        )
        for role, spec in sorted(manifest.roles.items())
    )


def contributable_roles(manifest: Manifest) -> tuple[str, ...]:
    """The roles that projects may contribute workers of: what steers is the tenant's alone."""
    return tuple(role for role, spec in sorted(manifest.roles.items()) if not spec.control_plane)
