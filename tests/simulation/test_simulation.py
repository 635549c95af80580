"""The cluster in one process: seeds that must keep every promise, and mistakes that must show."""

from __future__ import annotations

import subprocess
import sys
from contextlib import AbstractContextManager
from random import Random
from typing import cast

import pytest

from bailiwick.journal import RecordKind
from tests.conftest import ROOT
from tests.simulation.disk import SECTOR, DiskError, SimDisk
from tests.simulation.model import FOLD, Violation
from tests.simulation.planted import PLANTED, PUT_BACK, Planted
from tests.simulation.world import World

SEEDS = 60
CHUNK = 5
TRIES_MAX = 25
TRIES_MAX_LONG = 300


def _run(seed: int) -> World:
    world = World(seed)
    try:
        return world.run()
    except Violation as broken:
        trace = "\n".join(world.trace_tail[-15:])
        pytest.fail(f"seed {seed}: {broken}; replay: make simulate SEED={seed}\n{trace}", False)


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_every_promise_is_kept_whatever_fails(first: int) -> None:
    for seed in range(first, first + CHUNK):
        _run(seed)


def test_the_same_seed_gives_the_same_trace_in_every_process() -> None:
    program = "from tests.simulation.world import World; print(World(7).run().trace_hash)"
    hashes = {
        # Another hash seed makes sets of strings come out in another order.
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": "."},
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert hashes == {World(7).run().trace_hash + "\n"}


def test_different_seeds_give_different_worlds() -> None:
    assert World(1, actions=50).run().trace_hash != World(2, actions=50).run().trace_hash


def test_the_seeds_together_see_every_sort_of_record_and_every_fault() -> None:
    kinds: set[str] = set()
    faults: set[str] = set()
    for seed in range(SEEDS, SEEDS + 15):
        world = _run(seed)
        kinds |= set(world.judge.model.kinds)
        faults |= {name for name, count in world.seen.items() if count}
    rare = {"fence_cleared", "node_quarantine_lifted"}
    assert not {"lease_preempted", "lease_fenced", "room_reserved", "state_checkpoint"} - kinds
    assert not {"isolation_policy_set", "isolation_violated"} - kinds
    assert len(kinds | rare) >= 20
    wanted = {"dies", "is held up", "loses", "late batch", "the database starts", "rots"}
    wanted |= {"jumps", "leaps"}
    assert not wanted - faults


def test_the_naive_model_knows_every_record_that_its_actors_can_cause() -> None:
    people = {"access_refused", "access_token_issued", "access_token_revoked", "break_glass"}
    people |= {"role_set", "member_changed", "service_account_created", "service_account_changed"}
    people |= {"account_trust_set", "account_trust_deleted", "account_key_added"}
    people |= {"account_key_ended", "account_token_granted"}
    people |= {"role_offered", "role_offer_ended", "principal_homed"}
    homes = {"tenant_created", "tenant_changed", "project_created", "project_changed"}
    money = {"budget_changed", "budget_state_changed", "rate_card_changed", "invoice_issued"}
    audited = {"isolation_enforced", "isolation_finding", "isolation_finding_closed"}
    graphs = {"graph_submitted", "graph_task_retried", "graph_ended"}
    graphs |= {"exec_started", "exec_ended", "files_copied"}
    apps = {"app_published", "app_changed", "app_entitlement_set"}
    apps |= {"artifact_source_set", "artifact_changed", "app_webhook_set"}
    apps |= {"artifact_credential_issued"}
    apps |= {"app_checked"}
    apps |= {"app_instance_requested", "app_instance_changed", "app_instance_moved"}
    apps |= {"app_member_changed", "app_operation_changed", "app_usage_reported"}
    apps |= {"app_instance_called", "app_endpoint_opened", "app_endpoint_closed"}
    apps |= {"shared_runtime_created", "shared_runtime_ended", "shared_attachment_changed"}
    apps |= {"shared_contribution_changed", "submit_policy_set", "shared_credential_used"}
    apps |= {"shared_use_told", "shared_settlement_set"}
    others = {"finding_reported", "clock_repaired"}
    # Cells have a simulation of their own.
    others |= {kind for kind in map(str, RecordKind) if kind.startswith(("cell_", "global_"))}
    others |= {"home_met", "home_left", "home_heard"}
    nobody_here = people | homes | money | audited | graphs | apps | others
    assert {kind.value for kind in RecordKind} - nobody_here == set(FOLD)


def _first_broken(planted: Planted, tries_max: int) -> str | None:
    found = (_promise_broken(seed, planted) for seed in range(tries_max))
    return next((promise for promise in found if promise is not None), None)


def _promise_broken(seed: int, planted: Planted) -> str | None:
    with cast("AbstractContextManager[object]", planted.patched()):
        try:
            World(seed, plan=planted.plan).run()
        except Violation as broken:
            return broken.promise
    return None


@pytest.mark.parametrize("planted", PLANTED, ids=[planted.name for planted in PLANTED])
def test_a_mistake_put_in_on_purpose_is_found(planted: Planted) -> None:
    assert _first_broken(planted, TRIES_MAX) in planted.promises


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("planted", PUT_BACK, ids=[planted.name for planted in PUT_BACK])
def test_a_bug_of_the_past_would_be_found_again(planted: Planted) -> None:
    assert _first_broken(planted, TRIES_MAX_LONG) in planted.promises


# -- the disk itself ------------------------------------------------------------------------------


def test_the_disk_keeps_what_was_synced_through_every_crash() -> None:
    for seed in range(50):
        disk = SimDisk(Random(seed))
        disk.write("f", 0, b"a" * 3 * SECTOR)
        disk.fsync("f")
        disk.write("f", SECTOR, b"b" * SECTOR)
        disk.crash()
        found = disk.read("f")
        assert found[:SECTOR] == b"a" * SECTOR
        assert found[2 * SECTOR :] == b"a" * SECTOR


def test_the_disk_loses_keeps_or_tears_what_was_not_synced() -> None:
    fates = set()
    for seed in range(50):
        disk = SimDisk(Random(seed))
        disk.write("f", 0, b"x" * SECTOR)
        disk.crash()
        kept = disk.read("f").count(b"x")
        fates.add("lost" if kept == 0 else "kept" if kept == SECTOR else "torn")
    assert fates == {"lost", "kept", "torn"}


def test_a_failed_fsync_is_not_mended_by_the_next_one() -> None:
    survived = set()
    for seed in range(50):
        disk = SimDisk(Random(seed))
        disk.write("f", 0, b"x" * SECTOR)
        disk.fsync_fails = True
        with pytest.raises(DiskError):
            disk.fsync("f")
        disk.fsync_fails = False
        disk.fsync("f")
        disk.crash()
        survived.add(len(disk.read("f")))
    assert survived == {0, SECTOR}


def test_a_full_disk_takes_part_of_a_write_and_says_so() -> None:
    disk = SimDisk(Random(3))
    disk.full = True
    with pytest.raises(DiskError):
        disk.write("f", 0, b"x" * 100)
    assert len(disk.read("f")) <= 100
