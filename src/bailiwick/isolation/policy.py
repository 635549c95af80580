"""The operator's policy as data: who, what they may not share, and when.

Rules:

- A rule is one of a closed set, each with a name that findings and refusals quote. Where it stood
  in the text (``line``) is no part of what it says.
- A subject is what a rule sees of work: tenant, project and the labels of the job. Labels are said
  by who submits: a rule by label takes work without the label for somebody of its own.
- Rules only forbid. What no rule forbids is allowed; an exception takes back, for one pair and
  these kinds, what rules about sharing forbid, until a day and on somebody's account.
- A rule with a window holds in that time of the day (UTC) alone; work that would still run when the
  window opens is judged by it (:mod:`.judge` says what every rule means).

>>> acme = Subject("acme", "vision", {"clearance": "red"})
>>> OfTenant("acme").matches(acme), WithLabel("clearance", "blue").matches(acme)
(True, False)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from bailiwick.fleet.topology import DomainKind

RULES_MAX = 500
"""Rules of one policy."""

MEMBERS_MAX = 64
"""Members of one group, or of one rule about several."""

DAY_MINUTES = 1440


@dataclass(frozen=True, slots=True)
class Subject:
    """What a rule sees of work: whose it is, and how the job is labelled."""

    tenant: str
    project: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


# -- who -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OfTenant:
    """All work of one tenant."""

    tenant: str

    def matches(self, subject: Subject) -> bool:
        """Whether the work is one of these."""
        return subject.tenant == self.tenant


@dataclass(frozen=True, slots=True)
class OfProject:
    """All work of one project."""

    tenant: str
    project: str

    def matches(self, subject: Subject) -> bool:
        """Whether the work is one of these."""
        return subject.tenant == self.tenant and subject.project == self.project


@dataclass(frozen=True, slots=True)
class WithLabel:
    """All jobs with one label."""

    key: str
    value: str

    def matches(self, subject: Subject) -> bool:
        """Whether the work is one of these."""
        return subject.labels.get(self.key) == self.value


@dataclass(frozen=True, slots=True)
class WhoGroup:
    """Several under one name."""

    name: str
    members: tuple[OfTenant | OfProject | WithLabel, ...]

    def matches(self, subject: Subject) -> bool:
        """Whether the work is one of these."""
        return any(member.matches(subject) for member in self.members)


@dataclass(frozen=True, slots=True)
class Anyone:
    """All work."""

    def matches(self, subject: Subject) -> bool:
        """Whether the work is one of these."""
        del subject
        return True


Who: TypeAlias = OfTenant | OfProject | WithLabel | WhoGroup | Anyone


@dataclass(frozen=True, slots=True)
class Others:
    """Everybody but the first who a rule names."""


# -- when ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Window:
    """From one minute of the day to another, UTC, on some days of the week (0 is Monday).

    A window whose end is not after its beginning goes on to the next day, and counts for the day on
    which it began.
    """

    from_minute: int
    to_minute: int
    days: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 6)


# -- what ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NeverShare:
    """No domain of these kinds holds work of both."""

    name: str
    kinds: tuple[DomainKind, ...]
    first: Who
    second: Who | Others
    window: Window | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Members:
    """Those named, each apart from the others; who belongs to two of them is apart from neither."""

    members: tuple[Who, ...]


@dataclass(frozen=True, slots=True)
class EachTenant:
    """Every tenant, apart from every other."""


@dataclass(frozen=True, slots=True)
class EachProject:
    """Every project, apart from every other; work outside any project is one more of its tenant."""


@dataclass(frozen=True, slots=True)
class EachValue:
    """Jobs by the value of a label; unlabelled work of a tenant is one more, apart from all."""

    key: str


Parties: TypeAlias = Members | EachTenant | EachProject | EachValue


@dataclass(frozen=True, slots=True)
class Distrust:
    """No domain of these kinds holds work of two parties."""

    name: str
    kinds: tuple[DomainKind, ...]
    among: Parties
    window: Window | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Dedicated:
    """A domain of the kind that holds any of their work holds nobody else's (sole tenancy)."""

    name: str
    kind: DomainKind
    whose: Who
    window: Window | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class OnlyOn:
    """Their work runs only on nodes with all of these labels."""

    name: str
    whose: Who
    labels: tuple[tuple[str, str], ...]
    window: Window | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Spread:
    """No domain of the kind holds more than so many leases of theirs (members of a gang, each)."""

    name: str
    most: int
    whose: Who
    kind: DomainKind
    window: Window | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Linger:
    """After the last of them has left a domain it is theirs alone, for so long or until scrubbed.

    Without a time only scrubbing frees it; with one, whichever is first.
    """

    name: str
    kinds: tuple[DomainKind, ...]
    whose: Who
    for_ms: int | None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class PolicyException:
    """For this pair and these kinds no rule about sharing holds, until then, on that account."""

    name: str
    kinds: tuple[DomainKind, ...]
    first: Who
    second: Who
    owner: str
    until_ms: int
    because: str = ""
    line: int = field(default=0, compare=False)


Rule: TypeAlias = NeverShare | Distrust | Dedicated | OnlyOn | Spread | Linger
SharingRule: TypeAlias = NeverShare | Distrust | Dedicated


@dataclass(frozen=True, slots=True)
class Policy:
    """All rules, and the exceptions from them."""

    rules: tuple[Rule, ...] = ()
    exceptions: tuple[PolicyException, ...] = ()
    groups: tuple[WhoGroup, ...] = ()
