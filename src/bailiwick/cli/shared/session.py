"""Who one is and where: the server, the token, and the tenant and project that are meant.

Rules:

- One logs in to several servers, each under a name: its *context*. Each has its own token, trust,
  tenant and project. One of them is used unless another is named.
- An option beats the environment, and that beats the file of contexts, which ``login`` writes. Who
  types ``--context`` means all of that context: nothing of the environment is shown to its server.
- Inside a job its lease's own token counts, not the person's who submitted it.
- The file is readable by its owner only, and is replaced in one piece; two who write it at once
  wait for each other. What it may not hold is refused, and nothing is guessed.
- The one session of earlier versions is the context ``default`` until the file is first written;
  then it is in there, and its own file goes.
- A tenant is never guessed: it is named, or it is the session's.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bailiwick.vocab.errors import Conflict, Damaged, InvalidValue, LimitReached, NotFound

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
CONTEXT: Final = "BAILIWICK_CONTEXT"
"""The context that is meant where no option says it."""
FIRST: Final = "default"
"""What the first context is called, if nobody says."""
CONTEXTS_MAX: Final = 64
_VERSION: Final = 1
_FILE_BYTES_MAX: Final = 1_048_576
_CONTEXT_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_LOCK_WAIT_S: Final = 10.0
_MOVE: Final = "move it away and log in again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What a command knows before it asks."""

    server: str = SERVER
    token: str | None = None
    tenant: str | None = None
    project: str | None = None
    ca_file: str | None = None


@dataclass(slots=True)
class Contexts:
    """All that one is logged in to, by name, and which of them is used."""

    current: str = FIRST
    known: dict[str, Session] = field(default_factory=dict)

    def find(self, name: str) -> Session:
        """The context of that name; the first one is there before anybody logs in."""
        found = self.known.get(name)
        if found is None and (name != FIRST or self.known):
            hint = "bailiwick context list shows them, bailiwick login --context makes one"
            raise NotFound("context", name, hint=hint)
        return found or Session()


class _Typed:
    """What ``--context`` said, for as long as this command runs."""

    name: str | None = None


def choose_context(name: str | None) -> None:
    """Mean this context in all that follows; without one, the environment's or the used one."""
    _Typed.name = None if name is None else check_context(name)


def check_context(name: str) -> str:
    """The name, if a context can have it."""
    if not _CONTEXT_NAME.fullmatch(name):
        expected = "letters, digits, dots, dashes and underscores, at most 63"
        raise InvalidValue("--context", name, expected)
    return name


def named_context() -> str | None:
    """The context that an option or the environment names."""
    told = os.environ.get(CONTEXT)
    return _Typed.name or (check_context(told) if told else None)


def contexts_path() -> Path:
    """Where contexts are kept."""
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(home) / "bailiwick" / "contexts.json"


def session_path() -> Path:
    """Where earlier versions kept their one session."""
    return contexts_path().with_name("session.json")


def stored_contexts() -> Contexts:
    """The file as it is; without one, the session of an earlier version; else none."""
    found = _read(contexts_path())
    if found is None:
        earlier = _read(session_path())
        return Contexts() if earlier is None else Contexts(known={FIRST: _session(earlier)})
    path, rows, current = contexts_path(), found.get("contexts"), found.get("current")
    hint = "a newer bailiwick wrote it, or a person; move it away and log in again"
    if found.get("version") != _VERSION or set(found) != {"version", "current", "contexts"}:
        raise Damaged("the file of contexts", path, f"not of version {_VERSION}", hint=hint)
    if not isinstance(rows, dict) or len(rows) > CONTEXTS_MAX or current not in rows:
        told = "no contexts, too many, or none that is used"
        raise Damaged("the file of contexts", path, told, hint=hint)
    for name in rows:
        if not _CONTEXT_NAME.fullmatch(name):
            raise Damaged("the file of contexts", path, f"the name {name!r}", hint=hint)
    return Contexts(str(current), {name: _session(row) for name, row in rows.items()})


def _read(path: Path) -> dict[str, Any] | None:
    """The object in a file; nothing if there is no file."""
    try:
        with path.open("rb") as file:
            text = file.read(_FILE_BYTES_MAX + 1)
        found = json.loads(text) if len(text) <= _FILE_BYTES_MAX else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise Damaged("the session", path, error, hint=_MOVE) from None
    if not isinstance(found, dict):
        raise Damaged("the session", path, "not a session", hint=_MOVE)
    return found


def _session(row: object) -> Session:
    names = {each.name for each in fields(Session)}
    if not isinstance(row, dict) or not all(isinstance(v, str | None) for v in row.values()):
        raise Damaged("the session", contexts_path(), "not a session", hint=_MOVE)
    return Session(**{name: v for name, v in row.items() if name in names and v is not None})


def stored_session() -> Session:
    """The context that is meant, as it is kept; before the first login, one that knows nobody."""
    contexts = stored_contexts()
    return contexts.find(named_context() or contexts.current)


def load_session() -> Session:
    """The context that is meant, and what the environment says instead."""
    kept = stored_session()
    if _Typed.name is not None:  # an option beats the environment, and no server sees its token
        return kept
    told = {name: os.environ.get(variable) for name, variable in ENVIRONMENT.items()}
    told["token"] = told["token"] or os.environ.get(LEASE_TOKEN)
    found = replace(kept, **{name: value for name, value in told.items() if value})
    if told["tenant"] and not told["project"] and told["tenant"] != kept.tenant:
        # The file's project is one of the file's tenant.
        return replace(found, project=None)
    return found


def save_session(session: Session, *, name: str | None = None, use: bool = False) -> Path:
    """Keep a context for the commands that follow: the one that is meant, or one by its name.

    With ``use`` it is the one that is used from now on.
    """
    with changed_contexts() as contexts:
        name = name or named_context() or contexts.current
        if name not in contexts.known and len(contexts.known) >= CONTEXTS_MAX:
            raise LimitReached("contexts", CONTEXTS_MAX)
        is_first = not contexts.known
        contexts.known[name] = session
        if use or is_first:
            contexts.current = name
    return contexts_path()


@contextmanager
def changed_contexts() -> Iterator[Contexts]:
    """What is kept, to be changed: written if nothing went wrong, and by nobody else meanwhile."""
    path = contexts_path()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked(path.with_name("contexts.lock")):
        contexts = stored_contexts()
        yield contexts
        _write(path, contexts)
        session_path().unlink(missing_ok=True)  # its token is in the new file, and nowhere else


def _write(path: Path, contexts: Contexts) -> None:
    rows = {
        name: {each: value for each, value in asdict(session).items() if value is not None}
        for name, session in sorted(contexts.known.items())
    }
    told = {"version": _VERSION, "current": contexts.current, "contexts": rows}
    if not contexts.known:
        path.unlink(missing_ok=True)
        return
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:  # mode 600
        file.write(json.dumps(told, indent=2) + "\n")
    os.replace(file.name, path)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    until = time.monotonic() + _LOCK_WAIT_S
    try:
        while not _takes(descriptor):  # bounded: by the time
            if time.monotonic() > until:
                raise Conflict("the lock of contexts", path, "is held by another command")
            time.sleep(0.05)
        yield
    finally:
        os.close(descriptor)


def _takes(descriptor: int) -> bool:
    """Whether the lock could be had now."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


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
