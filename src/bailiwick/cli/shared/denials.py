"""A denial of the contract as the value that was decided, so that it has the same sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

if TYPE_CHECKING:
    from bailiwick.scheduler.decision import DenialDetail
    from bailiwick.wire.answers import Denial

_APART = ("reason", "detail", "denied_scope", "denied_generation")


def phrase_denial(denied: Denial) -> str:
    """One obstacle with its numbers, in one sentence."""
    from bailiwick.phrases.denials import phrase_denial as phrase

    return phrase(detail_of(denied))


def detail_of(denied: Denial) -> DenialDetail:
    """Which rule, with its numbers; what both sides have is called the same."""
    from bailiwick.scheduler.decision import DenialDetail
    from bailiwick.scheduler.quota_policy import QuotaScope

    values: dict[str, Any] = {
        name: getattr(denied, name) for name in type(denied).model_fields if name not in _APART
    }
    if getattr(denied, "denied_scope", None):
        values["scope"] = QuotaScope.of(*denied.denied_scope)  # type: ignore[union-attr, misc]
    if hasattr(denied, "denied_generation"):
        values["generation"] = denied.denied_generation
    kinds = {kind.code.value: kind for kind in get_args(DenialDetail)}
    found: DenialDetail = kinds[denied.detail](**values)
    return found
