"""Reconciliation against a reference that counts held units tick by tick and never multiplies."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import event, given
from hypothesis import strategies as st

from bailiwick.metering import Account, Leased, Segment, Share
from bailiwick.metering.counters import Counter, GpuCount
from bailiwick.metering.reconcile import Tolerance, attribute, check_usage
from bailiwick.vocab.words import LeaseClass, ResourceKind

CPU, MEM, GPU = ResourceKind.CPU_MILLI, ResourceKind.MEM_BYTES, ResourceKind.GPU_MILLI
ACCOUNT = Account("lab", None, None, LeaseClass.STANDARD, None)
END = 60

ticks = st.integers(0, END)
tolerances = st.builds(
    Tolerance,
    time_ms=st.integers(0, 3),
    per_mille=st.sampled_from([0, 1, 20, 500, 1000]),
    mem_bytes=st.integers(0, 3),
    clock_ms=st.integers(0, 5),
)
shares = st.sampled_from([(CPU, 0), (MEM, 0), (GPU, 0), (GPU, 1), (GPU, 2)])


@st.composite
def stretches(draw: st.DrawFn) -> list[Segment]:
    """Some stretches of lease 7, one after the other on each share, as a meter gives them."""
    found: list[Segment] = []
    begin = draw(ticks)
    for kind, index in draw(st.lists(shares, unique=True, max_size=4)):
        amount, at = draw(st.integers(1, 3)) * draw(st.sampled_from([1, 400, 1000])), begin
        for span in draw(st.lists(st.integers(1, 20), min_size=1, max_size=3)):
            share = Share("n", kind, index)
            owner = Leased(7, ACCOUNT)
            found.append(Segment(share, amount, owner, at, at + span, 1, 2))
            at += span
    return found


@st.composite
def counters(draw: st.DrawFn) -> Counter:
    from_ms = draw(ticks)
    last = from_ms + draw(ticks)
    indices = sorted(draw(st.sets(st.integers(0, 3), max_size=3)))
    sums = st.none() | st.integers(0, 200) | st.integers(0, 4_000)
    return Counter(
        7,
        draw(st.sampled_from(["n", "n", "n", "m"])),
        last + draw(st.integers(0, 5)),
        from_ms,
        to_ms=draw(st.sampled_from([None, last])),
        cpu_ms=draw(sums),
        mem_peak_bytes=draw(sums),
        gpu_ms=draw(sums),
        gpus=tuple(
            GpuCount(i, draw(ticks), draw(st.integers(0, 200)), draw(st.integers(0, 130)))
            for i in indices
        ),
    )


@dataclass(frozen=True)
class Naive:
    """The same rules, the long way."""

    held: list[Segment]
    is_over: bool
    counter: Counter
    by: Tolerance

    def granted(self, kind: ResourceKind, index: int | None) -> int:
        units = 0
        for each in self._of(kind, index):
            for _ in range(each.from_ms, each.to_ms):
                units += each.amount
        return units

    def milli(self, kind: ResourceKind, index: int | None) -> int:
        most = {each.share.index: 0 for each in self._of(kind, index)}
        for each in self._of(kind, index):
            most[each.share.index] = max(most[each.share.index], each.amount)
        return sum(most.values())

    def is_beyond(self, counted_ms: int, kind: ResourceKind, index: int | None) -> bool:
        """Whether the excess, after so many whole units for a start, is above the part allowed."""
        granted = self.granted(kind, index)
        excess = counted_ms * 1000 - granted
        for _ in range(self.by.time_ms):
            excess -= max(1000, self.milli(kind, index))
        return excess > int(Fraction(granted * self.by.per_mille, 1000))

    def _of(self, kind: ResourceKind, index: int | None) -> list[Segment]:
        same = [each for each in self.held if each.share.kind is kind]
        return [each for each in same if index is None or each.share.index == index]

    def findings(self) -> set[tuple[str, int | None]]:
        if not self.held:
            return {("unknown_lease", None)}
        if self.counter.node != "n":
            return {("other_node", None)}
        return self.spans() | self.sums() | self.devices()

    def spans(self) -> set[tuple[str, int | None]]:
        found: set[tuple[str, int | None]] = set()
        first = min(each.from_ms for each in self.held)
        last = max(each.to_ms for each in self.held)
        counter, clock = self.counter, self.by.clock_ms
        if first - counter.from_ms > clock:
            found.add(("before_grant", None))
        if not self.is_over:
            return found
        seen = counter.at_ms if counter.to_ms is None else counter.to_ms
        if seen - last > clock:
            found.add(("after_end", None))
        if counter.to_ms is not None and last - counter.to_ms > clock:
            found.add(("held_longer", None))
        return found

    def sums(self) -> set[tuple[str, int | None]]:
        found: set[tuple[str, int | None]] = set()
        counter = self.counter
        cpu, mem = counter.cpu_ms, counter.mem_peak_bytes
        if cpu is not None and self._of(CPU, 0) and self.is_beyond(cpu, CPU, 0):
            found.add(("cpu_time", None))
        if mem is not None and self._of(MEM, 0):
            excess = mem - self.milli(MEM, 0) - self.by.mem_bytes
            if excess > int(Fraction(self.milli(MEM, 0) * self.by.per_mille, 1000)):
                found.add(("memory", None))
        if counter.gpu_ms is not None and self.is_beyond(counter.gpu_ms, GPU, None):
            found.add(("gpu_time", None))
        return found

    def devices(self) -> set[tuple[str, int | None]]:
        found: set[tuple[str, int | None]] = set()
        last = max(each.to_ms for each in self.held)
        for gpu in self.counter.gpus:
            if not self._of(GPU, gpu.index):
                if gpu.active_ms > self.by.time_ms:
                    found.add(("gpu_not_held", gpu.index))
                continue
            if self.is_beyond(gpu.busy_ms, GPU, gpu.index):
                found.add(("gpu_time", gpu.index))
            if self.is_over and gpu.until_ms - last > self.by.clock_ms:
                found.add(("gpu_after_end", gpu.index))
        return found


@given(stretches(), counters(), tolerances, st.booleans())
def test_what_is_found_is_what_counting_tick_by_tick_finds(
    held: list[Segment], counter: Counter, tolerance: Tolerance, is_over: bool
) -> None:
    attributed = attribute(held) if is_over else attribute((), held)
    found = check_usage(attributed.get(7), counter, tolerance=tolerance)
    told = [(each.what.value, getattr(each, "device", None)) for each in found]
    for what, _ in told:
        event(what)
    assert len(told) == len(set(told))
    assert set(told) == Naive(held, is_over, counter, tolerance).findings()


@given(stretches(), tolerances, st.data())
def test_who_stays_within_his_grant_is_never_accused(
    held: list[Segment], tolerance: Tolerance, data: st.DataObject
) -> None:
    lease = attribute(held).get(7)
    if lease is None:
        return
    cpu = lease.used.get((CPU, 0), 0) // 1000
    mem = lease.amounts.get((MEM, 0), 0)
    devices = {i: used // 1000 for (kind, i), used in lease.used.items() if kind is GPU}
    counter = Counter(
        7,
        "n",
        lease.to_ms,
        lease.from_ms,
        to_ms=lease.to_ms,
        cpu_ms=data.draw(st.integers(0, cpu)),
        mem_peak_bytes=data.draw(st.integers(0, mem)),
        gpu_ms=sum(devices.values()),
        gpus=tuple(
            GpuCount(i, lease.to_ms - lease.from_ms, data.draw(st.integers(0, busy)), lease.to_ms)
            for i, busy in sorted(devices.items())
        ),
    )
    assert check_usage(lease, counter, tolerance=tolerance) == ()


@given(stretches(), counters(), tolerances)
def test_a_wider_tolerance_never_finds_more(
    held: list[Segment], counter: Counter, tolerance: Tolerance
) -> None:
    lease = attribute(held).get(7)
    wider = Tolerance(
        time_ms=tolerance.time_ms + 1,
        per_mille=min(1000, tolerance.per_mille + 1),
        mem_bytes=tolerance.mem_bytes + 1,
        clock_ms=tolerance.clock_ms + 1,
    )
    few = {
        (each.what, getattr(each, "device", None))
        for each in check_usage(lease, counter, tolerance=wider)
    }
    many = {
        (each.what, getattr(each, "device", None))
        for each in check_usage(lease, counter, tolerance=tolerance)
    }
    assert few <= many
