"""Endpoints of an app: pages and HTTP interfaces that its members serve, as a manifest names them.

Rules:

- One is of a role. It is a port on which such a member listens, or a file in the member's folder
  in which it says on which, as JSON: ``port`` and perhaps ``authorization``, the header that the
  platform then shows in the place of the caller's own.
- A role that has the host has none: nobody is let into its members.

>>> EndpointSpec(role="head", title="Dashboard", port=8_265).plain()
{'role': 'head', 'title': 'Dashboard', 'port': 8265}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bailiwick.documents import DocumentProblem, Place, nearest_name
from bailiwick.documents.words import Fields, Reader, plain, read_words
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.execs import ExecConnect

TITLE_MAX: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSpec:
    """What members of a role serve."""

    role: str
    title: str
    port: int | None = None
    file: str | None = None

    def __post_init__(self) -> None:
        if not 0 < len(self.title.strip()) <= len(self.title) <= TITLE_MAX:
            raise InvalidValue("title", self.title, f"1 to {TITLE_MAX} characters")
        if not self.title.isprintable():
            raise InvalidValue("title", self.title, "characters that can be printed")
        _ = self.connect

    @property
    def connect(self) -> ExecConnect:
        """What is connected to, inside a member."""
        return ExecConnect(self.port, self.file)

    def plain(self) -> dict[str, Any]:
        """As the manifest spells it."""
        found: dict[str, Any] = {"role": self.role, "title": self.title}
        more = {"port": self.port, "file": self.file}
        return found | {word: value for word, value in more.items() if value is not None}


def _number(word: str, value: object) -> Fields:
    if type(value) is not int:
        raise InvalidValue(word, value, "a number")
    return {word: value}


_WORDS: Final[Mapping[str, Reader]] = {
    "role": plain("role"),
    "title": plain("title"),
    "port": _number,
    "file": plain("file"),
}


def read_endpoint(
    place: Place, found: dict[str, Any], *, problems: list[DocumentProblem]
) -> EndpointSpec:
    """One as a manifest's file says it."""
    fields = read_words(place, found, words=_WORDS, problems=problems)
    missing = [word for word in ("role", "title") if word not in found]
    problems += [DocumentProblem(place, f"endpoint {place[-1]} has no {word}") for word in missing]
    if missing or not {"role", "title"} <= {*fields}:
        raise InvalidValue("endpoint", place[-1], "a role, a title, and a port or a file")
    return EndpointSpec(**fields)


def check_endpoints(
    endpoints: Mapping[str, EndpointSpec], known: Mapping[str, bool]
) -> Iterator[DocumentProblem]:
    """What is wrong with whose they are; of each role it is known whether it has the host."""
    for name, each in endpoints.items():
        place: Place = ("endpoints", name, "role")
        if each.role not in known:
            text = f"no role {each.role!r}"
            yield DocumentProblem(place, text, nearest_name(each.role, known))
        elif known[each.role]:
            text = f"role {each.role} has the host: nobody is let into its members"
            yield DocumentProblem(place, text)
