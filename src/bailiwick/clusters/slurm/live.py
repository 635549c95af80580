"""What runs on a Slurm cluster now, by its own programs or by what they printed."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

from bailiwick.clusters.accounting import NoAnswer
from bailiwick.clusters.json_files import parse_answer, read_answer
from bailiwick.clusters.live import LiveQuestion, Read
from bailiwick.isolation.adapters.cluster import ClusterReading, SubjectWords
from bailiwick.isolation.adapters.slurm import LABEL_WORDS, TENANT_WORDS, read_slurm
from bailiwick.vocab.errors import InvalidValue

WAIT_S: Final = 30
_JOBS, _NODES = ("squeue", "--json"), ("sinfo", "--json")


def watch(question: LiveQuestion) -> Read:
    """What reads the cluster's jobs and nodes."""
    words = _words(question)
    if question.server is not None:
        raise InvalidValue("--server", question.server, "nothing: its programs are asked")
    if question.files and len(question.files) != 2:
        raise InvalidValue("files", len(question.files), "two: of squeue --json, of sinfo --json")

    def read() -> ClusterReading:
        jobs, nodes = (_saved if question.files else _asked)(question.files)
        return read_slurm(jobs, nodes, naming=words, known=question.sites)

    return read


def _words(question: LiveQuestion) -> SubjectWords:
    tenant = question.tenant_by or "account"
    for flag, word, allowed in (
        ("--tenant-by", tenant, TENANT_WORDS),
        ("--project-by", question.project_by, ("", *TENANT_WORDS)),
        ("--labels-by", question.labels_by, ("", *LABEL_WORDS)),
    ):
        if word not in allowed:
            raise InvalidValue(flag, word, "one of " + ", ".join(filter(None, allowed)))
    return SubjectWords(tenant, question.project_by, question.labels_by)


def _saved(files: tuple[Path, ...]) -> tuple[object, object]:
    return read_answer(files[0]), read_answer(files[1])


def _asked(files: tuple[Path, ...]) -> tuple[object, object]:
    del files
    return _run(_JOBS), _run(_NODES)


def _run(words: tuple[str, ...]) -> object:
    try:
        done = subprocess.run(words, capture_output=True, timeout=WAIT_S, check=False)
    except FileNotFoundError:
        raise NoAnswer(f"{words[0]} is not installed here (or give saved answers)") from None
    except subprocess.TimeoutExpired:
        raise NoAnswer(f"{words[0]} gave no answer in {WAIT_S} s") from None
    if done.returncode:
        told = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise NoAnswer(f"{words[0]} failed: {told[-1] if told else done.returncode}")
    return parse_answer(" ".join(words), done.stdout)
