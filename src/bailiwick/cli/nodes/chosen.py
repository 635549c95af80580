"""One verb for many nodes: which are meant, one after the other, and what came of it.

Rules:

- Nodes are named, or chosen by labels (``-l rack=r7``; repeated, they must have all of them), or
  all are meant (``--all``): one of the three, so that nobody widens a list by mistake.
- One node that is named is a command like any other: same lines, same exit code.
- Of many each has its line, with how many there are; a dry run also tells what would follow. What
  fails is told, and the next is done. A server that cannot be reached, or lets nobody in, is not
  asked again and again.
- The last line counts. If anything failed, the exit code is that of the first failure.
- Chosen by label, a node that is where it is to be already is no failure. It is left alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.shared.ask import Ask, path_word
from bailiwick.cli.shared.completions import complete_nodes
from bailiwick.cli.shared.output import Format, emit, spell_yaml
from bailiwick.phrases.amounts import plural
from bailiwick.vocab.errors import ErrorCode, InvalidValue
from bailiwick.vocab.transitions import NodeMode

if TYPE_CHECKING:
    from bailiwick.wire.actions.action import Action
    from bailiwick.wire.fleet import Node

NodeNames = Annotated[
    list[str] | None,
    typer.Argument(metavar="NODE", help="Their names.", autocompletion=complete_nodes),
]
Selector = Annotated[
    list[str] | None,
    typer.Option(
        "-l", "--selector", metavar="KEY=VALUE", help="All nodes with this label; repeat it."
    ),
]
EveryNode = Annotated[bool, typer.Option("--all", help="Every node of the fleet.")]

_SERVERS_OWN: Final = frozenset(
    (ErrorCode.UNAVAILABLE, ErrorCode.NOT_LEADER, ErrorCode.DEPOSED, ErrorCode.CLOCK_JUMPED)
)
"""What a server says of itself: it would say so of every node."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The nodes that are meant."""

    names: tuple[str, ...]
    one: bool
    """Whether a single one was named."""
    modes: dict[str, NodeMode] = field(default_factory=dict)
    """In which mode each was when it was chosen by label."""

    @property
    def told(self) -> str:
        """The same for a question."""
        return self.names[0] if len(self.names) == 1 else plural(len(self.names), "node")


def choose(
    ask: Ask, names: Sequence[str] | None, *, selector: Sequence[str] | None, every: bool
) -> Chosen:
    """The nodes that are meant."""
    if sum(map(bool, (names, selector, every))) != 1:
        expected = "names of nodes, or -l KEY=VALUE, or --all: one of them"
        raise InvalidValue("NODE", " ".join(names or ()), expected)
    if names:
        known = tuple(dict.fromkeys(path_word("NODE", name) for name in names))
        return Chosen(known, one=len(known) == 1)
    rows = find_nodes(ask, selector)
    if not rows:
        raise InvalidValue("--selector", ",".join(selector or ()), "labels that some node has")
    return Chosen(
        tuple(row.node for row in rows), one=False, modes={row.node: row.mode for row in rows}
    )


def find_nodes(ask: Ask, selector: Sequence[str] | None) -> list[Node]:
    """The nodes with all of these labels."""
    from bailiwick.wire.actions.nodes import NODE_LIST

    page = ask.client.pages(NODE_LIST, query={"label": list(selector or ())})
    if page.next is not None:
        many = f"no more than {len(page.items):,} nodes at once: choose fewer with -l"
        raise InvalidValue("--selector", ",".join(selector or ()), many)
    return page.items


@dataclass(frozen=True, slots=True)
class NodeStep:
    """What is to be done to a node, and how it is told."""

    action: Action[Any, Any]
    told: Callable[[str], str]
    """What was done to the node of that name."""
    body: Any = None
    tell: Callable[[Any], None] | None = None
    """What a dry run foresees, for people."""
    there: tuple[NodeMode, ...] = ()
    """The modes in which there is nothing to do."""
    query: Mapping[str, str] | None = None
    told_after: Callable[[str, Any], str] | None = None
    """What was done, by what the server answered; without it, as ``told`` says."""

    def send(self, ask: Ask, node: str) -> Any:
        """Have it done, or tried."""
        return ask.client.send(self.action, path={"node": node}, dry_run=ask.dry_run, **self.asked)

    @property
    def asked(self) -> dict[str, Any]:
        """What is sent beside the node's name."""
        parts = {"body": self.body, "query": self.query}
        return {name: part for name, part in parts.items() if part is not None}

    def says(self, node: str, done: Any) -> str:
        """What was done to that node."""
        return self.told(node) if self.told_after is None else self.told_after(node, done)


def for_each(ask: Ask, chosen: Chosen, *, step: NodeStep) -> None:
    """Do it to one node after the other."""
    if chosen.one:
        name = chosen.names[0]
        told = partial(step.says, name)
        ask.change(step.action, path={"node": name}, told=told, tell=step.tell, **step.asked)
        return
    run = _Run(ask, step, total=len(chosen.names))
    for name in chosen.names:
        mode = chosen.modes.get(name)
        if mode is not None and mode in step.there:
            run.leave(name, mode)
        elif not run.try_one(name):
            break
    run.end()


class _Run:
    """How far one command for many nodes has come."""

    def __init__(self, ask: Ask, step: NodeStep, *, total: int) -> None:
        self._ask, self._step, self._total, self._at = ask, step, total, 0
        self._done: list[str] = []
        self._left: list[str] = []
        self._failed: dict[str, str] = {}
        self._code: ExitCode | None = None

    def leave(self, name: str, mode: NodeMode) -> None:
        """It is there already."""
        self._left.append(name)
        self._say(f"{name} is {mode.value} already")

    def try_one(self, name: str) -> bool:
        """Do it to this one; whether it makes sense to go on."""
        from bailiwick.cli.shared.failures import tell
        from bailiwick.client.errors import ClientError

        try:
            done = self._step.send(self._ask, name)
        except ClientError as error:
            line, code = tell(error) or (str(error), ExitCode.FAULT)
            self._failed[name] = line
            self._code = self._code or code
            self._say(f"{name}: {line}", err=True)
            return _is_about_one(error)
        self._done.append(name)
        self._say(self._step.says(name, done))
        if self._ask.output is Format.NAME:
            emit(name)
        if self._step.tell is not None and self._ask.output is Format.TABLE:
            self._step.tell(done)
        return True

    def end(self) -> None:
        """The last line, and the exit code."""
        told = {"done": self._done, "left_alone": self._left, "failed": self._failed}
        if self._ask.output is Format.JSON:
            emit(json.dumps(told, indent=2))
        elif self._ask.output is Format.YAML:
            emit(spell_yaml(told))
        untried = self._total - len(self._done) - len(self._left) - len(self._failed)
        counts = (
            (len(self._left), "left alone"),
            (len(self._failed), "failed"),
            (untried, "not tried"),
        )
        parts = [f"{len(self._done)} of {plural(self._total, 'node')} done"]
        parts += [f"{count} {word}" for count, word in counts if count]
        suffix = " (dry run: nothing was changed)" if self._ask.dry_run else ""
        typer.echo(", ".join(parts) + suffix, err=True)
        if self._code is not None:
            raise typer.Exit(self._code)

    def _say(self, text: str, *, err: bool = False) -> None:
        self._at += 1
        if err or self._ask.output is Format.TABLE:
            typer.echo(f"[{self._at}/{self._total}] {text}", err=err)


def _is_about_one(error: Exception) -> bool:
    """Whether another node may fare better: the server itself answered, and not about who asks."""
    from bailiwick.client.errors import Refusal

    if not isinstance(error, Refusal) or not isinstance(error.problem.code, ErrorCode):
        return False
    return error.problem.code not in _SERVERS_OWN
