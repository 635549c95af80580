"""Notices on the wire: what one chose, and one's inbox."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bailiwick.vocab.apps import DeliveryFault, DeliveryState
from bailiwick.vocab.notices import NoticeChannel, NoticeKind
from bailiwick.wire.base import Model, Number

_Kind = Annotated[NoticeKind, Field(strict=False)]
_Channel = Annotated[NoticeChannel, Field(strict=False)]
_State = Annotated[DeliveryState, Field(strict=False)]
_Fault = Annotated[DeliveryFault, Field(strict=False)]
_Text = Annotated[str, Field(max_length=512)]


class NoticeChoice(Model):
    """By which ways one is told of something; by none, with an empty list."""

    kind: _Kind
    channels: Annotated[list[_Channel], Field(max_length=3)]


class NoticeChange(Model):
    """What is to be otherwise; what is left out stays, an empty text ends it."""

    choices: Annotated[list[NoticeChoice], Field(max_length=16)] = Field(default_factory=list)
    email: Annotated[str, Field(max_length=254)] | None = None
    """A new one is mailed a code, and counts once that was shown; till then the one before does."""
    webhook_url: _Text | None = None


class NoticeDelivery(Model):
    """What became of the last notice that was sent by one way."""

    channel: _Channel
    state: _State
    tries: int
    fault: _Fault | None
    status: int | None
    """What the mail server or the receiver answered, as a number."""
    tried_ms: int | None


class NoticeSettings(Model):
    """What one chose; ``secret`` is told once, when it is made."""

    choices: list[NoticeChoice]
    email: str | None
    """Where mail goes; it was shown to be one's own."""
    pending_email: str | None
    """Where it is to go once its code is shown; before, nothing else is sent there."""
    webhook_url: str | None
    sends_mail: bool
    """Whether this server sends mail at all."""
    withheld: int
    """How many notices no letter told of yet, since they were too many; they are in the inbox."""
    deliveries: list[NoticeDelivery]
    secret: str | None = None


class NoticeCode(Model):
    """The code that was mailed."""

    code: Annotated[str, Field(min_length=1, max_length=64)]


class NoticeTested(Model):
    """By which ways a test notice goes out."""

    channels: list[_Channel]


class InboxNotice(Model):
    """One notice; ``title`` and ``text`` are the same in mail."""

    id: Number
    kind: _Kind
    at_ms: int
    title: str
    text: str
    tenant: str | None
    project: str | None
    facts: dict[str, str | int]
    read_ms: int | None


class InboxNotices(Model):
    """Some of an inbox, the newest first."""

    items: list[InboxNotice]
    next: str | None = None
    unread: int
    """Of the whole inbox."""
    dropped: int
    """How many fell out unread, since only the newest 500 are kept."""


class InboxReading(Model):
    """Which notices were read; none named: all."""

    ids: Annotated[list[Number], Field(max_length=500)] = Field(default_factory=list)


class InboxRead(Model):
    """How many notices became read."""

    notices: int
