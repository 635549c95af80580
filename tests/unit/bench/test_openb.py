"""Lists in the openb column format: what is read, what is refused, and who arrives when."""

from __future__ import annotations

from pathlib import Path

import pytest

from bailiwick import HardwareGeneration, InvalidValue
from bailiwick.bench.openb import (
    MIB,
    NodeRow,
    PodRow,
    arrivals,
    read_nodes,
    read_pods,
)

NODES_HEADER = "sn,cpu_milli,memory_mib,gpu,model"
PODS_HEADER = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos"


def write(folder: Path, *lines: str) -> Path:
    path = folder / "list.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def pod(milli: int = 1000, *, count: int = 1, cpu: int = 4000) -> PodRow:
    return PodRow(cpu, 1024, count, milli if count else 0, ())


# --- nodes --------------------------------------------------------------------------------------


def test_a_node_is_read_by_the_names_of_its_columns(tmp_path: Path) -> None:
    path = write(tmp_path, "model,gpu,sn,memory_mib,cpu_milli,extra", "T4,2,n1,1024,8000,x")
    assert read_nodes(path) == [NodeRow("n1", 8000, 1024, 2, "T4")]


def test_a_node_offers_its_devices_with_their_generation(tmp_path: Path) -> None:
    [node] = read_nodes(write(tmp_path, NODES_HEADER, "n1,8500,1024,2,V100"))
    capacity = node.capacity()
    assert capacity.cpu_milli == 8500
    assert capacity.mem_bytes == 1024 * MIB
    assert [d.model for d in capacity.gpus] == ["V100", "V100"]
    assert capacity.gpus[0].generation is HardwareGeneration.NVIDIA_VOLTA


def test_a_node_without_gpus_offers_none(tmp_path: Path) -> None:
    [node] = read_nodes(write(tmp_path, NODES_HEADER, "n1,8000,1024,0,"))
    assert node.capacity().gpus == ()


def test_more_devices_than_a_node_can_have_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match=r"list.csv line 2: gpu: expected at most 16"):
        read_nodes(write(tmp_path, NODES_HEADER, "n1,8000,1024,17,T4"))


@pytest.mark.parametrize("bad", ["", "-1", "1.5", "many", "１", "9" * 13])
def test_an_amount_that_is_no_whole_number_names_file_line_and_column(
    tmp_path: Path, bad: str
) -> None:
    path = write(tmp_path, NODES_HEADER, "n1,8000,1024,1,T4", f"n2,{bad},1024,1,T4")
    with pytest.raises(InvalidValue, match=r"list.csv line 3: cpu_milli: expected a whole number"):
        read_nodes(path)


def test_a_row_that_ends_early_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="line 2: gpu"):
        read_nodes(write(tmp_path, NODES_HEADER, "n1,8000"))


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="a column named gpu"):
        read_nodes(write(tmp_path, "sn,cpu_milli,memory_mib,model", "n1,1,1,T4"))


@pytest.mark.parametrize("text", ["", NODES_HEADER + "\n"])
def test_an_empty_list_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "list.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidValue):
        read_nodes(path)


# --- pods ---------------------------------------------------------------------------------------


def test_a_share_of_a_gpu_becomes_a_request_for_milli(tmp_path: Path) -> None:
    [row] = read_pods(write(tmp_path, PODS_HEADER, "p,4000,1024,1,460,,LS"))
    request = row.request()
    assert (row.demand, request.device_count, request.device_milli) == (460, 1, 460)


def test_whole_gpus_become_a_request_for_devices(tmp_path: Path) -> None:
    [row] = read_pods(write(tmp_path, PODS_HEADER, "p,4000,1024,4,1000,,LS"))
    request = row.request()
    assert (row.demand, request.device_count, request.device_milli) == (4000, 4, 1000)


def test_named_models_are_sorted_and_each_counted_once(tmp_path: Path) -> None:
    [row] = read_pods(write(tmp_path, PODS_HEADER, "p,4000,1024,1,1000,V100|T4|V100,LS"))
    assert row.models == row.request().gpu_models == ("T4", "V100")


def test_a_pod_without_a_gpu_has_no_gpu_terms(tmp_path: Path) -> None:
    [row] = read_pods(write(tmp_path, PODS_HEADER, "p,4000,1024,0,500,T4,LS"))
    assert row == PodRow(4000, 1024, 0, 0, ())
    assert row.request().device_count == 0


def test_the_models_column_may_be_left_out(tmp_path: Path) -> None:
    [row] = read_pods(write(tmp_path, "cpu_milli,memory_mib,num_gpu,gpu_milli", "1,1,1,1000"))
    assert row.models == ()


@pytest.mark.parametrize(("count", "milli"), [(1, 0), (1, 1001), (2, 500)])
def test_gpu_milli_that_no_device_has_is_refused(tmp_path: Path, count: int, milli: int) -> None:
    with pytest.raises(InvalidValue, match="line 2: gpu_milli"):
        read_pods(write(tmp_path, PODS_HEADER, f"p,4000,1024,{count},{milli},,LS"))


# --- arrivals -----------------------------------------------------------------------------------


def test_every_pod_arrives_once_before_any_is_drawn_again() -> None:
    pods = [pod(cpu=1000 * i) for i in range(1, 11)]
    order = arrivals(pods, capacity=20_000, ratio_percent=130, seed=1)
    assert sorted(p.cpu_milli for p in order[:10]) == [p.cpu_milli for p in pods]
    assert set(order) == set(pods)


@pytest.mark.parametrize("ratio", [100, 130])
def test_arrivals_end_where_one_more_gpu_would_pass_the_ratio(ratio: int) -> None:
    order = arrivals([pod(), pod(500)], capacity=40_000, ratio_percent=ratio, seed=3)
    asked = sum(p.demand for p in order)
    assert asked <= 400 * ratio < asked + 1000


def test_a_list_that_asks_for_too_much_is_thinned() -> None:
    pods = [pod(cpu=1000 * i) for i in range(1, 101)]
    order = arrivals(pods, capacity=10_000, ratio_percent=130, seed=5)
    assert len(order) == 13
    assert len(set(order)) == 13


def test_the_order_follows_from_the_seed() -> None:
    pods = [pod(cpu=1000 * i) for i in range(1, 51)]

    def order(seed: int) -> list[PodRow]:
        return arrivals(pods, capacity=100_000, ratio_percent=130, seed=seed)

    assert order(7) == order(7)
    assert order(7) != order(8)


def test_a_list_without_gpus_arrives_once() -> None:
    pods = [pod(count=0, cpu=1000 * i) for i in range(1, 6)]
    order = arrivals(pods, capacity=1000, ratio_percent=130, seed=1)
    assert sorted(p.cpu_milli for p in order) == [1000, 2000, 3000, 4000, 5000]
