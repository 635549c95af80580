"""How a result leaves: a table for people, or the contract's own document for programs.

Rules:

- JSON and YAML are exactly the wire model, one document. With ``--watch`` JSON is one document a
  line, each time something has changed.
- ``name`` prints what other commands take, one a line.
- The result goes to stdout and nothing else does; a live table only to a terminal.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from bailiwick.cli.shared.screen import Whole, make_console, print_table, table_of

if TYPE_CHECKING:
    from rich.table import Table

    from bailiwick.wire.base import Model, Page

M = TypeVar("M", bound="Model")
POLL_S: Final = 2.0


class Format(StrEnum):
    """How a result is printed."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Columns(Generic[M]):
    """How rows of one kind look."""

    headings: Sequence[str]
    row: Callable[[M], Sequence[str]]
    name: Callable[[M], str]
    numbers: Sequence[str] = ()
    empty: str = "nothing there"


@dataclass(frozen=True, slots=True)
class Printer:
    """Prints in the format that was asked for."""

    form: Format = Format.TABLE
    headers: bool = True

    def rows(self, page: Page[M], columns: Columns[M]) -> None:
        """A list."""
        if self.form is Format.NAME:
            for item in page.items:
                emit(columns.name(item))
        elif self.form is Format.TABLE:
            self._table(page, columns)
        else:
            self.document(page)

    def _table(self, page: Page[M], columns: Columns[M]) -> None:
        if not page.items:
            print(columns.empty, file=sys.stderr)
            return
        print_table(make_console(), self.table(page, columns))
        if page.next is not None:
            print(f"only the first {len(page.items):,} are shown", file=sys.stderr)

    def table(self, page: Page[M], columns: Columns[M]) -> Table:
        """A list as a table."""
        rows = [columns.row(item) for item in page.items]
        return table_of(columns.headings, rows, numbers=columns.numbers, show_header=self.headers)

    def thing(self, found: Model, *, name: str, draw: Callable[[], None]) -> None:
        """One thing; ``draw`` prints it for people."""
        match self.form:
            case Format.NAME:
                emit(name)
            case Format.TABLE:
                draw()
            case _:
                self.document(found)

    def document(self, found: Model) -> None:
        """The contract's own document."""
        if self.form is Format.YAML:
            emit(spell_yaml(found.model_dump(mode="json")))
        else:
            emit(found.model_dump_json(indent=2))

    def watch(self, read: Callable[[], Page[M]], columns: Columns[M]) -> None:
        """The list again and again, until Ctrl-C; a table on a terminal is redrawn in place."""
        console = make_console()
        try:
            if self.form is Format.TABLE and console.is_terminal:
                self._live(read, columns)
            else:
                self._changes(read, columns)
        except KeyboardInterrupt:
            return

    def _live(self, read: Callable[[], Page[M]], columns: Columns[M]) -> None:
        from rich.live import Live

        with Live(console=make_console(), auto_refresh=False, screen=False) as live:
            while True:  # until Ctrl-C
                live.update(Whole(self.table(read(), columns)), refresh=True)
                time.sleep(POLL_S)

    def _changes(self, read: Callable[[], Page[M]], columns: Columns[M]) -> None:
        before = None
        while True:  # until Ctrl-C
            page = read()
            if page != before and self.form is Format.JSON:
                emit(page.model_dump_json())
            elif page != before:
                self.rows(page, columns)
            before = page
            time.sleep(POLL_S)


def emit(text: str) -> None:
    """One line or document of the result, at once."""
    print(text.rstrip("\n"), flush=True)


def spell_yaml(plain: Any) -> str:
    """Plain values as YAML."""
    from io import StringIO

    from ruamel.yaml import YAML

    yaml, text = YAML(typ="safe", pure=True), StringIO()
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.dump(plain, text)
    return text.getvalue()


def draw_details(kind: str, name: str, *, rows: Sequence[tuple[str, str]]) -> None:
    """One thing for people: what it is, and a line for each fact."""
    print_table(make_console(), table_of((kind, f"{name}*"), rows))
