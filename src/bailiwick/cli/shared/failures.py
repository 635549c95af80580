"""How an error reaches a person: one line with what, what to do, and under which id; an exit code.

Rules:

- The table from error codes to exit codes is closed and is the same for every command.
- The line says first what happened, then what would help, then the correlation id.
- A package that an extra would have brought is named together with that extra.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.shared.session import NoLogin
from bailiwick.client.errors import Misunderstood, Refusal, Unreachable
from bailiwick.tools.errors import NotAsSealed
from bailiwick.vocab.errors import BailiwickError, ErrorCode, InvariantBroken, Unavailable
from bailiwick.wire.problem import EdgeCode, Problem

_E, _X = ErrorCode, ExitCode

EXIT_CODES: Final[dict[ErrorCode | EdgeCode, ExitCode]] = {
    EdgeCode.MALFORMED: _X.USAGE,
    EdgeCode.UNAUTHENTICATED: _X.DENIED,
    EdgeCode.FORBIDDEN: _X.DENIED,
    EdgeCode.METHOD_NOT_ALLOWED: _X.FAULT,
    EdgeCode.TOO_LARGE: _X.USAGE,
    EdgeCode.PRECONDITION_REQUIRED: _X.USAGE,
    EdgeCode.RATE_LIMITED: _X.DENIED,
    EdgeCode.REFUSED: _X.DENIED,
    _E.INVALID_VALUE: _X.USAGE,
    _E.NOT_FOUND: _X.USAGE,
    _E.CONFLICT: _X.DENIED,
    _E.ILLEGAL_TRANSITION: _X.DENIED,
    _E.STALE: _X.CHANGED,
    _E.LIMIT_REACHED: _X.DENIED,
    _E.NOT_HONOURED: _X.DENIED,
    _E.OVERLAY_BROADENS: _X.DENIED,
    _E.VERIFICATION_FAILED: _X.DENIED,
    _E.INSTANCE_REFUSED: _X.DENIED,
    _E.SHARED_RUNTIME_REFUSED: _X.DENIED,
    _E.EVIDENCE_CONTRADICTED: _X.DENIED,
    _E.CALL_UNANSWERED: _X.UNREACHABLE,
    _E.UNAVAILABLE: _X.UNREACHABLE,
    _E.NOT_LEADER: _X.UNREACHABLE,
    _E.DEPOSED: _X.UNREACHABLE,
    _E.CLOCK_JUMPED: _X.UNREACHABLE,
    _E.DAMAGED: _X.FAULT,
    _E.UNSUPPORTED_SCHEMA: _X.FAULT,
    _E.INVARIANT_BROKEN: _X.FAULT,
}

_FIXES: Final[dict[ErrorCode | EdgeCode, str]] = {
    EdgeCode.UNAUTHENTICATED: "log in with: bailiwick login CODE",
    EdgeCode.FORBIDDEN: "ask an administrator there for a role that has it",
    EdgeCode.RATE_LIMITED: "wait a minute",
    EdgeCode.METHOD_NOT_ALLOWED: "this server may be of another version",
    _E.NOT_FOUND: "check the name, and with bailiwick context the tenant",
    _E.STALE: "look at it again, then repeat",
    _E.UNAVAILABLE: "try again in a moment",
    _E.CALL_UNANSWERED: "look whether the instance's operator runs; ask what came of it first",
    _E.NOT_LEADER: "try again in a moment",
    _E.DEPOSED: "try again in a moment",
    _E.CLOCK_JUMPED: "set the server's clock right, or try again in a moment",
}

EXTRAS: Final[dict[str, str]] = {
    "alembic": "server",
    "biscuit_auth": "capability",
    "fastapi": "server",
    "joserfc": "server",
    "opentelemetry": "server",
    "prometheus_client": "server",
    "psutil": "agent",
    "psycopg": "server",
    "pynvml": "agent",
    "sqlalchemy": "server",
    "starlette": "server",
    "structlog": "server",
    "tpm2_pytss": "tpm2",
    "uuid_utils": "server",
    "uvicorn": "server",
}
"""Which extra of ours brings a package, by the name it is imported under."""


def tell(error: Exception) -> tuple[str, ExitCode] | None:
    """The line and the exit code; nothing for what is no error of ours to explain."""
    match error:
        case Refusal():
            return _told_refusal(error.problem)
        case Unreachable():
            fix = "is the server up? bailiwick up starts one; bailiwick context shows where to"
            if "CERTIFICATE_VERIFY_FAILED" in error.why:
                fix = "--ca-file at login, or BAILIWICK_CA_FILE, says whom to trust"
            what = str(error).partition(" (_ssl.c")[0]
            return _line(what, fix, error.correlation_id), ExitCode.UNREACHABLE
        case Misunderstood():
            fix = "is this a Bailiwick server of the same version?"
            return _line(str(error), fix, error.correlation_id), ExitCode.FAULT
        case NoLogin():
            return "nobody is logged in (bailiwick login CODE, or BAILIWICK_TOKEN)", _X.DENIED
        case NotAsSealed():
            return str(error), ExitCode.DENIED
        case InvariantBroken():
            return str(error), ExitCode.FAULT
        case Unavailable():
            return str(error), ExitCode.UNREACHABLE
        case BailiwickError():
            return str(error), ExitCode.USAGE
        case object(format_message=Callable() as spell):  # a mistake in what was typed
            return str(spell()), ExitCode.USAGE
        case typer.Abort():
            return "stopped", ExitCode.FAULT
        case ModuleNotFoundError(name=str(name)) if name.partition(".")[0] in EXTRAS:
            package = name.partition(".")[0]
            fix = f"pip install 'bailiwick[{EXTRAS[package]}]'"
            return f"this needs the Python package {package} ({fix})", ExitCode.USAGE
        case _:
            return None


def spell_error(error: Exception, line: str, *, code: ExitCode) -> str:
    """The error as JSON: what a server said as it said it, and all of them with the same names."""
    if isinstance(error, Refusal):
        told = error.problem.model_dump(mode="json")
    else:
        own = getattr(error, "code", None)
        told = {
            "code": own.value if isinstance(own, ErrorCode) else code.name.lower(),
            "message": line,
            "correlation_id": getattr(error, "correlation_id", None),
            "details": {},
            "retryable": code is ExitCode.UNREACHABLE,
        }
    return json.dumps({**told, "exit_code": int(code)})


def _told_refusal(problem: Problem) -> tuple[str, ExitCode]:
    from bailiwick.cli.shared.denials import phrase_denial
    from bailiwick.phrases.reasons import fix_of
    from bailiwick.phrases.shared import fix_of_shared
    from bailiwick.phrases.times import with_own_dates
    from bailiwick.phrases.tokens import MINT_DENIALS
    from bailiwick.wire.answers import Refused, TokenDenied

    what, fix = problem.message, _FIXES.get(problem.code, "")
    match problem.decision:
        case Refused(denied=denied):
            what, fix = f"refused: {phrase_denial(denied)}", fix_of(denied.reason, denied.detail)
        case TokenDenied(reason=reason):
            what, fix = f"no token: {MINT_DENIALS[reason]}", ""
        case None if problem.code is ErrorCode.SHARED_RUNTIME_REFUSED:
            fix = fix_of_shared(problem.details.get("reason"))
        case None:
            pass
    errors = problem.details.get("errors")
    if isinstance(errors, list):
        what = "; ".join(errors)
    what = with_own_dates(what, problem.details)
    return _line(what, fix, problem.correlation_id), EXIT_CODES[problem.code]


def _line(what: str, fix: str, correlation_id: str) -> str:
    from bailiwick.cli.shared.screen import printable

    # Some messages bring their own advice, in brackets at the end.
    told = what if not fix or what.endswith(")") else f"{what} ({fix})"
    return printable(f"{told}; correlation id {correlation_id}").replace("\n", " ")
