"""What a graph may be, and how it is told what it may not be."""

from __future__ import annotations

from itertools import pairwise

import pytest

from bailiwick.batch import GraphRefused, ResourceReq, RetryPolicy, TaskDef, TaskGraph, Upstream
from bailiwick.batch.document import load_graph
from bailiwick.batch.graph import TASKS_MAX
from bailiwick.batch.task import MAP_MAX, pause_ms
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.graphs import FailureCategory
from bailiwick.vocab.words import HardwareGeneration


def _task(name: str, *after: str | Upstream, **rest: object) -> TaskDef:
    return TaskDef(name, ("run", "{item}"), after=after, **rest)  # type: ignore[arg-type]


def _refusal(*tasks: TaskDef) -> str:
    with pytest.raises(GraphRefused) as refused:
        TaskGraph(tasks)
    return str(refused.value)


def test_a_circle_is_told_as_a_whole() -> None:
    told = _refusal(_task("a", "c"), _task("b", "a"), _task("c", "b"), _task("d", "a"))
    assert "in a circle: " in told
    names = told.rpartition("circle: ")[2].split(" -> ")
    assert names[0] == names[-1]
    assert sorted(names[1:]) == ["a", "b", "c"]
    after = {"a": "c", "b": "a", "c": "b"}
    assert all(after[later] == earlier for earlier, later in pairwise(names))


def test_all_that_is_wrong_is_told_at_once() -> None:
    told = _refusal(_task("prep"), _task("train", "perp"), _task("train", "prep[2]"))
    assert "'train' is used twice" in told
    assert "no task 'perp'; did you mean prep?" in told
    assert "no task 'prep[2]': 'prep' is no map" in told


def test_names_that_are_nowhere_are_told_beside_words_that_cannot_be_read() -> None:
    text = "tasks:\n  prep: {comand: [x]}\n  last: {command: [x], after: [prep, pep]}\n"
    with pytest.raises(GraphRefused) as refused:
        load_graph(text)
    assert [(each.line, each.sentence) for each in refused.value.problems] == [
        (2, "task 'prep' has no command"),
        (2, "no word 'comand'; did you mean command?"),
        (3, "no task 'pep'; did you mean prep?"),
    ]


def test_a_map_is_spread_out_and_its_elements_have_their_own_words() -> None:
    graph = TaskGraph([_task("m", over=("x", "y{index}")), _task("end", "m"), _task("one", "m[1]")])
    assert [task.name for task in graph.tasks] == ["m[0]", "m[1]", "end", "one"]
    assert graph.task("m[0]").command == ("run", "x")
    assert graph.task("m[1]").command == ("run", "y{index}"), "an item is content, not a template"
    assert graph.task("end").command == ("run", "{item}")


def test_maps_are_bounded() -> None:
    with pytest.raises(InvalidValue, match=f"at most {MAP_MAX}"):
        _task("m", over=("x",) * (MAP_MAX + 1))
    parts = [_task(f"m{n}", over=("x",) * 9_000) for n in range(3)]
    assert f"at most {TASKS_MAX}" in _refusal(*parts)


def test_element_by_element_asks_for_two_maps_of_one_length() -> None:
    pair = Upstream("m", each=True)
    assert "two maps of one length" in _refusal(
        _task("m", over=("a", "b")), _task("n", pair, over=("a",))
    )


def test_an_input_names_what_is_made() -> None:
    maker = _task("make", outputs=("model",))
    told = _refusal(maker, _task("use", inputs={"m": "make/modle"}))
    assert "task 'make' makes no 'modle'; did you mean model?" in told
    graph = TaskGraph([maker, _task("use", inputs={"m": "make/model"})])
    assert [each.upstream.task for each in graph.task("use").awaited] == ["make"]
    with pytest.raises(InvalidValue, match="64 digits"):
        _task("use", inputs={"m": "sha256:12"})


def test_what_can_never_be_placed_is_refused() -> None:
    with pytest.raises(InvalidValue, match="a GPU, since"):
        ResourceReq(generation=HardwareGeneration.NVIDIA_HOPPER)
    with pytest.raises(InvalidValue, match="not both"):
        ResourceReq(gpu_count=1, gpu_milli=500)
    with pytest.raises(InvalidValue, match="above zero"):
        ResourceReq(cpu_milli=0)


def test_what_may_be_secret_is_in_no_error_and_no_repr() -> None:
    with pytest.raises(InvalidValue) as refused:
        TaskDef("a", ("run",), env={"KEY": "hush\0"})
    assert "hush" not in str(refused.value)
    assert "hush" not in repr(TaskDef("a", ("run", "hush"), env={"KEY": "hush"}))
    with pytest.raises(InvalidValue, match="does not set"):
        TaskDef("a", ("run",), env={"TASK_KEY": "mine"})


def test_pauses_are_bounded_and_the_same_for_the_same_seed() -> None:
    policy = RetryPolicy(pause_ms=1_000, pause_ms_max=60_000, jitter_milli=500)
    found = [pause_ms(policy, seed=3, task="a", failures=n) for n in range(1, 60)]
    assert found == [pause_ms(policy, seed=3, task="a", failures=n) for n in range(1, 60)]
    assert found != [pause_ms(policy, seed=4, task="a", failures=n) for n in range(1, 60)]
    for n, each in enumerate(found):
        whole = min(1_000 << n, 60_000)
        assert whole // 2 <= each <= whole


def test_only_named_codes_are_worth_another_try() -> None:
    policy = RetryPolicy(retries={FailureCategory.EXIT_CODE: 2}, exit_codes=(75,))
    code = FailureCategory.EXIT_CODE
    assert policy.allows(code, before=1, exit_code=75)
    assert not policy.allows(code, before=1, exit_code=1)
    assert not policy.allows(code, before=2, exit_code=75)
    assert not policy.allows(FailureCategory.NODE_LOST, before=0, exit_code=None)


def test_the_critical_path_is_the_longest_way() -> None:
    graph = TaskGraph(
        [_task("a"), _task("m", "a", over=("x", "y")), _task("b", "a"), _task("z", "m", "b")]
    )
    lengths = {"a": 5, "m[0]": 10, "m[1]": 20, "b": 15, "z": 1}
    assert graph.critical_path(lengths) == (26, ("a", "m[1]", "z"))
