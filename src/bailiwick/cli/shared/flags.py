"""Options that many commands take alike, and a dataclass as a command's options."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Any, Final, TypeVar, get_type_hints

import typer

T = TypeVar("T")


class Output(StrEnum):
    """How a result is printed."""

    TABLE = "table"
    JSON = "json"


def with_options(
    options: type[T],
    told: Mapping[str, Any] = MappingProxyType({}),
    *,
    without: Collection[str] = (),
) -> Callable[[Callable[[T], None]], Callable[..., None]]:
    """Give a command the fields of a dataclass as its options, and hand it the dataclass.

    ``told`` has the options of fields that do not carry them: of a dataclass that is used without
    a command line too. Fields ``without`` an option stay what they are by default.
    """

    def wrap(command: Callable[[T], None]) -> Callable[..., None]:
        def run(**given: object) -> None:
            command(options(**given))

        kinds = get_type_hints(options, include_extras=True)
        kinds |= {name: Annotated[kinds[name], option] for name, option in told.items()}
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                inspect.Parameter(
                    name=f.name,
                    kind=inspect.Parameter.KEYWORD_ONLY,
                    default=inspect.Parameter.empty
                    if f.default is dataclasses.MISSING
                    else f.default,
                    annotation=kinds[f.name],
                )
                for f in dataclasses.fields(options)  # type: ignore[arg-type]
                if f.name not in without
            ]
        )
        run.__annotations__ = kinds
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        return run

    return wrap


OutputOption = Annotated[
    Output, typer.Option("--output", "-o", help="A table for people, or JSON.")
]

JOB_MODE: Final = typer.Option(
    "--job-mode",
    metavar="sandbox|users",
    help="How jobs are kept apart from each other and from Bailiwick's own files. By default the "
    "best that this machine allows; a mode that it does not allow is refused.",
)
TRUST_JOBS: Final = typer.Option(
    "--trust-jobs",
    help="Run jobs as the user who runs this, who can read all it has; for the jobs of one tenant "
    "alone.",
)
HOST_MEMBERS: Final = typer.Option(
    "--host-members",
    help="Let members of apps run outside the sandbox here, as the user who runs this, where a "
    "fleet administrator granted their version the host.",
)
JOB_PATH: Final = typer.Option(
    "--job-path",
    metavar="DIR[:rw]",
    help="A folder that jobs in a sandbox see, to read unless :rw is added. Repeatable.",
)
