"""People, workers' names and probes of a shared Slurm: what the operator makes of a runtime."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.operators.slurm.applying import base_of
from bailiwick.operators.slurm.member.shared_host import UIDS
from bailiwick.operators.slurm.orders import controller_files, worker_files
from bailiwick.operators.slurm.shared.mapping import (
    PROBE_ACCOUNT,
    Person,
    SharedMapping,
    SharedNode,
    SharedTerms,
)
from bailiwick.operators.slurm.shared.part import SharedPart, with_probe
from bailiwick.operators.slurm.shared.people import PROBE, UnixUser, unix_of, users_of
from bailiwick.operators.slurm.shared.shape import Unrenderable, plan_shape
from bailiwick.operators.slurm.shared.slots import SLOTS, name_in, plan_slots
from bailiwick.operators.slurm.wanted import Cluster, ClusterWish, Worker, worker_index
from bailiwick.wire.shared import SubmitRight

ANN = Person("ann@lab", unix_of("ann@lab").name, frozenset(("vision",)))
NODES = (SharedNode("worker-0"), SharedNode("worker-63", "vision"))
KEYS = st.lists(
    st.sampled_from(["controller-0", "worker-0", "worker-63", "worker-99", "a", "b", "c.d"]),
    unique=True,
)


def part(*people: Person, attached: str = "vision") -> SharedPart:
    own = SubmitRight(
        owner=attached,
        project=attached,
        person=None,
        queue=None,
        policy=None,
        limits={},
        until_ms=None,
        seq=1,
    )
    mapping = SharedMapping(frozenset((attached,)), (own,), NODES, people)
    terms = SharedTerms(reserved_for=frozenset((attached,)))
    shape = plan_shape(mapping, terms, now_ms=0)
    return SharedPart(with_probe(shape, mapping), terms, users_of(people))


def cluster(shared: SharedPart | None) -> Cluster:
    workers = tuple(Worker(node.name, "10.0.0.1", host="m", cpus=1, mem_mib=100) for node in NODES)
    return Cluster(
        instance_id=3,
        account="core",
        user="root",
        address="10.0.0.1",
        host="m",
        wish=ClusterWish(),
        workers=workers,
        shared=shared,
    )


@given(st.text(min_size=1, max_size=128))
def test_every_identity_has_a_user_that_unix_takes(identity: str) -> None:
    found = unix_of(identity)
    assert found == unix_of(identity)
    assert found.uid in UIDS
    assert len(found.name) <= 32
    assert found.name.encode("ascii").islower()
    assert found.name[0].isalpha()


def test_people_of_one_name_are_told_apart_and_of_one_number_none_is_a_user() -> None:
    assert unix_of("ann@lab").name != unix_of("ann@rival").name
    twins = [UnixUser("x", 2_000_000_001), UnixUser("y", 2_000_000_001)]
    assert len({each.uid for each in twins}) == 1
    found = users_of([ANN, Person("bob", "b", frozenset())])
    assert {*found} == {PROBE, unix_of("ann@lab"), unix_of("bob")}


@given(KEYS, st.dictionaries(st.sampled_from(["a", "b", "c.d"]), st.integers(0, 80)))
def test_every_worker_has_a_name_of_its_own_and_keeps_it(
    keys: list[str], known: dict[str, int]
) -> None:
    slots = plan_slots(keys, known)
    names = [name_in(slots, key) for key in keys if key != "controller-0"]
    assert len({*names}) == len(names)
    for name in names:
        worker_index(name or "")
    assert plan_slots(keys, slots) == slots, "and keeps it"
    assert plan_slots([*keys, "z"], slots).items() >= slots.items(), "whoever comes"
    assert "worker-0" not in slots


def test_a_worker_for_whom_no_name_is_free_is_not_there() -> None:
    slots = plan_slots([f"w{n}" for n in range(SLOTS + 2)], {})
    assert len(slots) == SLOTS
    assert name_in(slots, "w9x") is None


def test_workers_are_proved_in_an_account_that_no_project_has() -> None:
    shared = part(ANN)
    rows = [each for each in shared.shape.partitions if each.name == PROBE_ACCOUNT]
    assert rows[0].nodes == ("worker-0", "worker-63")
    assert rows[0].accounts == (PROBE_ACCOUNT,)
    taken = part(ANN, attached=PROBE_ACCOUNT)
    assert [each.why for each in taken.shape.left_out] == [Unrenderable.ACCOUNT_NAME]


def test_a_part_changes_partitions_and_grants_and_nothing_that_needs_a_trial() -> None:
    empty, full = cluster(part()), cluster(part(ANN))
    before, after = controller_files(empty), controller_files(full)
    assert {name for name in after if before[name] != after[name]} == {"grants"}
    assert f"{ANN.user} vision vision" in after["grants"]
    assert base_of(empty) == base_of(full)
    assert base_of(full) != base_of(cluster(None))
    told = worker_files(full, "worker-63")
    assert told["slurm.conf"] == after["slurm.conf"]
    assert "grants" not in told
