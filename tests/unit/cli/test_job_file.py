"""Job files: the same words as the options, and mistakes that are told with their place."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from bailiwick.tools.job_files.reading import FILE_BYTES_MAX, BadJobFile, load_job_file
from bailiwick.tools.job_files.words import WORD_OF, WORDS, body_of
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.words import HardwareGeneration, LeaseClass
from bailiwick.wire.jobs import NewJob

WHOLE = """\
name: exp-7
tenant: lab
project: vision
command: [python, train.py, --lr, 0.1]
env:
  SEED: 7
  MODE: fast
cwd: /data/exp
image: tools:v2
on: node
after: ["job-3:ok", 4]
array: 0-9%2
retries: 3
retry_on: [preempted]
checkpoint: /data/exp/saved
gpus: 2
generation: nvidia_hopper
models: [NVIDIA H100]
vram: 80GiB
exclusivity: device_exclusive
cpus: 0.5
mem: 64GiB
block: 1TiB
priority: high
class: spot
tag: exp-7
labels:
  zone: a
job_labels:
  team: red
scheduler_type: hello
gang: 1
ttl: 1h30m
deadline: 6h
wait: false
preemptible_on_budget: true
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "job.yaml"
    path.write_text(text)
    return path


def mistakes(folder: Path, text: str) -> list[str]:
    path = write(folder, text)
    with pytest.raises(BadJobFile) as caught:
        load_job_file(path)
    told = [line.removeprefix(f"{path}:") for line in str(caught.value).splitlines()]
    assert told == caught.value.mistakes or len(told) == len(caught.value.mistakes)
    return told


def test_every_word_is_read_and_makes_a_job(tmp_path: Path) -> None:
    wish = load_job_file(write(tmp_path, WHOLE))
    assert wish.keys() == WORDS.keys()
    job = NewJob.model_validate(body_of(wish))
    assert job.command == ["python", "train.py", "--lr", "0.1"]
    assert job.env == {"SEED": "7", "MODE": "fast"}
    assert job.resources.model_dump() == {
        "cpu_milli": 500,
        "mem_bytes": 2**36,
        "block_bytes": 2**40,
    }
    assert (job.gpu_count, job.gpu_milli, job.gpu_vram) == (2, 0, 80 * 2**30)
    assert job.gpu_generation is HardwareGeneration.NVIDIA_HOPPER
    assert job.lease_class is LeaseClass.SPOT
    assert (job.ttl_ms, job.labels, job.wait) == (5_400_000, ["zone=a"], False)
    assert (job.job_labels, job.scheduler_type) == (["team=red"], "hello")


def test_every_field_of_the_contract_has_a_word() -> None:
    fields = {WORD_OF.get(name, name) for name in NewJob.model_fields}
    fields -= {"resources", "interactive"}  # who types it is attached, and a file is not
    assert fields | {"cpus", "mem", "block"} == WORDS.keys()


def test_a_command_may_be_one_line(tmp_path: Path) -> None:
    wish = load_job_file(write(tmp_path, 'command: python -c "print(1)"\n'))
    assert body_of(wish)["command"] == ["python", "-c", "print(1)"]


def test_all_mistakes_are_told_with_their_places(tmp_path: Path) -> None:
    told = mistakes(tmp_path, "gpus: lots\nmemory: 8GiB\nttl: 2\nname: a b\n")
    assert [line.split(" ")[0] for line in told] == ["1:7:", "2:1:", "3:6:", "4:7:"]
    assert "gpus: expected 0 to 16 whole GPUs" in told[0]
    assert "memory: no such word; did you mean mem?" in told[1]
    assert "ttl: expected a length of time, such as 2h" in told[2]
    assert "name: " in told[3]


def test_a_mistyped_value_is_answered_with_the_nearest(tmp_path: Path) -> None:
    (line,) = mistakes(tmp_path, "generation: nvidia_hoper\n")
    assert "did you mean nvidia_hopper?" in line


def test_a_word_that_is_like_none_is_answered_with_all(tmp_path: Path) -> None:
    (line,) = mistakes(tmp_path, "zzz: 1\n")
    assert "known are tenant, project" in line


def test_the_same_word_twice_is_refused_where_it_is_repeated(tmp_path: Path) -> None:
    (line,) = mistakes(tmp_path, "gpus: 1\nmem: 1GiB\ngpus: 2\n")
    assert line.startswith("3:1: found duplicate key")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("gpus: [1\n", "2:1:"),
        ("gpus: 1\n  mem: 2\n", "2:6:"),
        ("- a\n- b\n", "1:1:"),
        ("just words", "1:1:"),
        ("", "1:1:"),
        ("a: !!python/object:os.system x\n", "1:1:"),
    ],
)
def test_what_is_not_a_job_file_is_told_with_a_place(tmp_path: Path, text: str, place: str) -> None:
    assert mistakes(tmp_path, text)[0].startswith(place)


@pytest.mark.parametrize(
    "text",
    ["gpus: true\n", "mem: [1GiB]\n", "wait: maybe\n", "command: []\n", "env: 3\n", "gang: 0\n"],
)
def test_a_value_of_the_wrong_kind_is_told(tmp_path: Path, text: str) -> None:
    word = text.partition(":")[0]
    (line,) = mistakes(tmp_path, text)
    assert line.startswith(f"1:{len(word) + 3}: {word}: expected")


def test_a_name_of_the_environment_that_no_shell_takes_is_told(tmp_path: Path) -> None:
    (line,) = mistakes(tmp_path, "env:\n  'A B': 1\n")
    assert "names of letters, digits and _" in line


def test_a_large_file_is_refused_unread(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="at most 65536 bytes"):
        load_job_file(write(tmp_path, "#" * (FILE_BYTES_MAX + 1)))


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="No such file"):
        load_job_file(tmp_path / "absent.yaml")


def test_aliases_do_not_grow(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    lines += ["models: *a8", "env: {A: *a8}", "gpus: *a8"]
    assert len(mistakes(tmp_path, "\n".join(lines) + "\n")) == 12


def test_a_file_may_come_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    class Input:
        buffer = io.BytesIO(b"gpus: 2\ncommand: [echo, hi]\n")

    monkeypatch.setattr("sys.stdin", Input())
    assert load_job_file(Path("-"))["command"] == ["echo", "hi"]
