"""Instances against a naive reference: any sequence of commands, told twice, by anybody.

The reference keeps plain dictionaries and counts members one by one. Safety: no illegal move, a
repeat changes nothing, another project's instance is never reached, nothing is deleted with
members left, nobody is wanted beyond what the roles say.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick.apps.life import INSTANCE_EDGES, MEMBER_EDGES, OPERATION_EDGES
from bailiwick.apps.status import (
    InstanceFacts,
    MemberFact,
    MemberPlan,
    derive,
    plan_members,
    tally,
)
from bailiwick.kernel import Command, Envelope, State, decode, digest_of, encode
from bailiwick.kernel.apps import instance_commands as cmd
from bailiwick.kernel.slices import apply, event_of
from bailiwick.vocab.apps import (
    InstancePhase,
    MemberAction,
    MemberPhase,
    OperationPhase,
)
from bailiwick.vocab.errors import BailiwickError, InvariantBroken, NotFound
from tests.support.app_house import AppHouse

STEPS = 60
HOMES = (("lab", "vision"), ("lab", "other"))
KEYS = ("controller-0", "worker-0", "worker-1")
LEAST, MOST = {"controller": 1, "worker": 0}, {"controller": 1, "worker": 4}
P, M = InstancePhase, MemberPhase


class Life:
    """Random commands against a kernel, and a naive book of what its records tell."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.house = AppHouse()
        self.phases: dict[int, InstancePhase] = {}
        self.owners: dict[int, tuple[str, str]] = {}
        self.members: dict[int, dict[int, MemberPhase]] = {}
        self.operations: dict[int, OperationPhase] = {}

    def command(self) -> Command:
        chance = self.chance
        tenant, project = chance.choice(HOMES)
        number = chance.randint(1, 4)
        if self.owners and chance.random() < 0.95:
            number, (tenant, project) = chance.choice([*self.owners.items()])
            if chance.random() < 0.05:
                tenant, project = chance.choice(HOMES)
        home = {"tenant": tenant, "project": project}
        own: dict[str, Any] = {**home, "instance_id": number}
        held = self.house.book.instances.held.get(own["instance_id"])
        now = None if held is None else held.instance
        ids = [] if held is None else [*held.members]
        member_id = chance.choice(ids) if ids else 1
        operation_id = chance.choice([*held.operations]) if held else 1
        key = chance.choice(KEYS)
        action = chance.choice([*MemberAction])
        role = key.rpartition("-")[0] if action is MemberAction.ADD else None
        makers = [
            lambda: cmd.RequestInstance(
                **home, name=chance.choice("ab"), app="hello", version="1.0.0"
            ),
            lambda: cmd.ChangeInstance(**own, counts={"worker": chance.randint(0, 5)}),
            lambda: cmd.ChangeInstance(**own, version="1.1.0"),
            lambda: cmd.ChangeInstance(**own, rollback=True),
            lambda: cmd.ChangeInstance(**own, paused=chance.random() < 0.2),
            lambda: (cmd.DeleteInstance if chance.random() < 0.3 else cmd.FinishDeletion)(**own),
            lambda: cmd.FinishDeletion(**own),
            lambda: cmd.NoteDeletionOverdue(**own),
            lambda: cmd.ForceDeletion(**own, reason="it hangs"),
            lambda: cmd.BeginOperation(**own, key=chance.choice("xy"), title="t"),
            lambda: cmd.AdvanceOperation(
                **own, operation_id=operation_id, progress=chance.randint(0, 100)
            ),
            lambda: cmd.FinishOperation(**own, operation_id=operation_id, succeeded=True),
        ]
        if now is not None:
            said = chance.choice((None, *cmd.REPORTED))
            makers.append(
                lambda: cmd.ReportInstance(
                    **own,
                    revision=chance.choice((now.revision, 1)),
                    observed_generation=chance.choice((1, now.generation)),
                    phase=said,
                )
            )
        change = cmd.ChangeMember(
            **own, action=action, component_key=key, role=role, key=f"k{chance.randint(0, 9)}"
        )
        move = cmd.MoveMember(
            **own, member_id=member_id, phase=chance.choice((M.READY, *cmd.MOVED))
        )
        if not self.owners:
            return makers[0]()
        if now is not None and now.is_leaving and chance.random() < 0.6:
            gone = cmd.MoveMember(**own, member_id=member_id, phase=M.REMOVED)
            return chance.choice((gone, gone, cmd.FinishDeletion(**own)))
        if chance.random() < 0.7:
            return chance.choice((change, change, move))
        return chance.choice(makers)()

    def step(self) -> None:
        self.house.now_ms += self.chance.choice((1, 1, 400_000))
        command, state = self.command(), self.house.kernel.state
        before = encode(state) if self.chance.random() < 0.1 else None
        try:
            told = self.house.do(command)
        except InvariantBroken:
            raise
        except BailiwickError as error:
            assert before is None or encode(self.house.kernel.state) == before
            self.check_refusal(command, error)
            return
        for kind, body in told:
            self.note(kind, body, command)
        self.check()
        self.repeat(command)

    def repeat(self, command: Command) -> None:
        """What a loop says again changes nothing."""
        again = (cmd.ChangeMember, cmd.MoveMember, cmd.DeleteInstance, cmd.BeginOperation)
        if not isinstance(command, again):
            return
        try:
            told = self.house.kernel.execute(Envelope(command), self.house.now_ms + 1).lines
        except NotFound:
            return  # a member that is removed, an instance that is gone
        assert told == ()

    def check_refusal(self, command: Any, error: BailiwickError) -> None:
        """Who names another's instance learns nothing but that it has none."""
        number = getattr(command, "instance_id", None)
        if number is not None and self.owners.get(number) != (command.tenant, command.project):
            assert isinstance(error, NotFound)

    def note(self, kind: str, body: dict[str, Any], command: Any) -> None:
        number = body["instance_id"]
        if kind == "app_instance_requested":
            self.phases[number] = P.REQUESTED
            self.owners[number] = (command.tenant, command.project)
            self.members[number] = {}
            return
        assert self.owners[number] == (command.tenant, command.project)
        if kind == "app_instance_moved":
            before, after = P(body["before"]), P(body["phase"])
            assert self.phases[number] is before
            assert before is after or after in INSTANCE_EDGES[before]
            self.phases[number] = after
            if after is P.DELETED:
                assert not self.members.pop(number)
                del self.owners[number], self.phases[number]
        elif kind == "app_member_changed":
            own, member = self.members[number], body["member_id"]
            after = M(body["phase"])
            if "before" not in body:
                assert member not in own
                assert after is M.REQUESTED
            else:
                assert own[member] is M(body["before"])
                assert own[member] is after or after in MEMBER_EDGES[own[member]]
                if own[member].is_live and after is M.REMOVED:
                    assert self.phases[number] is P.DELETING
            own[member] = after
            if after is M.REMOVED:
                del own[member]
        elif kind == "app_operation_changed":
            after = OperationPhase(body["phase"])
            known = self.operations.setdefault(body["operation_id"], OperationPhase.RUNNING)
            assert known is after or after in OPERATION_EDGES[known]
            self.operations[body["operation_id"]] = after

    def check(self) -> None:
        book = self.house.book.instances
        assert {n: held.instance.phase for n, held in book.held.items()} == self.phases
        for number, held in book.held.items():
            i = held.instance
            assert {n: each.phase for n, each in held.members.items()} == self.members[number]
            assert all(
                LEAST[role] <= count <= MOST[role] for role, count in i.wanted.counts.items()
            )
            assert derive(held.facts) is i.phase
            assert i.observed_generation <= i.generation >= i.settled_generation
            for key, member in held.components.items():
                assert held.members[member].component_key == key
            live = {n for n, each in held.members.items() if each.is_live}
            assert live <= set(held.components.values())
            assert len(held.ended) <= 64


@settings(max_examples=60)
@given(st.integers(0, 10**6))
def test_whatever_is_told_instances_live_by_their_tables(seed: int) -> None:
    life = Life(seed)
    for _ in range(STEPS):
        life.step()
    state = life.house.kernel.state
    assert decode(encode(state), digest_of(state)).apps == state.apps
    replayed = State()
    for record in life.house.records:
        apply(replayed, event_of(record), record.at_ms, course=record.correlation_id)
    assert replayed.apps == state.apps


MEMBERS = st.builds(
    MemberFact,
    st.sampled_from(KEYS),
    st.sampled_from(("controller", "worker")),
    st.sampled_from([each for each in M if each is not M.REMOVED]),
    st.sampled_from(("1.0.0", "1.1.0")),
)
FACTS = st.builds(
    InstanceFacts,
    st.fixed_dictionaries({"controller": st.integers(0, 1), "worker": st.integers(0, 3)}),
    st.just("1.0.0"),
    st.lists(MEMBERS, max_size=6).map(tuple),
    st.sampled_from(P),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from((None, P.RUNNING, P.DEGRADED, P.FAILED)),
)


def naive_phase(facts: InstanceFacts) -> InstancePhase:
    """The phase, by the sentences of the manual."""
    own = [each for each in facts.members if not each.is_contributed]
    lives = [each for each in own if each.phase in (M.REQUESTED, M.JOINING, M.READY)]
    ready = Counter(e.role for e in own if e.phase is M.READY and e.version == facts.version)
    has_all = all(ready[role] >= count for role, count in facts.counts.items())
    if facts.phase in (P.DELETING, P.DELETED):
        return facts.phase
    if facts.reported is P.FAILED:
        return P.FAILED
    if has_all and facts.is_observed:
        return P.RUNNING if facts.reported is not P.DEGRADED else P.DEGRADED
    if not lives and any(each.phase is M.FAILED for each in own):
        return P.FAILED
    if facts.has_run:
        return P.DEGRADED if facts.is_settled else P.UPDATING
    if facts.phase is P.REQUESTED and not facts.members:
        return P.REQUESTED
    return P.PROVISIONING


@settings(max_examples=300)
@given(FACTS)
def test_the_phase_follows_from_the_members(facts: InstanceFacts) -> None:
    assert derive(facts) is naive_phase(facts)
    for role, row in tally(facts).items():
        given = [each for each in facts.members if each.is_contributed]
        own = [each for each in facts.members if each.role == role and each not in given]
        parts = (row.live, row.failed, row.leaving)
        assert sum(parts) == len(own)
        assert row.ready + row.outdated <= row.live


@settings(max_examples=100)
@given(FACTS.filter(lambda facts: facts.phase not in (P.DELETING, P.DELETED)))
def test_who_follows_the_plan_comes_to_what_is_wanted(facts: InstanceFacts) -> None:
    by_key = {each.component_key: each for each in facts.members if each.phase is not M.DRAINING}
    members = dict(by_key)
    given = {key for key, each in members.items() if each.is_contributed}
    for _ in range(40):
        members = {  # all that starts comes to be ready
            key: each._replace(phase=M.READY if each.phase.is_live else each.phase)
            for key, each in members.items()
        }
        now = InstanceFacts(facts.counts, facts.version, tuple(members.values()))
        plan = plan_members(now)
        if plan == MemberPlan():
            break
        # What another gave is never in the way, nor too many; it is only put up to date.
        assert not given & {*plan.replace, *plan.remove, *plan.drain}
        assert set(plan.renew) <= given
        assert not {key for _, key in plan.add} & set(members)
        for key in (*plan.remove, *plan.drain):
            del members[key]
        for key in plan.replace:
            members[key] = MemberFact(key, members[key].role, M.READY, facts.version)
        for key in plan.renew:
            members[key] = MemberFact(key, members[key].role, M.READY, facts.version, True)
        for role, key in plan.add:
            members[key] = MemberFact(key, role, M.READY, facts.version)
    now = InstanceFacts(facts.counts, facts.version, tuple(members.values()))
    assert derive(now) is P.RUNNING
    own = [each for each in members.values() if not each.is_contributed]
    assert Counter(each.role for each in own) == Counter(facts.counts)
    assert given == {key for key, each in members.items() if each.is_contributed}
    assert {members[key].version for key in given} <= {facts.version}
