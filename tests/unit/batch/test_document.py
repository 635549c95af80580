"""Files of graphs: what they say, and where they are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from bailiwick.batch import GraphRefused, load_graph
from bailiwick.batch.document import FILE_BYTES_MAX
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.graphs import FailureCategory, UpstreamResult
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, Priority

WHOLE = """\
name: nightly
running_max: 8
tasks:
  prep:
    command: python3 prep.py --out "a b"
    cpus: 2
    mem: 4GiB
    outputs: [data]
  train:
    command: [python3, train.py, "{item}"]
    map: [0.1, 0.01]
    gpus: 1
    generation: nvidia_hopper
    class: spot
    priority: high
    tag: vision
    ttl: 2h
    deadline: 1d
    env: {SEED: 7}
    inputs: {data: prep/data}
    checkpoint: /srv/ckpt/{index}
    retry: {exit_code: 2, exit_codes: [75], pause: 10s, pause_max: 5m, jitter: 0.25}
  report:
    command: [report]
    after: [train]
  alarm:
    command: [alarm]
    after: [{task: train, when: failed}]
    may_fail: true
"""


def _problems(text: str) -> list[str]:
    with pytest.raises(GraphRefused) as refused:
        load_graph(text)
    return str(refused.value).splitlines()


def test_every_word_is_read() -> None:
    graph = load_graph(WHOLE)
    assert (graph.name, graph.running_max, len(graph.tasks)) == ("nightly", 8, 5)
    prep, train = graph.task("prep").definition, graph.task("train[1]").definition
    assert prep.command == ("python3", "prep.py", "--out", "a b")
    assert (prep.needs.cpu_milli, prep.needs.mem_bytes) == (2000, 4 << 30)
    assert graph.task("train[1]").command == ("python3", "train.py", "0.01")
    assert graph.task("train[1]").checkpoint == "/srv/ckpt/1"
    needs = train.needs
    assert (needs.gpu_count, needs.generation) == (1, HardwareGeneration.NVIDIA_HOPPER)
    assert (needs.lease_class, needs.ttl_ms) == (LeaseClass.SPOT, 7_200_000)
    assert (train.priority, train.tag, train.deadline_ms) == (Priority.HIGH, "vision", 86_400_000)
    assert train.env == {"SEED": "7"}
    assert train.retry.limit(FailureCategory.EXIT_CODE) == 2
    assert train.retry.limit(FailureCategory.NODE_LOST) == 3, "what is not named stays"
    assert (train.retry.pause_ms, train.retry.jitter_milli) == (10_000, 250)
    assert graph.task("alarm").awaited[0].upstream.when is UpstreamResult.FAILED


def test_a_circle_names_its_line() -> None:
    text = "tasks:\n  a: {command: [x], after: [b]}\n  b: {command: [x], after: [a]}\n"
    (told,) = _problems(text)
    assert told.startswith(("line 2, column 3: ", "line 3, column 3: "))
    assert "in a circle" in told


def test_every_mistake_has_its_line() -> None:
    text = (
        "nam: x\n"
        "tasks:\n"
        "  a:\n"
        "    comand: [x]\n"
        "  b:\n"
        "    command: [x]\n"
        "    mem: 4G\n"
        "    priority: hihg\n"
        "  c:\n"
        "    command: [x]\n"
        "    retry:\n"
        "      exit_cod: 3\n"
        "    after: [{tsk: a}]\n"
    )
    told = _problems(text)
    assert told[0] == "line 1, column 1: no word 'nam'; did you mean name?"
    assert "line 3, column 3: task 'a' has no command" in told
    assert "line 4, column 5: no word 'comand'; did you mean command?" in told
    assert any(each.startswith("line 7, column 5: mem: expected 4GiB") for each in told)
    assert any("line 8" in each and "did you mean high?" in each for each in told)
    assert any(each.startswith("line 12, column 7: no word 'exit_cod'") for each in told)
    assert any(each.startswith("line 13, ") and "'tsk'" in each for each in told)


def test_an_unknown_task_names_the_line_of_its_mention() -> None:
    text = "tasks:\n  prep:\n    command: [x]\n  b:\n    command: [x]\n    after:\n      - perp\n"
    assert _problems(text) == ["line 7, column 9: no task 'perp'; did you mean prep?"]


def test_an_impossible_request_names_its_line() -> None:
    text = "tasks:\n  a:\n    command: [x]\n    gpus: 0\n    generation: nvidia_hopper\n"
    (told,) = _problems(text)
    assert told.startswith("line 4, column 5: gpus: expected a GPU")


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("tasks: {a: {command: [x]}, a: {command: [y]}}", 1, "stands here twice"),
        ("tasks:\n  a: &x {command: [x]}\n  b: *x\n", 2, "an alias"),
        ("tasks: [", 1, ""),
        ("- 1\n", 1, "expected words"),
        ("", 1, "expected words"),
        ("tasks: 3\n", 1, "expected names"),
        ("tasks: {}\n", 1, "0 tasks"),
        ("tasks:\n  a: {command: [x], map: 10001}\n", 2, "0 to 10000 elements"),
        ("tasks:\n  a: {command: [x], inputs: {d: sha256:zz}}\n", 2, "64 digits"),
        ("a: [[[[[[[[[[1]]]]]]]]]]\n", 1, "too deep"),
    ],
)
def test_what_is_no_graph_is_refused_with_its_line(text: str, line: int, what: str) -> None:
    (told, *_) = _problems(text)
    assert told.startswith(f"line {line}, ")
    assert what in told


def test_a_huge_file_is_not_read() -> None:
    with pytest.raises(InvalidValue, match="at most"):
        load_graph("#" * (FILE_BYTES_MAX + 1))


ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("path", sorted((ROOT / "examples/graphs").iterdir()), ids=lambda p: p.name)
def test_every_example_is_a_graph(path: Path) -> None:
    assert load_graph(path.read_text()).tasks


def test_the_manual_shows_the_example_as_it_is() -> None:
    lines = (ROOT / "examples/graphs/nightly.yaml").read_text().splitlines(keepends=True)
    shown = "".join(line for line in lines if not line.startswith("#"))
    assert f"```yaml\n{shown}```" in (ROOT / "docs/graphs.md").read_text()
