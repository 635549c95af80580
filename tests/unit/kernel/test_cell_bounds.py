"""What bounds a request to all cells at home: quota without its credit, and what cannot be seen."""

from __future__ import annotations

import pytest

from bailiwick.billing.budgets import Budget
from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.kernel import ChangeSettings, Queued, Refused, RegisterNode, SetQuota, Submit
from bailiwick.kernel.cells import commands as cmd
from bailiwick.kernel.cells.bounds import is_borne
from bailiwick.kernel.money.commands import SetBudget
from bailiwick.kernel.snapshot import decode, encode
from bailiwick.scheduler.burst import BurstCredit
from bailiwick.scheduler.quota_policy import Quota, QuotaScope, ResourceLimit
from bailiwick.scheduler.rights.denials import TooManyWaiting
from bailiwick.vocab.cells import TakingStatus
from bailiwick.vocab.errors import Conflict
from bailiwick.vocab.words import Dimension, PreemptionReason
from tests.support.wide_open import wide_settings
from tests.unit.kernel.desk import HOPPER, Desk, ask, cores

EPOCH, GIB, HOUR_MS = 2, 2**30, 3_600_000
CREDIT = BurstCredit(Dimension.CPU_MILLI, capacity=30_000, refill_per_s=1, ceiling=6_000)


@pytest.fixture
def home() -> Desk:
    """A plane of sixteen cores with one cell, which was met."""
    desk = Desk(nodes=[cores(16)], burst_min_run_ms=1_000)
    desk.do(cmd.JoinCell("east", "https://east.example"))
    desk.do(cmd.ReachCell("east", EPOCH, 0))
    return desk


def asked(home: Desk, **terms: object) -> int:
    home.do(cmd.AskGlobally(ask(**{"ttl_ms": 99 * HOUR_MS} | terms)))
    return home.state.cells.serial


def runs_there(home: Desk, **terms: object) -> int:
    """A request that has its leases in the cell."""
    number = asked(home, **terms)
    home.do(cmd.SendGlobal(number, "east"))
    sent = home.state.cells.request(number).sent or 0
    told = cmd.NoteGlobal("east", EPOCH, number, sent, 10 + number, TakingStatus.HELD, (number,))
    home.do(told)
    return number


def limited(home: Desk, count: int, *, burst: BurstCredit | None = None) -> None:
    home.do(SetQuota("lab", Quota((ResourceLimit.cpu_cores(count),), burst=burst)))


# -- what cannot be seen from home -----------------------------------------------------------------


@pytest.mark.parametrize("project", [None, "p"])
def test_a_limit_on_gpu_memory_at_home_is_not_got_round_in_a_cell(
    home: Desk, project: str | None
) -> None:
    home.do(RegisterNode("g1", NodeCapacity(8, 10**6, gpus=(GpuDevice(HOPPER, 80 * GIB),) * 2)))
    wish = {"gpu_count": 2, "project": "p"}
    before = asked(home, **wish)
    quota = Quota((ResourceLimit.gpu_vram(80 * GIB),))
    home.do(SetQuota("lab", quota, project=project))
    assert isinstance(home.do(Submit(ask(**wish))), Queued | Refused), "it holds here"
    for ask_again in (lambda: asked(home, **wish), lambda: runs_there(home, **wish)):
        with pytest.raises(Conflict, match="limit on GPU memory here"):
            ask_again()
    with pytest.raises(Conflict, match="limit on GPU memory here"):
        home.do(cmd.SendGlobal(before, "east"))
    waiting = home.state.cells.request(before).request
    assert not is_borne(home.state, waiting, now_ms=home.now_ms), "it is not asked for"
    asked(home, cpu_cores=1, project="p")
    asked(home, gpu_count=2, tenant="shop")
    home.do(SetQuota("lab", Quota(), project=project))
    home.do(cmd.SendGlobal(before, "east"))


def test_who_has_a_budget_is_not_asked_for_in_cells(home: Desk) -> None:
    wish = home.state.cells.request(asked(home)).request
    assert is_borne(home.state, wish, now_ms=home.now_ms)
    home.do(SetBudget(Budget("lab", None, limit_micros=10**9), 0, None))
    assert not is_borne(home.state, wish, now_ms=home.now_ms)


# -- burst credit ----------------------------------------------------------------------------------


def test_burst_credit_does_not_carry_what_a_cell_has(home: Desk) -> None:
    limited(home, 2, burst=CREDIT)
    home.lease(cpu_cores=1, ttl_ms=HOUR_MS)
    beyond = asked(home, cpu_cores=2)
    with pytest.raises(Conflict, match="is 1000 beyond its quota, and burst credit carries"):
        home.do(cmd.SendGlobal(beyond, "east"))
    wish = home.state.cells.request(beyond).request
    assert not is_borne(home.state, wish, now_ms=home.now_ms), "it waits for what is given back"
    runs_there(home, cpu_cores=1)
    home.lease(cpu_cores=2, ttl_ms=HOUR_MS)  # what runs here may go above


def test_nobodys_local_lease_is_evicted_for_what_he_has_in_a_cell(home: Desk) -> None:
    limited(home, 8, burst=CREDIT)
    runs_there(home, cpu_cores=6)
    kept = home.lease(cpu_cores=1, ttl_ms=HOUR_MS)
    limited(home, 2, burst=CREDIT)
    for _ in range(3):
        home.tick(home.now_ms + 60_000)
    assert home.phase(kept) == "active", "he would go in vain: the cell has more than the limit"


def test_who_went_above_the_limit_here_goes_when_the_credit_is_used_up(home: Desk) -> None:
    limited(home, 4, burst=CREDIT)
    runs_there(home, cpu_cores=3)
    first = home.lease(cpu_cores=1, ttl_ms=HOUR_MS)
    above = home.lease(cpu_cores=2, ttl_ms=HOUR_MS)
    home.tick(home.now_ms + 60_000)
    ending = {(each.body["lease_id"], each.body["reason"]) for each in home.last}
    assert ending == {(above, PreemptionReason.BURST_CREDIT_EXHAUSTED)}
    assert home.phase(first) == "active"


def test_what_is_in_cells_is_counted_again_from_a_snapshot(home: Desk) -> None:
    book = home.state.cells
    first = runs_there(home, cpu_cores=3, project="p")
    runs_there(home, cpu_cores=2)
    asked(home, cpu_cores=9)
    for each in (book, decode(encode(home.state), home.digest).cells):
        assert each.charged_to("lab", None)[0] == 5_000
        assert each.charged_to("lab", "p")[0] == 3_000
        assert not any(each.charged_to("shop", None))
    sent = book.request(first).sent or 0
    home.do(cmd.NoteGlobal("east", EPOCH, first, sent, 99, TakingStatus.ENDED))
    assert not any(book.charged_to("lab", "p"))
    assert book.charged_to("lab", None)[0] == 2_000


# -- who waits -------------------------------------------------------------------------------------


def test_who_waits_for_a_cell_counts_for_the_homes_own_line_too(home: Desk) -> None:
    home.do(ChangeSettings(wide_settings(waiting_max=2)))
    home.lease("busy", cpu_cores=16)
    asked(home)
    home.wait()
    answer = home.do(Submit(ask()))
    assert isinstance(answer, Refused), "two wait: one here, and one for a cell"
    assert answer.denied.detail == TooManyWaiting(2, 2, QuotaScope.of("lab"))
    assert "ceiling" in home.refuses(Conflict, cmd.AskGlobally(ask()))
