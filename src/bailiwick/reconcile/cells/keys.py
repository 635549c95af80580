"""How a home gets into its cells: a file for each, with a key of a service account there.

Rules:

- In ``DIR/CELL`` stands ``URL ACCOUNT KEY`` (a key of that account, exchanged for short tokens), or
  ``URL TOKEN``.
- What stands there is shown at that address alone. Whoever may have a cell join may write another
  one into the journal, and would else have the key sent to himself.
- A file is read again when it has changed, so a key is rotated without a restart.
- What it says is told to nobody; what is wrong with it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bailiwick.wire.credentials import KEY_PREFIX

CHARS_MAX: Final = 8192


@dataclass(frozen=True, slots=True)
class CellKey:
    """What is shown in a cell: a key of this account, or (no account) a token."""

    url: str
    """Where it is shown, and nowhere else."""
    text: str = field(repr=False)
    account: str | None = None


class KeyFault(Exception):
    """There is no key for a cell, or none that can be used; its text says why."""


@dataclass(slots=True)
class CellKeys:
    """The files of one folder."""

    folder: Path | None
    _known: dict[str, tuple[tuple[int, int, int], CellKey]] = field(default_factory=dict)

    def of(self, cell: str, url: str) -> CellKey:
        """What to show in this cell at this address, as its file says now."""
        if self.folder is None:
            raise KeyFault("no key: the server was started without --cell-keys")
        path = self.folder / cell
        try:
            found = path.stat()
            mark = (found.st_mtime_ns, found.st_size, found.st_ino)
            known = self._known.get(cell)
            if known is None or known[0] != mark:
                with path.open(encoding="ascii") as file:
                    known = mark, _parse(file.read(CHARS_MAX + 1))
                self._known[cell] = known
        except FileNotFoundError:
            raise KeyFault(f"no key: there is no file {cell} among --cell-keys") from None
        except (OSError, ValueError) as error:
            raise KeyFault(f"the key of {cell} cannot be read ({type(error).__name__})") from None
        if known[1].url != url:
            raise KeyFault(f"the file of its key is for another address than {url}")
        return known[1]


def _parse(text: str) -> CellKey:
    match text.split() if len(text) <= CHARS_MAX else []:
        case [url, token] if "://" in url and not token.startswith(KEY_PREFIX):
            return CellKey(url.rstrip("/"), token)
        case [url, account, key] if "://" in url and key.startswith(KEY_PREFIX):
            return CellKey(url.rstrip("/"), key, account)
        case _:
            raise KeyFault("the file of its key holds neither `URL ACCOUNT KEY` nor `URL TOKEN`")
