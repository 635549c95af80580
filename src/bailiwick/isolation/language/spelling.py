"""Rules as text: the one spelling of each, and a text put into its canonical form.

Rules:

- What is written reads back as the same policy: ``parse_policy(spell_policy(p)) == p``. A policy
  that the language cannot say (a time in milliseconds, a name with a space) is refused.
- Formatting changes neither what a text says nor the order of its statements, and formatting twice
  is formatting once. A name is kept where it was written.
- A statement stands on one line if it fits, else it goes on below, indented. Comments stay where
  they are: a statement with comments between its lines keeps its lines. Comments behind
  neighbouring statements stand below each other.

>>> print(format_text("dedicated  host for tenant a#why\\n\\nkeep host for anyone until scrubbed"))
dedicated host for tenant a  # why
<BLANKLINE>
keep host for anyone until scrubbed
<BLANKLINE>
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.language import times
from bailiwick.isolation.language.parser import is_definition, parse_policy
from bailiwick.isolation.language.statements import NamedRule
from bailiwick.isolation.language.text import (
    LINE_MAX,
    TEXT_BYTES_MAX,
    PolicyRefused,
    PolicyToken,
    Statement,
    split_text,
)
from bailiwick.isolation.policy import (
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
    Policy,
    PolicyException,
    Spread,
    Who,
    WhoGroup,
    Window,
    WithLabel,
)
from bailiwick.vocab.errors import InvalidValue, LimitReached

WIDTH: Final = 100
"""Columns of a statement's line, if it can be broken."""

ALIGN_MAX: Final = 72
"""Comments are aligned behind statements that are no longer than this."""

INDENT: Final = "    "

Units: TypeAlias = list[str]
"""A statement in pieces that are not broken."""


def spell_policy(policy: Policy) -> str:
    """A policy as canonical text: groups, rules, exceptions."""
    blocks = [
        [spell_group(group) for group in policy.groups],
        _named(policy.rules, after=0),
        _named(policy.exceptions, after=len(policy.rules)),
    ]
    texts = ["".join(f"{line}\n" for units in block for line in _wrap(units)) for block in blocks]
    text = "\n".join(filter(None, texts))
    try:
        is_same = parse_policy(text) == policy
    except PolicyRefused as refused:
        raise InvalidValue("policy", refused.value, f"what a text can say ({refused})") from None
    if not is_same:
        raise InvalidValue("policy", text, "what a text can say")
    return text


def _named(rules: Sequence[NamedRule], *, after: int) -> list[Units]:
    spelled = []
    for place, rule in enumerate(rules, after + 1):
        units = spell_rule(rule)
        if rule.name != f"rule-{place}":
            units[0] = f"{rule.name}: {units[0]}"
        spelled.append(units)
    return spelled


# -- one statement ---------------------------------------------------------------------------


def spell_group(group: WhoGroup) -> Units:
    """The definition of a group."""
    return [f"group {group.name} =", *_listed(map(spell_who, group.members))]


def spell_rule(rule: NamedRule) -> Units:
    """A rule or an exception, without its name."""
    match rule:
        case NeverShare():
            second = "others" if isinstance(rule.second, Others) else spell_who(rule.second)
            sides = [f"between {spell_who(rule.first)}", f"and {second}"]
            return [f"never share {_kinds(rule.kinds)}", *sides, *_window(rule.window)]
        case Distrust():
            first, *rest = _parties(rule.among)
            among = [f"among {first}", *rest]
            return [f"never share {_kinds(rule.kinds)}", *among, *_window(rule.window)]
        case Dedicated():
            whose = f"for {spell_who(rule.whose)}"
            return [f"dedicated {rule.kind.value}", whose, *_window(rule.window)]
        case OnlyOn():
            first, *rest = [f"{key}={value}" for key, value in rule.labels] or [""]
            units = [f"{spell_who(rule.whose)} only on nodes", f"with {first}"]
            return [*units, *(f"and {label}" for label in rest), *_window(rule.window)]
        case Spread():
            units = [f"at most {rule.most} of {spell_who(rule.whose)}", f"per {rule.kind.value}"]
            return [*units, *_window(rule.window)]
        case Linger(for_ms=for_ms):
            end = (
                "until scrubbed" if for_ms is None else f"{times.spell_span(for_ms)} after it left"
            )
            return [f"keep {_kinds(rule.kinds)}", f"for {spell_who(rule.whose)}", end]
        case PolicyException():
            return _exception(rule)
        case _:
            assert_never(rule)


def spell_who(who: Who) -> str:
    """Whom a rule is about."""
    match who:
        case OfTenant():
            return f"tenant {who.tenant}"
        case OfProject():
            return f"project {who.tenant}/{who.project}"
        case WithLabel():
            return f"label {who.key}={who.value}"
        case WhoGroup():
            return f"group {who.name}"
        case Anyone():
            return "anyone"
        case _:
            assert_never(who)


def _parties(among: Parties) -> Units:
    match among:
        case Members():
            return _listed(map(spell_who, among.members))
        case EachTenant():
            return ["tenants"]
        case EachProject():
            return ["projects"]
        case EachValue():
            return [f"values of label {among.key}"]
        case _:
            assert_never(among)


def _exception(rule: PolicyException) -> Units:
    because = rule.because.replace("\\", "\\\\").replace('"', '\\"')
    return [
        f"allow {_kinds(rule.kinds)}",
        f"between {spell_who(rule.first)}",
        f"and {spell_who(rule.second)}",
        f"owner {rule.owner}",
        f"until {times.spell_moment(rule.until_ms)}",
        *([f'because "{because}"'] if because else []),
    ]


def spell_window(window: Window) -> str:
    """A rule's hours, as they stand in a text."""
    return " ".join(_window(window))


def _window(window: Window | None) -> Units:
    if window is None:
        return []
    begin = times.spell_clock(window.from_minute)
    end = times.spell_clock(window.to_minute, is_end=True)
    units = [f"between {begin} and {end}"]
    if len(set(window.days)) < len(times.DAYS):
        units.append("on " + ", ".join(times.spell_days(window.days)))
    return units


def _kinds(kinds: Iterable[DomainKind]) -> str:
    return ", ".join(kind.value for kind in kinds)


def _listed(words: Iterable[str]) -> Units:
    *others, last = [*words] or [""]
    return [*(f"{word}," for word in others), last]


def _wrap(units: Units) -> list[str]:
    lines = [units[0]]
    for unit in units[1:]:
        if len(lines[-1]) + 1 + len(unit) <= WIDTH:
            lines[-1] += f" {unit}"
        else:
            lines.append(INDENT + unit)
    return lines


# -- a whole text ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    """A line that is written: what it says, and the comment behind it."""

    code: str = ""
    comment: str = ""


def format_text(text: str) -> str:
    """The text in its canonical form; refused with all its problems if it is no policy."""
    policy = parse_policy(text)
    rules = {each.line: each for each in (*policy.rules, *policy.exceptions)}
    groups = {group.name: group for group in policy.groups}
    rows: list[_Row] = []
    for statement in split_text(text)[0]:
        tokens = statement.tokens
        if not tokens:
            rows += [_Row(comment=_comment(line.comment or "")) for line in statement.lines]
        elif is_definition(statement):
            rows += _rows(statement, spell_group(groups[tokens[1].text]))
        else:
            units = spell_rule(rules[statement.lines[0].number])
            if tokens[1].text == ":":
                units[0] = f"{tokens[0].text}: {units[0]}"
            rows += _rows(statement, units)
    formatted = "".join(f"{line}\n" for line in _aligned(_without_gaps(rows)))
    if len(formatted.encode()) > TEXT_BYTES_MAX:
        raise LimitReached("bytes of a policy's text", TEXT_BYTES_MAX)
    return formatted


def _rows(statement: Statement, units: Units) -> list[_Row]:
    comments = [_comment(line.comment or "") for line in statement.lines]
    if any(comments[:-1]):
        first, *rest = zip(statement.lines, comments, strict=True)
        kept = [_Row(_joined(first[0].tokens), first[1])]
        for line, comment in rest:
            code = _joined(line.tokens)
            kept.append(_Row(INDENT + code, comment) if code else _Row("", INDENT + comment))
        if all(_fits(row) for row in kept):
            return kept
    elif _fits(last := _Row(_wrap(units)[-1], comments[-1])):
        return [*(_Row(line) for line in _wrap(units)[:-1]), last]
    # No line can hold both: the comments go above.
    above = [_Row(comment=comment) for comment in comments if comment]
    return [*above, *(_Row(line) for line in _wrap(units))]


def _fits(row: _Row) -> bool:
    return len(row.code) + 2 + len(row.comment) <= LINE_MAX


def _joined(tokens: Sequence[PolicyToken]) -> str:
    """Tokens of one line with the usual space between them."""
    text, is_definition = "", [token.text for token in tokens[:1]] == ["group"]
    for at, token in enumerate(tokens):
        is_sign = token.text in (",", ":") or (token.text == "=" and not (is_definition and at < 3))
        is_value = at > 0 and tokens[at - 1].text == "=" and not text.endswith(" =")
        text += token.text if at == 0 or is_sign or is_value else f" {token.text}"
    return text


def _comment(comment: str) -> str:
    """A comment with a space behind its sign."""
    text = comment[1:]
    if not text or text[0] in " \t#!" or len(comment) >= LINE_MAX:
        return comment
    return f"# {text}"


def _without_gaps(rows: list[_Row]) -> list[_Row]:
    """Without blank lines at the ends, and with one at a time elsewhere."""
    kept: list[_Row] = []
    for row in rows:
        if row != _Row() or (kept and kept[-1] != _Row()):
            kept.append(row)
    return kept[:-1] if kept and kept[-1] == _Row() else kept


def _aligned(rows: list[_Row]) -> list[str]:
    lines: list[str] = []
    block: list[_Row] = []
    for row in [*rows, _Row()]:
        if row.code:
            block.append(row)
            continue
        lines += _block(block)
        block = []
        lines.append(row.comment)
    return lines[:-1]


def _block(rows: list[_Row]) -> list[str]:
    """Neighbouring lines: their comments stand below each other."""
    lengths = [len(row.code) for row in rows if row.comment and len(row.code) <= ALIGN_MAX]
    column = max(lengths, default=0)
    lines = []
    for row in rows:
        padded = row.code.ljust(column) if len(row.code) <= ALIGN_MAX else row.code
        if len(padded) + 2 + len(row.comment) > LINE_MAX:
            padded = row.code
        lines.append(f"{padded}  {row.comment}" if row.comment else row.code)
    return lines
