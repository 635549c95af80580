"""What a node is to the lines about an app: its region and its SKUs, and whether they let it pass.

>>> rule = PlaceRule(AxisRule(frozenset({"eu"})), AxisRule(None, frozenset({"small"})))
>>> rule.broken_by(NodeFacts(frozenset({"eu"}), frozenset({"big"})))
>>> rule.broken_by(NodeFacts(frozenset(), frozenset({"big"})))
'app-regions'
>>> rule.broken_by(NodeFacts(frozenset({"eu"}), frozenset({"big", "small"})))
'app-skus'
"""

from __future__ import annotations

from typing import Final, NamedTuple

from bailiwick.apps.overlays import EffectivePolicy
from bailiwick.vocab.apps import PolicyAxis
from bailiwick.vocab.words import DomainKind

SCHEDULER_LABEL: Final = "bailiwick.scheduler"
"""Of work that is for a scheduler: the word that its instance answers to."""
RESERVED_PREFIX: Final = "bailiwick."
"""How labels of work begin that only the platform gives."""

REGION_LABEL: Final = DomainKind.REGION.value
SKU_LABEL: Final = "sku"

BY_REGION: Final = "app-regions"
BY_SKU: Final = "app-skus"
BY_ROOT: Final = "shared-root"
"""What the rules are called where somebody is told why a node is closed."""


class NodeFacts(NamedTuple):
    """What a node says of itself."""

    regions: frozenset[str]
    skus: frozenset[str]
    gives_root: bool = False
    """Whether its jobs may do there whatever its executor may."""


class AxisRule(NamedTuple):
    """What the lines say of one axis."""

    allowed: frozenset[str] | None = None
    """``None``: whatever there is."""
    denied: frozenset[str] = frozenset()

    @property
    def narrows(self) -> bool:
        """Whether there is anything that does not pass."""
        return self.allowed is not None or bool(self.denied)

    def lets_pass(self, values: frozenset[str]) -> bool:
        """Whether a node with these values passes."""
        if not self.denied.isdisjoint(values):
            return False
        return self.allowed is None or not self.allowed.isdisjoint(values)


class PlaceRule(NamedTuple):
    """What the lines say of places."""

    regions: AxisRule = AxisRule()
    skus: AxisRule = AxisRule()
    is_shared: bool = False
    """Whether several projects share what would run there: then no node that gives root."""

    @classmethod
    def of(cls, policy: EffectivePolicy, *, is_shared: bool = False) -> PlaceRule:
        """What a policy says."""
        axes = PolicyAxis.REGIONS, PolicyAxis.SKUS
        regions, skus = (AxisRule(policy.allowed(each), policy.denied(each)) for each in axes)
        return cls(regions, skus, is_shared)

    @property
    def narrows(self) -> bool:
        """Whether there is a place that is closed by it."""
        return self.regions.narrows or self.skus.narrows or self.is_shared

    def broken_by(self, facts: NodeFacts) -> str | None:
        """The first rule by which a node is closed; ``None`` if it is open."""
        if self.is_shared and facts.gives_root:
            return BY_ROOT
        if not self.regions.lets_pass(facts.regions):
            return BY_REGION
        return None if self.skus.lets_pass(facts.skus) else BY_SKU
