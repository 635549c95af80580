"""The log of the server: one line for each thing worth saying, for a person or for a program.

Rules:

- Every line bears its correlation id (``none`` where there is none), and tenant, project and trace
  when they are known; lines of the libraries (uvicorn, alembic) as well.
- Pretty on a terminal, JSON lines everywhere else. The local table gets each line too.
- A secret is never written: values under a secret's name are dropped at any depth, and what looks
  like a token, a bearer header or a password in an address is struck out of every text.

>>> strike("Authorization: Bearer abc.def-1 and postgres://me:pw@host")
'Authorization: Bearer [dropped] and postgres://me:[dropped]@host'
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from bailiwick.telemetry.rows import LogRow
from bailiwick.telemetry.trace_context import CURRENT, NO_ID

DROPPED: Final = "[dropped]"
SECRET_KEYS: Final = frozenset(
    (
        *("authorization", "proxy_authorization", "cookie", "set_cookie", "token", "bearer"),
        *("access_token", "refresh_token", "lease_token", "id_token", "login_code", "code"),
        *("password", "passwd", "secret", "client_secret", "api_key", "x_api_key", "key_pem"),
        *("private_key", "pem", "credentials", "env", "environment", "session"),
    )
)
_SECRET_ENDS: Final = ("_token", "_secret", "_password", "_key_pem", "_credentials")
_BEARER: Final = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]+")
_JWT: Final = re.compile(r"\b[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}\b")
_IN_ADDRESS: Final = re.compile(r"(://[^\s/:@]*:)[^\s/@]+@")
_DEPTH_MAX: Final = 6
_TEXT_MAX: Final = 16_384
_COLUMNS: Final = ("correlation_id", "level", "event", "tenant", "project", "timestamp")

Keep = Callable[[LogRow], None]


def strike(text: str) -> str:
    """The text without what looks like a secret."""
    text = _BEARER.sub(rf"\1 {DROPPED}", text)
    text = _JWT.sub(DROPPED, text)
    return _IN_ADDRESS.sub(rf"\1{DROPPED}@", text)


def is_secret(key: str) -> bool:
    """Whether values under this name are never written."""
    plain = key.lower().replace("-", "_")
    return plain in SECRET_KEYS or plain.endswith(_SECRET_ENDS)


def without_secrets(event: EventDict) -> EventDict:
    """The event without secrets, at any depth."""
    return {key: DROPPED if is_secret(key) else _clean(value, 0) for key, value in event.items()}


def _clean(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return strike(value[:_TEXT_MAX])
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth == _DEPTH_MAX:
        return DROPPED
    if isinstance(value, Mapping):
        return {
            str(key): DROPPED if is_secret(str(key)) else _clean(each, depth + 1)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [_clean(each, depth + 1) for each in value]
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return strike(str(value)[:_TEXT_MAX])


def _drop_secrets(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
    del logger, name
    return without_secrets(event)


def _add_context(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
    """A processor: in the course of what this was said."""
    del logger, name
    context = CURRENT.get()
    if context is None:
        event.setdefault("correlation_id", NO_ID)
        return event
    event.setdefault("correlation_id", context.correlation_id)
    for key in ("tenant", "project", "trace_id"):
        value = getattr(context, key)
        if value is not None:
            event.setdefault(key, value)
    return event


class _Keeper:
    """A processor: the local table gets the line as well."""

    def __init__(self, keep: Keep) -> None:
        self._keep = keep

    def __call__(self, logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
        context = CURRENT.get()
        details = {key: event[key] for key in event if key not in _COLUMNS}
        self._keep(
            LogRow(
                str(event.get("correlation_id", NO_ID)),
                time.time_ns() // 1000,
                str(event.get("level", "info")),
                str(event.get("event", "")),
                None if context is None else context.root_id,
                _text(event.get("tenant")),
                _text(event.get("project")),
                json.dumps(details, default=str),
            )
        )
        return event


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def configure_logs(
    stream: TextIO | None = None,
    *,
    keep: Keep | None = None,
    level: int = logging.INFO,
    pretty: bool | None = None,
) -> logging.Handler:
    """Send every line of this process through one handler; it is given back to be closed."""
    out = sys.stderr if stream is None else stream
    is_pretty = out.isatty() if pretty is None else pretty
    before: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _add_context,
    ]
    after: list[Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        _drop_secrets,
    ]
    if keep is not None:
        after.append(_Keeper(keep))
    after.append(
        structlog.dev.ConsoleRenderer(colors=out.isatty())
        if is_pretty
        else structlog.processors.JSONRenderer(default=str)
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=before, processors=after)
    )
    _route(handler, level)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *before,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    return handler


_CHATTY = ("uvicorn", "uvicorn.error", "uvicorn.access", "alembic", "alembic.runtime.migration")
"""Libraries with loggers of their own, whose everyday lines nobody needs."""


def _route(handler: logging.Handler, level: int) -> None:
    """One handler at the root; the libraries' own ones go."""
    root = logging.getLogger()
    for old in list(root.handlers):
        if isinstance(old.formatter, structlog.stdlib.ProcessorFormatter):
            root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level)
    for name in _CHATTY:
        library = logging.getLogger(name)
        library.handlers.clear()
        library.propagate = True
    # One line for each statement or request would drown everything else.
    for name in (*_CHATTY, "sqlalchemy.engine", "opentelemetry", "urllib3", "httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
