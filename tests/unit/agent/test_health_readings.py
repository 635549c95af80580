"""How GPUs, disks and the clock are is read with bounds, and whatever happens is a plain value."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from bailiwick.agent.health.skew import estimate_skew
from bailiwick.agent.machine import health
from bailiwick.agent.machine.health import PROBE_NAME, XIDS_MAX, DiskProbe, NvmlHealth, probe_folder
from tests.support.simulated_health import CheckedGpu, SimulatedHealth
from tests.support.simulated_nvml import NvmlError


def test_what_is_read_is_plain() -> None:
    library = SimulatedHealth(CheckedGpu(links=((2, "00000000:05:00.0"),)))
    source = NvmlHealth(library)
    (device,) = json.loads(json.dumps(source.read()))["devices"]
    assert device["temperature"] == 41
    assert device["remapped"] == [0, 0, 0, 0]
    assert device["links"] == [
        {"link": 0, "active": 1, "replay": 0, "recovery": 0, "crc_flit": 0, "crc_data": 0}
    ]
    assert device["errors"] == {"retired_pages": 3, "retire_pending": 3}


def test_no_driver_is_a_word() -> None:
    assert NvmlHealth(SimulatedHealth(init=NvmlError(9))).read() == {
        "state": "driver_missing",
        "code": 9,
    }


def test_a_driver_that_stops_to_answer_is_opened_anew() -> None:
    library = SimulatedHealth(CheckedGpu())
    source = NvmlHealth(library)
    source.read()
    library.answers["count"] = NvmlError(999)
    assert source.read() == {"state": "failed", "code": 999}
    assert (library.opened, library.sets) == (0, 0)
    del library.answers["count"]
    assert source.read()["state"] == "read"


def test_a_driver_without_the_newer_question_is_asked_the_older_one() -> None:
    gpu = CheckedGpu(throttle=64, answers={"event_reasons": NvmlError(13)})
    (device,) = NvmlHealth(SimulatedHealth(gpu)).read()["devices"]
    assert device["throttle"] == 64


def test_each_xid_is_told_once_and_not_too_many_at_a_time() -> None:
    gpu = CheckedGpu()
    library = SimulatedHealth(gpu)
    source = NvmlHealth(library)
    source.read()
    for _ in range(XIDS_MAX + 3):
        library.report_xid(gpu, 13)
    assert [len(source.read()["xids"]) for _ in range(3)] == [XIDS_MAX, 3, 0]


def test_events_that_break_are_given_back_and_watched_anew() -> None:
    gpu = CheckedGpu()
    library = SimulatedHealth(gpu)
    source = NvmlHealth(library)
    source.read()
    library.answers["wait"] = NvmlError(15)
    assert source.read()["errors"] == {"events": 15}
    assert library.sets == 0
    del library.answers["wait"]
    source.read()
    library.report_xid(gpu, 79)
    assert source.read()["xids"] == [[gpu.uuid, 79]]


def test_a_gpu_that_cannot_be_watched_does_not_hide_the_others() -> None:
    mute = CheckedGpu.numbered(0, answers={"register": NvmlError(3)})
    gpu = CheckedGpu.numbered(1)
    library = SimulatedHealth(mute, gpu)
    source = NvmlHealth(library)
    assert source.read()["errors"] == {"watch 0": 3}
    library.report_xid(gpu, 79)
    assert source.read()["xids"] == [[gpu.uuid, 79]]


def test_a_machine_without_events_is_still_looked_at() -> None:
    library = SimulatedHealth(CheckedGpu(), event_set=NvmlError(3))
    told = NvmlHealth(library).read()
    assert (told["xids"], told["errors"], len(told["devices"])) == ([], {"events": 3}, 1)


def test_nobody_knows_who_computes_where_the_driver_does_not_say() -> None:
    gpu = CheckedGpu(answers={"processes": NvmlError(4)})
    assert NvmlHealth(SimulatedHealth(gpu)).busy([gpu.uuid]) == {gpu.uuid: None}
    assert NvmlHealth(SimulatedHealth(init=NvmlError(9))).busy(["GPU-x"]) == {"GPU-x": None}


def test_a_disk_is_written_to_and_left_as_it_was(tmp_path: Path) -> None:
    (told,) = DiskProbe(written=[tmp_path]).read()
    assert told["write_error"] == 0
    assert 0 <= told["bytes"][0] <= told["bytes"][1]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_only_looked_at_is_not_written_to(tmp_path: Path) -> None:
    (told,) = DiskProbe(tmp_path).read()
    assert "write_error" not in told


def test_a_folder_that_was_never_made_has_nothing_to_be_written(tmp_path: Path) -> None:
    (told,) = DiskProbe(written=[tmp_path / "none"]).read()
    assert told == {"path": str(tmp_path / "none")}


def test_a_folder_that_is_gone_has_the_number_of_that(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    probe = DiskProbe(written=[folder])
    assert probe.read()[0]["write_error"] == 0
    folder.rmdir()
    assert probe.read() == [{"path": str(folder), "write_error": errno.ENOENT}]


def test_nobody_makes_the_probe_write_elsewhere(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("x")
    (tmp_path / PROBE_NAME).symlink_to(target)
    assert probe_folder(tmp_path) == errno.ELOOP
    assert target.read_text() == "x"


def test_a_disk_that_cannot_keep_what_it_is_given_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "fsync", full)
    assert probe_folder(tmp_path) == errno.ENOSPC
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_hangs_is_told_and_not_asked_again_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    goes_on, asked = threading.Event(), list[Path]()

    def hang(folder: Path) -> int:
        asked.append(folder)
        goes_on.wait(60)
        return 0

    monkeypatch.setattr(health, "probe_folder", hang)
    probe = DiskProbe(written=[tmp_path], wait_s=0.01)
    assert [probe.read()[0]["write_error"] for _ in range(3)] == [errno.ETIMEDOUT] * 3
    assert len(asked) == 1
    goes_on.set()


def test_a_machine_that_has_no_room_for_one_more_thread_is_told_and_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    probe = DiskProbe(written=[tmp_path])
    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", refuse)
        assert probe.read() == [{"path": str(tmp_path), "write_error": errno.EAGAIN}]
    assert probe.read()[0]["write_error"] == 0


def test_a_disk_that_can_only_be_read_has_no_room_to_run_out_of() -> None:
    room = os.statvfs_result((4096, 4096, 100, 0, 0, 10, 0, 0, os.ST_RDONLY, 255))
    assert health._room(room) == {}


@pytest.mark.parametrize("ahead_ms", [0, 1_999, -1_999, 100_000, -100_000])
@pytest.mark.parametrize("late_ms", [0, 500, 999])
@pytest.mark.parametrize("way_ms", [(0, 0), (0, 700), (700, 0), (350, 350)])
def test_a_clock_is_never_farther_off_than_its_bound_says(
    ahead_ms: int, late_ms: int, way_ms: tuple[int, int]
) -> None:
    from email.utils import formatdate

    sent_ms = 1_700_000_000_123
    stamped_ms = sent_ms + way_ms[0] + ahead_ms - late_ms
    date = formatdate(stamped_ms // 1000, usegmt=True)
    told = estimate_skew(date, sent_ms=sent_ms, took_ms=sum(way_ms))
    assert told is not None
    assert abs(told["offset_ms"] - ahead_ms) <= told["error_ms"] + 1


@pytest.mark.parametrize("date", ["", "yesterday", "x" * 100, "Mon, 99 Foo 2026 00:00:00 GMT"])
def test_a_time_that_cannot_be_read_is_no_estimate(date: str) -> None:
    assert estimate_skew(date, sent_ms=0, took_ms=0) is None
