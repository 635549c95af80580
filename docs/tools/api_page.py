"""The reference of the HTTP API, from its OpenAPI document and the list of actions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bailiwick.iam import Permission
from bailiwick.wire.actions.action import Action, Where
from bailiwick.wire.actions.table import ACTIONS
from docs.tools.markdown import code, meanings, table, text

DOCUMENT = Path(__file__).resolve().parents[1] / "openapi.json"

OPENING = """\
# API operations

Every operation of the HTTP API: what it does, which permission key it asks for, and at which scope
that key is looked for. The conventions (logging in, errors, pages, idempotency) are in the manual:
[the HTTP API](../api.md). The whole contract, with every model, is [openapi.json](../openapi.json);
every server serves it at `/openapi.json`.

Operations that change something take `?dry_run=true` and an `Idempotency-Key`. Those are not
repeated below.
"""

COMMON = {"dry_run", "Idempotency-Key"}
"""Parameters of every change, told once."""

NAME = re.compile(r"\w\.[A-Z]")
"""How a summary looks that was made from an action's name."""

METHODS = ("get", "post", "put", "patch", "delete")


def make() -> str:
    """The page."""
    document = json.loads(DOCUMENT.read_text("utf-8"))
    actions = {(action.method.lower(), action.path): action for action in ACTIONS.values()}
    groups: dict[str, list[tuple[str, str, Any]]] = {}
    for path, operations in document["paths"].items():
        for method in METHODS:
            if method in operations:
                tag = next(iter(operations[method].get("tags") or ["open to everybody"]))
                groups.setdefault(tag, []).append((method, path, operations[method]))
    parts = [OPENING]
    for tag in sorted(groups):
        title = tag.replace("_", " ").capitalize()
        parts.append(f"## {title}\n")
        rows = [
            _row(method, path, operation, actions.get((method, path)))
            for method, path, operation in groups[tag]
        ]
        parts.append(table(("operation", "what it does", "key, and where"), rows) + "\n")
        parts += [line for each in groups[tag] for line in _details(*each)]
    parts += [*_scopes()]
    return "\n".join(parts)


def _row(method: str, path: str, operation: Any, action: Action | None) -> tuple[str, ...]:
    key = "none"
    if action is not None:
        where = str(action.where).replace("_", " ")
        key = f"{code(action.permission)}, {where}" if action.permission else "a login"
    return (f"`{method.upper()} {path}`", text(_says(operation)), key)


def _says(operation: Any) -> str:
    """What it does: the summary, or where that is only a name, the description's beginning."""
    summary = str(operation.get("summary") or "")
    is_made = NAME.search(summary) or " " not in summary
    return str(operation.get("description") or summary) if is_made else summary


def _details(method: str, path: str, operation: Any) -> Iterator[str]:
    told = [one for one in operation.get("parameters", ()) if one["name"] not in COMMON]
    told = [one for one in told if one["in"] != "path"]
    body = operation.get("requestBody", {}).get("content", {})
    answers = [*_answers(operation)]
    says = str(operation.get("description") or "")
    is_told = says in ("", _says(operation))
    if is_told and not (told or body):
        return
    yield f"**`{method.upper()} {path}`**\n"
    if not is_told:
        yield text(says) + "\n"
    if body:
        models = ", ".join(code(_model(content.get("schema", {}))) for content in body.values())
        yield f"- body: {models}"
    for one in told:
        need = ", required" if one.get("required") else ""
        yield f"- {one['in']} {code(one['name'])}{need}: {text(_meaning(one))}"
    if answers:
        yield f"- answers: {', '.join(answers)}"
    yield ""


def _meaning(parameter: Any) -> str:
    schema = parameter.get("schema", {})
    says = str(parameter.get("description") or schema.get("description") or "")
    return says or _model(schema)


def _answers(operation: Any) -> Iterator[str]:
    for status, answer in operation.get("responses", {}).items():
        if status < "300":
            content = answer.get("content", {})
            models = [
                _model(each.get("schema") or each.get("itemSchema", {}))
                for each in content.values()
            ]
            yield " ".join([status, *(code(model) for model in models if model)])


def _model(schema: Any) -> str:
    """A name for a schema."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for union in ("oneOf", "anyOf"):
        if union in schema:
            names = [_model(each) for each in schema[union] if each.get("type") != "null"]
            return " or ".join(names)
    if schema.get("type") == "array":
        return f"list of {_model(schema.get('items', {}))}"
    return str(schema.get("title") or schema.get("type") or "")


def _scopes() -> Iterator[str]:
    yield "## Where a key is looked for\n"
    says = meanings(Where)
    plain = {
        Where.FLEET: "The whole fleet.",
        Where.LEASE: "The tenant and project of the lease in the path.",
        Where.ENTRY: "The tenant and project of the waiting request in the path.",
        Where.JOB: "The tenant and project of the job in the path.",
        Where.GRAPH: "The tenant and project of the graph in the path.",
        Where.ACCOUNT: "The scope of the service account in the path.",
    }
    rows = [(str(each).replace("_", " "), says.get(each) or plain[each]) for each in Where]
    yield table(("scope", "meaning"), rows) + "\n"
    keys = f"There are {len(Permission)} keys"
    yield f"{keys}; [the words](words.md#permission) list them, and which role has which."
    yield ""
