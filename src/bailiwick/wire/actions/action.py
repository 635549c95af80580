"""The row of an action: how it is asked for, by whom, with what, and what it is answered with.

Rules:

- An action has a permission key; one without cannot be built, but for those where everybody asks
  about himself alone (``Where.SELF``), for what is public (``Where.EVERYBODY``), and for what is
  asked without a login (``Where.OPEN``).
- ``where`` says how the scope is found at which the key is asked for.
- ``summary`` is what people read in the OpenAPI document and in clients made from it: a verb and a
  noun ("Release a lease"). The handler's docstring is the description below it.
- ``takes`` and ``answers`` are the models of the request and of its answer, so that a type checker
  knows what a call returns.

>>> from bailiwick.wire.actions.leases import LEASE_RENEW
>>> LEASE_RENEW.summary, LEASE_RENEW.tag, LEASE_RENEW.path_to(lease_id=7)
('Renew a lease', 'lease', '/v1/leases/7/renew')
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from string import Formatter
from types import NoneType, UnionType
from typing import Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar
from urllib.parse import quote

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.permissions import Permission
from bailiwick.vocab.values import check_kind
from bailiwick.wire.actions.tags import tag_of

B = TypeVar("B")
R = TypeVar("R")

Method: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

API: Final = "/v1/"
TENANT: Final = API + "tenants/{tenant}"
PROJECT: Final = TENANT + "/projects/{project}"
"""The paths below which much lies."""

NOTHING: Final = NoneType
"""What an action takes that has no body."""


class Stream:
    """An answer that goes on: events as they happen, to be followed."""


class Blob:
    """An answer that is bytes, not text."""


class Where(StrEnum):
    """At which scope an action's key is asked for."""

    FLEET = "fleet"
    ROWS = "rows"
    """Somewhere at all; every row is then judged at its own scope."""
    TENANT = "tenant"
    """The tenant in the path."""
    TENANT_ROWS = "tenant_rows"
    """Somewhere within the tenant in the path; every row at its own scope."""
    PROJECT = "project"
    """The project in the path."""
    BODY = "body"
    """The tenant, and perhaps project, in the body."""
    LEASE = "lease"
    ENTRY = "entry"
    JOB = "job"
    GRAPH = "graph"
    APP = "app"
    """Where the app was published; to read a public one, somewhere at all."""
    ACCOUNT = "account"
    REACH = "reach"
    """Everywhere that the principal of the token in question has any role."""
    TRACE = "trace"
    """Somewhere at all; what belongs to the correlation id is then judged piece by piece."""
    SELF = "self"
    """The caller and the token that it shows: whoever is let in may."""
    EVERYBODY = "everybody"
    """Nobody's in particular, and needed to judge others: whoever is let in may."""
    OPEN = "open"
    """Nowhere: it is asked before anybody is known."""


KEYLESS: Final = frozenset((Where.SELF, Where.EVERYBODY, Where.OPEN))
"""Where no key is asked for."""


class Outcome(NamedTuple):
    """One of several answers of an action, told apart by the status."""

    model: object
    description: str


@dataclass(frozen=True, slots=True)
class Action(Generic[B, R]):
    """One thing that can be asked."""

    name: str
    """Its noun and its verb; with ``_`` for the dot it is the ``operationId``."""
    summary: str
    method: Method
    path: str
    permission: Permission | None
    where: Where
    takes: type[B]
    """The model of its body, or ``NOTHING``."""
    answers: type[R] | UnionType
    """What a call returns: a model, a page of them, a ``str``, a ``Blob`` or a ``Stream``."""
    status: int = field(default=200, kw_only=True)
    outcomes: Mapping[int, Outcome] = field(default_factory=dict, kw_only=True)
    """Where what became of a request is told by the status: each with what it answers then."""
    has_plan: bool = field(default=False, kw_only=True)
    """Whether a dry run answers with a plan, and not as the action itself does."""
    once: bool = field(default=False, kw_only=True)
    """Whether it hands out what only its first answer can hold, so that nobody may ask again."""
    is_question: bool = field(default=False, kw_only=True)
    """Whether it is asked with a body only because the question is long."""
    omits_null: bool = field(default=False, kw_only=True)
    """Whether a field that is null is left out, for callers of before there was that field."""

    waits: bool = field(default=False, kw_only=True)
    """Whether the caller may have its answer held back (``wait_s``) until there is one."""
    takes_any_query: bool = field(default=False, kw_only=True)
    """Whether it is asked by a stranger's redirect, whose query may hold more than we read."""
    passes_on: bool = field(default=False, kw_only=True)
    """Whether all below its path, the query and the body are an app's, as is what it answers."""

    def __post_init__(self) -> None:
        check_kind("where", self.where, Where)
        if self.where not in KEYLESS:
            check_kind("permission", self.permission, Permission)
        elif self.permission is not None:
            raise InvalidValue("permission", self.permission, "none, where everybody may ask")
        tag_of(self.noun)  # a noun without a tag would be in no group of the document

    @property
    def noun(self) -> str:
        """What it is about."""
        return self.name.partition(".")[0]

    @property
    def tag(self) -> str:
        """The group of the document in which it is."""
        return tag_of(self.noun)

    @property
    def operation_id(self) -> str:
        """Its name in clients that are generated from the document."""
        return self.name.replace(".", "_")

    @property
    def changes(self) -> bool:
        """Whether it may change something: then it bears an idempotency key and may be dry."""
        return self.method != "GET" and not (self.is_question or self.passes_on)

    @property
    def lasts(self) -> bool:
        """Whether its caller or an app decides how long it takes, which is no measure of us."""
        return self.waits or self.passes_on or self.answers is Stream

    @property
    def places(self) -> tuple[str, ...]:
        """The names in its path that a request fills in."""
        return tuple(name for _, name, _, _ in Formatter().parse(self.path) if name)

    def path_to(self, **filled: str | int) -> str:
        """Its path to one thing; what is filled in stays one piece of the path."""
        if filled.keys() != set(self.places):
            wanted = ", ".join(self.places) or "nothing"
            raise InvalidValue(f"path of {self.name}", ", ".join(filled), wanted)
        return self.path.format_map({name: quote(str(v), safe="") for name, v in filled.items()})
