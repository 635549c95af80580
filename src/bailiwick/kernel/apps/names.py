"""What apps are called: a slug, or a tenant, a dot and a slug. No slug has a dot.

>>> app_name("hello", None), app_name("hello", "lab"), publisher_of("lab.hello")
('hello', 'lab.hello', 'lab')
"""

from __future__ import annotations

from bailiwick.apps.manifest import check_slug
from bailiwick.journal.fields import PRINCIPAL
from bailiwick.vocab.values import check_name


def app_name(slug: str, tenant: str | None) -> str:
    """By what an app of this publisher is known."""
    return slug if tenant is None else f"{tenant}.{slug}"


def publisher_of(app: str) -> str | None:
    """The tenant that published an app; ``None`` for the platform."""
    tenant, dot, _ = app.rpartition(".")
    return tenant if dot else None


def check_app(value: object) -> str:
    """The value if it can be an app's name: a slug, or a tenant, a dot and a slug."""
    PRINCIPAL.check("app", value)
    tenant, dot, slug = str(value).rpartition(".")
    if dot:
        check_name("app", tenant)
    check_slug("app", slug)
    return str(value)
