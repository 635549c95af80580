"""Providers that say who a person is: how an operator names them, and what their groups give.

Rules:

- A provider's people are named ``PROVIDER:CLAIM``. Its own name is a plain one that the server
  gives to nobody else, so no provider's word makes somebody an administrator of ours, a node, or a
  person of another provider.
- What a group gives is written here and nowhere else. Where several give a role at one scope, the
  first in the file counts.
- Read strictly: an unknown word, a missing file, a role that is none of its scope is refused at the
  start, with its place.

>>> text = '[campus]\\nissuer = "https://id.example"\\nclient_id = "bailiwick"'
>>> found = read_providers(text)["campus"]
>>> found.title, found.name_claim, found.scopes
('campus', 'sub', ('openid',))
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from bailiwick.iam import APP_PREFIX, NODE_PREFIX, OWN_NAMES, RUNTIME_PREFIX, Role, Scope
from bailiwick.vocab.errors import InvalidValue

PROVIDERS_MAX: Final = 16
FEDERATION: Final = "federation"
"""The table of those who say who a program is; no provider has its name."""
ROLES_MAX: Final = 1_000
TEXT_MAX: Final = 500
_NAME: Final = "[a-z]([a-z0-9-]{0,29}[a-z0-9])?"
_TAKEN: Final = frozenset(
    (
        *OWN_NAMES,
        *(prefix.rstrip(":") for prefix in (NODE_PREFIX, APP_PREFIX, RUNTIME_PREFIX)),
        *("account", "admin", "service", "user", "human", FEDERATION),
    )
)
_LOOPBACK: Final = frozenset(("127.0.0.1", "::1", "localhost"))


@dataclass(frozen=True, slots=True)
class MappedRole:
    """What a group gives: a role at a scope."""

    group: str
    role: str
    scope: Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider, as the operator named it."""

    name: str
    title: str
    issuer: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    scopes: tuple[str, ...] = ("openid",)
    name_claim: str = "sub"
    groups_claim: str = "groups"
    ca_file: str | None = None
    roles: tuple[MappedRole, ...] = ()

    def roles_of(self, groups: Iterable[str]) -> tuple[str, ...]:
        """What these groups give, one role for a scope, as the kernel is told it."""
        held, found = frozenset(groups), dict[Scope, str]()
        for each in self.roles:
            if each.group in held:
                found.setdefault(each.scope, each.role)
        return tuple(f"{scope}={role}" for scope, role in found.items())


@dataclass(frozen=True, slots=True)
class FederatedIssuer:
    """One whose word of programs accounts may trust, as the operator named it."""

    name: str
    issuer: str
    ca_file: str | None = None


def read_providers(
    text: str, *, read_secret: Callable[[str], str] | None = None
) -> dict[str, Provider]:
    """The providers in a file's text; ``read_secret`` reads the file of a client's secret."""
    rows = _rows(text)
    rows.pop(FEDERATION, None)
    if len(rows) > PROVIDERS_MAX:
        raise InvalidValue("providers", len(rows), f"at most {PROVIDERS_MAX}")
    return {name: _provider(name, row, read_secret) for name, row in rows.items()}


def read_federation(text: str) -> dict[str, FederatedIssuer]:
    """Those in the same text who may say who a program is, each issuer once.

    >>> text = '[federation.ci]\\nissuer = "https://ci.example"'
    >>> read_federation(text)["ci"].issuer
    'https://ci.example'
    """
    where = f"[{FEDERATION}]"
    rows = _rows(text).get(FEDERATION, {})
    if not isinstance(rows, dict) or len(rows) > PROVIDERS_MAX:
        raise InvalidValue(where, "...", f"at most {PROVIDERS_MAX} tables")
    found = {}
    for name, row in rows.items():
        place = f"{FEDERATION}.{name}"
        if not re.fullmatch(_NAME, name):
            raise InvalidValue(place, name, "a plain name in small letters")
        given = _table(place, row, known=frozenset(("issuer", "ca_file")))
        ca_file = _text(place, given, "ca_file", default="") or None
        found[name] = FederatedIssuer(name, _issuer(place, given), ca_file)
    if len({each.issuer for each in found.values()}) < len(found):
        raise InvalidValue(where, "...", "each issuer once")
    return found


def _rows(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidValue("providers", "...", f"TOML ({error})") from None


def _issuer(where: str, given: Mapping[str, Any]) -> str:
    issuer = _text(where, given, "issuer")
    if not is_safe_url(issuer) or urlsplit(issuer).query:
        raise InvalidValue(
            f"{where}: issuer", issuer, "an https:// address, as the provider has it"
        )
    return issuer


def is_safe_url(url: str) -> bool:
    """Whether what is sent there is read by nobody else: HTTPS, or this machine itself.

    >>> is_safe_url("https://id.example/x"), is_safe_url("http://id.example"), is_safe_url("x")
    (True, False, False)
    """
    try:
        found = urlsplit(url)
        host = found.hostname
    except ValueError:
        return False
    if not host or found.fragment or "@" in found.netloc:
        return False
    return found.scheme == "https" or (found.scheme == "http" and host in _LOOPBACK)


_KEYS: Final = frozenset(
    (
        *("title", "issuer", "client_id", "client_secret_file", "scopes", "name_claim"),
        *("groups_claim", "ca_file", "roles"),
    )
)


def _provider(name: str, row: Any, read_secret: Callable[[str], str] | None) -> Provider:
    if not re.fullmatch(_NAME, name) or name in _TAKEN:
        told = "a plain name in small letters that is none of the server's own"
        raise InvalidValue("provider", name, told)
    where = f"provider {name}"
    given = _table(where, row, known=_KEYS)
    scopes = _texts(where, given, "scopes", default=["openid"])
    secret_file = _text(where, given, "client_secret_file", default="")
    secret = None
    if secret_file:
        if read_secret is None:
            raise InvalidValue(f"{where}: client_secret_file", secret_file, "nothing, here")
        secret = read_secret(secret_file).strip()
    return Provider(
        name=name,
        title=_text(where, given, "title", default=name),
        issuer=_issuer(where, given),
        client_id=_text(where, given, "client_id"),
        client_secret=secret,
        scopes=tuple(dict.fromkeys(["openid", *scopes])),
        name_claim=_text(where, given, "name_claim", default="sub"),
        groups_claim=_text(where, given, "groups_claim", default="groups"),
        ca_file=_text(where, given, "ca_file", default="") or None,
        roles=_roles(where, given.get("roles", [])),
    )


def _roles(where: str, rows: Any) -> tuple[MappedRole, ...]:
    if not isinstance(rows, list) or len(rows) > ROLES_MAX:
        raise InvalidValue(f"{where}: roles", "...", f"at most {ROLES_MAX} tables")
    found = []
    for number, row in enumerate(rows, 1):
        place = f"{where}, role {number}"
        given = _table(place, row, known=frozenset(("group", "role", "tenant", "project")))
        tenant = _text(place, given, "tenant", default="") or None
        project = _text(place, given, "project", default="") or None
        scope, role = Scope.of(tenant, project), _text(place, given, "role")
        if role == Role.NODE_AGENT or (role in list(Role) and Role(role).level is not scope.level):
            raise InvalidValue(f"{place}: role", role, f"a person's role of the {scope.level}")
        found.append(MappedRole(_text(place, given, "group"), role, scope))
    return tuple(found)


def _table(where: str, row: Any, *, known: frozenset[str]) -> Mapping[str, Any]:
    if not isinstance(row, dict):
        raise InvalidValue(where, "...", "a table")
    unknown = sorted(row.keys() - known)
    if unknown:
        raise InvalidValue(where, unknown[0], "one of " + ", ".join(sorted(known)))
    return row


def _text(where: str, row: Mapping[str, Any], name: str, *, default: str | None = None) -> str:
    value = row.get(name, default)
    if not isinstance(value, str) or not 0 < len(value or "-") <= TEXT_MAX:
        raise InvalidValue(f"{where}: {name}", value, f"a text of 1 to {TEXT_MAX} characters")
    if value and not value.isprintable():
        raise InvalidValue(f"{where}: {name}", "...", "characters that can be read")
    return value


def _texts(where: str, row: Mapping[str, Any], name: str, *, default: list[str]) -> list[str]:
    values = row.get(name, default)
    if not isinstance(values, list) or not all(
        isinstance(each, str) and re.fullmatch("[!-~]{1,100}", each) for each in values
    ):
        raise InvalidValue(f"{where}: {name}", "...", "a list of words")
    return values
