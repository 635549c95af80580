"""Calls of instances: a question to an app, and its answer, as text within bounds.

Rules:

- A question is words, as a program is given them, and what it reads. The platform does not
  understand them: what they mean, and whether a verb allows them, is for the app's operator to say.
- All is text without NUL, of bounded size. An operator cuts what is longer, and says so.
- A question has one spelling, and is known by the digest of it.
- A shared runtime is asked for a project: for which, and which queue is meant, is of the question.

>>> CallQuestion(("queue", "--mine")).digest[:8]
'3c169938'
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Final, Self

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer, check_kind

WORDS_MAX: Final = 128
WORD_BYTES_MAX: Final = 4_096
ARGV_BYTES_MAX: Final = 16_384
STDIN_BYTES_MAX: Final = 131_072
OUTPUT_BYTES_MAX: Final = 131_072
"""Of each of both, after it was cut."""


@dataclass(frozen=True, slots=True)
class AskedPart:
    """For which project a shared runtime is asked, and whose queue is meant."""

    project: str
    owner: str
    queue: str | None = None
    """None: the first of the owner's."""


@dataclass(frozen=True, slots=True)
class CallQuestion:
    """What is asked."""

    argv: tuple[str, ...]
    stdin: str = ""
    part: AskedPart | None = None
    """None: an instance of the project itself is asked."""

    def __post_init__(self) -> None:
        if not 1 <= len(self.argv) <= WORDS_MAX:
            raise InvalidValue("argv", len(self.argv), f"from 1 to {WORDS_MAX} words")
        sizes = [check_text("argv", word, most=WORD_BYTES_MAX) for word in self.argv]
        if not self.argv[0] or sum(sizes) > ARGV_BYTES_MAX:
            expected = f"a program and its words, at most {ARGV_BYTES_MAX} bytes"
            raise InvalidValue("argv", "(not shown)", expected)
        check_text("stdin", self.stdin, most=STDIN_BYTES_MAX)

    @property
    def canonical(self) -> str:
        """Its one spelling."""
        told: dict[str, object] = {"argv": list(self.argv), "stdin": self.stdin}
        if self.part is not None:
            told["part"] = asdict(self.part)
        return json.dumps(told, ensure_ascii=True, sort_keys=True, separators=(",", ":"))

    @property
    def digest(self) -> str:
        """What it is known by."""
        return sha256(self.canonical.encode()).hexdigest()

    @classmethod
    def read(cls, text: str) -> Self:
        """The question that was spelled so."""
        told = json.loads(text)
        part = AskedPart(**told["part"]) if "part" in told else None
        return cls(tuple(told["argv"]), told["stdin"], part)


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """What an app's operator says to it: how a program would have ended, and what it wrote."""

    exit_code: int
    stdout: str = ""
    stderr: str = ""
    is_truncated: bool = False

    def __post_init__(self) -> None:
        check_integer("exit_code", self.exit_code, low=0, high=255)
        check_text("stdout", self.stdout, most=OUTPUT_BYTES_MAX)
        check_text("stderr", self.stderr, most=OUTPUT_BYTES_MAX)
        check_kind("is_truncated", self.is_truncated, bool)


def check_text(field: str, value: str, *, most: int) -> int:
    """How many bytes a text has; not shown if it is refused, for it may hold what is secret."""
    check_kind(field, value, str)
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        size = most + 1
    if size > most or "\0" in value:
        expected = f"text without NUL, at most {most} bytes"
        raise InvalidValue(field, "(not shown)", expected)
    return size
