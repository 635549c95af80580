"""The commands that have it sealed who opens an endpoint of an instance; no request is in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from bailiwick.apps.manifest import check_slug
from bailiwick.journal.fields import INTEGER_MAX, NAME, PRINCIPAL
from bailiwick.vocab.apps import EndpointEnd
from bailiwick.vocab.values import check_integer, check_kind, check_name


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenEndpoint:
    """Somebody is about to open what a member serves."""

    tenant: str
    project: str
    instance_id: int
    endpoint: str
    member_id: int
    """Who serves it."""
    session_id: str

    def __post_init__(self) -> None:
        _check_own(self)
        check_integer("member_id", self.member_id, low=1, high=INTEGER_MAX)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteEndpointClosed:
    """That is over: why, and after how many requests."""

    tenant: str
    project: str
    instance_id: int
    app: str
    endpoint: str
    session_id: str
    end: EndpointEnd
    requests: int

    def __post_init__(self) -> None:
        _check_own(self)
        PRINCIPAL.check("app", self.app)
        check_kind("end", self.end, EndpointEnd)
        check_integer("requests", self.requests, low=0, high=INTEGER_MAX)


EndpointCommand: TypeAlias = OpenEndpoint | NoteEndpointClosed


def _check_own(command: EndpointCommand) -> None:
    check_name("tenant", command.tenant)
    check_name("project", command.project)
    check_integer("instance_id", command.instance_id, low=1, high=INTEGER_MAX)
    check_slug("endpoint", command.endpoint)
    NAME.check("session_id", command.session_id)
