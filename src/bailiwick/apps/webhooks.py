"""Webhooks: where events of a scope are sent, and what may stand in such an address.

Rules:

- An address is ``https``; ``http`` only to this machine itself, which the operator must allow. It
  has no user, password or fragment. Where it may lead is judged again when it is used.
- What a webhook's secret is made from stands in the journal, the secret nowhere. After a change of
  secrets both count for a while, so that a receiver need not change in the same instant.
- What is asked for by type is a whole type, or its beginning with ``*``: ``apps.instance.*``.

>>> check_url("https://hooks.example/in?team=1")
'https://hooks.example/in?team=1'
>>> check_url("https://me:secret@hooks.example/")  # doctest: +ELLIPSIS
Traceback (most recent call last):
...
bailiwick.vocab.errors.InvalidValue: url: expected https://HOST/PATH ..., got '(not shown)'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from bailiwick.vocab.errors import InvalidValue

URL_MAX: Final = 512
TYPES_MAX: Final = 16
"""Types that one webhook or one question names."""
WEBHOOKS_MAX: Final = 1_000
WEBHOOKS_EACH_MAX: Final = 16
"""Of one tenant or one project."""
WEBHOOKS_TENANT_MAX: Final = 64
"""Of a tenant with all its projects: none takes all that there are."""
OVERLAP_MS: Final = 24 * 3_600_000
"""How long the secret before still counts."""

TYPE_WISH: Final = r"apps(\.[a-z][a-z0-9_]{0,30}){0,2}(\.\*)?"
_HOST: Final = r"\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?"
_URL: Final = re.compile(
    rf"(?P<scheme>https?)://(?P<host>{_HOST})(?::(?P<port>[1-9][0-9]{{0,4}}))?"
    r"(?P<target>/[A-Za-z0-9/._~!$&'()*+,;=:@%?-]*)?"
)


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where events of a scope are sent."""

    name: str
    url: str
    types: tuple[str, ...]
    """Which are wanted; none named: all."""
    is_enabled: bool
    secret_id: str
    old_secret_id: str | None
    rotated_ms: int | None
    since_seq: int
    """The record that made it: it is told of what came after."""
    revision: int = 1

    def secret_ids(self, now_ms: int) -> tuple[str, ...]:
        """The secrets that count now, the newest first."""
        if self.old_secret_id is None or self.rotated_ms is None:
            return (self.secret_id,)
        is_over = now_ms >= self.rotated_ms + OVERLAP_MS
        return (self.secret_id,) if is_over else (self.secret_id, self.old_secret_id)


@dataclass(frozen=True, slots=True)
class Target:
    """An address, taken apart."""

    is_secure: bool
    host: str
    """Without brackets."""
    port: int
    path: str
    """With the query."""

    @property
    def authority(self) -> str:
        """The host and port, as the header ``Host`` has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.is_secure else 80) else f"{host}:{self.port}"


def read_url(url: str) -> Target:
    """An address, if it can be a webhook's."""
    found = _URL.fullmatch(url)
    expected = f"https://HOST/PATH of up to {URL_MAX} characters, without user, password, fragment"
    if found is None or len(url) > URL_MAX:
        raise InvalidValue("url", "(not shown)", expected)
    host, is_secure = found["host"].strip("[]"), found["scheme"] == "https"
    port = int(found["port"] or (443 if is_secure else 80))
    if port > 65_535 or (found["host"].startswith("[") and not _is_address(host)):
        raise InvalidValue("url", "(not shown)", expected)
    if not is_secure and not _is_here(host):
        raise InvalidValue("url", "(not shown)", "https:// for any machine but this one")
    return Target(is_secure, host, port, found["target"] or "/")


def check_url(url: str) -> str:
    """The address, if it can be a webhook's."""
    read_url(url)
    return url


def check_wish(value: str) -> str:
    """The value if it can be asked for: a type, or the beginning of some."""
    if not re.fullmatch(TYPE_WISH, value):
        raise InvalidValue("type", value, "apps.instance.running, or apps.instance.* for all such")
    return value


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _is_here(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and ip_address(host).is_loopback)
