"""One statement of a policy's text: its grammar, word by word.

Rules:

- A mistake in the grammar is told and stops the statement (:class:`~.cursor.Stop`); one that
  leaves no doubt about the rest (an unknown kind, an undefined group, something named twice) is
  told, and reading goes on.
- What was expected is said as the words that could stand there.

    rule      = [NAME ":"] ( share | dedicated | only | most | keep | allow )
    share     = "never" "share" KINDS ( "between" WHO "and" ( WHO | "others" )
                                      | "among" PARTIES ) [window]
    dedicated = "dedicated" KIND "for" WHO [window]
    only      = WHO "only" "on" "nodes" "with" K=V { "and" K=V } [window]
    most      = "at" "most" N "of" WHO "per" KIND [window]
    keep      = "keep" KINDS "for" WHO ( SPAN "after" "it" "left" | "until" "scrubbed" )
    allow     = "allow" KINDS "between" WHO "and" WHO "owner" OWNER "until" DATE ["because" TEXT]
    PARTIES   = "tenants" | "projects" | "values" "of" "label" K | WHO { "," WHO }
    window    = "between" HH:MM "and" HH:MM [ "on" DAYS { "," DAYS } ]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NoReturn, TypeAlias

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.language import times
from bailiwick.isolation.language.cursor import TokenCursor, either, is_name
from bailiwick.isolation.language.text import PolicyProblem, Statement, nearest
from bailiwick.isolation.policy import (
    MEMBERS_MAX,
    Anyone,
    Dedicated,
    Distrust,
    EachProject,
    EachTenant,
    EachValue,
    Linger,
    Members,
    NeverShare,
    OfProject,
    OfTenant,
    OnlyOn,
    Others,
    Parties,
    PolicyException,
    Rule,
    Spread,
    Who,
    WhoGroup,
    Window,
    WithLabel,
)

MOST_MAX: Final = 100_000
"""The largest number that a rule about how many may name."""

OWNER_MAX: Final = 128
LABELS_MAX: Final = 16
"""Labels that one rule may ask of a node."""

KINDS: Final = tuple(kind.value for kind in DomainKind)
_SELECTORS: Final = ("tenant", "project", "label", "group", "anyone")
_BEGINNINGS: Final = ("never", "dedicated", "at", "keep", "allow", *_SELECTORS)
_OWNER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+:/-]*")
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,5}")

NamedRule: TypeAlias = Rule | PolicyException


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a statement may name: the groups of the text, and the tenants that are known."""

    groups: Mapping[str, WhoGroup | None]
    """None for a group whose own definition has a problem."""
    tenants: frozenset[str] = frozenset()


class StatementReader(TokenCursor):
    """Reads one statement from its first token to its last."""

    def __init__(
        self, statement: Statement, problems: list[PolicyProblem], *, around: Surroundings
    ) -> None:
        super().__init__(statement, problems)
        self._around = around

    # -- whole statements --------------------------------------------------------------------

    def name(self) -> str | None:
        """The name in front of a rule, if it has one."""
        if self.peek(1) != ":":
            return None
        text = self.take("the name of the rule")
        self.skip()
        if not is_name(text):
            self.tell_name("a rule's name: 1 to 63 letters, digits, '.', '_' or '-'")
        return text

    def rule(self) -> NamedRule:
        """A rule or exception, still without a name; to the end of the statement."""
        first = self.peek()
        if first in _SELECTORS:
            return self._only()
        reads: dict[str, Callable[[], NamedRule]] = {
            "never": self._share,
            "dedicated": self._dedicated,
            "at": self._most,
            "keep": self._keep,
            "allow": self._allow,
        }
        if first not in reads:
            self.stop_at_word(_BEGINNINGS, "a rule, which begins with " + either(_BEGINNINGS))
        self.skip()
        return reads[first]()

    def group_name(self) -> str:
        """The name that a definition gives to a group."""
        self.word("group")
        return self.name_of("the group's name")

    def group(self, name: str) -> WhoGroup:
        """The members of a group, whose name has been read; to the end of the statement."""
        self.word("=")
        members: list[OfTenant | OfProject | WithLabel] = self.listed(
            self._member, most=MEMBERS_MAX
        )
        self.end("',' and one more")
        return WhoGroup(name, tuple(members))

    def _share(self) -> NamedRule:
        self.word("share")
        kinds = self._kinds()
        if self.choice("between", "among") == "between":
            first = self._who()
            self.word("and")
            second = self._second()
            return NeverShare("", kinds, first, second, self._window())
        return Distrust("", kinds, self._parties(), self._window())

    def _dedicated(self) -> NamedRule:
        kind = self._one_kind()
        self.word("for")
        return Dedicated("", kind, self._who(), self._window())

    def _only(self) -> NamedRule:
        whose = self._who()
        if isinstance(whose, WhoGroup) and self.peek() != "only":
            self.stop("'only', or '=' to define the group")
        for word in ("only", "on", "nodes", "with"):
            self.word(word)
        labels = self.listed(lambda: self._label("a node's label"), most=LABELS_MAX, joint="and")
        return OnlyOn("", whose, tuple(labels), self._window())

    def _most(self) -> NamedRule:
        self.word("most")
        text = self.take(f"a number from 1 to {MOST_MAX}")
        if _NUMBER.fullmatch(text) is None or int(text) > MOST_MAX:
            self.stop_last(f"a number from 1 to {MOST_MAX}")
        self.word("of")
        whose = self._who()
        self.word("per")
        return Spread("", int(text), whose, self._one_kind(), self._window())

    def _keep(self) -> NamedRule:
        kinds = self._kinds()
        self.word("for")
        whose = self._who()
        if self.peek() == "until":
            self.skip()
            self.word("scrubbed")
            self.end()
            return Linger("", kinds, whose, None)
        expected = "a time such as 10m (s, m, h, d; ten years at most), or 'until scrubbed'"
        for_ms = self.value(times.read_span, expected)
        for word in ("after", "it", "left"):
            self.word(word)
        self.end()
        return Linger("", kinds, whose, for_ms)

    def _allow(self) -> NamedRule:
        kinds = self._kinds()
        self.word("between")
        first = self._who()
        self.word("and")
        second = self._who()
        self.word("owner", "'owner' and who answers for it")
        owner = self.take("who answers for it, such as alice@example.org")
        if _OWNER.fullmatch(owner) is None or len(owner) > OWNER_MAX:
            self.stop_last(f"a name or address of at most {OWNER_MAX} characters")
        self.word("until", "'until' and the day on which it ends")
        expected = "a day such as 2027-01-31, or a time of it: 2027-01-31T18:00 (UTC)"
        until_ms = self.value(times.read_moment, expected)
        because = ""
        if self.peek() == "because":
            self.skip()
            because = self.quoted()
        self.end("'because' and a reason" if not because else "")
        return PolicyException("", kinds, first, second, owner, until_ms, because)

    # -- who ---------------------------------------------------------------------------------

    def _who(self) -> Who:
        match self.peek():
            case "anyone":
                self.skip()
                return Anyone()
            case "group":
                self.skip()
                return self._group_named()
            case _:
                return self._member(_SELECTORS)

    def _second(self) -> Who | Others:
        if self.peek() == "others":
            self.skip()
            return Others()
        if self.peek() not in _SELECTORS:
            self._stop_at_who((*_SELECTORS, "others"))
        return self._who()

    def _member(
        self, words: tuple[str, ...] = ("tenant", "project", "label")
    ) -> OfTenant | OfProject | WithLabel:
        match self.peek():
            case "tenant":
                self.skip()
                return OfTenant(self.name_of("a tenant's name"))
            case "project":
                self.skip()
                return self._project()
            case "label":
                self.skip()
                return WithLabel(*self._label("a job's label"))
            case _:
                return self._stop_at_who(words)

    def _project(self) -> OfProject:
        text = self.take("a project, as TENANT/PROJECT")
        tenant, _, project = text.partition("/")
        if not (is_name(tenant) and is_name(project)):
            self.stop_last("a project, as TENANT/PROJECT")
        return OfProject(tenant, project)

    def _group_named(self) -> WhoGroup:
        name = self.name_of("a group's name")
        if name not in self._around.groups:
            near = nearest(name, self._around.groups)
            self.tell_last("a group that is defined (group NAME = ...)", near)
        return self._around.groups.get(name) or WhoGroup(name, ())

    def _parties(self) -> Parties:
        match self.peek():
            case "tenants":
                self.skip()
                return EachTenant()
            case "projects":
                self.skip()
                return EachProject()
            case "values":
                self.skip()
                self.word("of")
                self.word("label")
                return EachValue(self.name_of("a label's name"))
            case _:
                return self._members()

    def _members(self) -> Members:
        if self.peek() not in _SELECTORS:
            self._stop_at_who((*_SELECTORS, "tenants", "projects", "values"))
        members: list[Who] = self.listed(self._who, most=MEMBERS_MAX)
        if len(members) < 2:
            self.stop("',' and one more: nobody is apart from himself")
        return Members(tuple(members))

    def _stop_at_who(self, words: tuple[str, ...]) -> NoReturn:
        found, expected = self.peek(), either([f"'{word}'" for word in words])
        known = {
            "": words,
            "group ": self._around.groups,
            "tenant ": sorted(self._around.tenants),
        }
        near = {before: nearest(found, names) for before, names in known.items()}
        exact = [f"{before}{found}" for before, name in near.items() if name == found]
        close = [f"{before}{name}" for before, name in near.items() if name]
        self.stop(expected, next(iter((*exact, *close)), ""))

    # -- what and when -----------------------------------------------------------------------

    def _kinds(self) -> tuple[DomainKind, ...]:
        return tuple(self.listed(self._kind, most=len(KINDS)))

    def _one_kind(self) -> DomainKind:
        return self._kind() or DomainKind.HOST  # of a text that is refused

    def _kind(self) -> DomainKind | None:
        text = self.take("a kind of domain: " + either(KINDS))
        if text in KINDS:
            return DomainKind(text)
        if not text.isalpha():
            self.stop_last("a kind of domain: " + either(KINDS))
        self.tell_last("a kind of domain: " + either(KINDS), nearest(text, KINDS))
        return None

    def _label(self, what: str) -> tuple[str, str]:
        key = self.name_of(f"{what}, as NAME=VALUE")
        self.word("=", f"'=' and the value of {what}")
        return key, self.name_of(f"the value of {what}")

    def _window(self) -> Window | None:
        """When the rule holds; always the last of its statement."""
        if self.peek() != "between":
            self.end("'between' and a time of the day")
            return None
        self.skip()
        begin = self.value(_clock_before_midnight, "a time of the day such as 08:00 (UTC)")
        self.word("and")
        end = self.value(times.read_clock, "a time of the day such as 18:00, at most 24:00 (UTC)")
        if self.peek() != "on":
            self.end("'on' and days")
            return Window(begin, end)
        self.skip()
        expected = "a day or days: mon, tue, wed, thu, fri, sat, sun, or mon-fri"
        runs = self.listed(lambda: self.value(times.read_days, expected, near=times.DAYS), most=7)
        self.end("',' and another day")
        days = sorted(day for run in runs for day in run)
        if len(set(days)) != len(days):
            self.tell_last("each day once")
        return Window(begin, end, tuple(days))


def _clock_before_midnight(text: str) -> int | None:
    return None if text == "24:00" else times.read_clock(text)
