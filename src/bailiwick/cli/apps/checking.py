"""``bailiwick app check``: whether an app is ready to be taken on, tried on a live server.

Rules:

- Each part is told on stderr as it begins; on stdout is the table, or with ``-o json`` the wire
  model.
- Ends with 0 if the app is ready, 3 if not, 4 if not everything was tried.
- Who may not seal is told what was found all the same.
"""

from __future__ import annotations

import dataclasses
import shlex
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.apps.arguments import parse_counts, parse_parameters, place_of
from bailiwick.cli.lazy import COMMANDS, load_command
from bailiwick.cli.shared.ask import Ask, path_word
from bailiwick.cli.shared.completions import complete_projects, complete_tenants
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.output import Format
from bailiwick.cli.shared.screen import make_console, print_rows
from bailiwick.cli.shared.session import connect, load_session, need_token
from bailiwick.phrases.readiness import CONDITIONS, VERDICTS, told
from bailiwick.phrases.times import moment
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.readiness import Readiness

if TYPE_CHECKING:
    from bailiwick.client import Client
    from bailiwick.tools.app_check.plan import CheckWish
    from bailiwick.tools.app_check.suite import CheckReport
    from bailiwick.wire.readiness import AppCheck

HELP: Final = (
    "Whether an app is ready to be taken on: seven conditions, tried on this server.\n\n"
    'bailiwick app check lab.hello --version 1.2.0 --project vision --operator "python op.py"\n\n'
    "An instance is made, failed, upgraded, rolled back and deleted, while its operator is killed "
    "again and again. What was made is put away. What the publisher's administrators find is "
    "sealed. Ends with 0 if the app is ready, 3 if it is not, 4 if not everything was tried."
)
EXITS: Final = {
    Readiness.READY: ExitCode.DONE,
    Readiness.NOT_READY: ExitCode.DENIED,
    Readiness.UNDECIDED: ExitCode.PENDING,
}
_MAY_NOT: Final = frozenset((403, 404))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AppCheckOptions:
    """What ``bailiwick app check`` can be told."""

    name: Annotated[str, typer.Argument(metavar="APP", help="hello, or lab.hello.")]
    version: Annotated[str, typer.Option("--version", metavar="VERSION", help="Such as 1.2.0.")]
    operator: Annotated[
        str | None,
        typer.Option("--operator", metavar="COMMAND", help="What begins its operator."),
    ] = None
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="FILE", help="Its operator's; else one is made."),
    ] = None
    other: Annotated[
        str | None,
        typer.Option("--other", metavar="TENANT/PROJECT", help="Another tenant's, to be tried."),
    ] = None
    given: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter; JSON, or else text."),
    ] = None
    count: Annotated[
        list[str] | None,
        typer.Option("--count", metavar="ROLE=N", help="How many members of a role."),
    ] = None
    timeout: Annotated[
        str, typer.Option("--timeout", metavar="SPAN", help="How long each step may take.")
    ] = "5m"
    log: Annotated[
        Path | None,
        typer.Option("--operator-log", metavar="FILE", help="What its operator prints."),
    ] = None
    no_seal: Annotated[bool, typer.Option("--no-seal", help="Find out, and seal nothing.")] = False
    tenant: Annotated[
        str | None,
        typer.Option("--tenant", help="Else the session's.", autocompletion=complete_tenants),
    ] = None
    project: Annotated[
        str | None,
        typer.Option("--project", help="Where it is tried.", autocompletion=complete_projects),
    ] = None
    output: Annotated[
        Format, typer.Option("--output", "-o", help="For people, or the wire model.")
    ] = Format.TABLE


def add_check_verb(app: typer.Typer) -> None:
    """What ``bailiwick app`` says about being ready."""
    app.command("check", help=HELP)(check_app)


@with_options(AppCheckOptions)
def check_app(options: AppCheckOptions) -> None:
    """Check an app."""
    from bailiwick.tools.app_check.plan import make_plan
    from bailiwick.tools.app_check.suite import CheckTools, run_check

    given = {"tenant": options.tenant, "project": options.project}
    ask = Ask(load_session(), output=options.output, given=given)
    plan = make_plan(ask.client, _wish(ask, options))
    signal.signal(signal.SIGTERM, _interrupt)  # what was made is put away then too

    def another(token: str | None) -> Client:
        session = need_token(ask.session)
        return connect(session if token is None else dataclasses.replace(session, token=token))

    tools = CheckTools(
        ask.client,
        another,
        lambda text: typer.echo(f"{text} ...", err=True),
        is_command,
        options.log,
    )
    found = run_check(plan, tools)
    sealed = None
    if not options.no_seal:
        sealed = _seal(ask, plan, found)
    check = sealed or spell_check(found)
    _show(ask, plan.app, plan.version, check=check, notes=found.notes)
    raise typer.Exit(EXITS[check.verdict])


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _wish(ask: Ask, options: AppCheckOptions) -> CheckWish:
    from bailiwick.tools.app_check.plan import CheckWish
    from bailiwick.vocab.units import parse_span

    place = place_of(ask)
    other = None
    if options.other is not None:
        tenant, slash, project = options.other.partition("/")
        if not slash:
            raise InvalidValue("--other", options.other, "TENANT/PROJECT")
        other = (path_word("--other", tenant), path_word("--other", project))
    return CheckWish(
        app=options.name,
        version=options.version,
        tenant=str(place["tenant"]),
        project=str(place["project"]),
        operator=tuple(shlex.split(options.operator or "")),
        token_file=None if options.token_file is None else str(options.token_file),
        other=other,
        parameters=parse_parameters(options.given, file=None) or {},
        counts=parse_counts(options.count),
        timeout_s=parse_span("--timeout", options.timeout) / 1_000,
    )


def _seal(ask: Ask, plan: Any, found: CheckReport) -> AppCheck | None:
    """What the server says of it and seals; nothing if the caller may not have it sealed."""
    from bailiwick.client import Refusal
    from bailiwick.tools.app_check.suite import seal

    try:
        return seal(ask.client, plan, evidence=found.evidence)
    except Refusal as refused:
        if refused.status not in _MAY_NOT:
            raise
        typer.echo("not sealed: that is for who may publish the app", err=True)
        return None


def spell_check(found: CheckReport) -> AppCheck:
    """What was found, as the wire has it, before anybody sealed it."""
    from bailiwick.wire.readiness import AppCheck, ConditionFinding

    rows = [
        ConditionFinding(
            condition=each.condition,
            state=each.state,
            reason=each.reason,
            numbers=dict(each.numbers),
        )
        for each in found.judgement.findings
    ]
    return AppCheck(
        verdict=found.judgement.verdict,
        conditions=rows,
        evidence_digest=found.evidence.digest,
        checked_ms=0,
    )


def _show(ask: Ask, app: str, version: str, *, check: AppCheck, notes: tuple[str, ...]) -> None:
    for note in notes:
        typer.echo(f"note: {note}", err=True)

    def draw() -> None:
        draw_check(check)
        seal = f", sealed {moment(check.checked_ms)}" if check.checked_ms else ", not sealed"
        typer.echo(f"{app} {version} is {VERDICTS[check.verdict]}{seal}")

    ask.printer.thing(check, name=check.verdict.value, draw=draw)


def draw_check(check: AppCheck) -> None:
    """The conditions of a check, as rows."""
    rows = [
        (CONDITIONS[each.condition], each.state.replace("_", " "), told(each.reason, each.numbers))
        for each in check.conditions
    ]
    print_rows(make_console(), ("condition", "stands", "because*"), rows=rows)


def is_command(text: str) -> bool:
    """Whether the command line has what a runbook says to type, up to its first argument.

    >>> is_command("bailiwick app instance show demo"), is_command("bailiwick app heal demo")
    (True, False)
    """
    words = shlex.split(text)[1:]
    if not words or words[0] not in COMMANDS:
        return False
    found = load_command(words[0])
    for word in words[1:]:
        below = getattr(found, "commands", None)
        if not below:
            return True
        if word not in below:
            return False
        found = below[word]
    return not getattr(found, "commands", None)
