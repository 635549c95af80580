"""The language of a policy: from text to rules, strictly, and with every problem told at once.

Rules:

- One statement is one rule, exception or group. A rule without a name is called ``rule-N``, N
  being its place among rules and exceptions. Names are unique.
- Nothing is guessed: an unknown word, a group that is not defined, a kind or member named twice are
  problems. Each has its line and column, what was expected, and what may have been meant.
- Of a statement only the first mistake in its grammar is told; all statements are read.
- A group may be used above its definition.

    group rivals = tenant acme, project lab/red, label team=blue
    never share cache, fabric between tenant acme and group rivals
    vault: dedicated rack for tenant bank between 08:00 and 18:00 on mon-fri

>>> policy = parse_policy("vault: dedicated host for tenant bank")
>>> policy.rules[0].name, policy.rules[0].line
('vault', 1)
>>> parse_policy("dedicated hots for tenant bank")  # doctest: +ELLIPSIS
Traceback (most recent call last):
...
bailiwick.isolation.language.text.PolicyRefused: policy, line 1, column 11: ... mean host?
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from bailiwick.isolation.language.cursor import Stop
from bailiwick.isolation.language.statements import NamedRule, StatementReader, Surroundings
from bailiwick.isolation.language.text import (
    PROBLEMS_MAX,
    PolicyProblem,
    PolicyRefused,
    Statement,
    split_text,
)
from bailiwick.isolation.policy import RULES_MAX, Policy, PolicyException, WhoGroup

GROUPS_MAX: Final = 200
"""Groups of one policy."""


def parse_policy(text: str, *, tenants: Iterable[str] = ()) -> Policy:
    """The policy that the text says; :class:`~.text.PolicyRefused` with all problems if it is none.

    ``tenants`` are those that are known: they are only used to say what may have been meant.
    """
    statements, problems = split_text(text)
    reading = _Reading(frozenset(tenants), problems)
    reading.read(statements)
    if problems:
        raise PolicyRefused(problems)
    return reading.policy


@dataclass(slots=True)
class _Reading:
    """One text on its way to a policy."""

    tenants: frozenset[str]
    problems: list[PolicyProblem]
    policy: Policy = field(default_factory=Policy)

    def read(self, statements: list[Statement]) -> None:
        told = [each for each in statements if each.tokens or each.is_broken]
        definitions = [each for each in told if is_definition(each)]
        groups = self._groups([each for each in definitions if not each.is_broken])
        named = {name: group for name, group in groups.items() if group is not None}
        around = Surroundings(groups, self.tenants)
        found = self._rules([each for each in told if not is_definition(each)], around)
        self.policy = Policy(
            tuple(each for each in found if not isinstance(each, PolicyException)),
            tuple(each for each in found if isinstance(each, PolicyException)),
            tuple(named.values()),
        )

    def _groups(self, definitions: list[Statement]) -> Mapping[str, WhoGroup | None]:
        """Groups by name; one whose definition has a problem is known, and has nobody."""
        groups: dict[str, WhoGroup | None] = {}
        around = Surroundings({}, self.tenants)
        if len(definitions) > GROUPS_MAX:
            self._too_many(definitions[GROUPS_MAX], f"at most {GROUPS_MAX} groups")
        for statement in definitions[:GROUPS_MAX]:
            reader = StatementReader(statement, self.problems, around=around)
            with suppress(Stop):
                name = reader.group_name()
                if name in groups:
                    reader.stop_last("a name that no other group has")
                groups[name] = None
                groups[name] = reader.group(name)
        return groups

    def _rules(self, statements: list[Statement], around: Surroundings) -> list[NamedRule]:
        if len(statements) > RULES_MAX:
            self._too_many(statements[RULES_MAX], f"at most {RULES_MAX} rules and exceptions")
        found: list[NamedRule] = []
        readers = [
            StatementReader(each, self.problems, around=around) for each in statements[:RULES_MAX]
        ]
        names = self._names(readers)
        for reader, name in zip(readers, names, strict=True):
            if reader.is_broken or len(self.problems) >= PROBLEMS_MAX:
                continue
            with suppress(Stop):
                found.append(replace(reader.rule(), name=name, line=reader.line))
        return found

    def _names(self, readers: list[StatementReader]) -> list[str]:
        with suppress(Stop):
            given = [reader.name() for reader in readers]
            names = [name or f"rule-{place}" for place, name in enumerate(given, 1)]
            first = {name: place for place, name in reversed([*enumerate(names)])}
            unnamed = {name: at for at, name in enumerate(names) if given[at] is None}
            for at, name in enumerate(names):
                other = readers[unnamed.get(name, first[name])]
                if given[at] is not None and other is not readers[at]:
                    reader = readers[at]
                    reader.tell_name(f"a name of its own ('{name}' is line {other.line}'s)")
            return names
        return [""] * len(readers)  # of a text that is refused

    def _too_many(self, statement: Statement, expected: str) -> None:
        first = statement.lines[0]
        self.problems.append(
            PolicyProblem(first.number, 1, "one more", expected, source=first.text)
        )


def is_definition(statement: Statement) -> bool:
    """Whether the statement defines a group; one that begins with a group may be a rule, too."""
    words = [token.text for token in statement.tokens[:3]]
    return words[:1] == ["group"] and "=" in words[1:]
