"""A rate card in a file: YAML, with the words of the contract.

Rules:

- A file is small and is one table of words; a word that is not known is told with the nearest.
- Prices are whole micros: a decimal point in a price is refused, not guessed at.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from bailiwick.vocab.errors import InvalidValue

FILE_BYTES_MAX: Final = 65_536
TABLES: Final = ("gpu_micros_per_hour", "class_per_mille", "app_unit_micros")


def load_card(path: Path, *, option: str = "--file") -> dict[str, Any]:
    """The words of a card's file; ``tenant`` and ``effective_ms`` are passed over."""
    from bailiwick.wire.usage import Rates

    found = _parsed(path, option)
    for word in found:
        if word not in Rates.model_fields:
            near = get_close_matches(str(word), Rates.model_fields, 1)
            hint = f"such as {near[0]}" if near else "one of " + ", ".join(Rates.model_fields)
            raise InvalidValue(f"{path}: word", word, f"a word {hint}")
    for table in TABLES:
        if not isinstance(found.get(table, {}), dict):
            raise InvalidValue(f"{path}: {table}", found[table], "a number for each word")
    return {w: value for w, value in found.items() if w not in ("tenant", "effective_ms")}


def _parsed(path: Path, option: str) -> dict[str, Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        is_input = str(path) == "-"
        with nullcontext(sys.stdin.buffer) if is_input else path.open("rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise InvalidValue(option, str(path), f"a file to read ({error.strerror})") from None
    if len(data) > FILE_BYTES_MAX:
        raise InvalidValue(option, str(path), f"at most {FILE_BYTES_MAX} bytes")
    try:
        found = YAML(typ="safe", pure=True).load(data.decode("utf-8"))
    except MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
        what = (error.problem or "it is not").splitlines()[0]
        raise InvalidValue(option, f"{path}:{line}:{column}", f"YAML ({what})") from None
    except (YAMLError, ValueError, RecursionError):
        raise InvalidValue(option, str(path), "YAML") from None
    if not isinstance(found, dict):
        raise InvalidValue(option, str(path), "words with values, as rates show -o yaml prints")
    return found
