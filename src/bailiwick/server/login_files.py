"""Through whom people log in, as an operator's files say it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from bailiwick.server.keys import load_key
from bailiwick.services.logins.providers import (
    FederatedIssuer,
    Provider,
    is_safe_url,
    read_federation,
    read_providers,
)
from bailiwick.vocab.errors import InvalidValue


def load_providers(path: Path | None) -> tuple[Provider, ...]:
    """The providers in a file; secrets lie in files beside it, that not everybody can read."""
    if path is None:
        return ()
    text = _text(path)

    def read_secret(name: str) -> str:
        try:
            return load_key(path.parent / name).decode("ascii")
        except ValueError:
            raise InvalidValue("client_secret_file", name, "plain ASCII in it") from None

    return tuple(read_providers(text, read_secret=read_secret).values())


def load_federation(path: Path | None) -> tuple[FederatedIssuer, ...]:
    """Those in the same file whose word of programs may be trusted."""
    return () if path is None else tuple(read_federation(_text(path)).values())


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise InvalidValue("--providers", str(path), f"a file we can read ({error})") from None


def check_public_url(url: str | None) -> str | None:
    """Where browsers reach the server, if that is an address for them."""
    if url is not None and (not is_safe_url(url) or urlsplit(url).path.strip("/")):
        raise InvalidValue("--public-url", url, "an address such as https://gpu.example")
    return url
