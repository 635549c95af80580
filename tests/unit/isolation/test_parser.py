"""What a policy's text says, and what is told about one that says nothing."""

from __future__ import annotations

import pytest

from bailiwick.fleet.topology import DomainKind as K
from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.language.text import PolicyProblem, PolicyRefused
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
    Policy,
    PolicyException,
    Rule,
    Spread,
    WhoGroup,
    Window,
    WithLabel,
)

ACME, BANK, UMBRELLA = OfTenant("acme"), OfTenant("bank"), OfTenant("umbrella")
JANUARY_31_2027_MS = 1_801_353_600_000
WORKDAYS = Window(480, 1080, (0, 1, 2, 3, 4))
RIVALS = WhoGroup("rivals", (ACME, OfProject("lab", "red"), WithLabel("team", "blue")))
GROUP_LINE = "group rivals = tenant acme, project lab/red, label team=blue"


def problems(text: str, **known: list[str]) -> tuple[PolicyProblem, ...]:
    with pytest.raises(PolicyRefused) as refused:
        parse_policy(text, tenants=known.get("tenants", ()))
    return refused.value.problems


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (
            "never share cache, fabric between tenant acme and tenant umbrella",
            NeverShare("rule-1", (K.CACHE, K.FABRIC), ACME, UMBRELLA),
        ),
        (
            "never share host between label team=blue and others",
            NeverShare("rule-1", (K.HOST,), WithLabel("team", "blue"), Others()),
        ),
        ("never share cache among tenants", Distrust("rule-1", (K.CACHE,), EachTenant())),
        ("never share numa among projects", Distrust("rule-1", (K.NUMA,), EachProject())),
        (
            "never share cache among values of label clearance",
            Distrust("rule-1", (K.CACHE,), EachValue("clearance")),
        ),
        (
            "never share fabric among tenant acme, project lab/red, anyone",
            Distrust("rule-1", (K.FABRIC,), Members((ACME, OfProject("lab", "red"), Anyone()))),
        ),
        ("vault: dedicated rack for tenant bank", Dedicated("vault", K.RACK, BANK)),
        (
            "tenant bank only on nodes with attested.boot=measured and zone=inner",
            OnlyOn("rule-1", BANK, (("attested.boot", "measured"), ("zone", "inner"))),
        ),
        ("at most 2 of tenant acme per rack", Spread("rule-1", 2, ACME, K.RACK)),
        (
            "keep cache, host for tenant bank 10m after it left",
            Linger("rule-1", (K.CACHE, K.HOST), BANK, 600_000),
        ),
        ("keep host for anyone until scrubbed", Linger("rule-1", (K.HOST,), Anyone(), None)),
        (
            "never share host among tenants between 08:00 and 18:00 on mon-fri",
            Distrust("rule-1", (K.HOST,), EachTenant(), WORKDAYS),
        ),
        (
            "dedicated host for tenant bank between 18:00 and 24:00",
            Dedicated("rule-1", K.HOST, BANK, Window(1080, 0)),
        ),
        (
            "at most 1 of tenant acme per host between 22:00 and 06:00 on sat-mon, wed",
            Spread("rule-1", 1, ACME, K.HOST, Window(1320, 360, (0, 2, 5, 6))),
        ),
    ],
)
def test_every_form_of_a_rule_is_read(text: str, rule: Rule) -> None:
    assert parse_policy(text) == Policy((rule,))


def test_an_exception_carries_its_owner_its_end_and_its_reason() -> None:
    text = (
        "allow host between tenant acme and tenant bank owner alice@example.org\n"
        '    until 2027-01-31 because "a \\"joint\\" project"\n'
        "allow host between tenant acme and tenant bank owner ops until 2027-01-31T00:01Z"
    )
    first, second = parse_policy(text).exceptions
    assert first == PolicyException(
        "rule-1",
        (K.HOST,),
        ACME,
        BANK,
        "alice@example.org",
        JANUARY_31_2027_MS,
        'a "joint" project',
    )
    assert (second.until_ms, second.because) == (JANUARY_31_2027_MS + 60_000, "")


def test_a_group_may_be_used_above_its_definition_and_begin_a_rule() -> None:
    text = f"group rivals only on nodes with zone=outer\n\n{GROUP_LINE}\n"
    assert parse_policy(text) == Policy(
        (OnlyOn("rule-1", RIVALS, (("zone", "outer"),)),), (), (RIVALS,)
    )


def test_rules_without_a_name_are_called_by_their_place() -> None:
    text = (
        f"{GROUP_LINE}\n# one\ndedicated host for tenant a\n\nx: dedicated host for tenant b\n"
        "allow host between tenant a and tenant b owner o until 2027-01-31\n"
        "dedicated host\n\t# of them\n  for group rivals # indented\n"
    )
    policy = parse_policy(text)
    named = [(each.name, each.line) for each in (*policy.rules, *policy.exceptions)]
    assert named == [("rule-1", 3), ("x", 5), ("rule-4", 7), ("rule-3", 6)]


def test_words_of_the_language_may_be_names() -> None:
    text = "never: dedicated host for tenant others\ngroup: dedicated host for project and/only"
    first, second = parse_policy(text).rules
    assert (first.name, second.name) == ("never", "group")


def test_an_empty_text_is_an_empty_policy() -> None:
    assert parse_policy("") == parse_policy("\r\n  # nothing\r\n") == Policy()


@pytest.mark.parametrize(
    ("text", "place", "expected", "nearest"),
    [
        ("nevr share host among tenants", (1, 1), "a rule", "never"),
        ("Never share host among tenants", (1, 1), "a rule", "never"),
        ("never share hots among tenants", (1, 13), "a kind of domain", "host"),
        ("never share host, fabrik among tenants", (1, 19), "a kind", "fabric"),
        ("never share host amongst tenants", (1, 18), "'between' or 'among'", "among"),
        ("never share host among tennants", (1, 24), "'tenants'", "tenants"),
        ("never share host among tenants on mon", (1, 32), "the end", ""),
        ("never share host among tenant a", (1, 32), "one more", ""),
        ("never share host among tenant a, tenant a", (1, 34), "each once", ""),
        ("never share host, host among tenants", (1, 19), "each once", ""),
        ("dedicated host for group rivls\n" + GROUP_LINE, (1, 26), "defined", "rivals"),
        ("dedicated host for rivals\n" + GROUP_LINE, (1, 20), "'tenant'", "group rivals"),
        ("dedicated host for bank", (1, 20), "'tenant'", "tenant bank"),
        ("dedicated host for bnak", (1, 20), "'tenant'", "tenant bank"),
        ("dedicated host for rivls\n" + GROUP_LINE, (1, 20), "'tenant'", "group rivals"),
        ("dedicated host for", (1, 19), "'tenant'", ""),
        ("dedicated host for tenat bank", (1, 20), "'tenant'", "tenant"),
        ("dedicated host\n  for\n# but whom", (2, 6), "'tenant'", ""),
        ("dedicated host for tenant " + "a" * 64, (1, 27), "1 to 63", ""),
        ("dedicated host for project lab", (1, 28), "TENANT/PROJECT", ""),
        ("xyz b: dedicated host for tenant x", (1, 1), "a rule", ""),
        ("a@b: dedicated host for tenant x", (1, 1), "a rule's name", ""),
        ("tenant bank only on nodes with zone", (1, 36), "'='", ""),
        ("tenant bank only in nodes with zone=a", (1, 18), "'on'", ""),
        ("group rivals tenant a\n" + GROUP_LINE, (1, 14), "'only', or '='", ""),
        ("group rivals = anyone", (1, 16), "'label'", ""),
        ("at most 0 of tenant a per host", (1, 9), "a number", ""),
        ("at most 100001 of tenant a per host", (1, 9), "a number", ""),
        ("keep host for tenant a 10 after it left", (1, 24), "10m", ""),
        ("keep host for tenant a 3654d after it left", (1, 24), "10m", ""),
        ("keep host for tenant a until scrubed", (1, 30), "'scrubbed'", "scrubbed"),
        ("keep host for tenant a until scrubbed between 08:00 and 09:00", (1, 39), "the end", ""),
        ("dedicated host for tenant a between 8:00 and 18:00", (1, 37), "08:00", ""),
        ("dedicated host for tenant a between 24:00 and 18:00", (1, 37), "08:00", ""),
        ("dedicated host for tenant a between 08:00 and 18:60", (1, 47), "18:00", ""),
        ("dedicated host for tenant a between 08:00 and 18:00 on mon, mo", (1, 61), "a day", "mon"),
        (
            "dedicated host for tenant a between 08:00 and 18:00 on mon-wed, tue",
            (1, 65),
            "each",
            "",
        ),
        ("allow host between tenant a and tenant b until 2027-01-31", (1, 42), "'owner'", ""),
        ("allow host between tenant a and tenant b owner x", (1, 49), "'until'", ""),
        ("allow host between tenant a and others owner x", (1, 33), "'tenant'", ""),
        ("allow host between tenant a and tenant b owner x until 2027-02-29", (1, 56), "a day", ""),
        (
            'allow host between tenant a and tenant b owner x until 2027-01-31 because " "',
            (1, 75),
            "a reason in quotes",
            "",
        ),
        ('because "', (1, 9), 'a closing "', ""),
        ("dedicated host for tenant bänk", (1, 28), "letters, digits", ""),
        ("dedicated host \u202e for tenant a", (1, 16), "can be seen", ""),
        ("# a comment with \x1b[31m", (1, 18), "can be seen", ""),
        ("dedicated host\n\n  for tenant a", (3, 3), "at the margin", ""),
        ("  dedicated host for tenant a", (1, 3), "at the margin", ""),
        ("#" * 1001, (1, 1001), "at most 1000 characters", ""),
        ("x" * 65_537, (1, 1), "at most 65536 bytes", ""),
    ],
)
def test_a_mistake_is_told_with_its_place_and_what_may_have_been_meant(
    text: str, place: tuple[int, int], expected: str, nearest: str
) -> None:
    found = next(
        each
        for each in problems(text, tenants=["bank", "lab"])
        if (each.line, each.column) == place
    )
    assert expected in found.expected
    assert found.nearest == nearest
    assert found.source in text


def test_all_mistakes_of_a_text_are_told_at_once() -> None:
    text = (
        "never share hosts, rak among tenants\n"
        "dedicated host for group nobody\n"
        "allow host between tenant a and tenant b\n"
        "fine: dedicated host for tenant a\n"
        "group g = tenant a\ngroup g = tenant b\n"
        "fine: dedicated host for tenant b\n"
        "rule-1: dedicated host for tenant c\n"
    )
    found = problems(text)
    assert [(each.line, each.column) for each in found] == [
        (1, 13),
        (1, 20),
        (2, 26),
        (3, 41),
        (6, 7),
        (7, 1),
        (8, 1),
    ]
    assert "line 4" in found[5].expected
    assert "line 1" in found[6].expected


def test_a_refusal_says_the_first_problem_and_how_many_more_there_are() -> None:
    with pytest.raises(PolicyRefused) as refused:
        parse_policy("dedicated hots for tenant a\nnever")
    assert str(refused.value) == (
        "policy, line 1, column 11: expected a kind of domain: cache, numa, fabric, host, rack, "
        "segment or region, got 'hots'; did you mean host? (and 1 more)"
    )
    assert refused.value.problems[0].pointed == (
        "dedicated hots for tenant a",
        "          ^",
    )


def test_the_number_of_rules_groups_and_members_is_bounded() -> None:
    rules = "\n".join(f"dedicated host for tenant t{n}" for n in range(501))
    assert [(each.line, each.expected) for each in problems(rules)] == [
        (501, "at most 500 rules and exceptions")
    ]
    groups = "\n".join(f"group g{n} = tenant t" for n in range(201))
    assert problems(groups)[0].expected == "at most 200 groups"
    members = "group g = " + ",".join(f"tenant t{n}" for n in range(65))
    assert problems(members)[0].expected == "at most 64 of them"
    assert len(problems("x\n" * 30_000)) <= 100
