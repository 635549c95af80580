"""What a caller must have seen of a thing that has no revision: a digest of how it stands.

Rules:

- The digest is over the canonical spelling of the record's body that would set the thing to what it
  is, so the same contents have the same digest, whoever set them and when.
- It is checked where the change is decided: nothing can come between the check and the change.
"""

from __future__ import annotations

from hashlib import sha256

from bailiwick.billing.budgets import Budget
from bailiwick.journal.record import encode_json
from bailiwick.kernel.fleet.spelling import quota_body, settings_body
from bailiwick.kernel.money.events import budget_body
from bailiwick.kernel.settings import Settings
from bailiwick.kernel.spelling import Body
from bailiwick.scheduler.quota_policy import Quota
from bailiwick.vocab.errors import Stale


def settings_digest(settings: Settings) -> str:
    """What these settings are known by."""
    return _digest(settings_body(settings))


def quota_digest(quota: Quota) -> str:
    """What this quota is known by."""
    return _digest(quota_body(quota))


def budget_digest(budget: Budget | None) -> str:
    """What this budget is known by; where there is none, that has a digest too."""
    return _digest({} if budget is None else budget_body(budget))


def check_seen(kind: str, name: str, *, seen: str | None, current: str) -> None:
    """Refuse a caller that has seen something else than there is; one that says nothing may go."""
    if seen is not None and seen != current:
        raise Stale(kind, name, held=seen, current=current)


def _digest(body: Body) -> str:
    return sha256(encode_json(body).encode()).hexdigest()
