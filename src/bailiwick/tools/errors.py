"""What is wrong with what a tool was given to read."""

from __future__ import annotations


class NotAsSealed(Exception):
    """A journal, a proof or a published log is not what was sealed: where, and what is wrong."""

    def __init__(self, where: object, why: str) -> None:
        super().__init__(f"{where}: {why}")
