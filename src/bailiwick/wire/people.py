"""Tenants, projects, members, service accounts and tokens on the wire.

A token is shown once, in the answer that made it. No model has a digest.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bailiwick.wire.base import DisplayName, Model, Name, PrincipalName, Within
from bailiwick.wire.words import LevelWord, PermissionWord, PrincipalWord, RoleWord

TTL_S_MAX = 12 * 3600
TOKEN_CHARS_MAX = 2_048
GLASS_TTL_S_MAX = 900


class Tenant(Model):
    """Who pays; ``revision`` is also its ``ETag``."""

    tenant: str
    display_name: str
    is_open: bool
    revision: int


class Project(Model):
    """A part of a tenant."""

    tenant: str
    project: str
    display_name: str
    is_open: bool
    revision: int


class NewTenant(Model):
    """A tenant to be made."""

    tenant: Name
    display_name: DisplayName = ""


class NewProject(Model):
    """A project to be made."""

    project: Name
    display_name: DisplayName = ""


class ScopeChange(Model):
    """What to change of a tenant or project; what is left out stays."""

    display_name: DisplayName | None = None
    is_open: bool | None = None


class Member(Model):
    """Who has which role there, or (``is_offer``) may accept it until ``expires_ms``.

    ``home`` is the tenant that the member is of, ``fleet``, or ``another`` if it is one that you
    do not see.
    """

    member: str
    role: RoleWord | str
    kind: PrincipalWord = "human"
    home: str = "fleet"
    is_offer: bool = False
    expires_ms: int | None = None


class MemberSet(Model):
    """What became of a role: it counts with record number ``seq``, or (``is_offer``) is offered.

    Whoever is at home elsewhere has to accept it first (``/v1/invitations``).
    """

    answer: Literal["done"]
    seq: int | None
    is_offer: bool = False


class Invitation(Model):
    """A role that you may accept; until then it counts for nothing."""

    tenant: str
    project: str | None
    role: RoleWord | str
    offered_ms: int
    expires_ms: int


class InvitedTo(Model):
    """Where: the tenant, and perhaps the project, of an invitation or of a role."""

    tenant: Name
    project: Name | None = None


class HomeChange(Model):
    """Where a principal is at home: a tenant, or without one the fleet."""

    principal: PrincipalName
    tenant: Name | None = None


class CustomRole(Model):
    """A role: what it holds, and at which level it is handed out."""

    role: str
    tenant: str | None
    """Whose it is; nobody's, the fleet's or the product's, without one."""
    is_builtin: bool
    level: LevelWord
    keys: list[PermissionWord]
    revision: int


class RoleChange(Model):
    """A role of one's own as it is to be; without a tenant, the fleet's."""

    role: Name
    tenant: Name | None = None
    level: LevelWord
    keys: Annotated[list[PermissionWord], Field(min_length=1, max_length=64)]


class RoleName(Model):
    """A role of one's own, and whose it is."""

    role: Name
    tenant: Name | None = None


class MemberChange(Model):
    """The role that a principal is to have there; ``null`` takes it away."""

    member: PrincipalName
    role: RoleWord | Name | None
    """Of the product, or one of your own by its name."""


class ServiceAccount(Model):
    """A program's principal, of one scope."""

    account: str
    tenant: str | None
    project: str | None
    is_enabled: bool


class NewAccount(Model):
    """A service account to be made; without a tenant it is the fleet's."""

    account: Name
    tenant: Name | None = None
    project: Name | None = None


class AccountChange(Model):
    """Whether a service account is to be enabled."""

    is_enabled: bool


class NewToken(Model):
    """A token to be made; ``keys`` are all it carries, ``single_use`` makes it a login code."""

    principal: PrincipalName
    kind: PrincipalWord = "human"
    ttl_s: Annotated[int, Within(1, TTL_S_MAX)] = 3600
    single_use: bool = False
    keys: Annotated[list[PermissionWord], Field(min_length=1, max_length=64)] | None = None


class IssuedToken(Model):
    """A token, shown this once."""

    token: str
    token_id: str
    principal: str
    expires_ms: int


class Token(Model):
    """What is known of a token."""

    token_id: str
    principal: str
    kind: PrincipalWord
    issued_ms: int
    expires_ms: int
    revoked: bool
    single_use: bool
    keys: list[PermissionWord] | None


class Login(Model):
    """A one-time login code, to be exchanged for a session's token."""

    code: Annotated[str, Field(min_length=1, max_length=TOKEN_CHARS_MAX)]
    ttl_s: Annotated[int, Within(1, TTL_S_MAX)] = 3600


class LoginProvider(Model):
    """Somebody else who says who a person is; ``title`` is what people call it."""

    provider: str
    title: str


class LoginWays(Model):
    """How one can log in: with a one-time code, or through a provider."""

    code: bool
    providers: list[LoginProvider]


class DeviceLogin(Model):
    """A login that a person ends elsewhere: where, with which code, and what to ask with."""

    user_code: str
    verification_uri: str
    verification_uri_complete: str | None
    expires_s: int
    interval_s: int
    """How long to wait before asking again."""
    device: str
    """To be sent back as it is."""


class DeviceQuestion(Model):
    """Whether somebody has ended a login elsewhere."""

    device: Annotated[str, Field(min_length=1, max_length=4_000)]
    ttl_s: Annotated[int, Within(1, TTL_S_MAX)] = 3600


class DeviceAnswer(Model):
    """The session, once there is one; until then, how long to wait before asking again."""

    session: IssuedToken | None
    is_hasty: bool
    """Whether it was asked too often: wait five seconds longer each time from now on."""


class NewSession(Model):
    """A one-time login code, to be exchanged for a browser's session."""

    code: Annotated[str, Field(min_length=1, max_length=TOKEN_CHARS_MAX)]
    ttl_s: Annotated[int, Within(1, TTL_S_MAX)] = 3600


class SessionRenewal(Model):
    """For how long a browser's session is to go on."""

    ttl_s: Annotated[int, Within(1, TTL_S_MAX)] = 3600


class BrowserSession(Model):
    """A browser's session; ``csrf`` is what changes must show as ``X-CSRF-Token``."""

    principal: str
    expires_ms: int
    """When it ends, if it is not renewed."""
    ends_ms: int
    """When it ends, however often it is renewed."""
    csrf: str


class SessionHeld(Model):
    """A token of one's own that still counts."""

    token_id: str
    kind: PrincipalWord
    issued_ms: int
    expires_ms: int
    single_use: bool
    is_this: bool
    """Whether this request is made with it."""


class RoleHeld(Model):
    """A role, what it allows, and where it is held; without a tenant, over the whole fleet."""

    tenant: str | None
    project: str | None
    role: RoleWord | str
    keys: list[PermissionWord]


class Self(Model):
    """Who asks: its roles, and the token that it shows; a narrowed one has only those ``keys``."""

    principal: str
    kind: PrincipalWord
    roles: list[RoleHeld]
    token_id: str
    expires_ms: int
    keys: list[PermissionWord] | None
    home: str = "fleet"
    """The tenant that you are of, or ``fleet``: who looks after your tokens."""


class MayDo(Model):
    """What the caller's keys let him ask for there, by the names of the actions.

    A key is the first thing that is asked for. What an action is about may still refuse it: a job
    that has ended is not cancelled.
    """

    tenant: str | None
    project: str | None
    actions: list[str]


class BreakGlass(Model):
    """Why somebody needs all of his rights for a moment, and for whose sake; both are recorded."""

    reason: Annotated[str, Field(min_length=10, max_length=500)]
    tenant: Name | None = None
    ttl_s: Annotated[int, Within(1, GLASS_TTL_S_MAX)] = 300
