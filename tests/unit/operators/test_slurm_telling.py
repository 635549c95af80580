"""Reading Slurm's books for what is told: whole, bounded, and whatever a job is called."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from bailiwick.operators.slurm.queue.marks import MarkedJob
from bailiwick.operators.slurm.queue.telling import read_marked, read_runs
from bailiwick.operators.slurm.queue.use import BookedRun, parse_runs, used_in
from bailiwick.vocab.errors import InvalidValue

TRES = "billing=2,cpu=2,gres/gpu=1,mem=4M,node=1"


def seconds(word: str) -> int:
    return int(datetime.strptime(word, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC).timestamp())


class PaperBooks:
    """A controller whose accounting has these jobs: number, start, end, name and comment."""

    def __init__(self, *jobs: tuple[int, int, int | None, str, str], backlog: int = 0) -> None:
        self.jobs, self.backlog, self.asked = jobs, backlog, list[list[str]]()

    def __call__(self, **question: Any) -> dict[str, Any]:
        argv = question["argv"]
        assert (question["do"], question["is_exact"]) == ("slurm", True)
        self.asked.append(argv)
        if argv[0] == "sdiag":
            return self._said(f"Jobs: 7\nDBD Agent queue size: {self.backlog}\n", question)
        mark = next(e for e in argv if e.startswith("--delimiter=")).partition("=")[2]
        begin, end = (seconds(argv[argv.index(word) + 1]) for word in ("-S", "-E"))
        rows = []
        for number, start, over, name, comment in self.jobs:
            if start < end and (over is None or over > begin):
                told = {
                    "jobid": str(number),
                    "start": str(start),
                    "end": "Unknown" if over is None else str(over),
                    "alloctres": TRES,
                    "jobname": name,
                    "admincomment": comment,
                    "account": "vision",
                    "elapsedraw": str((end if over is None else over) - start),
                }
                fields = argv[argv.index("-o") + 1].split(",")
                rows.append(mark.join(told[field] for field in fields) + "\n")
        return self._said("".join(rows), question)

    def _said(self, out: str, question: dict[str, Any]) -> dict[str, Any]:
        return {"code": 0, "out": out[: question["most"]], "err": ""}


def test_every_run_of_a_window_is_read() -> None:
    books = PaperBooks((7, 100, 160, "a", ""), (8, 150, None, "b", ""), (9, 900, 950, "c", ""))
    found, window = read_runs(books, (120, 300))
    assert window == (120, 300)
    assert found == [BookedRun("7", 100, 160, 2, 1), BookedRun("8", 150, None, 2, 1)]
    assert used_in(found, from_s=window[0], to_s=window[1]) == {
        "job_second": 190,
        "cpu_second": 380,
        "gpu_second": 190,
    }


NAMES = ["a|b", "a\n9|0|0|cpu=64", "\n", "x\n10\n", "", "é\u2028", "0000000000000000"]


@pytest.mark.parametrize("name", NAMES)
def test_what_a_job_is_called_is_never_a_field_or_a_row(name: str) -> None:
    books = PaperBooks((7, 100, 160, name, f"{name}\n12|eve|x"), (8, 150, 170, "b", ""))
    found = list(read_marked(books, (0, 300)))
    assert found == [
        MarkedJob("7", "vision", name, 60, f"{name}\n12|eve|x"),
        MarkedJob("8", "vision", "b", 20, ""),
    ]
    assert len(read_runs(books, (0, 300))[0]) == 2


def test_a_job_that_was_over_at_once_is_somebodys_too() -> None:
    assert [each.job_id for each in read_marked(PaperBooks((7, 10, 10, "a", "")), (5, 20))] == ["7"]


def test_nothing_is_told_while_something_is_on_its_way_to_the_books() -> None:
    with pytest.raises(InvalidValue, match="on its way"):
        read_runs(PaperBooks(backlog=3), (0, 300))


def test_a_window_with_too_many_jobs_is_halved_until_it_can_be_read() -> None:
    many = [(n, n // 10, n // 10 + 1, "a", "") for n in range(1, 40_000)]
    books = PaperBooks(*many)
    found, (begin, end) = read_runs(books, (0, 3_600))
    assert (begin, 0 < end < 3_600) == (0, True)
    assert len(found) == sum(start < end for _, start, *_ in many)
    found_marked = list(read_marked(books, (0, 60)))
    assert {each.job_id for each in found_marked} == {str(n) for n in range(1, 600)}


def test_a_comment_that_is_too_long_is_an_error_and_not_another_row() -> None:
    books = PaperBooks((7, 0, 160, "a", "x" * 200_000))
    with pytest.raises(InvalidValue, match="fewer jobs"):
        list(read_marked(books, (0, 300)))
    assert read_runs(books, (0, 300))[0] == [BookedRun("7", 0, 160, 2, 1)], (
        "it is told all the same"
    )


@pytest.mark.parametrize(
    "text",
    ["7|1|2\n", "x|1|2|cpu=1\n", "7|1|2|cpu=many\n", "7|soon|2|cpu=1\n", "7\n", "7|1|2|cpu=1\n8|1"],
)
def test_a_row_that_is_not_understood_is_an_error(text: str) -> None:
    with pytest.raises(InvalidValue):
        parse_runs(text, "|")


def test_a_job_that_never_began_used_nothing() -> None:
    (run,) = parse_runs("7_[1-9%2]|Unknown|Unknown|\n", "|")
    assert used_in([run], from_s=0, to_s=10**9) == dict.fromkeys(
        ("job_second", "cpu_second", "gpu_second"), 0
    )
    cancelled = parse_runs("7|None|500|\n", "|")
    assert used_in(cancelled, from_s=0, to_s=10**9)["job_second"] == 0
