"""An event as CloudEvents 1.0 spells it, from one record of the journal.

Rules:

- ``source`` names the journal, ``id`` the record in it: the two together name one event for good.
- An attribute's name has only small letters and digits, as the standard says. So what is called
  ``correlation_id`` and so on in ``data`` is the extension ``correlationid`` and so on. An
  attribute that has no value is left out: the standard knows no null.
- ``data`` has the record's own fields beside the five names by which events are found.

>>> from bailiwick.journal.kinds import RecordKind
>>> event = make_event(
...     EventFacts(7, 1_000, RecordKind.APP_PUBLISHED, "lab", None, "ann", "c-1",
...          {"app": "lab.hello", "version": "1.0.0"}),
...     journal="3f9a",
... )
>>> event["type"], event["id"], event["source"]
('apps.version.published', '7', '/journals/3f9a')
>>> event["subject"], event["time"]
('apps/lab.hello/1.0.0', '1970-01-01T00:00:01.000Z')
>>> event["orgid"], "projectid" in event, event["data"]["org_id"]
('lab', False, 'lab')
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

from bailiwick.events.types import Body, type_of
from bailiwick.journal.kinds import RecordKind

SPEC_VERSION: Final = "1.0"
CONTENT_TYPE: Final = "application/cloudevents+json"
JOURNAL_DIGITS: Final = 16
"""Of the first record's hash, by which a journal is known."""
DAY_MS: Final = 86_400_000
_YEAR_10_000_MS: Final = 253_402_300_800_000
"""From then on no year has four digits, and no time can be told."""

CloudEvent: TypeAlias = dict[str, Any]
"""One event, ready to be written as JSON."""

NAMES: Final = ("correlation_id", "org_id", "project_id", "app_slug", "app_instance_id")
"""What events are found by, as ``data`` spells it."""


_HIDDEN: Final = {
    # Its digest is told, and the catalog has it; a message should be small.
    "app_published": ("document",),
    # Of the evidence of a check the digest is told; the journal has it.
    "app_checked": ("evidence",),
    # Who hears of a webhook is not told where it leads: an address may be known to few on purpose.
    "app_webhook_set": ("url", "secret_id"),
    # Of the rule that was accepted the digest is told.
    "shared_runtime_created": ("billing_rule",),
}
"""Fields of records that events leave out."""


_PARTS: Final = {"policy": "policies", "member_id": "workers"}


class EventFacts(NamedTuple):
    """What of a record is told to whoever reads the event."""

    seq: int
    at_ms: int
    kind: RecordKind
    tenant: str | None
    project: str | None
    actor: str
    correlation_id: str
    body: Body


def source_of(journal: str) -> str:
    """Where events of a journal come from."""
    return f"/journals/{journal}"


def instance_of(body: Body) -> str | None:
    """The instance that a record is about, by its id."""
    found = body.get("instance_id")
    return None if found is None else str(found)


def make_event(told: EventFacts, *, journal: str) -> CloudEvent:
    """The event that a record is."""
    names = {
        "correlation_id": told.correlation_id,
        "org_id": told.tenant,
        "project_id": told.project,
        "app_slug": told.body.get("app"),
        "app_instance_id": instance_of(told.body),
    }
    found = {name: value for name, value in names.items() if value is not None}
    hidden = _HIDDEN.get(told.kind.value, ())
    event: CloudEvent = {
        "specversion": SPEC_VERSION,
        "id": str(told.seq),
        "source": source_of(journal),
        "type": type_of(told.kind, told.body),
        "subject": subject_of(told.body),
        "datacontenttype": "application/json",
        **{name.replace("_", ""): value for name, value in found.items()},
        "data": {
            **{name: value for name, value in told.body.items() if name not in hidden},
            "record": told.kind.value,
            "actor": told.actor,
            **found,
        },
    }
    if told.at_ms < _YEAR_10_000_MS:
        event["time"] = spell_time(told.at_ms)
    return event


def subject_of(body: Body) -> str:
    """What an event is about: the most particular thing that its record names.

    >>> subject_of({"instance_id": 4, "member_id": 9, "app": "hello"})
    'instances/4/members/9'
    >>> subject_of({"instance_id": 4, "runtime": "main", "member_id": 9})
    'runtimes/main/workers/9'
    """
    if "runtime" in body:
        for word in ("policy", "member_id"):
            if word in body:
                return f"runtimes/{body['runtime']}/{_PARTS[word]}/{body[word]}"
        return f"runtimes/{body['runtime']}"
    instance = instance_of(body)
    if instance is not None:
        for word in ("operation", "member"):
            if body.get(f"{word}_id") is not None:
                return f"instances/{instance}/{word}s/{body[f'{word}_id']}"
        return f"instances/{instance}"
    if "webhook" in body:
        return f"webhooks/{body['webhook']}"
    if "app" in body:
        version = body.get("version")
        return f"apps/{body['app']}" + ("" if version is None else f"/{version}")
    if "digest" in body:
        return f"artifacts/sha256:{body['digest']}"
    return f"artifact-sources/{body['source']}" if "source" in body else "apps"


def spell_time(at_ms: int) -> str:
    """A moment as RFC 3339 writes it, in UTC.

    >>> spell_time(0), spell_time(951_782_400_123), spell_time(4_107_542_399_999)
    ('1970-01-01T00:00:00.000Z', '2000-02-29T00:00:00.123Z', '2100-02-28T23:59:59.999Z')
    """
    days, rest = divmod(at_ms, DAY_MS)
    # Years that begin in March have their leap day last, so that months have a plain pattern.
    era, day = divmod(days + 719_468, 146_097)
    year = (day - day // 1_460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5
    month = month + 3 if month < 10 else month - 9
    year += 400 * era + (1 if month <= 2 else 0)
    seconds, ms = divmod(rest, 1_000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    date = f"{year:04}-{month:02}-{day + 1:02}"
    return f"{date}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z"
