"""What the OpenAPI document says beyond its routes: for whom it is, how to log in, what may fail.

Rules:

- The document is OpenAPI 3.1 as the standard has it, so that anybody's tools read it. What 3.1 has
  no word for is told under an ``x-`` name.
- An error is described once, among the components, and every operation points there.
- An operation says which permission it needs and where, from the row of its action.

>>> from bailiwick.wire.actions.nodes import NODE_QUARANTINE
>>> needs_of(NODE_QUARANTINE)
'Needs the permission `scheduler.node.operate` over the fleet.'
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, Final

from fastapi import FastAPI
from fastapi.security import HTTPBearer

from bailiwick.server.http.routes import events, isolation, watch
from bailiwick.server.problems import PROBLEMS, STATUSES
from bailiwick.wire.actions.action import Action, Where
from bailiwick.wire.actions.tags import TAGS
from bailiwick.wire.problem import Problem

_DESCRIPTION: Final = """\
Bailiwick shares a GPU fleet among tenants: every decision can be explained, is sealed in a journal,
and every bill can be computed again from it.

**Log in.** `POST /v1/login` exchanges a one-time code for a token. Send it with every request as
`Authorization: Bearer TOKEN`. What you may not see is answered like what does not exist: 404.

**Change things safely.** `?dry_run=true` decides the same and changes nothing. With the header
`Idempotency-Key` a request that you send twice takes effect once. With `If-Match` it takes effect
only if nobody else changed the thing since you read its `ETag`.

**Lists** come in pages: pass `next` as `cursor` until it is null.

**Errors** all have one shape, `Problem`. Programs go by `code`; `retryable` says whether the same
request may do better later.

**Units** are the end of a field's name: `_ms` (a time in milliseconds since 1970, or so many
milliseconds), `_bytes`, `_milli` (thousandths), `_micros` (millionths of the currency).
"""

INFO: Final[dict[str, Any]] = {
    "title": "Bailiwick",
    "summary": "The control plane of a GPU fleet that many teams share.",
    "description": _DESCRIPTION,
    "version": version("bailiwick"),
    "license_info": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
    "servers": [
        {"url": "/", "description": "The server that you have this document from"},
        {"url": "http://127.0.0.1:7077", "description": "`bailiwick up` on your own machine"},
    ],
    "openapi_tags": [{"name": tag.name, "description": tag.description} for tag in TAGS],
}
"""What the framework is told about the whole."""

BEARER: Final = HTTPBearer(
    auto_error=False,  # told in the document; the door decides
    scheme_name="token",
    description=(
        "The token that `POST /v1/login` or `POST /v1/tokens` answered with. "
        "It counts until it expires or is revoked. Do not look inside: its form may change."
    ),
)
"""How a caller shows who it is."""


def _told_of(status: int) -> str:
    """What a status says: its codes, each with its meaning."""
    told = (f"`{code}`: {row.meaning}." for code, row in PROBLEMS.items() if row.status == status)
    return " ".join(told)


ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": Problem, "description": _told_of(status)} for status in STATUSES
}
"""Every error that any operation may answer with."""

_SCOPES: Final[dict[Where, str]] = {
    Where.FLEET: "over the fleet",
    Where.ROWS: "at some scope; what lies where you lack it is not shown",
    Where.TENANT: "at the tenant",
    Where.TENANT_ROWS: "somewhere in the tenant; what lies where you lack it is not shown",
    Where.PROJECT: "at the project",
    Where.BODY: "at the scope that the body names",
    Where.LEASE: "where the lease belongs",
    Where.ENTRY: "where the request belongs",
    Where.JOB: "where the job belongs",
    Where.GRAPH: "where the graph belongs",
    Where.APP: "where the app was published; to read a public one, at some scope",
    Where.ACCOUNT: "where the service account belongs",
    Where.REACH: "everywhere that the token's owner has a role",
    Where.TRACE: "at some scope; what lies where you lack it is not shown",
}


def needs_of(action: Action[Any, Any]) -> str:
    """What a caller must have to ask for an action, in a sentence."""
    if action.permission is None:
        return "Needs a login, and no permission."
    return f"Needs the permission `{action.permission}` {_SCOPES[action.where]}."


def description_of(action: Action[Any, Any], handler: Callable[..., Any]) -> str:
    """What an operation does, as its handler says, and what it needs."""
    return f"{inspect.getdoc(handler)}\n\n{needs_of(action)}"


class DocumentedApi(FastAPI):
    """An application whose document is finished before anybody reads it."""

    def openapi(self) -> dict[str, Any]:
        """The document; made once."""
        if self.openapi_schema is None:
            document = super().openapi()
            document["components"]["responses"] = _share_errors(document)
            for streams in (watch, events, isolation):
                document["components"]["schemas"] |= streams.EVENT_SCHEMAS
            self.openapi_schema = document
        return self.openapi_schema


def _share_errors(document: dict[str, Any]) -> dict[str, Any]:
    """Every error once, and a pointer to it where it stood."""
    shared: dict[str, Any] = {}
    operations = (each for path in document["paths"].values() for each in path.values())
    for operation in operations:
        for status in STATUSES:
            name = f"Error{status}"
            shared[name] = operation["responses"][str(status)]
            operation["responses"][str(status)] = {"$ref": f"#/components/responses/{name}"}
    return shared
