"""A policy's text and back, and a text in its canonical form."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.language.spelling import format_text, spell_policy
from bailiwick.isolation.language.text import PROBLEMS_MAX, PolicyRefused
from bailiwick.isolation.language.times import read_moment, spell_moment
from bailiwick.isolation.policy import Dedicated, Linger, OfTenant, Policy
from bailiwick.vocab.errors import InvalidValue
from tests.support.isolation_policies import policies

BANK = OfTenant("bank")
HOST = DomainKind.HOST


@given(policies())
def test_a_policy_reads_back_from_its_text(policy: Policy) -> None:
    text = spell_policy(policy)
    assert parse_policy(text) == policy
    assert format_text(text) == text


SPACES = ["", " ", "  ", "\t", "\n    ", "\n\t", " # why\n  ", "#x\n\n", "\r\n  ", "\n# mid\n  "]
NOISE = [",", "=", ":", "#", '"', "x", "never", "and", "é", "\x00", "\n", "between", "on", "/"]


@st.composite
def roughened(draw: st.DrawFn) -> str:
    """A policy's text as people write them: spaces, breaks and comments anywhere, and mistakes."""
    words = spell_policy(draw(policies())).replace("\n    ", " ").split(" ")
    text = ""
    for word in words:
        gap = " "
        if draw(st.integers(0, 3)) == 0:
            gap = draw(st.sampled_from(SPACES)) or " "
        text += word.replace(", ", draw(st.sampled_from([",", " , "]))) + gap
    if draw(st.booleans()):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(NOISE)) + text[at + draw(st.integers(0, 3)) :]
    return text


@given(roughened())
def test_formatting_changes_nothing_that_is_said_and_twice_is_once(text: str) -> None:
    try:
        policy = parse_policy(text)
    except PolicyRefused:
        with pytest.raises(PolicyRefused):
            format_text(text)
        return
    formatted = format_text(text)
    assert parse_policy(formatted) == policy
    assert format_text(formatted) == formatted
    assert _comments(formatted) == _comments(text)
    for line in formatted.split("\n"):
        assert line == line.rstrip()


def _comments(text: str) -> list[str]:
    lines = (line for line in text.split("\n") if '"' not in line)
    return [line.split("#", 1)[1].strip() for line in lines if "#" in line]


@given(st.text() | st.text(alphabet='never share,host=:"#\n at12-/é\t\r\x00'))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(PolicyRefused):
        format_text(text)


GROUPS = "".join(f"group g{n} = tenant t\n" for n in range(190))
HEAVY = {
    "no rule": "x\n" * 32_000,
    "one line": "a," * 32_000,
    "kinds": "never share\n" + " kindd,\n" * 8_000,
    "members": "never share host among tenant a\n" + "  , tenant a\n" * 5_000,
    "groups": GROUPS + "".join(f"dedicated host for group h{n}\n" for n in range(190)),
    "quotes": '"\n' * 30_000,
    "comments": "#\n" * 32_000,
    "comments inside": "dedicated host\n" + "#\n" * 26_000 + " for tenant a\n" + " #\n x",
    "indented": " x\n" * 20_000,
    "goes on": "x\n" + " x\n" * 20_000,
}


@pytest.mark.parametrize("what", HEAVY)
def test_no_text_takes_long(what: str) -> None:
    text = HEAVY[what] + "\nx"
    begun = time.process_time()
    with pytest.raises(PolicyRefused) as refused:
        parse_policy(text)
    assert len(refused.value.problems) <= PROBLEMS_MAX
    assert time.process_time() - begun < 10  # a second at most, but on a slow machine


def test_comments_stay_where_they_stand_and_are_aligned() -> None:
    text = (
        "\n\n#about rivals\n\n\n"
        "group rivals=tenant acme ,project lab/red   #red only\n"
        "a: dedicated host for tenant bank#vault\n"
        "keep host for tenant bank 3600s after it left  #  one hour\n"
        "never share cache   # first\n"
        " # between lines\n"
        " between tenant acme#second\n"
        "\tand others\n"
        "never share host among tenants between 18:00 and 00:00 on mon,tue,wed,sun\n"
        "# end\n\n"
    )
    assert format_text(text) == (
        "# about rivals\n\n"
        "group rivals = tenant acme, project lab/red  # red only\n"
        "a: dedicated host for tenant bank            # vault\n"
        "keep host for tenant bank 1h after it left   #  one hour\n"
        "never share cache                            # first\n"
        "    # between lines\n"
        "    between tenant acme  # second\n"
        "    and others\n"
        "never share host among tenants between 18:00 and 24:00 on mon-wed, sun\n"
        "# end\n"
    )


def test_a_long_statement_goes_on_below_and_is_joined_again_when_it_fits() -> None:
    members = ", ".join(f"tenant tenant-{number}" for number in range(8))
    text = format_text(f"group many = {members}  # all\n")
    assert text == (
        "group many = tenant tenant-0, tenant tenant-1, tenant tenant-2, tenant tenant-3, "
        "tenant tenant-4,\n"
        "    tenant tenant-5, tenant tenant-6, tenant tenant-7  # all\n"
    )
    assert format_text("dedicated\n  host\n  for tenant a\n") == "dedicated host for tenant a\n"


def test_a_line_that_cannot_hold_its_comment_gets_it_above() -> None:
    note = "#" + "y" * 990
    text = f"dedicated host\n for tenant abcdefgh\n between 08:00 and 09:00{note[:970]}\n"
    formatted = format_text(text)
    assert formatted.startswith("# yyy")
    assert format_text(formatted) == formatted
    inner = f"never share host{note[:970]}\n among {','.join(f'tenant t{n}' for n in range(60))}\n"
    assert format_text(format_text(inner)) == format_text(inner)


@pytest.mark.parametrize(
    "policy",
    [
        Policy((Linger("a", (HOST,), BANK, 1_500),)),
        Policy((Dedicated("a b", HOST, BANK),)),
        Policy((Dedicated("a", HOST, OfTenant("no such name")),)),
        Policy((Dedicated("a", HOST, BANK), Dedicated("a", HOST, BANK))),
    ],
)
def test_a_policy_that_no_text_can_say_is_refused(policy: Policy) -> None:
    with pytest.raises(InvalidValue, match="what a text can say"):
        spell_policy(policy)


@given(st.integers(0, 253_402_300_799_999 // 60_000))
def test_every_minute_has_a_spelling(minute: int) -> None:
    assert read_moment(spell_moment(minute * 60_000)) == minute * 60_000


def test_moments_are_those_of_the_calendar() -> None:
    from datetime import UTC, datetime

    for text in ("1970-01-01", "2000-02-29", "2026-11-16", "2100-03-01", "9999-12-31"):
        moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
        assert read_moment(text) == int(moment.timestamp()) * 1000
    for text in ("1969-12-31", "2100-02-29", "2026-13-01", "2026-00-01", "2026-04-31"):
        assert read_moment(text) is None
