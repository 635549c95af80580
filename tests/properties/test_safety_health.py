"""What is wrong with a machine: judged look by look, and from its whole history, it is the same."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.agent.health.judge import HealthMemory, HealthReadings, judge_health
from bailiwick.agent.health.limits import HealthLimits
from bailiwick.vocab.health import check_findings
from tests.support.naive_health import naive_findings

UUIDS = ("GPU-a", "GPU-b", "GPU-c")
small = st.integers(0, 3)

LINKS = st.lists(
    st.fixed_dictionaries(
        {"active": st.integers(0, 1), "replay": st.sampled_from([0, 600, 1_500]), "crc_data": small}
    ),
    max_size=2,
)


@st.composite
def gpu(draw: st.DrawFn, uuid: str) -> dict[str, Any] | None:
    """One GPU: sound mostly, gone, mute, or ill in several ways."""
    kind = draw(st.sampled_from(["there"] * 4 + ["gone", "mute"]))
    if kind == "gone":
        return None
    if kind == "mute":
        return {"errors": {"handle": draw(st.sampled_from([15, 999]))}}
    errors = draw(st.sampled_from([{}] * 4 + [{"ecc": 3}, {"mig": 16}, {"temperature": 999}]))
    return {
        "uuid": uuid,
        "mig": draw(st.sampled_from([[0, 0], [0, 0], [1, 1]])),
        "temperature": draw(st.sampled_from([40, 86, 88, 90])),
        "slowdown": 89,
        "throttle": draw(st.sampled_from([0, 1, 32, 64, 96])),
        "ecc_uncorrected": draw(st.sampled_from([0, 0, 2])),
        "remapped": [draw(small), draw(small), *draw(st.sampled_from([(0, 0), (1, 0), (0, 1)]))],
        "fabric": {"state": draw(small), "status": draw(st.sampled_from([0, 3]))},
        "links": [{"link": at, **link} for at, link in enumerate(draw(LINKS))],
        "errors": errors,
    }


@st.composite
def look(draw: st.DrawFn) -> HealthReadings:
    """One look, some time after the last."""
    if draw(st.integers(0, 5)) == 0:
        gpus: dict[str, Any] = {"state": "failed", "code": draw(small)}
    else:
        told = [draw(gpu(uuid)) for uuid in UUIDS]
        numbers = st.sampled_from([13, 31, 48, 63, 79, 92, 9_999])
        events = st.lists(st.tuples(st.sampled_from([*UUIDS, ""]), numbers), max_size=3)
        devices = [device for device in told if device is not None]
        gpus = {"state": "read", "devices": devices, "xids": draw(events)}
    rooms = st.sampled_from([[500, 1000], [99, 1000], [10, 1000], [0, 0]])
    disk = st.fixed_dictionaries(
        {},
        optional={
            "bytes": rooms,
            "files": rooms,
            "write_error": st.sampled_from([0, 5, 28, 28, 30, 110]),
        },
    )
    clock = st.fixed_dictionaries(
        {"offset_ms": st.integers(-60_000, 60_000), "error_ms": st.sampled_from([0, 1_500])}
    )
    disks = draw(st.lists(disk, max_size=2))
    jobs = draw(st.sampled_from([0, 0, 0, 1, None]))
    return HealthReadings(gpus, disks, draw(st.none() | clock), draw(st.integers(1, 3_000)), jobs)


@given(st.lists(look(), min_size=1, max_size=7))
def test_a_judge_with_a_memory_finds_what_the_whole_history_says(
    looks: list[HealthReadings],
) -> None:
    limits = HealthLimits(xid_hold_ms=4_000, lasting_looks=2)
    memory, history, now = HealthMemory(), list[HealthReadings](), 0
    for each in looks:
        now += each.at_ms
        history.append(HealthReadings(each.gpus, each.disks, each.clock, now, each.jobs))
        found, memory = judge_health(history[-1], limits, memory=memory)
        assert check_findings("findings", found) == found
        rows = {(f.level.value, f.check.value, f.gpu, f.value, f.limit, f.code) for f in found}
        assert rows == naive_findings(history, limits)
