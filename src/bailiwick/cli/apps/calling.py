"""``bailiwick app call``: a running instance is asked something, and its operator answers.

Rules:

- What the operator says comes out as a program's output does, and the exit status is the one that
  it says.
- A question is asked once, also if the connection is lost meanwhile: all waiting is under one key.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final
from uuid import uuid4

import typer

from bailiwick.cli.apps.arguments import InstanceName, find, place_of
from bailiwick.cli.offline.policy_files import read_bytes
from bailiwick.cli.shared.ask import Ask, verb
from bailiwick.vocab.apps import CallVerb
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.wire.actions.action import Action
    from bailiwick.wire.instances import CallDone, CallReply, InstanceCall, NewCall

WITHIN_S: Final = 60
_ROUNDS_MAX: Final = 64
"""Requests that wait for one answer: more than its longest time takes."""

VerbWord = Annotated[
    CallVerb, typer.Argument(metavar="VERB", help="submit, read or cancel: what you want of it.")
]
Words = Annotated[list[str] | None, typer.Argument(metavar="-- WORDS...", help="What it is asked.")]
InputOption = Annotated[
    Path | None, typer.Option("--input", metavar="FILE", help="What it reads; - for stdin.")
]
WithinOption = Annotated[
    int, typer.Option("--within", metavar="SECONDS", min=1, max=300, help="Wait no longer.")
]


def add_call_verb(app: typer.Typer) -> None:
    """What ``bailiwick app`` says about asking an instance."""
    verb(
        app,
        "call",
        changes=True,
        scope="project",
        context_settings={"allow_interspersed_args": False},
    )(call_instance)


def call_instance(
    ask: Ask,
    name: InstanceName,
    *,
    how: VerbWord,
    words: Words = None,
    given: InputOption = None,
    within: WithinOption = WITHIN_S,
) -> None:
    """Ask a running instance something: put work into its queue, look at it, take work out.

    Options stand before the instance. Which words it understands is the app's to say. Each verb
    needs its own permission: scheduler.queue.submit, read or cancel. It is sealed in the journal
    that you asked, and never what. Ends as the app says; 5 if nobody answered in time.

    Example: bailiwick app call --input job.sh demo submit -- enqueue --nodes=2

    Example: bailiwick app call demo read -- list --long
    """
    from bailiwick.apps.calls import STDIN_BYTES_MAX
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.instances import NewCall

    words = words[1:] if words and words[0] == "--" else words
    if not words:
        raise InvalidValue("WORDS", None, "what the app understands, after --")
    data = b"" if given is None else read_bytes("--input", given, most=STDIN_BYTES_MAX)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise InvalidValue("--input", str(given), "text") from None
    body = make_body(NewCall, argv=words, stdin=text, within_s=within)
    path = {**place_of(ask), "instance_id": find(ask, name).instance_id}
    action = _action(how)
    if ask.dry_run:
        ask.change(action, path=path, body=body, told=f"{name} would be asked")
        return
    found = _answered(ask, action, path=path, body=body)
    raise typer.Exit(_show(ask, found))


def _action(how: CallVerb) -> Action[NewCall, CallDone]:
    from bailiwick.wire.actions.instances import (
        INSTANCE_QUEUE_CANCEL,
        INSTANCE_QUEUE_READ,
        INSTANCE_QUEUE_SUBMIT,
    )

    return {
        CallVerb.SUBMIT: INSTANCE_QUEUE_SUBMIT,
        CallVerb.READ: INSTANCE_QUEUE_READ,
        CallVerb.CANCEL: INSTANCE_QUEUE_CANCEL,
    }[how]


def _answered(
    ask: Ask, action: Action[NewCall, CallDone], *, path: dict[str, str | int], body: NewCall
) -> InstanceCall:
    """The call once it is answered; the server says when its time is over."""
    from bailiwick.vocab.errors import CallUnanswered

    key, number = f"call-{uuid4().hex}", 0
    for _ in range(_ROUNDS_MAX):
        found = ask.client.send_under(key, action, body=body, path=path).call
        if found is not None and found.reply is not None:
            return found
        number = number if found is None else found.call_id
    raise CallUnanswered(number, was_taken=True)


def _show(ask: Ask, found: InstanceCall) -> int:
    reply: CallReply | None = found.reply
    assert reply is not None  # it was waited for
    ask.printer.thing(found, name=f"call-{found.call_id}", draw=lambda: _draw(reply))
    return reply.exit_code


def _draw(reply: CallReply) -> None:
    sys.stdout.write(reply.stdout)
    sys.stdout.flush()
    sys.stderr.write(reply.stderr)
    if reply.is_truncated:
        sys.stderr.write("there was more; the app's operator cut it\n")
