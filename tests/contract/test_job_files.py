"""Job files that the server reads: the same words and mistakes as on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.wire.jobs import FILE_CHARS_MAX
from tests.support.http_house import HttpHouse, http_house

MEMBER, VIEWER = "project_member@lab", "project_viewer@lab"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[HttpHouse]:
    with http_house(tmp_path) as made:
        yield made


def read(house: HttpHouse, text: str, who: str = MEMBER) -> Any:
    body = {"tenant": "lab", "project": "p", "text": text}
    return house.ask(who, "POST", "/v1/jobs/file", json=body)


def test_a_file_becomes_the_job_that_the_command_line_would_submit(house: HttpHouse) -> None:
    text = "command: python train.py\ngpus: 2\nmem: 64GiB\nttl: 2h\nenv: {SEED: 7}\n"
    found = read(house, text).json()
    assert found["mistakes"] == []
    job = found["job"]
    assert (job["tenant"], job["project"]) == ("lab", "p")
    assert job["command"] == ["python", "train.py"]
    assert (job["gpu_count"], job["ttl_ms"], job["env"]) == (2, 7_200_000, {"SEED": "7"})
    assert job["resources"]["mem_bytes"] == 64 * 2**30
    assert job["resources"]["cpu_milli"] == 2_000, "what is not said is the command line's default"


def test_every_mistake_is_told_with_its_place(house: HttpHouse) -> None:
    found = read(house, "command: [x]\ngpu: 2\nmem: much\n").json()
    assert found["job"] is None
    assert [each["line"] for each in found["mistakes"]] == [2, 3]
    assert "did you mean gpus?" in found["mistakes"][0]["message"]


@pytest.mark.parametrize("text", ["", "a: [", "- 1\n- 2", "gpus: 1", "command: &a [*a]"])
def test_what_is_no_job_file_is_told_and_never_a_fault(house: HttpHouse, text: str) -> None:
    found = read(house, text)
    assert found.status_code == 200, found.text
    assert found.json()["job"] is None
    assert found.json()["mistakes"]


def test_a_file_is_small(house: HttpHouse) -> None:
    assert read(house, "#" * (FILE_CHARS_MAX + 1)).status_code == 422


def test_only_who_may_submit_there_has_a_file_read(house: HttpHouse) -> None:
    assert read(house, "command: [x]", VIEWER).status_code == 403
    assert read(house, "command: [x]", "project_member@rival").status_code == 404
