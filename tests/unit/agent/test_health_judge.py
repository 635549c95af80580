"""What is wrong with a machine follows from what was read of it, from limits, and from before."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from bailiwick.agent.health.judge import HealthMemory, HealthReadings, judge_health
from bailiwick.agent.health.limits import HealthLimits, limits_given
from bailiwick.agent.health.xids import XIDS, level_of
from bailiwick.agent.machine.health import NvmlHealth
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.health import HealthCheck, HealthFinding, HealthLevel, check_findings
from tests.support.simulated_health import CheckedGpu, SimulatedHealth
from tests.support.simulated_nvml import NvmlError

FAIL, WARN = HealthLevel.FAIL, HealthLevel.WARN
Short = tuple[str, str, int | None, int, int, int]


class Looks:
    """One machine, looked at again and again."""

    def __init__(self, *gpus: CheckedGpu, **limits: int) -> None:
        self.library = SimulatedHealth(*gpus)
        self.source = NvmlHealth(self.library)
        self.limits = HealthLimits(**limits)
        self.memory = HealthMemory()
        self.at_ms = 0

    def look(self, **given: Any) -> list[Short]:
        self.at_ms += 1_000
        readings = HealthReadings(self.source.read(), at_ms=self.at_ms, **given)
        found, self.memory = judge_health(readings, self.limits, memory=self.memory)
        assert check_findings("findings", found) == found
        return [short(each) for each in found]


def short(found: HealthFinding) -> Short:
    level, check = found.level.value, found.check.value
    return level, check, found.gpu, found.value, found.limit, found.code


def gpus(count: int = 2, **given: Any) -> list[CheckedGpu]:
    return [CheckedGpu.numbered(number, **given) for number in range(count)]


def test_nothing_is_wrong_with_a_sound_machine() -> None:
    looks = Looks(*gpus(8, links=((2, "00000000:05:00.0"),)))
    assert [looks.look() for _ in range(3)] == [[], [], []]


def test_a_machine_that_never_had_gpus_lacks_none() -> None:
    looks = Looks()
    looks.library.answers["init"] = NvmlError(9)
    assert looks.look() == []


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"uncorrected": 2}, [("fail", "ecc", 1, 2, 0, 0)]),
        ({"remapped": (0, 1, 0, 1)}, [("fail", "ecc", 1, 1, 0, 1)]),
        ({"remapped": (0, 1, 1, 0)}, [("warn", "ecc", 1, 1, 0, 2)]),
        ({"remapped": (9, 9, 0, 0)}, []),
        ({"retired": 59}, []),
        ({"retired": 60}, [("fail", "ecc", 1, 60, 59, 3)]),
        ({"temperature": 87}, []),
        ({"temperature": 88}, [("warn", "thermal", 1, 88, 87, 0)]),
        ({"temperature": 95}, [("warn", "thermal", 1, 95, 87, 0)]),
        ({"throttle": 0x20}, [("warn", "thermal", 1, 41, 87, 0x20)]),
        ({"throttle": 0x40}, [("warn", "thermal", 1, 41, 87, 0x40)]),
        ({"throttle": 0x8D}, []),
        ({"temperature": 95, "slowdown": None}, []),
        ({"fabric_status": 999}, [("fail", "fabric", 1, 999, 0, 3)]),
        ({"fabric_state": 2}, [("warn", "fabric", 1, 2, 0, 3)]),
        ({"fabric_state": 1, "fabric_status": 3}, []),
    ],
)
def test_one_look_at_a_gpu(given: dict[str, Any], found: list[Short]) -> None:
    assert Looks(gpus()[0], CheckedGpu.numbered(9, **given)).look() == found


@pytest.mark.parametrize("given", [{"temperature": 95}, {"throttle": 0x40}])
def test_heat_fails_a_machine_only_if_it_lasts(given: dict[str, Any]) -> None:
    hot = CheckedGpu(**given)
    looks = Looks(hot)
    assert [looks.look()[0][0] for _ in range(4)] == ["warn", "warn", "fail", "fail"]
    hot.temperature, hot.throttle = 41, 1
    assert looks.look() == []
    hot.temperature = 95
    assert looks.look()[0][0] == "warn"


def test_a_link_that_was_up_and_is_down_fails_a_machine_if_that_lasts() -> None:
    gpu = CheckedGpu(links=((2, "00000000:05:00.0"),) * 4, down={3})
    looks = Looks(gpu)
    assert looks.look() == []  # one that was never up is not missed
    gpu.down = {1, 2, 3}
    assert [looks.look() for _ in range(3)] == [
        [("warn", "fabric", 0, 2, 0, 1)],
        [("warn", "fabric", 0, 2, 0, 1)],
        [("fail", "fabric", 0, 2, 0, 1)],
    ]
    gpu.down = set()
    assert looks.look() == []


def test_links_of_a_gpu_that_is_divided_are_not_missed() -> None:
    gpu = CheckedGpu(links=((2, "00000000:05:00.0"),))
    looks = Looks(gpu)
    looks.look()
    gpu.mig, gpu.down = (1, 1), {0}
    assert looks.look() == []


def test_errors_of_links_count_from_look_to_look() -> None:
    gpu = CheckedGpu(links=((2, "00000000:05:00.0"),), link_counts={(0, 2): 10**9})
    looks = Looks(gpu)
    assert looks.look() == []
    gpu.link_counts[0, 3] = 1_001
    assert looks.look() == [("warn", "fabric", 0, 1_001, 1_000, 2)]
    assert looks.look() == []


def test_a_gpu_that_was_there_and_does_not_answer_is_told_by_its_place() -> None:
    first, second, third = gpus(3)
    looks = Looks(first, second, third)
    looks.look()
    second.answers["handle"] = NvmlError(15)
    assert looks.look() == [("fail", "driver", 1, 1, 0, 15)]
    looks.library.gpus = (first, third)
    third.uncorrected = 1
    assert looks.look() == [("fail", "driver", 1, 1, 0, 0), ("fail", "ecc", 2, 1, 0, 0)]


def test_a_driver_that_was_there_and_is_not_is_told() -> None:
    looks = Looks(*gpus(3))
    looks.look()
    looks.source.close()
    looks.library.answers["init"] = NvmlError(9)
    assert looks.look() == [("fail", "driver", None, 3, 0, 9)]


def test_gpus_that_only_the_nodes_inventory_knows_are_told_beside_those_that_were_seen() -> None:
    first, second, third = gpus(3)
    looks = Looks(first, second, third)
    assert looks.look(missing=2) == [("fail", "driver", None, 2, 0, 0)]
    second.answers["handle"] = NvmlError(15)
    lost = ("fail", "driver", 1, 1, 0, 15)
    assert looks.look(missing=1) == [lost]
    assert looks.look(missing=3) == [("fail", "driver", None, 2, 0, 0), lost]
    looks.source.close()
    looks.library.answers["init"] = NvmlError(9)
    assert looks.look(missing=3) == [("fail", "driver", None, 3, 0, 9)]


def test_a_gpu_that_wants_a_reset_is_told_though_it_still_has_a_name() -> None:
    gpu = CheckedGpu(answers={"temperature": NvmlError(16)})
    assert Looks(gpu).look() == [("fail", "driver", 0, 1, 0, 16)]


def test_a_gpu_that_cannot_tell_its_temperature_warns() -> None:
    assert Looks(CheckedGpu(answers={"temperature": NvmlError(999)})).look() == [
        ("warn", "driver", 0, 1, 0, 999)
    ]


def test_gpus_that_were_never_known_are_told_together() -> None:
    broken = [CheckedGpu.numbered(n, answers={"handle": NvmlError(15)}) for n in range(2)]
    looks = Looks(*broken, CheckedGpu.numbered(7))
    assert looks.look() == [("fail", "driver", None, 2, 0, 15)]


def test_an_xid_counts_for_a_while() -> None:
    gpu = CheckedGpu()
    looks = Looks(gpu, xid_hold_ms=2_000)
    looks.look()
    looks.library.report_xid(gpu, 79)
    looks.library.report_xid(gpu, 79)
    assert looks.look() == [("fail", "xid", 0, 2, 0, 79)]
    assert looks.look() == [("fail", "xid", 0, 2, 0, 79)]
    assert looks.look() == []


def test_what_a_users_program_did_is_no_finding() -> None:
    gpu = CheckedGpu()
    looks = Looks(gpu)
    looks.look()
    for number in (13, 31, 43, 45):
        looks.library.report_xid(gpu, number)
    assert looks.look() == []


def test_an_xid_that_nobody_looked_up_warns() -> None:
    gpu = CheckedGpu()
    looks = Looks(gpu)
    looks.look()
    looks.library.report_xid(gpu, 4_711)
    assert looks.look() == [("warn", "xid", 0, 1, 0, 4_711)]


def test_a_test_forgets_what_was_reported_before_it() -> None:
    gpu = CheckedGpu()
    looks = Looks(gpu)
    looks.look()
    looks.library.report_xid(gpu, 79)
    looks.look()
    looks.memory = looks.memory.forget_xids()
    assert looks.look() == []


@pytest.mark.parametrize(
    ("number", "level"),
    [
        *((number, FAIL) for number in (48, 64, 74, 79, 95, 119, 120)),
        *((number, WARN) for number in (92, 94, 109)),
        *((number, None) for number in (13, 31, 43, 45, 63)),
    ],
)
def test_which_xids_fail_a_machine(number: int, level: HealthLevel | None) -> None:
    assert level_of(number) is level


def test_every_xid_of_the_table_has_a_reason() -> None:
    assert all(len(each.reason) > 20 for each in XIDS.values())


def test_the_fabrics_own_mask_is_understood() -> None:
    def look(mask: int) -> list[str]:
        device = {"uuid": "GPU-x", "fabric": {"state": 3, "status": 0, "mask": mask}}
        gpus = {"state": "read", "devices": [device]}
        found, _ = judge_health(HealthReadings(gpus), HealthLimits(), memory=HealthMemory())
        return [each.level.value for each in found]

    fine = 2 | 2 << 2 | 2 << 4 | 2 << 6 | 1 << 8
    assert (look(0), look(fine)) == ([], [])
    assert look(fine & ~3 | 1) == ["warn"]
    assert look(fine & ~(3 << 6) | 1 << 6) == ["warn"]
    assert look(fine & ~(3 << 4) | 1 << 4) == ["fail"]
    assert look(fine & ~(15 << 8) | 3 << 8) == ["fail"]


@pytest.mark.parametrize(
    ("disks", "found"),
    [
        ([{"bytes": [100, 1000]}], []),
        ([{"bytes": [99, 1000]}], [("warn", "disk", None, 901, 900, 0)]),
        ([{"bytes": [0, 1000]}], [("warn", "disk", None, 1000, 900, 0)]),
        ([{"bytes": [500, 1000]}, {"bytes": [19, 1000]}], [("warn", "disk", None, 981, 900, 0)]),
        ([{"files": [0, 1000]}], [("warn", "disk", None, 1000, 900, 1000)]),
        ([{"files": [0, 0]}], []),
        ([{"write_error": 30}, {"write_error": 0}], [("fail", "disk", None, 1, 0, 30)]),
    ],
)
def test_disks(disks: list[dict[str, Any]], found: list[Short]) -> None:
    assert Looks().look(disks=disks) == found


FULL = {"bytes": [0, 1000], "files": [0, 1000], "write_error": 28}


@pytest.mark.parametrize("error", [28, 122, 110, 11, 12, 23, 24])
@pytest.mark.parametrize("jobs", [1, 3, None])
def test_what_a_job_can_do_to_a_disk_takes_no_machine_out_of_service(
    error: int, jobs: int | None
) -> None:
    looks = Looks()
    for _ in range(20):
        told = looks.look(disks=[FULL | {"write_error": error}], jobs=jobs)
        assert {level for level, *_ in told} == {"warn"}
        assert len(told) == 3


@pytest.mark.parametrize("error", [5, 30, 2, 13])
def test_a_disk_that_is_broken_fails_the_machine_whoever_is_there(error: int) -> None:
    looks = Looks()
    told = looks.look(disks=[{"write_error": error}, {"write_error": 28}], jobs=2)
    assert told == [("fail", "disk", None, 1, 0, error), ("warn", "disk", None, 1, 0, 28)]


def test_what_stays_full_after_the_last_job_was_cleared_away_fails_the_machine() -> None:
    looks = Looks(lasting_looks=3)

    def level(jobs: int, error: int = 28) -> str:
        (found,) = looks.look(disks=[{"write_error": error}], jobs=jobs)
        return found[0]

    assert [level(0), level(0), level(1), level(0), level(0)] == ["warn"] * 5
    assert looks.look(disks=[{"write_error": 0}], jobs=0) == []
    assert [level(0), level(0), level(0), level(0, 110)] == ["warn", "warn", "fail", "fail"]
    assert level(1) == "warn"


@pytest.mark.parametrize(
    ("offset", "error", "found"),
    [
        (0, 0, []),
        (3_000, 1_000, []),
        (3_001, 1_000, [("warn", "clock", None, 2_001, 2_000, 0)]),
        (-3_001, 1_000, [("warn", "clock", None, 2_001, 2_000, 0)]),
        (-40_000, 1_000, [("fail", "clock", None, 39_000, 30_000, 0)]),
        (40_000, 60_000, []),
        ("far", 1, []),
    ],
)
def test_a_clock_is_wrong_only_as_far_as_that_is_sure(
    offset: Any, error: int, found: list[Short]
) -> None:
    assert Looks().look(clock={"offset_ms": offset, "error_ms": error}) == found


def test_no_more_findings_than_can_be_told_and_the_gravest_first() -> None:
    looks = Looks(*gpus(63, throttle=0x60, temperature=88, uncorrected=1))
    found = looks.look()
    assert len(found) == 64
    assert [each[:2] for each in found[:63]] == [("fail", "ecc")] * 63


def test_a_limit_is_set_by_its_name() -> None:
    limits = limits_given(["thermal_margin_c=10", "lasting_looks=1"])
    assert (limits.thermal_margin_c, limits.lasting_looks) == (10, 1)
    looks = Looks(CheckedGpu(temperature=90), lasting_looks=1)
    assert looks.look()[0][0] == "fail"


@pytest.mark.parametrize("text", ["heat=1", "burn_in_s", "burn_in_s=-1", "burn_in_s=121", "=", "x"])
def test_a_limit_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        limits_given([text])


@pytest.mark.parametrize(
    "gpus",
    [
        {},
        {"state": "read"},
        {"state": "read", "devices": 7, "xids": 3},
        {"state": "read", "devices": [None, {}, {"uuid": 5}], "xids": [[1], None, ["a", "b"]]},
        {
            "state": "read",
            "devices": [
                {
                    "uuid": "GPU-x",
                    "temperature": "hot",
                    "slowdown": -1,
                    "throttle": True,
                    "remapped": [1, 2],
                    "links": [None, {"link": "a"}],
                    "fabric": 9,
                    "errors": 4,
                    "mig": [],
                }
            ],
        },
    ],
)
def test_what_cannot_be_true_is_left_out(gpus: dict[str, Any]) -> None:
    readings = HealthReadings(gpus, [{"bytes": "x", "write_error": "y"}], {"offset_ms": None})
    found, _ = judge_health(readings, HealthLimits(), memory=HealthMemory())
    assert all(each.check is HealthCheck.DRIVER for each in found)


def test_the_manual_has_every_limit_and_every_xid_with_its_level() -> None:
    text = (Path(__file__).parents[3] / "docs" / "health-checks.md").read_text()
    for each in fields(HealthLimits):
        assert f"`{each.name}` {each.default}" in text, each.name
    told: dict[int, str] = {}
    for row in text.partition("| XID |")[2].splitlines():
        cells = [cell.strip() for cell in row.split("|")]
        for part in cells[1].split(", ") if len(cells) == 5 and cells[1][:1].isdigit() else ():
            low, _, high = part.partition(" to ")
            told |= dict.fromkeys(range(int(low), int(high or low) + 1), cells[2].strip("`"))
    assert told == {
        number: "no finding" if each.level is None else each.level.value
        for number, each in XIDS.items()
    }
