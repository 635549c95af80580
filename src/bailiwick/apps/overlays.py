"""Who may use an app how: lines from the fleet down to a project, each only narrowing.

Rules:

- The policy in force is the fold of the lines of the fleet, the tenant and the project. A value
  must pass all of them: an allow-list counts together with those above it, a denial of any of them
  is final, of numbers the smallest counts.
- An app may be used if a tenant's or a project's line enables it and no line disables it: a line
  of the fleet alone enables nothing, and what it disables nobody enables.
- A line that would allow what one above does not is refused when it is set, with that line. When
  one above gets narrower later, nothing has to be refused: the fold narrows by itself.
- Every line of the policy in force says from where it comes.

>>> regions = PolicyAxis.REGIONS
>>> fleet = PolicyLine("fleet", True, Overlay({regions: ("east", "west")}), is_fleet=True)
>>> policy = fold([fleet, PolicyLine("lab/vision", True, Overlay({regions: ("east",)}))])
>>> policy.why_not(regions, "west"), policy.why_not(regions, "east")
('lab/vision', None)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from bailiwick.apps.manifest import MEMBERS_MAX, check_word
from bailiwick.apps.semver import check_version
from bailiwick.vocab.apps import Channel, OperatingMode, PolicyAxis, PolicyLimit
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer, check_name

VALUES_MAX: Final = 64
"""Words in one list of an overlay."""
LIMITS_MAX: Final[Mapping[PolicyLimit, int]] = {
    PolicyLimit.INSTANCES_MAX: 10_000,
    PolicyLimit.MEMBERS_MAX: MEMBERS_MAX,
}
NOBODY: Final = "default"
"""The source of what no line says."""


def _closed(kind: type[StrEnum]) -> Callable[[str, object], str]:
    def check(name: str, value: object) -> str:
        if value not in list(kind):
            raise InvalidValue(name, value, "one of " + ", ".join(kind))
        return str(value)

    return check


_CHECKS: Final[Mapping[PolicyAxis, Callable[[str, object], str]]] = {
    PolicyAxis.VERSIONS: check_version,
    PolicyAxis.REGIONS: check_name,
    PolicyAxis.SKUS: check_name,
    PolicyAxis.SOURCES: check_word,
    PolicyAxis.CHANNELS: _closed(Channel),
    PolicyAxis.OPERATING_MODES: _closed(OperatingMode),
}


@dataclass(frozen=True, slots=True)
class Overlay:
    """What one line narrows; an empty list allows nothing at all."""

    allow: Mapping[PolicyAxis, tuple[str, ...]] = field(default_factory=dict)
    deny: Mapping[PolicyAxis, tuple[str, ...]] = field(default_factory=dict)
    limits: Mapping[PolicyLimit, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for word, lists in (("allow", self.allow), ("deny", self.deny)):
            kept = {axis: _check_list(axis, lists[axis]) for axis in PolicyAxis if axis in lists}
            object.__setattr__(self, word, kept)
        limits = {limit: self.limits[limit] for limit in PolicyLimit if limit in self.limits}
        for limit, count in limits.items():
            check_integer(limit.value, count, low=0, high=LIMITS_MAX[limit])
        object.__setattr__(self, "limits", limits)


def _check_list(axis: PolicyAxis, values: Sequence[str]) -> tuple[str, ...]:
    if isinstance(values, str) or len(values) > VALUES_MAX:
        raise InvalidValue(axis.value, values, f"a list of at most {VALUES_MAX}")
    return tuple(sorted({_CHECKS[axis](axis.value, each) for each in values}))


@dataclass(frozen=True, slots=True)
class PolicyLine:
    """One line: where it stands, whether it enables, and what it narrows."""

    source: str
    enabled: bool
    overlay: Overlay = Overlay()
    is_fleet: bool = False


class RuleKind(StrEnum):
    """What a line of the policy in force says."""

    ENABLED = "enabled"
    ALLOW = "allow"
    DENY = "deny"
    LIMIT = "limit"


@dataclass(frozen=True, slots=True)
class EffectiveLine:
    """One line of the policy in force, and from where it comes."""

    rule: RuleKind
    what: str
    values: tuple[str, ...] | None
    """``None``: whatever there is."""
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EffectivePolicy:
    """What the lines say together."""

    lines: tuple[PolicyLine, ...]

    @property
    def is_enabled(self) -> bool:
        """Whether the app may be used at all."""
        return all(each.enabled for each in self.lines) and any(
            not each.is_fleet for each in self.lines
        )

    def allowed(self, axis: PolicyAxis) -> frozenset[str] | None:
        """What all allow-lists have in common, less what is denied; ``None`` if there is none."""
        lists = [each.overlay.allow[axis] for each in self.lines if axis in each.overlay.allow]
        if not lists:
            return None
        return frozenset(lists[0]).intersection(*lists) - self.denied(axis)

    def denied(self, axis: PolicyAxis) -> frozenset[str]:
        """What any line denies."""
        return frozenset(value for each in self.lines for value in each.overlay.deny.get(axis, ()))

    def why_not(self, axis: PolicyAxis, value: str) -> str | None:
        """The widest line that does not let this pass; ``None`` if all do."""
        for each in self.lines:
            allow = each.overlay.allow.get(axis)
            if value in each.overlay.deny.get(axis, ()) or (
                allow is not None and value not in allow
            ):
                return each.source
        return None

    def limit(self, limit: PolicyLimit) -> tuple[int, str] | None:
        """The smallest number that a line says, and the widest that says it."""
        told = [
            (each.overlay.limits[limit], at, each.source)
            for at, each in enumerate(self.lines)
            if limit in each.overlay.limits
        ]
        if not told:
            return None
        least, _, source = min(told)
        return least, source

    def explain(self) -> tuple[EffectiveLine, ...]:
        """Every line of it, each with its source."""
        return (self._enabled(), *self._lists(), *self._limits())

    def _enabled(self) -> EffectiveLine:
        against = tuple(each.source for each in self.lines if not each.enabled)
        in_favour = tuple(e.source for e in self.lines if e.enabled and not e.is_fleet)
        values = ("yes" if self.is_enabled else "no",)
        sources = against or in_favour or (NOBODY,)
        return EffectiveLine(RuleKind.ENABLED, RuleKind.ENABLED.value, values, sources)

    def _lists(self) -> list[EffectiveLine]:
        found = []
        for axis in PolicyAxis:
            allowed = self.allowed(axis)
            sources = tuple(e.source for e in self.lines if axis in e.overlay.allow)
            values = None if allowed is None else tuple(sorted(allowed))
            found.append(EffectiveLine(RuleKind.ALLOW, axis.value, values, sources or (NOBODY,)))
            for value in sorted(self.denied(axis)):
                by = tuple(e.source for e in self.lines if value in e.overlay.deny.get(axis, ()))
                found.append(EffectiveLine(RuleKind.DENY, axis.value, (value,), by))
        return found

    def _limits(self) -> list[EffectiveLine]:
        found = []
        for limit in PolicyLimit:
            told = self.limit(limit)
            values, source = (None, NOBODY) if told is None else ((str(told[0]),), told[1])
            found.append(EffectiveLine(RuleKind.LIMIT, limit.value, values, (source,)))
        return found


def fold(lines: Sequence[PolicyLine]) -> EffectivePolicy:
    """The policy that these lines are together, the widest first."""
    return EffectivePolicy(tuple(lines))


@dataclass(frozen=True, slots=True)
class Broadening:
    """What a new line would allow, and which line above it does not."""

    what: str
    value: str
    source: str


def find_broadening(
    above: Sequence[PolicyLine], overlay: Overlay, *, enabled: bool
) -> Broadening | None:
    """The first thing by which a line would allow more than those above it."""
    for each in above:
        if enabled and not each.enabled:
            return Broadening(RuleKind.ENABLED.value, "yes", each.source)
    policy = fold(above)
    for axis, values in overlay.allow.items():
        for value in values:
            source = policy.why_not(axis, value)
            if source is not None:
                return Broadening(axis.value, value, source)
    for limit, count in overlay.limits.items():
        told = policy.limit(limit)
        if told is not None and count > told[0]:
            return Broadening(limit.value, str(count), told[1])
    return None
