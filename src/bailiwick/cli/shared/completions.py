"""Names for shell completion, from the server, quickly or not at all.

Rules:

- An answer comes within about 300 ms, or there is none; nothing is ever said aloud.
- What was learned is kept for ten seconds, readable by its owner only, for each server and token.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from bailiwick.cli.shared.session import Session

WAIT_S: Final = 0.3
KEPT_S: Final = 10.0
ROWS_MAX: Final = 200


def complete_contexts(incomplete: str) -> list[str]:
    """Names of contexts, which need no server."""
    from bailiwick.cli.shared.session import stored_contexts

    try:
        names = sorted(stored_contexts().known)
    except Exception:  # whatever is wrong, a person in the middle of a line is not told here
        return []
    return [name for name in names if name.startswith(incomplete)]


def complete_tenants(incomplete: str) -> list[str]:
    """Tenants."""
    return _names("/v1/tenants", "tenant", incomplete)


def complete_projects(incomplete: str) -> list[str]:
    """Projects of the session's tenant."""

    def path(session: Session) -> str | None:
        return None if session.tenant is None else f"/v1/tenants/{session.tenant}/projects"

    return _names(path, "project", incomplete)


def complete_nodes(incomplete: str) -> list[str]:
    """Nodes."""
    return _names("/v1/nodes", "node", incomplete)


def complete_places(incomplete: str) -> list[str]:
    """Who may run a job: executors, which need no server, and nodes."""
    from bailiwick.executors.registry import EXECUTORS

    words = [kind.name for kind in EXECUTORS if kind.name.startswith(incomplete)]
    return words + [node for node in complete_nodes(incomplete) if node not in words]


def complete_jobs(incomplete: str) -> list[str]:
    """Jobs, as ``job-7``."""
    return _names("/v1/jobs", "job_id", incomplete, before="job-")


def complete_graphs(incomplete: str) -> list[str]:
    """Graphs, as ``graph-7``."""
    return _names("/v1/graphs", "graph_id", incomplete, before="graph-")


def complete_instances(incomplete: str) -> list[str]:
    """Instances of apps of the session's project."""

    def path(session: Session) -> str | None:
        if session.tenant is None or session.project is None:
            return None
        return f"/v1/tenants/{session.tenant}/projects/{session.project}/instances"

    return _names(path, "name", incomplete)


def complete_leases(incomplete: str) -> list[str]:
    """Leases, as ``lease-12``."""
    return _names("/v1/leases", "lease_id", incomplete, before="lease-")


def complete_entries(incomplete: str) -> list[str]:
    """Waiting requests, as ``entry-3``."""
    return _names("/v1/queue", "entry_id", incomplete, before="entry-")


def complete_accounts(incomplete: str) -> list[str]:
    """Service accounts."""
    return _names("/v1/service-accounts", "account", incomplete)


def complete_generations(incomplete: str) -> list[str]:
    """GPU generations, which need no server."""
    from bailiwick.vocab.words import HardwareGeneration

    return [word.value for word in HardwareGeneration if word.startswith(incomplete)]


def complete_priorities(incomplete: str) -> list[str]:
    """Priorities, which need no server."""
    from bailiwick.vocab.words import Priority

    return [word.value for word in Priority if word.startswith(incomplete)]


def complete_retries(incomplete: str) -> list[str]:
    """Why a job may be tried again; needs no server."""
    from bailiwick.vocab.graphs import RETRYABLE

    return [word.value for word in RETRYABLE if word.startswith(incomplete)]


def complete_classes(incomplete: str) -> list[str]:
    """Classes of leases, which need no server."""
    from bailiwick.vocab.words import LeaseClass

    return [word.value for word in LeaseClass if word.startswith(incomplete)]


def complete_exclusivities(incomplete: str) -> list[str]:
    """With whom a GPU may be shared; needs no server."""
    from bailiwick.vocab.words import Exclusivity

    return [word.value for word in Exclusivity if word.startswith(incomplete)]


def _names(
    path: str | Callable[[Session], str | None], field: str, incomplete: str, *, before: str = ""
) -> list[str]:
    from bailiwick.cli.shared.session import load_session

    try:
        session = load_session()
        where = path if isinstance(path, str) else path(session)
        if session.token is None or where is None:
            return []
        rows = _kept(session, where)
        names = [f"{before}{row[field]}" for row in rows]
    except Exception:  # whatever is wrong, a person in the middle of a line is not told here
        return []
    return [name for name in names if name.startswith(incomplete)]


def _kept(session: Session, path: str) -> list[dict[str, Any]]:
    """The rows, from the cache while it is fresh."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    asked = f"{session.server}\n{session.token}\n{path}"
    file = Path(home) / "bailiwick" / f"names-{sha256(asked.encode()).hexdigest()[:32]}.json"
    if file.exists() and 0 <= time.time() - file.stat().st_mtime < KEPT_S:
        kept: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))
        return kept
    rows = _asked(session, path)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        json.dump(rows, out)
    return rows


def _asked(session: Session, path: str) -> list[dict[str, Any]]:
    # The standard library: what the full client imports takes longer than there is time.
    import ssl
    from http.client import HTTPConnection, HTTPSConnection
    from urllib.parse import urlsplit

    parts = urlsplit(session.server)
    host = parts.hostname or ""
    if parts.scheme == "https":
        context = ssl.create_default_context(cafile=session.ca_file)
        connection: HTTPConnection = HTTPSConnection(
            host, parts.port, timeout=WAIT_S, context=context
        )
    else:
        connection = HTTPConnection(host, parts.port, timeout=WAIT_S)
    limit = 50 if path == "/v1/queue" else ROWS_MAX
    headers = {"Authorization": f"Bearer {session.token}"}
    try:
        connection.request("GET", f"{path}?limit={limit}", headers=headers)
        found: list[dict[str, Any]] = json.loads(connection.getresponse().read())["items"]
    finally:
        connection.close()
    return found
