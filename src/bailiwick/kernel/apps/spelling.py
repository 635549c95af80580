"""Overlays and digests as the plain values of a record's body, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bailiwick.apps.overlays import Overlay
from bailiwick.kernel.spelling import Body
from bailiwick.vocab.apps import PolicyAxis, PolicyLimit

_DENY = "deny_"
_PREFIX = "sha256:"

OVERLAY_WORDS = (
    *(axis.value for axis in PolicyAxis),
    *(_DENY + axis.value for axis in PolicyAxis),
    *(limit.value for limit in PolicyLimit),
)
"""Every word by which an overlay narrows."""


def overlay_body(overlay: Overlay) -> Body:
    """What a line narrows; of what it does not, nothing."""
    return {
        **{axis.value: list(values) for axis, values in overlay.allow.items()},
        **{_DENY + axis.value: list(values) for axis, values in overlay.deny.items()},
        **{limit.value: count for limit, count in overlay.limits.items()},
    }


def overlay_from(body: Mapping[str, Any]) -> Overlay:
    """The overlay that a record tells."""
    return Overlay(
        {axis: tuple(body[axis]) for axis in PolicyAxis if axis in body},
        {axis: tuple(body[_DENY + axis]) for axis in PolicyAxis if _DENY + axis in body},
        {limit: body[limit] for limit in PolicyLimit if limit in body},
    )


def bare_digest(digest: str) -> str:
    """The digits of a digest, as records hold them."""
    return digest.removeprefix(_PREFIX)


def named_digest(digits: str) -> str:
    """The digest that a record tells."""
    return _PREFIX + digits
