"""Slurm's answers are read strictly, and users' words in them can pretend nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.clusters.slurm import parse
from bailiwick.clusters.slurm.hostlist import expand_hosts, expand_numbers
from bailiwick.clusters.slurm.logs import parse_exit, read_exits
from bailiwick.metering.owners import UnavailableCause
from bailiwick.vocab.errors import InvalidValue

SEPARATOR = "<38034c85b38f6242440e900e73cf4350>"
ROW = {
    "JobID": "9_1",
    "JobIDRaw": "12",
    "User": "eve",
    "Account": "vision",
    "QOS": "gold",
    "Partition": "all",
    "Submit": "1794743360",
    "Start": "1794743361",
    "End": "1794743364",
    "ElapsedRaw": "3",
    "Suspended": "00:00:00",
    "State": "CANCELLED by 0",
    "AllocTRES": "billing=1,gres/gpu:hopper=2,gres/gpu=2",
    "NodeList": "h[1-2]",
    "WCKey": "*exp",
    "JobName": "train",
    "Comment": "",
}


def text_of(*rows: dict[str, str]) -> str:
    return "".join(SEPARATOR.join([*row.values(), ""]) + "\n" for row in rows)


def test_a_row_is_read_field_by_field() -> None:
    (job,) = parse.parse_jobs(text_of(ROW), SEPARATOR)
    assert (job.job_id, job.raw_id, job.state) == ("9_1", 12, "CANCELLED")
    assert (job.start_ms, job.end_ms) == (1_794_743_361_000, 1_794_743_364_000)
    assert (job.elapsed_ms, job.gpus, job.nodes) == (3_000, {"hopper": 2}, ("h1", "h2"))
    assert job.wckey == "exp"


free_text = st.text(alphabet=st.characters(exclude_characters="\r"), max_size=60)


@given(st.lists(st.tuples(free_text, free_text), max_size=4))
def test_no_name_and_no_comment_can_pretend_to_be_another_row(
    texts: list[tuple[str, str]],
) -> None:
    rows = [
        ROW | {"JobID": f"{number}", "JobName": name, "Comment": comment}
        for number, (name, comment) in enumerate(texts)
    ]
    found = parse.parse_jobs(text_of(*rows), SEPARATOR)
    assert [(job.name, job.comment) for job in found] == texts
    assert [job.job_id for job in found] == [row["JobID"] for row in rows]


def test_a_forged_row_in_a_name_stays_a_name() -> None:
    forged = "x\n" + "|".join(ROW.values()) + "\n"
    (job,) = parse.parse_jobs(text_of(ROW | {"JobName": forged}), SEPARATOR)
    assert job.name == forged


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("JobIDRaw", "x"),
        ("Start", "yesterday"),
        ("Submit", "Unknown"),
        ("ElapsedRaw", "-3"),
        ("Suspended", "long"),
        ("NodeList", "h[1-"),
    ],
)
def test_a_field_that_is_not_understood_is_refused(field: str, value: str) -> None:
    with pytest.raises(InvalidValue):
        parse.parse_jobs(text_of(ROW | {field: value}), SEPARATOR)


def test_a_row_with_other_fields_and_a_cut_off_row_are_refused() -> None:
    for text in (text_of(ROW, {"JobID": "1"}), text_of(ROW)[:-9], text_of(ROW) + "x"):
        with pytest.raises(InvalidValue):
            parse.parse_jobs(text, SEPARATOR)
    assert parse.parse_jobs("", SEPARATOR) == ()


@pytest.mark.parametrize(
    ("tres", "expected"),
    [
        ("", {}),
        ("cpu=1,mem=100M", {}),
        ("gres/gpu=2", {"": 2}),
        ("gres/gpu:a=1,gres/gpu:b=2,gres/gpu=3", {"a": 1, "b": 2}),
        ("gres/gpu:a=1,gres/gpu=3", {"a": 1, "": 2}),
        ("gres/gpu:a=1", {"a": 1}),
        ("gres/gpu=0", {}),
    ],
)
def test_gpus_are_counted_by_type(tres: str, expected: dict[str, int]) -> None:
    assert parse.parse_gpus(tres) == expected


def test_nodes_and_their_gpus() -> None:
    told = "NodeName=h1 Arch=x86_64 Gres=gpu:hopper:4(S:0-1),gpu:mini:2 Reason=Gres=gpu:9 x\n"
    told += "NodeName=c1 Arch=x86_64 Gres=(null) NodeAddr=10.0.0.7 Weight=1\n"
    reduced = parse.reduce_nodes(told.replace(" Reason=Gres=gpu:9 x", ""))
    assert "10.0.0.7" not in reduced
    found = parse.parse_nodes(reduced)
    assert found["h1"].gpus == (("hopper", 4), ("mini", 2))
    assert found["c1"].gpus == ()


@pytest.mark.parametrize(
    ("state", "cause"),
    [
        ("DOWN*", UnavailableCause.FENCE_LOST),
        ("DOWN+DRAIN", UnavailableCause.FENCE_LOST),
        ("DRAIN", UnavailableCause.DRAINED),
        ("DRAINED", UnavailableCause.DRAINED),
        ("MAINT", UnavailableCause.MAINTENANCE),
        ("FAIL", UnavailableCause.QUARANTINED),
        ("REBOOT", UnavailableCause.RETURNING),
    ],
)
def test_a_nodes_state_is_a_cause(state: str, cause: UnavailableCause) -> None:
    (outage,), registered = parse.parse_events(f"h1|100|Unknown|{state}|gres/gpu=4|a|b\n")
    assert (outage.cause, outage.to_ms, outage.reason) == (cause, None, "a|b")
    assert registered == ()


def test_a_state_that_nobody_knows_is_refused() -> None:
    with pytest.raises(InvalidValue, match="events row 1: state"):
        parse.parse_events("h1|100|200|WOBBLY||x\n")


def test_only_running_jobs_are_active_and_their_devices_are_known() -> None:
    queue = "12|RUNNING|100\n13|PENDING|N/A\n14|COMPLETED|50\n"
    details = parse.reduce_details(
        "JobId=12 JobName=x JOB_GRES=gpu:hopper:3   Nodes=h[1-2] CPU_IDs=0 Mem=1 "
        "GRES=gpu:hopper:1(IDX:0-1,3) MinCPUsNode=1 Command=/secret\n"
    )
    assert "secret" not in details
    found = parse.parse_active(queue, details)
    assert [*found] == [12]
    devices = (("hopper", 0), ("hopper", 1), ("hopper", 3))
    assert found[12].devices == {"h1": devices, "h2": devices}


def test_runaways_are_read_between_notes_and_question() -> None:
    text = (
        "NOTE: Runaway jobs are ...\n7|PENDING|1794743468\n\nWould you like to fix ...\n(N/y): \n"
    )
    (found,) = parse.parse_runaways(text)
    assert (found.raw_id, found.start_ms) == (7, 1_794_743_468_000)
    assert parse.parse_runaways("Runaway Jobs: No runaway jobs found on cluster t1\n") == ()


def test_accounts_and_qualities_of_service() -> None:
    assert parse.parse_accounts("root||\nacme||root\nvision||acme\nvision|eve|\n") == {
        "acme": "root",
        "vision": "acme",
    }
    assert parse.parse_preempted("normal|\ngold|spot,scavenge\n") == {"spot", "scavenge"}


# -- lists -----------------------------------------------------------------------------------


@given(st.integers(0, 500), st.integers(0, 60), st.integers(1, 4))
def test_a_range_of_hosts_is_every_host_of_it(low: int, count: int, width: int) -> None:
    high = low + count
    expected = tuple(f"n{number:0{width}}" for number in range(low, high + 1))
    assert expand_hosts(f"n[{low:0{width}}-{high}]") == expected


@pytest.mark.parametrize("text", ["", "h[", "h[1-", "h]1", "a,,b", "h[x]", "h[1-9999999]", ","])
def test_what_is_no_list_of_hosts_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        expand_hosts(text)


def test_many_brackets_cannot_multiply_without_bound() -> None:
    with pytest.raises(InvalidValue, match="at most"):
        expand_hosts("[0-9999]" * 4)


def test_numbers() -> None:
    assert expand_numbers("0-1,7") == (0, 1, 7)


# -- logs ------------------------------------------------------------------------------------


def test_only_a_batch_scripts_exit_is_an_end() -> None:
    stamp = "[2026-11-15T11:51:11.707+01:00]"
    exited = "task 0 (1) exited with exit code 0."
    assert parse_exit(f"{stamp} [7.batch] {exited}") == (7, 1_794_739_871_707)
    assert parse_exit(f"{stamp} [7.0] {exited}") is None
    assert parse_exit(f"{stamp} [7.batch] done with job") is None
    assert parse_exit(f"x {stamp} [7.batch] {exited}") is None


def test_a_nodes_log_is_found_by_its_name(tmp_path: Path) -> None:
    line = "[2026-11-15T11:51:11+00:00] [7.batch] task 0 (1) exited. Killed by signal 9.\n"
    (tmp_path / "h1.log").write_text(line)
    (tmp_path / "slurmd-h2.log").write_text("nothing\n" + line)
    (tmp_path / "h3").mkdir()
    (tmp_path / "h3/slurmd.log").write_text(line)
    found = read_exits(tmp_path, ("h1", "h2", "h3", "h4"))
    assert found == dict.fromkeys(("h1", "h2", "h3"), ((7, 1794743471000),))
