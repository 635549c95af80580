"""``bailiwick app call``, ``bailiwick shared call``: something is asked, and an operator answers.

Rules:

- What the operator says comes out as a program's output does, and the exit status is the one that
  it says.
- A question is asked once, also if the connection is lost meanwhile: all waiting is under one key.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn, TypeVar
from uuid import uuid4

import typer

from bailiwick.cli.apps.arguments import InstanceName, find, place_of
from bailiwick.cli.offline.policy_files import read_bytes
from bailiwick.cli.shared.ask import Ask, path_word, verb
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
QueueOption = Annotated[
    str | None,
    typer.Option("--queue", metavar="[PROJECT/]QUEUE", help="Else the first of your project."),
]
Runtime = Annotated[str, typer.Argument(metavar="RUNTIME", help="What the runtime is called.")]
Question = TypeVar("Question", bound="NewCall")


def add_call_verb(app: typer.Typer) -> None:
    """What ``bailiwick app`` says about asking an instance."""
    verb(
        app,
        "call",
        changes=True,
        scope="project",
        context_settings={"allow_interspersed_args": False},
    )(call_instance)


def add_runtime_call_verb(app: typer.Typer) -> None:
    """What ``bailiwick shared`` says about asking a runtime."""
    verb(
        app,
        "call",
        changes=True,
        scope="project",
        context_settings={"allow_interspersed_args": False},
    )(call_runtime)


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
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.instances import NewCall

    body = make_body(NewCall, **_question(words, given, within_s=within))
    path = {**place_of(ask), "instance_id": find(ask, name).instance_id}
    _call(ask, _action(how), path=path, body=body)


def call_runtime(
    ask: Ask,
    name: Runtime,
    *,
    how: VerbWord,
    words: Words = None,
    given: InputOption = None,
    queue: QueueOption = None,
) -> None:
    """Ask a shared runtime something for your project: put work in, look at it, take it out.

    Options stand before the runtime. Each verb needs its own permission, by a role at --project
    itself: scheduler.queue.submit, read or cancel. The project has to be attached. A queue of
    another project is named with that project, and a policy of it has to let you submit there. It
    is sealed in the journal that you asked, and never what.

    Example: bailiwick shared call --project vision --input job.sh main submit -- enqueue --nodes=2

    Example: bailiwick shared call --project audio --queue vision/day main submit -- enqueue
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions import shared as actions
    from bailiwick.wire.instances import NewCall
    from bailiwick.wire.shared import NewSharedSubmit

    asked = _question(words, given, within_s=WITHIN_S)
    path = {**place_of(ask), "runtime": path_word("RUNTIME", name)}
    if how is CallVerb.SUBMIT:
        whose, _, which = (queue or "").rpartition("/")
        wish = make_body(NewSharedSubmit, **asked, owner=whose or None, queue=which or None)
        _call(ask, actions.SHARED_QUEUE_SUBMIT, path=path, body=wish)
    if queue is not None:
        raise InvalidValue("--queue", queue, "none but to submit")
    is_read = how is CallVerb.READ
    action = actions.SHARED_QUEUE_READ if is_read else actions.SHARED_QUEUE_CANCEL
    _call(ask, action, path=path, body=make_body(NewCall, **asked))


def _question(words: list[str] | None, given: Path | None, *, within_s: int) -> dict[str, Any]:
    from bailiwick.apps.calls import STDIN_BYTES_MAX

    words = words[1:] if words and words[0] == "--" else words
    if not words:
        raise InvalidValue("WORDS", None, "what the app understands, after --")
    data = b"" if given is None else read_bytes("--input", given, most=STDIN_BYTES_MAX)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise InvalidValue("--input", str(given), "text") from None
    return {"argv": words, "stdin": text, "within_s": within_s}


def _call(
    ask: Ask, action: Action[Question, CallDone], *, path: dict[str, str | int], body: Question
) -> NoReturn:
    if ask.dry_run:
        ask.change(action, path=path, body=body, told="it would be asked")
        raise typer.Exit
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
    ask: Ask, action: Action[Question, CallDone], *, path: dict[str, str | int], body: Question
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
