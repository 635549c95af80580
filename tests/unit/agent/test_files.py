"""The machine's text files: bounds, recording, playing back; the readers of small formats."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.agent.machine.files import (
    NAMES_MAX,
    TEXT_BYTES_MAX,
    MachineFiles,
    RecordedFiles,
    RecordingFiles,
    RootFiles,
)
from bailiwick.agent.machine.parse import (
    BYTES_MAX,
    CPUS_MAX,
    parse_bus_id,
    parse_cpus,
    parse_integer,
    parse_memory,
    parse_size,
    spell_cpus,
)
from bailiwick.agent.words import Unreadable
from tests.support.machine_trees import write_tree


def test_a_file_is_read_under_the_root_and_an_absent_one_is_none(tmp_path: Path) -> None:
    files = RootFiles(write_tree(tmp_path, {"sys/a": "1\n", "sys/b": "2\n"}))
    assert files.text("sys/a") == "1\n"
    assert files.text("sys/c") is None
    assert files.text("sys") is None
    assert files.names("sys") == ("a", "b")
    assert files.names("proc") == ()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_absent(tmp_path: Path) -> None:
    files = RootFiles(write_tree(tmp_path, {"a": "1"}))
    (tmp_path / "a").chmod(0)
    assert files.text("a") is None


@pytest.mark.parametrize("data", [b"x" * (TEXT_BYTES_MAX + 1), b"\xff\xfe"])
def test_a_file_that_is_too_long_or_no_text_is_unreadable(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(Unreadable, match=r"^a: "):
        RootFiles(tmp_path).text("a")


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../b", "a//b", "", "a\0b", "a" * 1025])
@pytest.mark.parametrize("files", [RootFiles(), RecordedFiles({}, {})])
def test_a_path_that_leaves_the_root_is_refused(path: str, files: MachineFiles) -> None:
    for read in (files.text, files.names):
        with pytest.raises(Unreadable, match="goes only down"):
            read(path)


def test_what_was_recorded_plays_back_the_same(tmp_path: Path) -> None:
    real = RecordingFiles(RootFiles(write_tree(tmp_path, {"sys/b": "1", "sys/a": "2"})))
    seen = (real.text("sys/a"), real.text("sys/none"), real.names("sys"), real.names("none"))
    again = RecordedFiles(real.texts, real.folders)
    assert seen == ("2", None, ("a", "b"), ())
    assert seen == (
        again.text("sys/a"),
        again.text("sys/none"),
        again.names("sys"),
        again.names("none"),
    )


@pytest.mark.parametrize("wrong", [5, "names", [1], ["x"] * (NAMES_MAX + 1), None])
def test_a_recorded_folder_must_be_a_list_of_names(wrong: object) -> None:
    with pytest.raises(Unreadable):
        RecordedFiles({}, {"a": wrong}).names("a")  # type: ignore[dict-item]


def test_a_recorded_text_must_be_text() -> None:
    with pytest.raises(Unreadable):
        RecordedFiles({"a": 5}, {}).text("a")  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("0-3\n", (0, 1, 2, 3)),
        ("0", (0,)),
        ("0,2,4-5", (0, 2, 4, 5)),
        ("\n", ()),
        ("", ()),
        ("8191", (8191,)),
    ],
)
def test_a_list_of_cpus_is_read_as_the_kernel_prints_it(text: str, cpus: tuple[int, ...]) -> None:
    assert parse_cpus("cpulist", text) == cpus


@pytest.mark.parametrize(
    "text",
    ["3-0", "0-3,2", "1,1", "8192", "0-99999", "0-3:1/2", "x", "-1", "0-", ",", "0,,1", "0 1", "٣",
     "0\n1", "0-3\n\n"],
)  # fmt: skip
def test_any_other_list_of_cpus_is_refused(text: str) -> None:
    with pytest.raises(Unreadable, match=r"^cpulist: "):
        parse_cpus("cpulist", text)


@given(st.sets(st.integers(0, CPUS_MAX - 1), max_size=64))
def test_cpus_spelled_and_parsed_are_the_same_cpus(cpus: set[int]) -> None:
    ascending = tuple(sorted(cpus))
    assert parse_cpus("cpulist", spell_cpus(ascending)) == ascending


@pytest.mark.parametrize("text", ["", "x", "1.5", "-2", "101", "1 2", "٣", "9" * 30, "1\n\n", "+1"])
def test_a_number_outside_its_bounds_is_refused(text: str) -> None:
    with pytest.raises(Unreadable):
        parse_integer("f", text, low=-1, high=100)


def test_sizes_memory_and_addresses_are_read() -> None:
    assert parse_size("f", "32768K\n") == 32 * 2**20
    assert parse_memory("f", "Node 0 MemTotal:   100 kB\nNode 0 MemFree: 1 kB\n") == 102_400
    assert parse_memory("f", "MemTotal:   100 kB\n") == 102_400
    assert parse_bus_id("f", "00000000:1B:00.0") == "0000:1b:00.0"
    assert parse_bus_id("f", "00010000:FF:1f.7") == "10000:ff:1f.7"


@pytest.mark.parametrize("text", ["", "32768k", "K", "-1K", "999999999999G", "1 K"])
def test_any_other_size_is_refused(text: str) -> None:
    with pytest.raises(Unreadable):
        parse_size("f", text)


@pytest.mark.parametrize(
    "text", ["", "0000:1b:00", "0000:1b:20.0", "../../x", None, 5, "0000:1b:00.8"]
)
def test_any_other_address_is_refused(text: object) -> None:
    with pytest.raises(Unreadable):
        parse_bus_id("f", text)


READERS: list[Callable[[str], Any]] = [
    lambda text: parse_cpus("f", text),
    lambda text: parse_integer("f", text, low=0, high=BYTES_MAX),
    lambda text: parse_size("f", text),
    lambda text: parse_memory("f", text),
    lambda text: parse_bus_id("f", text),
]


@given(
    st.one_of(
        st.text(max_size=40),
        st.text(alphabet="0123456789-,:KMGkB MemTotal\n.", max_size=40),
    )
)
def test_no_text_makes_a_reader_raise_anything_else(text: str) -> None:
    for read in READERS:
        try:
            found = read(text)
        except Unreadable:
            continue
        for number in found if isinstance(found, tuple) else (found,):
            assert isinstance(number, str) or 0 <= number <= BYTES_MAX
