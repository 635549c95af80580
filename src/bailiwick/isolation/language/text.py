"""A policy's text as lines, tokens and statements, and what is wrong with it.

Rules:

- A statement begins at the margin and goes on in the lines below it that are indented. A blank line
  ends it; comments between its lines are part of it.
- A token is a word, a comma, an equals sign, a text in quotes, or the colon behind a name. A ``#``
  outside quotes begins a comment.
- What cannot be seen is refused: control and formatting characters could make a text read otherwise
  than it is meant. Letters of any script may stand in comments and quotes.
- Text, lines and the number of problems that are told are bounded; a problem has its place.

>>> statement, = split_text("vault: dedicated host  # the bank's\\n  for tenant bank")[0]
>>> [token.text for token in statement.tokens]
['vault', ':', 'dedicated', 'host', 'for', 'tenant', 'bank']
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from bailiwick.vocab.errors import InvalidValue

TEXT_BYTES_MAX: Final = 65_536
"""The longest text of a policy."""

LINE_MAX: Final = 1_000
"""Characters of one line."""

PROBLEMS_MAX: Final = 100
"""Problems of one text that are told; no more are looked for."""

NEAR_MAX: Final = 1_000
"""Names that are looked through for one that may have been meant."""

_TOKEN: Final = re.compile(r'[A-Za-z0-9._@+:/-]+|[,=]|"(?:[^"\\]|\\["\\])*"')
_SPACE: Final = re.compile(r"[ \t]*")


@dataclass(frozen=True, slots=True)
class PolicyProblem:
    """One thing that is wrong with a text, and where: all that a person needs to mend it."""

    line: int
    column: int
    found: str
    """What stands there; empty for the end of the statement."""
    expected: str
    nearest: str = ""
    """What may have been meant; empty if nothing is near."""
    source: str = ""
    """The line as it was written."""

    @property
    def sentence(self) -> str:
        """What is wrong, without the place."""
        got = f"'{_shown(self.found)}'" if self.found else "the end of the statement"
        meant = f"; did you mean {self.nearest}?" if self.nearest else ""
        return f"expected {self.expected}, got {got}{meant}"

    @property
    def place(self) -> str:
        """Where, for people."""
        return f"line {self.line}, column {self.column}"

    @property
    def pointed(self) -> tuple[str, str]:
        """The line, and a mark below the column."""
        source = _shown(self.source, most=LINE_MAX)
        before = source[: self.column - 1]
        return source, "".join("\t" if each == "\t" else " " for each in before) + "^"


class PolicyRefused(InvalidValue):
    """The text is no policy; everything that is wrong with it, in the order of the lines."""

    def __init__(self, problems: Iterable[PolicyProblem]) -> None:
        told = sorted(problems, key=lambda each: (each.line, each.column))
        self.problems: Final = tuple(told[:PROBLEMS_MAX])
        self.is_cut: Final = len(told) >= PROBLEMS_MAX
        """Whether there may be more of them."""
        first = self.problems[0]
        super().__init__("policy", first.found, first.expected)

    def __str__(self) -> str:
        first, rest = self.problems[0], len(self.problems) - 1
        more = f" (and {rest} more)" if rest else ""
        return f"policy, {first.place}: {first.sentence}{more}"


def nearest(found: str, known: Iterable[str]) -> str:
    """The known name that is nearest to what was found; empty if none is near."""
    names = [*known][:NEAR_MAX]
    folded = {name.lower(): name for name in names}
    close = get_close_matches(found[:64].lower(), folded, 1)
    return folded[close[0]] if close else ""


# -- tokens ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PolicyToken:
    """One word or sign, as it was written."""

    text: str
    line: int
    column: int

    @property
    def is_quoted(self) -> bool:
        """Whether it is a text in quotes."""
        return self.text.startswith('"')


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One line: its tokens, and the comment at its end (with the ``#``)."""

    number: int
    text: str
    tokens: tuple[PolicyToken, ...] = ()
    comment: str | None = None

    @property
    def is_blank(self) -> bool:
        """Whether nothing is there, not even a comment."""
        return not self.tokens and self.comment is None

    @property
    def is_indented(self) -> bool:
        """Whether it goes on with what stands above it."""
        return self.text[:1] in (" ", "\t")


@dataclass(slots=True)
class Statement:
    """Lines that belong together: a rule, a group, a comment of its own, or blank ones."""

    lines: list[SourceLine]
    is_broken: bool = field(default=False)
    """Whether a problem of its lines has been told already."""

    @property
    def tokens(self) -> list[PolicyToken]:
        """All of its words and signs."""
        return [token for line in self.lines for token in line.tokens]


def split_text(text: str) -> tuple[list[Statement], list[PolicyProblem]]:
    """A text's statements, comments and blank lines in their order, and what is no token."""
    if len(text.encode("utf-8", "surrogatepass")) > TEXT_BYTES_MAX:
        return [], [PolicyProblem(1, 1, text[:20], f"a text of at most {TEXT_BYTES_MAX} bytes")]
    statements: list[Statement] = []
    problems: list[PolicyProblem] = []
    for number, line in enumerate(text.split("\n"), 1):
        source, problem = _read_line(line.removesuffix("\r"), number)
        goes_on = source.tokens and source.is_indented
        above = _above(statements) if goes_on else None
        if above is None:
            statements.append(Statement([source]))
        else:  # comments in between are part of it, too
            statements[above].lines += [
                line for each in statements[above + 1 :] for line in each.lines
            ]
            statements[above].lines.append(source)
            del statements[above + 1 :]
        if goes_on and above is None and problem is None:
            expected = "a rule that begins at the margin (an indented line goes on with one)"
            first = source.tokens[0]
            problem = PolicyProblem(number, first.column, first.text, expected, source=source.text)
        if problem is not None:
            problems.append(problem)
            statements[-1].is_broken = True
    return statements, problems


def _above(statements: list[Statement]) -> int | None:
    """Which statement an indented line goes on with: the last, unless a blank line ended it."""
    for index in range(len(statements) - 1, -1, -1):
        first = statements[index].lines[0]  # a statement's first line has tokens, a comment's none
        if first.tokens or statements[index].is_broken:
            return index
        if statements[index].lines[-1].is_blank:
            return None
    return None


def _read_line(text: str, number: int) -> tuple[SourceLine, PolicyProblem | None]:
    if len(text) > LINE_MAX:
        cut = text[:80]
        expected = f"a line of at most {LINE_MAX} characters"
        problem = PolicyProblem(number, LINE_MAX + 1, cut[:20], expected, source=cut)
        return SourceLine(number, cut), problem
    for at, character in enumerate(text):
        if not (character.isprintable() or character == "\t"):
            expected = "only characters that can be seen"
            problem = PolicyProblem(number, at + 1, character, expected, source=text)
            return SourceLine(number, text), problem
    tokens: list[PolicyToken] = []
    at = _after_space(text, 0)
    while at < len(text) and text[at] != "#":  # bounded: every round takes a character or more
        found = _TOKEN.match(text, at)
        if found is None:
            expected = 'a closing "' if text[at] == '"' else "a word of letters, digits and . _ - /"
            problem = PolicyProblem(number, at + 1, text[at:][:20], expected, source=text)
            return SourceLine(number, text, tuple(tokens)), problem
        tokens += _parted(PolicyToken(found[0], number, at + 1))
        at = _after_space(text, found.end())
    comment = text[at:].rstrip() if at < len(text) else None
    return SourceLine(number, text, tuple(tokens), comment), None


def _parted(token: PolicyToken) -> list[PolicyToken]:
    """A word, and the colon behind it."""
    if token.is_quoted or not token.text.endswith(":") or token.text == ":":
        return [token]
    word = token.text[:-1]
    colon = PolicyToken(":", token.line, token.column + len(word))
    return [PolicyToken(word, token.line, token.column), colon]


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _shown(text: str, most: int = 40) -> str:
    """Text for a message: short, and without what cannot be seen."""
    cut = text if len(text) <= most else text[: most - 3] + "..."
    return "".join(c if c.isprintable() or c == "\t" else f"\\x{ord(c):02x}" for c in cut)
