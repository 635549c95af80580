"""A policy made ready decides as its one meaning does: classes, terms, and the nodes that are open.

What is new is judged for its whole term; of others nobody counts on the end, so they have none.
"""

from __future__ import annotations

from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.compiled import CompiledPolicy
from bailiwick.isolation.ground import Ground
from bailiwick.isolation.judge import forbidden_kinds, violations
from bailiwick.isolation.placements import Placement, Residue, Site
from bailiwick.isolation.policy import (
    Dedicated,
    Distrust,
    Linger,
    NeverShare,
    OnlyOn,
    Policy,
    Subject,
)
from bailiwick.isolation.terrain import HeldParts
from tests.support.isolation_grounds import (
    HOUR_MS,
    INNER,
    OUTER,
    placement,
    policies,
    sites,
    subjects,
)

ALL = (*OUTER, *INNER)
Move: TypeAlias = tuple[str, Subject, int, HeldParts, DomainKind]
moments = st.integers(0, 14 * 24).map(lambda hour: hour * HOUR_MS)
terms = st.sampled_from((1, HOUR_MS, 12 * HOUR_MS, 8 * 24 * HOUR_MS))


@given(policies(kinds=ALL, limits=False), subjects, subjects, moments, terms)
def test_classes_and_terms_keep_apart_whom_the_judge_does(
    policy: Policy, one: Subject, two: Subject, now_ms: int, lasts_ms: int
) -> None:
    compiled, until_ms = CompiledPolicy(policy), now_ms + lasts_ms
    first, second = (
        Placement(who, each, "n", {}, until_ms=until_ms) for who, each in (("1", one), ("2", two))
    )
    pair = first, second
    naive = {
        (rule.name, kind)
        for rule in policy.rules
        if isinstance(rule, NeverShare | Distrust | Dedicated)
        for kind in forbidden_kinds(policy, rule, pair=pair, now_ms=now_ms)
    }
    term = compiled.term(now_ms, until_ms)
    assert compiled.apart(compiled.class_of(one), compiled.class_of(two), term=term) == naive


class World:
    """Nodes with work, known to the ground and to whoever judges naively."""

    def __init__(self, policy: Policy, found: list[Site]) -> None:
        self.policy, self.sites = policy, found
        self.compiled = CompiledPolicy(policy)
        self.ground = Ground(self.compiled)
        self.work: dict[int, Placement] = {}
        self.residues: list[Residue] = []
        self.up: set[int] = set()
        for handle in range(len(found)):
            self.join(handle)

    def join(self, handle: int) -> None:
        self.ground.join(handle, self.sites[handle])
        self.up.add(handle)

    def leave(self, handle: int) -> None:
        for key in [key for key, each in self.work.items() if each.node == f"n{handle}"]:
            self.end(key)
        self.ground.leave(handle)
        self.up.discard(handle)

    def begin(self, key: int, subject: Subject, *, handle: int, held: HeldParts) -> None:
        site, (devices, caches) = self.sites[handle], held
        if devices is not None:
            devices = tuple(i for i in devices if i < len(site.fabrics))
        if caches is not None:
            caches = tuple(i for i in caches if i < site.topology.cache_count)
        member, parts = self.compiled.class_of(subject), HeldParts(devices, caches)
        self.ground.begin(key, member, handle=handle, parts=parts)
        self.work[key] = placement(key, subject, site, devices=devices, caches=caches)

    def end(self, key: int) -> None:
        self.ground.end(key)
        del self.work[key]

    def linger(self, number: int, kind: DomainKind, handle: int) -> None:
        rules = [rule for rule in self.policy.rules if isinstance(rule, Linger)]
        if rules:
            rule = rules[number % len(rules)]
            kind = kind if kind in rule.kinds else rule.kinds[0]
            for domain in sorted(self.sites[handle].domains()[kind]):
                self.residues.append(Residue(rule.name, kind, domain, left_ms=0))
            self.ground.use_residues(self.residues)

    def naive(self, subject: Subject, now_ms: int, until_ms: int, work: list[Placement]) -> int:
        """The nodes where one more breaks no rule, but those about labels."""
        rules = tuple(rule for rule in self.policy.rules if not isinstance(rule, OnlyOn))
        policy, bits = Policy(rules, self.policy.exceptions), 0
        for handle in self.up:
            new = placement(-1, subject, self.sites[handle], from_ms=1, until_ms=until_ms)
            found = violations(policy, [*work, new], now_ms=now_ms, residues=self.residues)
            if not any("-1" in each.who for each in found):
                bits |= 1 << handle
        return bits


steps = st.lists(
    st.tuples(
        st.sampled_from(("begin",) * 4 + ("end", "end", "move", "linger")),
        subjects,
        st.integers(0, 3),
        st.builds(
            HeldParts,
            st.sampled_from((None, (), (0,), (1,))),
            st.sampled_from((None, (), (0,), (1,))),
        ),
        st.sampled_from(ALL),
    ),
    max_size=14,
)


def _run(
    world: World,
    story: list[Move],
    first: int = 0,
) -> None:
    for key, (what, subject, number, held, kind) in enumerate(story, first):
        if what == "begin" and number in world.up:
            world.begin(key, subject, handle=number, held=held)
        elif what == "end" and world.work:
            world.end(sorted(world.work)[number % len(world.work)])
        elif what == "move":
            (world.leave if number in world.up else world.join)(number)
        elif what == "linger" and number in world.up:
            world.linger(key, kind, number)


@given(policies(kinds=ALL), sites(inner=True), steps, subjects, moments, terms)
def test_nodes_are_open_where_the_judge_finds_nothing(
    policy: Policy,
    found: list[Site],
    story: list[Move],
    subject: Subject,
    now_ms: int,
    lasts_ms: int,
) -> None:
    world = World(policy, found)
    for cut in (len(story) // 2, len(story)):
        done = len(story) // 2 if cut == len(story) else 0
        _run(world, story[done:cut], done)
        member = world.compiled.class_of(subject)
        term = world.compiled.term(now_ms, now_ms + lasts_ms)
        naive = world.naive(subject, now_ms, now_ms + lasts_ms, list(world.work.values()))
        assert world.ground.open_to(member, term) == naive
        by_rule = world.ground.by_rule(member, term)
        closed = 0
        for bits in by_rule.values():
            closed |= bits
        assert world.ground.everyone & ~closed == naive


@given(policies(kinds=ALL), sites(inner=True), steps, subjects, st.sets(st.integers(0, 13)))
def test_who_is_taken_for_gone_is_not_in_the_way_and_is_back_after(
    policy: Policy,
    found: list[Site],
    story: list[Move],
    subject: Subject,
    gone: set[int],
) -> None:
    world = World(policy, found)
    _run(world, story)
    member, term = world.compiled.class_of(subject), world.compiled.term(0, 1)
    before = world.ground.open_to(member, term)
    lingers = [rule for rule in policy.rules if isinstance(rule, Linger)]
    left = [each for key, each in world.work.items() if key not in gone]
    for rule in lingers:  # what they leave behind when they go
        for each in (each for key, each in world.work.items() if key in gone):
            for kind in rule.kinds if rule.whose.matches(each.subject) else ():
                for domain in each.domains[kind]:
                    held = (o for o in left if rule.whose.matches(o.subject))
                    if not any(domain in other.domains[kind] for other in held):
                        world.residues.append(Residue(rule.name, kind, domain, left_ms=0))
    with world.ground.without(gone):
        assert world.ground.open_to(member, term) == world.naive(subject, 0, 1, left)
    assert world.ground.open_to(member, term) == before


@given(
    policies(kinds=ALL), sites(inner=True), steps, subjects, st.lists(st.integers(0, 3), max_size=4)
)
def test_members_of_a_gang_are_judged_with_each_other(
    policy: Policy,
    found: list[Site],
    story: list[Move],
    subject: Subject,
    wanted: list[int],
) -> None:
    world = World(policy, found)
    _run(world, story)
    member, term = world.compiled.class_of(subject), world.compiled.term(0, 1)
    allowed, placed = world.ground.open_to(member, term), list[int]()
    for handle in wanted:
        closed = world.ground.beside(member, term, placed=placed)
        if (allowed & ~closed) >> handle & 1:
            placed.append(handle)
    gang = [
        placement(-1 - n, subject, found[at], from_ms=1, until_ms=1) for n, at in enumerate(placed)
    ]
    rules = tuple(rule for rule in policy.rules if not isinstance(rule, OnlyOn))
    kept = Policy(rules, policy.exceptions)
    everybody = [*world.work.values(), *gang]
    for each in violations(kept, everybody, now_ms=0, residues=world.residues):
        assert not any(who.startswith("-") for who in each.who), each
    for handle in sorted(world.up):  # and nobody is kept out for nothing
        if allowed >> handle & 1 and world.ground.beside(member, term, placed=placed) >> handle & 1:
            more = placement(-99, subject, found[handle], from_ms=1, until_ms=1)
            told = violations(kept, [*everybody, more], now_ms=0, residues=world.residues)
            assert any("-99" in each.who for each in told)
