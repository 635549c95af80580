"""Who one is and where: the server, the token, and the tenant and project that are meant.

Rules:

- An option beats the environment, and that beats the session file, which ``login`` writes.
- Inside a job its lease's own token counts, not the person's who submitted it.
- The file is readable by its owner only, and is replaced in one piece.
- A tenant is never guessed: it is named, or it is the session's.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bailiwick.vocab.errors import Damaged

if TYPE_CHECKING:
    from bailiwick.client.http_client import Client

SERVER: Final = "http://127.0.0.1:7077"
ENVIRONMENT: Final = {
    "server": "BAILIWICK_SERVER",
    "token": "BAILIWICK_TOKEN",
    "tenant": "BAILIWICK_TENANT",
    "project": "BAILIWICK_PROJECT",
    "ca_file": "BAILIWICK_CA_FILE",
}
LEASE_TOKEN: Final = "BAILIWICK_LEASE_TOKEN"
"""What a job is given; it can do no more than hold its own lease."""
_FILE_BYTES_MAX: Final = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What a command knows before it asks."""

    server: str = SERVER
    token: str | None = None
    tenant: str | None = None
    project: str | None = None
    ca_file: str | None = None


def session_path() -> Path:
    """Where the session is kept."""
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(home) / "bailiwick" / "session.json"


def stored_session() -> Session:
    """The session file as it is; without one, a session that knows nobody."""
    path = session_path()
    try:
        text = path.read_text("utf-8")
        found = json.loads(text) if len(text) <= _FILE_BYTES_MAX else None
    except FileNotFoundError:
        return Session()
    except (OSError, ValueError) as error:
        raise Damaged("the session", path, error, hint="log in again") from None
    names = {field.name for field in fields(Session)}
    if not isinstance(found, dict) or not all(isinstance(v, str | None) for v in found.values()):
        raise Damaged("the session", path, "not a session", hint="log in again")
    return Session(**{name: v for name, v in found.items() if name in names and v is not None})


def load_session() -> Session:
    """The session file, and what the environment says instead."""
    told = {name: os.environ.get(variable) for name, variable in ENVIRONMENT.items()}
    told["token"] = told["token"] or os.environ.get(LEASE_TOKEN)
    kept = asdict(stored_session())
    found = Session(**(kept | {name: value for name, value in told.items() if value}))
    if told["tenant"] and not told["project"] and told["tenant"] != kept["tenant"]:
        # The file's project is one of the file's tenant.
        return Session(**(asdict(found) | {"project": None}))
    return found


def save_session(session: Session) -> Path:
    """Keep a session for the commands that follow."""
    path = session_path()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    told = {name: value for name, value in asdict(session).items() if value is not None}
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:  # mode 600
        file.write(json.dumps(told, indent=2) + "\n")
    os.replace(file.name, path)
    return path


class NoLogin(Exception):
    """Nobody is logged in here, and the environment has no token either."""


def connect(session: Session, *, timeout_s: float = 30.0, tries: int = 4) -> Client:
    """A client of the session's server, as its principal."""
    from bailiwick.client.http_client import Client

    return Client(
        session.server,
        session.token,
        ca_file=session.ca_file,
        timeout_s=timeout_s,
        tries=tries,
    )


def need_token(session: Session) -> Session:
    """The session, if it has a token."""
    if session.token is None:
        raise NoLogin
    return session
