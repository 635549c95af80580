"""A denial, a remedy and an estimate of the contract, in the words that a page says too."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bailiwick.wire.answers import Estimate
    from bailiwick.wire.denials import Denial
    from bailiwick.wire.work import Remedy


def phrase_denial(denied: Denial) -> str:
    """One obstacle with its numbers, in one sentence."""
    from bailiwick.phrases.denials import phrase_denial as phrase

    return phrase(denied.model_dump(mode="json"))


def phrase_remedy(remedy: Remedy) -> str:
    """The one change that would clear the first obstacle, with the leases that it is about."""
    from bailiwick.phrases.remedies import phrase_remedy as phrase

    return phrase(remedy.model_dump(mode="json"))


def phrase_estimate(estimate: Estimate) -> str:
    """When it may start; always told as the guess that it is."""
    from bailiwick.phrases.estimates import phrase_estimate as phrase

    return phrase(estimate.model_dump(mode="json"))
