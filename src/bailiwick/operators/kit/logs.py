"""Lines for people and machines: one JSON object a line, with what it is about.

Each has ``time``, ``level``, ``operator`` (which replica), ``message``, and where they are known
``instance_id``, ``generation`` and ``correlation_id``: under that the server's logs, traces and
events have the same request. Secrets are never told.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TypeAlias

from bailiwick.client import ClientError

Fact: TypeAlias = str | int | float | bool | None


def _print_line(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


class KitLog:
    """Says what happens, with the facts that it was given."""

    def __init__(
        self,
        facts: Mapping[str, Fact] | None = None,
        *,
        write: Callable[[str], None] = _print_line,
        lock: threading.Lock | None = None,
    ) -> None:
        self._facts, self._write = dict(facts or {}), write
        self._lock = lock or threading.Lock()

    def about(self, **facts: Fact) -> KitLog:
        """One that tells these facts too."""
        return KitLog(self._facts | facts, write=self._write, lock=self._lock)

    def info(self, message: str, **facts: Fact) -> None:
        """Something happened."""
        self._say("info", message, facts)

    def warning(self, message: str, **facts: Fact) -> None:
        """Something went wrong, and is tried again."""
        self._say("warning", message, facts)

    def failure(self, message: str, error: Exception) -> None:
        """Something went wrong with this error; one of the client's says under which id."""
        name = error.correlation_id if isinstance(error, ClientError) else None
        told = {} if name is None else {"correlation_id": name}
        self.warning(message, error=f"{type(error).__name__}: {error}", **told)

    def _say(self, level: str, message: str, facts: Mapping[str, Fact]) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        found = {"time": now, "level": level, **self._facts, "message": message, **facts}
        line = json.dumps({name: value for name, value in found.items() if value is not None})
        with self._lock:
            self._write(line)
