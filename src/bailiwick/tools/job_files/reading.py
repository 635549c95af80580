"""Job files: YAML with the words of the options; what is wrong is told with its line.

Rules:

- Every mistake is told, with ``file:line:column``, the word, and what is expected; not only the
  first one. A word that is not known is told with the nearest that is.
- A file is small, is one document, and names nothing twice.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NamedTuple

from bailiwick.tools.job_files.words import WORD_OF, WORDS, nested
from bailiwick.vocab.errors import InvalidValue

FILE_BYTES_MAX: Final = 65_536
_ERRORS_MAX: Final = 20


class FileMistake(NamedTuple):
    """What is wrong, and where."""

    line: int
    column: int
    message: str


class BadJobFile(InvalidValue):
    """A job file with mistakes; ``str`` has a line for each."""

    def __init__(self, name: str, mistakes: list[FileMistake]) -> None:
        super().__init__("job file", name, "no mistakes")
        self.mistakes = mistakes[:_ERRORS_MAX]
        told = (f"{name}:{each.line}:{each.column}: {each.message}" for each in self.mistakes)
        self.args = ("\n".join(told),)


def load_job_file(path: Path) -> dict[str, object]:
    """The words of a job file and their values, if all of it is well."""
    try:
        is_input = str(path) == "-"
        with nullcontext(sys.stdin.buffer) if is_input else path.open("rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise InvalidValue("job file", str(path), f"a file to read ({error.strerror})") from None
    return read_job_file(data, name=str(path))


def read_job_file(data: bytes, *, name: str) -> dict[str, object]:
    """The same of bytes; ``name`` is what mistakes call it."""
    found = _parsed(data, name)
    mistakes: list[FileMistake] = []
    flat: dict[str, Any] = {}
    for word, value in found.items():
        if word not in WORDS:
            mistakes.append(FileMistake(*_at(found, word, key=True), _unknown(word)))
            continue
        try:
            flat |= WORDS[word](word, _plain(value))
        except InvalidValue as error:
            mistakes.append(FileMistake(*_at(found, word), str(error)))
    mistakes += _unfit(found, flat)
    if mistakes:
        raise BadJobFile(name, sorted(mistakes))
    return {str(word): _plain(value) for word, value in found.items()}


def _parsed(data: bytes, name: str) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    if len(data) > FILE_BYTES_MAX:
        raise InvalidValue("job file", name, f"at most {FILE_BYTES_MAX} bytes")
    try:
        found = YAML(typ="rt", pure=True).load(data.decode("utf-8"))
    except MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
        what = (error.problem or "not YAML").splitlines()[0]
        raise BadJobFile(name, [FileMistake(line, column, what)]) from None
    except (YAMLError, ValueError, RecursionError) as error:
        text = str(error).splitlines()[0] if str(error) else "not YAML"
        raise BadJobFile(name, [FileMistake(1, 1, text)]) from None
    if not isinstance(found, CommentedMap):
        expected = "expected words with values, such as gpus: 2"
        raise BadJobFile(name, [FileMistake(1, 1, expected)])
    return found


def _plain(value: Any) -> object:
    """A value without what the reader hung on it; no word has a value of more than two levels."""
    if isinstance(value, dict):
        return {_scalar(key): _scalar(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_scalar(each) for each in value]
    return _scalar(value)


def _scalar(value: Any) -> Any:
    # What is deeper may be small in the file and huge in memory, so it is not even looked at.
    if isinstance(value, dict | list):
        return ...
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return value if kind is bool else kind(value)
    return value


def _at(found: Any, word: object, *, key: bool = False) -> tuple[int, int]:
    line, column = (found.lc.key if key else found.lc.value)(word)
    return line + 1, column + 1


def _unknown(word: object) -> str:
    near = get_close_matches(str(word), WORDS, 1)
    hint = f"; did you mean {near[0]}?" if near else "; known are " + ", ".join(WORDS)
    return f"{word}: no such word{hint}"


def _unfit(found: Any, flat: dict[str, Any]) -> list[FileMistake]:
    """What the contract itself does not take, where the word alone looked well."""
    from bailiwick.client.bodies import problems_of
    from bailiwick.wire.jobs import NewJob

    # A tenant and a command may still come from the options.
    body = {"tenant": "t", "command": ["x"], **nested(flat)}
    mistakes = []
    for where, expected in problems_of(NewJob, body):
        fields = [str(part) for part in where]
        word = next((WORD_OF.get(name, name) for name in reversed(fields) if _is_in(name)), "")
        if word in found:
            mistakes.append(FileMistake(*_at(found, word), f"{word}: {expected}"))
    return mistakes


def _is_in(name: str) -> bool:
    return WORD_OF.get(name, name) in WORDS
