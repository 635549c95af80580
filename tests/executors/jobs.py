"""Small real jobs, and waiting for what becomes of them; every wait is bounded."""

from __future__ import annotations

import sys
from typing import Any

from bailiwick.executors.local.launch import is_locked
from bailiwick.executors.port import Executor, Exited, JobSpec
from tests.support.waiting import until


def python(lease_id: int, text: str, **more: Any) -> JobSpec:
    """A job that runs this Python text."""
    return JobSpec(
        lease_id,
        argv=(sys.executable, "-I", "-S", "-u", "-c", text),
        token="secret-token",
        **more,
    )


def shell(lease_id: int, text: str, **more: Any) -> JobSpec:
    """A job whose user gave a shell."""
    return JobSpec(lease_id, argv=("/bin/sh", "-c", text), token="secret-token", **more)


def ended(executor: Executor, lease_id: int) -> Exited:
    """How the job ended, with all it had started and its supervisor."""
    folder = executor.output(lease_id)[0].parent

    def look() -> Exited | None:
        status = executor.status(lease_id)
        is_over = isinstance(status, Exited) and status.is_emptied and not is_locked(folder)
        return status if isinstance(status, Exited) and is_over else None

    return until(look, f"the job of lease {lease_id} is over with all it started")


def text_of(executor: Executor, lease_id: int) -> str:
    """All the job said so far."""
    return executor.read_output(lease_id, 0, limit=10**7).data.decode()


def said(executor: Executor, lease_id: int, word: str) -> str:
    """All the job said, once this word is in it."""

    def look() -> str | None:
        text = text_of(executor, lease_id)
        return text if word in text else None

    return until(look, f"the job of lease {lease_id} says {word!r}")
