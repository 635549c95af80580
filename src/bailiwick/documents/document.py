"""A file as plain values, each with the line and column where it stands.

Rules:

- A document is small, is one, names nothing twice and refers to nothing by alias: what is small to
  read stays small in memory. JSON is YAML here.
- How deep values may stand in each other is bounded; whoever reads says by how much.

>>> found = MarkedDocument("a: {b: 1}")
>>> found.plain, found.place(DocumentProblem(("a", "b"), "too small")).told
({'a': {'b': 1}}, 'line 1, column 5: too small')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from bailiwick.documents.problems import DocumentProblem, DocumentRefused, Place

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node


class MarkedDocument:
    """A text as plain values, and where each stands."""

    plain: Any

    def __init__(
        self, text: str, *, refused: type[DocumentRefused] = DocumentRefused, deepest: int = 8
    ) -> None:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import MarkedYAMLError, YAMLError

        self._refused, self._deepest = refused, deepest
        self._places: dict[Place, tuple[int, int]] = {}
        self._met: set[Node] = set()
        reader = YAML(typ="safe", pure=True)
        try:
            node = reader.compose(text)
            self.plain = None if node is None else self._value(node, (), reader)
        except DocumentRefused:
            raise
        except MarkedYAMLError as error:
            mark = error.problem_mark
            line, column = (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
            what = (error.problem or "not YAML").splitlines()[0]
            raise self._refused([DocumentProblem((), what, line=line, column=column)]) from None
        except (YAMLError, ValueError, RecursionError) as error:
            what = str(error).splitlines()[0] if str(error) else "not YAML"
            raise self._refused([DocumentProblem((), what, line=1, column=1)]) from None

    def _value(self, node: Node, place: Place, reader: Any) -> Any:
        """The value of a node; each node is met once, so that no alias makes much of little."""
        from ruamel.yaml.nodes import MappingNode, SequenceNode

        start = node.start_mark.line + 1, node.start_mark.column + 1
        self._places.setdefault(place, start)
        if len(place) > self._deepest:
            self._refuse("too deep", start)
        if node in self._met:
            self._refuse("an alias; write it out", start)
        self._met.add(node)
        if isinstance(node, SequenceNode):
            return [self._value(n, (*place, at), reader) for at, n in enumerate(node.value)]
        if isinstance(node, MappingNode):
            found: dict[Any, Any] = {}
            for key, value in node.value:
                mark = key.start_mark.line + 1, key.start_mark.column + 1
                name = key.value
                if not isinstance(name, str):
                    self._refuse("expected a name", mark)
                if name in found:
                    self._refuse(f"{name!r} stands here twice", mark)
                self._places[(*place, name)] = mark
                found[name] = self._value(value, (*place, name), reader)
            return found
        return _whole(reader.constructor.construct_object(node))

    def _refuse(self, what: str, at: tuple[int, int]) -> NoReturn:
        raise self._refused([DocumentProblem((), what, line=at[0], column=at[1])])

    def place(self, problem: DocumentProblem) -> DocumentProblem:
        """The problem with its line: that of the nearest thing around it that has one."""
        at = problem.place
        while at and at not in self._places:  # bounded by its length
            at = at[:-1]
        line, column = self._places.get(at, (1, 1))
        text, nearest = problem.text, problem.nearest
        return DocumentProblem(problem.place, text, nearest, line=line, column=column)


def _whole(value: Any) -> Any:
    """A text in which JSON's escapes in two halves are one character each; all else as it is."""
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
