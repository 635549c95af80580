"""``bailiwick repair clock`` sets a journal's time right, once every server is stopped."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bailiwick import NodeCapacity, PlacementRequest, TenantId
from bailiwick.kernel import Envelope, RegisterNode, Submit, Tick
from bailiwick.runtime.replica import Replica, Role, Ticket
from bailiwick.runtime.runner import SystemClock
from bailiwick.server.stamping import open_stamps
from bailiwick.services.authority import Authority
from bailiwick.store import open_store
from tests.support.command_line import call

DAY = 86_400_000
WHY = ("--why", "the clock was a year ahead")


class WrongClock(SystemClock):
    """A machine that believes to be a year further."""

    def now_ms(self) -> int:
        return super().now_ms() + 365 * DAY


@pytest.fixture
def poisoned(tmp_path: Path) -> Path:
    """A data directory whose journal was begun a year too early."""
    store = open_store(tmp_path)
    replica = Replica(store, WrongClock(), name="one")
    for _ in range(3):
        replica.step()
    assert replica.role is Role.LEADING
    node = NodeCapacity(cpu_cores=8, mem_bytes=2**30)
    request = PlacementRequest(tenant=TenantId("lab"), cpu_cores=1)
    for command in (RegisterNode("node-1", node), Submit(request), Tick()):
        replica.submit(Ticket(Envelope(command), lambda _: None))
    replica.step()
    store.close()
    return tmp_path


def test_a_poisoned_journal_is_set_right_and_stays_as_sealed(poisoned: Path) -> None:
    where = ("--store", str(poisoned))
    tried = call("repair", "clock", *WHY, *where, "--dry-run")
    assert tried.returncode == 0, tried.stderr
    assert "dry run: nothing was changed" in tried.stdout
    done = call("repair", "clock", *WHY, *where, "--yes")
    assert done.returncode == 0, done.stderr
    assert "by record" in done.stdout
    assert "1 leases are left" in done.stderr
    verified = call("journal", "verify", str(poisoned))
    assert verified.returncode == 0, verified.stderr
    shown = call("journal", "show", str(poisoned), "--limit", "1000")
    assert "clock_repaired" in shown.stdout

    asked = call("whatif", "-j", str(poisoned), "--set", "strategy=best_fit")
    assert asked.returncode == 2
    assert "the clock was set back by record" in asked.stderr

    store = open_store(poisoned)
    replica = Replica(store, SystemClock(), name="two")
    for _ in range(3):
        replica.step()
    assert replica.role is Role.LEADING
    assert replica.kernel is not None
    assert replica.kernel.state.clock_ms < time.time_ns() // 1_000_000 + DAY
    store.close()


def test_nothing_is_repaired_under_a_server_that_leads(poisoned: Path) -> None:
    store = open_store(poisoned)
    assert store.lead("server", "") is not None
    done = call("repair", "clock", *WHY, "--store", str(poisoned), "--yes")
    assert done.returncode != 0
    assert "stop every server first" in done.stderr
    store.close()


def test_a_time_that_is_none_is_told(poisoned: Path) -> None:
    done = call("repair", "clock", *WHY, "--store", str(poisoned), "--yes", "--to", "soon")
    assert done.returncode == 2


def test_what_no_leader_wrote_is_shown_taken_out_and_kept(tmp_path: Path) -> None:
    data, key = tmp_path / "data", Authority.new_key()
    store = open_store(data)
    (data / "authority.pem").touch(mode=0o600)
    (data / "authority.pem").write_bytes(key)
    replica = Replica(store, SystemClock(), name="one")
    replica.stamps = open_stamps(data, Authority.from_pem(key))
    for _ in range(3):
        replica.step()
    assert replica.role is Role.LEADING
    replica.stamps = None  # from here on it is a forger
    node = RegisterNode("forged", NodeCapacity(cpu_cores=8, mem_bytes=2**30))
    replica.submit(Ticket(Envelope(node), lambda _: None))
    replica.step()
    store.close()

    shown = call("repair", "stamps", "--store", str(data))
    assert shown.returncode == 0, shown.stderr
    assert '"forged"' in shown.stdout
    assert "1 records that no leader" in shown.stderr
    done = call("repair", "stamps", "--store", str(data), "--cut", "--yes", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (kept,) = tmp_path.glob("bailiwick-cut-*.jsonl")
    assert b'"forged"' in kept.read_bytes()
    assert "0 records" in call("repair", "stamps", "--store", str(data)).stderr
