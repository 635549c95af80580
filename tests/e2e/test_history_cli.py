"""``bailiwick history`` answers from the journal, for one tenant, and makes nothing else."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from bailiwick import NodeCapacity, PlacementRequest, TenantId
from bailiwick.kernel import Envelope, RegisterNode, Release, Submit
from bailiwick.runtime.replica import Replica, Role
from bailiwick.runtime.runner import Runner, SystemClock
from bailiwick.store import open_store
from tests.support.command_line import Ended, call, run
from tests.support.waiting import WAIT_S


def history(*words: str) -> Ended:
    return call("history", *words)


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A data directory in which two tenants held leases, one of them given back."""
    runner = Runner(Replica(open_store(tmp_path), SystemClock(), name="one"))
    runner.start()
    assert runner.wait_for(Role.LEADING, wait_s=WAIT_S)
    node = NodeCapacity(cpu_cores=8, mem_bytes=2**30)
    runner.execute(Envelope(RegisterNode("node-1", node)))
    for tenant in (TenantId("lab"), TenantId("lab"), TenantId("other")):
        runner.execute(Envelope(Submit(PlacementRequest(tenant=tenant, cpu_cores=1))))
    runner.execute(Envelope(Release(1)))
    runner.stop()
    return str(tmp_path)


def test_leases_are_the_tenants_own_and_tell_how_they_ended(store: str) -> None:
    done = run("history", "leases", "lab", "--store", store, "-o", "json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [(row["lease_id"], row["end_cause"]) for row in rows] == [(2, None), (1, "released")]


def test_decisions_and_usage_come_from_the_same_journal(store: str) -> None:
    decisions = json.loads(history("decisions", "lab", "--store", store, "-o", "json").stdout)
    kinds = [row["kind"] for row in decisions]
    assert kinds.count("admission_approved") == 2
    usage = json.loads(history("usage", "lab", "--store", store, "-o", "json").stdout)
    assert [row["leases_ended"] for row in usage] == [1]


def test_a_rebuild_gives_the_same_answers(store: str) -> None:
    before = history("leases", "lab", "--store", store).stdout
    done = history("rebuild", "--store", store)
    assert done.returncode == 0
    assert "records folded" in done.stdout
    assert history("leases", "lab", "--store", store).stdout == before


def test_a_store_that_is_not_there_is_refused_and_not_made(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere"
    done = history("usage", "lab", "--store", str(missing))
    assert done.returncode == 2
    assert "no database" in done.stderr
    assert not missing.exists()


def journal(*words: str) -> Ended:
    return call("journal", *words)


def change_record(store: str, seq: int) -> None:
    with sqlite3.connect(Path(store, "bailiwick.db")) as database:
        (line,) = database.execute("SELECT line FROM journal WHERE seq = ?", (seq,)).fetchone()
        changed = line.replace(b'"tenant":"lab"', b'"tenant":"bal"')
        assert changed != line
        database.execute("UPDATE journal SET line = ? WHERE seq = ?", (changed, seq))


def test_a_published_journal_is_signed_and_every_record_of_it_can_be_proven(
    store: str, tmp_path: Path
) -> None:
    log, key = tmp_path / "log", tmp_path / "key"
    first = journal("publish", store, str(log), "--key", str(key))
    assert first.returncode == 0, first.stderr
    assert "7 records more, 7 in all" in first.stdout
    assert "0 records more" in journal("publish", store, str(log), "--key", str(key)).stdout
    assert "7 of them under a signed checkpoint" in journal("verify", str(log)).stdout
    vkey = (log / "vkey").read_text().strip()
    proof = tmp_path / "proof"
    assert journal("prove", "3", str(log), "-o", str(proof)).returncode == 0
    told = journal("check-proof", str(proof), "--vkey", vkey)
    assert told.returncode == 0, told.stderr
    assert "admission_approved" in told.stdout


def test_a_database_that_tells_another_history_than_was_published_is_refused(
    store: str, tmp_path: Path
) -> None:
    log, key = str(tmp_path / "log"), str(tmp_path / "key")
    assert journal("publish", store, log, "--key", key).returncode == 0
    change_record(store, 6)
    bad = journal("publish", store, log, "--key", key)
    assert bad.returncode == 3
    assert "record 6 is not the one that was published" in bad.stderr
    assert journal("verify", log).returncode == 0


def test_the_journal_of_a_database_is_verified_shown_and_found_out(store: str) -> None:
    good = journal("verify", store)
    assert good.returncode == 0, good.stderr
    assert "are as sealed" in good.stdout
    change_record(store, 3)
    bad = journal("verify", store)
    assert bad.returncode == 3
    assert "record 3" in bad.stderr
