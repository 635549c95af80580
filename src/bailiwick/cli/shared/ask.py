"""What commands over the API share: who asks, for which scope, in which format, and whether at all.

Rules:

- Every change can be tried with ``--dry-run``; one that ends others' work asks first, on a
  terminal, unless ``-y`` is given. Where nobody can be asked, ``-y`` is needed.
- The project of the session counts only inside the tenant of the session.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar, get_type_hints

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.shared.completions import complete_projects, complete_tenants
from bailiwick.cli.shared.output import Columns, Format, M, Printer
from bailiwick.cli.shared.session import Session, connect, load_session, need_token
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.client.http_client import Client, Places
    from bailiwick.wire.actions.action import Action
    from bailiwick.wire.answers import Done
    from bailiwick.wire.base import Page

A = TypeVar("A")
B = TypeVar("B")
D = TypeVar("D", bound="Done")

Kinds = dict[str, tuple[Any, Any]]

_OUTPUT: Final[Kinds] = {
    "output": (
        Annotated[
            Format,
            typer.Option("--output", "-o", help="A table for people, or the wire model."),
        ],
        Format.TABLE,
    ),
}
_LIST: Final[Kinds] = {
    "no_headers": (Annotated[bool, typer.Option("--no-headers", help="Rows only.")], False),
    "watch": (
        Annotated[bool, typer.Option("--watch", "-w", help="Go on showing, until Ctrl-C.")],
        False,
    ),
}
_CHANGE: Final[Kinds] = {
    "dry_run": (
        Annotated[bool, typer.Option("--dry-run", help="Decide the same, change nothing.")],
        False,
    ),
    "yes": (Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")], False),
}
_SCOPE: Final[Kinds] = {
    "tenant": (
        Annotated[
            str | None,
            typer.Option("--tenant", help="Else the session's.", autocompletion=complete_tenants),
        ],
        None,
    ),
    "project": (
        Annotated[
            str | None,
            typer.Option("--project", help="A part of it.", autocompletion=complete_projects),
        ],
        None,
    ),
}
_EVERYWHERE: Final[Kinds] = {
    "everywhere": (
        Annotated[bool, typer.Option("--all", "-A", help="In every tenant that you may see.")],
        False,
    ),
}


@dataclass
class Ask:
    """One command of one person."""

    session: Session
    output: Format = Format.TABLE
    no_headers: bool = False
    watch: bool = False
    dry_run: bool = False
    yes: bool = False
    everywhere: bool = False
    """Whether all tenants are meant, and not the session's."""
    given: dict[str, str | None] = field(default_factory=dict)
    """The tenant and project as they were typed."""

    @cached_property
    def client(self) -> Client:
        """The way to the server."""
        return connect(need_token(self.session))

    @property
    def printer(self) -> Printer:
        """Prints as was asked for."""
        return Printer(self.output, not self.no_headers)

    @property
    def tenant(self) -> str:
        """The tenant that is meant."""
        found = self.given.get("tenant") or self.session.tenant
        if found is None:
            expected = "a tenant's name; bailiwick context --tenant NAME keeps one"
            raise InvalidValue("--tenant", None, expected)
        return path_word("--tenant", found)

    @property
    def project(self) -> str | None:
        """The project that is meant, the session's included."""
        typed = self.given.get("tenant")
        if self.given.get("project") or (typed and typed != self.session.tenant):
            return self.typed_project
        return self.session.project

    @property
    def typed_project(self) -> str | None:
        """The project, only if it was typed."""
        found = self.given.get("project")
        return None if found is None else path_word("--project", found)

    @property
    def scope(self) -> Places:
        """The tenant, or the project that was typed, as it stands in a path of the API."""
        project = self.typed_project
        return {"tenant": self.tenant} | ({} if project is None else {"project": project})

    def of_scope(self, of_tenant: A, of_project: A) -> A:
        """The action of a tenant, or of a project if one was typed."""
        return of_tenant if self.typed_project is None else of_project

    @property
    def scope_name(self) -> str:
        """The same for people."""
        project = self.typed_project
        return self.tenant if project is None else f"{self.tenant}/{project}"

    def list(
        self,
        action: Action[None, Page[M]],
        *,
        columns: Columns[M],
        path: Places | None = None,
        **paging: Any,
    ) -> None:
        """Print a list, once or again and again."""

        def read() -> Page[M]:
            return self.client.pages(action, path=path, **paging)

        self.show_rows(read, columns)

    def show_rows(self, read: Callable[[], Page[M]], columns: Columns[M]) -> None:
        """Print what ``read`` finds, once or again and again."""
        if self.watch:
            self.printer.watch(read, columns)
        else:
            self.printer.rows(read(), columns)

    def change(
        self,
        action: Action[B, D],
        *,
        told: str | Callable[[D], str],
        path: Places | None = None,
        body: B | None = None,
        tell: Callable[[D], None] | None = None,
        **asked: Any,
    ) -> None:
        """Have something done and say so, or (dry run) that it would be, and what follows."""
        if body is not None:
            asked["body"] = body
        done = self.client.send(action, path=path, dry_run=self.dry_run, **asked)
        suffix = " (dry run: nothing was changed)" if self.dry_run else ""
        says = told if isinstance(told, str) else told(done)

        def draw() -> None:
            typer.echo(says + suffix)
            if tell is not None:
                tell(done)

        self.printer.thing(done, name=says, draw=draw)

    def foresee(
        self,
        action: Action[B, D],
        *,
        tell: Callable[[D], None],
        path: Places | None = None,
        body: B,
    ) -> None:
        """Before somebody is asked: try it, and tell what would follow."""
        if not (self.yes or self.dry_run) and sys.stdin.isatty():
            asked: dict[str, Any] = {"body": body}
            tell(self.client.send(action, path=path, dry_run=True, **asked))

    def confirm(self, question: str) -> None:
        """Go on only if the person wants it."""
        if self.yes or self.dry_run:
            return
        if not sys.stdin.isatty():
            typer.echo(f"bailiwick: {question} Nobody can be asked here: say yes with -y", err=True)
            raise typer.Exit(ExitCode.USAGE)
        if not typer.confirm(question, err=True):
            typer.echo("nothing was changed", err=True)
            raise typer.Exit(ExitCode.DENIED)


def path_word(name: str, value: str) -> str:
    """A name that can stand in a path; checked here, because a path cannot hold just anything."""
    from bailiwick.vocab.values import check_name

    return check_name(name, value)


def noun(help_text: str) -> typer.Typer:
    """A group of commands about one kind of thing."""
    return typer.Typer(help=help_text, no_args_is_help=True, add_completion=False)


def verb(
    app: typer.Typer,
    name: str,
    *,
    lists: bool = False,
    changes: bool = False,
    scope: Literal["fleet", "tenant", "project", "everywhere"] = "fleet",
    **more: Any,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command whose first parameter is its :class:`Ask`; the rest are its own.

    ``scope`` is how deep it reaches: with ``tenant`` it can be told one, with ``project`` that too,
    and with ``everywhere`` that neither counts.
    """
    extra = dict(_OUTPUT)
    for wanted, options in ((lists, _LIST), (changes, _CHANGE)):
        if wanted:
            extra |= options
    depth = ("fleet", "tenant", "project", "everywhere").index(scope)
    extra |= {option: _SCOPE[option] for option in [*_SCOPE][:depth]}
    if scope == "everywhere":
        extra |= _EVERYWHERE

    def wrap(command: Callable[..., None]) -> Callable[..., None]:
        for taken in inspect.signature(command).parameters:
            extra.pop(taken, None)

        def run(**typed: Any) -> None:
            common = {option: typed.pop(option) for option in extra}
            given: dict[str, str | None] = {o: common.pop(o, None) for o in _SCOPE}
            command(Ask(load_session(), given=given, **common), **typed)

        hints = get_type_hints(command, include_extras=True)
        own = [*inspect.signature(command).parameters.values()][1:]
        own = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
        added = [
            inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=default)
            for option, (_, default) in extra.items()
        ]
        kinds = {one.name: hints[one.name] for one in own}
        kinds |= {option: kind for option, (kind, _) in extra.items()}
        named = [one.replace(annotation=kinds[one.name]) for one in (*own, *added)]
        run.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]
        run.__annotations__ = kinds
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        app.command(name, **more)(run)
        return command

    return wrap
