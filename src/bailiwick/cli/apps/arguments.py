"""An instance as it is typed, its parameters and counts, and waiting for it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.shared.ask import Ask, path_word
from bailiwick.cli.shared.completions import complete_instances
from bailiwick.cli.shared.output import Format
from bailiwick.vocab.apps import InstancePhase, OperationPhase
from bailiwick.vocab.errors import InvalidValue, NotFound

if TYPE_CHECKING:
    from bailiwick.wire.instances import Instance

POLL_S: Final = 0.5
_BYTES_MAX: Final = 16_384

InstanceName = Annotated[
    str,
    typer.Argument(
        metavar="INSTANCE", help="demo, or instance-7.", autocompletion=complete_instances
    ),
]
WaitOption = Annotated[
    bool, typer.Option("--wait", help="Come back when it is so; 4 if --timeout is over.")
]
TimeoutOption = Annotated[
    str | None, typer.Option("--timeout", metavar="SPAN", help="Wait no longer than this.")
]


def place_of(ask: Ask) -> dict[str, str | int]:
    """The project that is meant, as it stands in a path of the API."""
    project = ask.project
    if project is None:
        expected = "a project's name; bailiwick context --project NAME keeps one"
        raise InvalidValue("--project", None, expected)
    return {"tenant": ask.tenant, "project": project}


def find(ask: Ask, name: str) -> Instance:
    """The instance of that name, or of that number."""
    from bailiwick.wire.actions.instances import INSTANCE_LIST, INSTANCE_READ

    place = place_of(ask)
    number = re.fullmatch(r"instance-([1-9][0-9]{0,14})", name)
    if number is not None:
        return ask.client.send(INSTANCE_READ, path={**place, "instance_id": int(number[1])})
    word = path_word("INSTANCE", name)
    found = ask.client.send(INSTANCE_LIST, path=place, query={"name": word}).items
    if not found:
        hint = "bailiwick app instance list shows those that there are"
        raise NotFound("instance", name, hint=hint)
    return found[0]


def parse_counts(given: Sequence[str] | None) -> dict[str, int]:
    """How many members of each role.

    >>> parse_counts(["worker=3"])
    {'worker': 3}
    """
    found: dict[str, int] = {}
    for each in given or ():
        role, _, count = each.partition("=")
        if not role or not re.fullmatch(r"[0-9]{1,4}", count) or role in found:
            raise InvalidValue("ROLE=N", each, "a role and a number, each role once: worker=3")
        found[role] = int(count)
    return found


def parse_parameters(
    given: Sequence[str] | None,
    *,
    file: Path | None,
    before: Mapping[str, Any] | None = None,
) -> dict[str, Any] | None:
    """The parameters that are meant; nothing if nothing was said.

    A value is JSON if it can be read as that, and text otherwise.

    >>> parse_parameters(["size=3", "word=ahoy"], file=None)
    {'size': 3, 'word': 'ahoy'}
    """
    if not given and file is None:
        return None
    found = dict(before or {}) if file is None else _load(file)
    for each in given or ():
        name, is_given, value = each.partition("=")
        if not name or not is_given:
            raise InvalidValue("--set", each, "NAME=VALUE")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _load(file: Path) -> dict[str, Any]:
    from bailiwick.cli.offline.policy_files import read_bytes

    data = read_bytes("--parameters", file, most=_BYTES_MAX)
    try:
        found = json.loads(data)
    except ValueError as error:
        raise InvalidValue("--parameters", str(file), f"JSON ({error})") from None
    if not isinstance(found, dict):
        raise InvalidValue("--parameters", str(file), "a JSON object")
    return found


def wait_for(ask: Ask, name: str, *, timeout: str | None) -> None:
    """Wait until an instance stands as it is wanted, tell how it does, and end so."""
    from bailiwick.cli.apps.screen import told_progress
    from bailiwick.cli.shared.progress import NowAndThen
    from bailiwick.vocab.units import parse_span

    until = None if timeout is None else time.monotonic() + parse_span("--timeout", timeout) / 1000
    say, began = NowAndThen(), time.monotonic()
    found: Instance | None = find(ask, name)
    assert found is not None
    number = found.instance_id
    while found is not None and not _stands(found):  # bounded by the timeout, or the person
        if until is not None and time.monotonic() >= until:
            break
        say(told_progress(found, began))
        time.sleep(POLL_S)
        found = _look(ask, number)
    if found is None or ask.output is Format.TABLE:
        typer.echo(told_progress(found, began), err=ask.output is not Format.TABLE)
    else:
        ask.printer.document(found)
    if found is not None and found.phase is not InstancePhase.RUNNING:
        is_failed = found.phase is InstancePhase.FAILED
        raise typer.Exit(ExitCode.FAULT if is_failed else ExitCode.PENDING)


def wait_for_operation(ask: Ask, path: dict[str, Any], *, timeout: str | None) -> None:
    """Wait until an operation has ended, tell how it did, and end so."""
    from bailiwick.cli.shared.jobs import patiently
    from bailiwick.cli.shared.progress import NowAndThen
    from bailiwick.vocab.units import parse_span
    from bailiwick.wire.actions.instances import INSTANCE_OPERATION_READ
    from bailiwick.wire.instances import InstanceOperation

    until = None if timeout is None else time.monotonic() + parse_span("--timeout", timeout) / 1000
    say = NowAndThen()

    def read() -> InstanceOperation:
        return ask.client.send(INSTANCE_OPERATION_READ, path=path)

    found = patiently(read)
    while not found.phase.is_ended:  # bounded by the timeout, or the person
        if until is not None and time.monotonic() >= until:
            break
        say(f"operation {found.operation_id}: {found.phase}, {found.progress} %")
        time.sleep(POLL_S)
        found = patiently(read)
    told = f"operation {found.operation_id}: {found.phase} {found.result}".rstrip()
    ask.printer.thing(found, name=told, draw=lambda: typer.echo(told))
    if found.phase is not OperationPhase.SUCCEEDED:
        raise typer.Exit(ExitCode.FAULT if found.phase.is_ended else ExitCode.PENDING)


def _stands(found: Instance) -> bool:
    if found.phase is InstancePhase.FAILED:
        return True
    is_there = all(found.ready.get(role, 0) == n for role, n in found.counts.items())
    return found.phase is InstancePhase.RUNNING and is_there


def _look(ask: Ask, number: int) -> Instance | None:
    """The instance as it is now; nothing once it is gone."""
    from bailiwick.cli.shared.jobs import patiently
    from bailiwick.client.errors import Refusal
    from bailiwick.wire.actions.instances import INSTANCE_READ

    path = {**place_of(ask), "instance_id": number}

    def read() -> Instance:
        return ask.client.send(INSTANCE_READ, path=path)

    try:
        return patiently(read)
    except Refusal as refused:
        if refused.status == 404:
            return None
        raise
