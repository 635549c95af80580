"""Which records are events, and of which type each is.

Rules:

- The journal is the outbox: an event is a record, and there is no other list that could disagree.
- A type is ``apps.NOUN.WORD``. Where a record tells a move, the word is where the move led.
- A word that a newer server writes is told as it stands: whoever does not know it skips the event.

>>> type_of(RecordKind.APP_PUBLISHED, {"app": "hello", "version": "1.0.0"})
'apps.version.published'
>>> type_of(RecordKind.ARTIFACT_CHANGED, {"change": "trust", "trust": "verified"})
'apps.artifact.verified'
>>> is_wanted("apps.instance.running", ("apps.instance.*",)), is_wanted("apps.x.y", ())
(True, True)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from bailiwick.journal.kinds import RecordKind
from bailiwick.vocab.apps import ArtifactChange

Body: TypeAlias = Mapping[str, Any]


def _changed(body: Body) -> str:
    return "apps.app.changed" if body.get("version") is None else "apps.version.changed"


def _artifact(body: Body) -> str:
    """Registered, or what it is now in the one respect in which it was changed."""
    change = str(body["change"])
    told = change if change == ArtifactChange.REGISTERED else body.get(change, change)
    return f"apps.artifact.{told}"


def _moved(body: Body) -> str:
    """Where a move led; a report that moved nothing says so."""
    is_move = body["phase"] != body.get("before")
    return f"apps.instance.{body['phase'] if is_move else 'observed'}"


def _ended(body: Body) -> str:
    """On its way out, or gone."""
    return f"apps.shared_runtime.{'deleted' if body['gone'] else 'deleting'}"


def _plain(word: str) -> Callable[[Body], str]:
    return lambda body: word


_TYPES: Final[Mapping[str, Callable[[Body], str]]] = {
    "app_published": _plain("apps.version.published"),
    "app_changed": _changed,
    "app_entitlement_set": _plain("apps.entitlement.set"),
    "app_instance_requested": _plain("apps.instance.requested"),
    "app_instance_changed": _plain("apps.instance.changed"),
    "app_instance_moved": _moved,
    "app_member_changed": lambda body: f"apps.member.{body['phase']}",
    "app_operation_changed": lambda body: f"apps.operation.{body['phase']}",
    "artifact_source_set": _plain("apps.artifact_source.set"),
    "artifact_changed": _artifact,
    "artifact_credential_issued": _plain("apps.artifact.credential_issued"),
    "app_usage_reported": _plain("apps.usage.reported"),
    "app_instance_called": lambda body: f"apps.call.{body['verb']}",
    "app_endpoint_opened": _plain("apps.endpoint.opened"),
    "app_endpoint_closed": _plain("apps.endpoint.closed"),
    "app_checked": _plain("apps.version.checked"),
    "app_webhook_set": lambda body: f"apps.webhook.{body['change']}",
    "shared_runtime_created": _plain("apps.shared_runtime.created"),
    "shared_runtime_ended": _ended,
    "shared_attachment_changed": lambda body: f"apps.attachment.{body['phase']}",
    "shared_contribution_changed": lambda body: f"apps.contribution.{body['phase']}",
    "submit_policy_set": lambda body: f"apps.submit_policy.{body['change']}",
    "shared_credential_used": _plain("apps.shared_runtime.credential_used"),
    "shared_use_told": _plain("apps.shared_runtime.use_told"),
    "shared_settlement_set": _plain("apps.shared_runtime.settlement_set"),
}
"""How the type follows from a record, by the word of its kind."""

EVENT_KINDS: Final = frozenset(kind for kind in RecordKind if kind.value in _TYPES)
"""The kinds of records that are events."""


def type_of(kind: RecordKind, body: Body) -> str:
    """The type of the event that a record is; only for :data:`EVENT_KINDS`."""
    return _TYPES[kind.value](body)


def is_wanted(type_word: str, wishes: tuple[str, ...]) -> bool:
    """Whether an event of this type was asked for; who asks for none in particular wants all."""
    if not wishes:
        return True
    return any(
        type_word.startswith(wish[:-1]) if wish.endswith("*") else type_word == wish
        for wish in wishes
    )
