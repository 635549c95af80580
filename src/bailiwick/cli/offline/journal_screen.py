"""What the journal's commands put on a screen: tables.

Rules:

- Text from a record never steers the terminal: what is not printable is spelled out.
"""

from __future__ import annotations

from collections.abc import Iterable

WIDTH_IN_A_FILE = 200


def print_table(headings: Iterable[str], rows: Iterable[tuple[str, ...]]) -> None:
    """Print rows under headings; wide where no terminal sets the width."""
    from rich.console import Console

    from bailiwick.cli.shared.screen import print_rows

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(width=WIDTH_IN_A_FILE, highlight=False)
    shown = [tuple(_printable(cell) for cell in row) for row in rows]
    print_rows(console, [*headings], rows=shown, numbers=("seq",))


def _printable(text: str) -> str:
    """Text from a record in one line, without what could steer a terminal."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)
