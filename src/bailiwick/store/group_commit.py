"""One commit for all changes that wait at the same time: where a commit costs a disk's sync.

Rules:

- Whoever gets the turn carries out what the others have waiting, too, each after the other, all in
  one transaction. An answer comes after the commit: what was answered is on the disk.
- A change that is refused (an error of ours) is undone alone, and only its own caller is told.
- An error of the database undoes all of them. Each is then carried out again by itself, so that
  nobody is told of another's. So a change has no effect but through its connection.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from bailiwick.vocab.errors import BailiwickError

T = TypeVar("T")

CHANGES_MAX: Final = 64
"""Of one transaction: no caller waits longer than for so many others."""


@dataclass(slots=True)
class _Change(Generic[T]):
    """A change that waits for its turn, and what became of it."""

    act: Callable[[Connection], T]
    is_done: bool = False
    answers: list[T] = field(default_factory=list)
    error: BaseException | None = None

    def carry_out(self, connection: Connection) -> None:
        """Do it, or undo it alone."""
        try:
            with connection.begin_nested():
                self.answers = [self.act(connection)]
        except BailiwickError as error:
            self.error = error

    def forget(self) -> None:
        """As if it had never been tried."""
        self.answers, self.error = [], None


class GroupCommit:
    """Changes of many threads, in as few transactions as their turns allow."""

    def __init__(
        self,
        changing: Callable[[], AbstractContextManager[Connection]],
        turn: AbstractContextManager[Any],
    ) -> None:
        self._changing, self._turn = changing, turn
        self._waiting: deque[_Change[Any]] = deque()  # its ends may be used by any thread

    def run(self, act: Callable[[Connection], T]) -> T:
        """What the change answers, once it is durable."""
        own = _Change(act)
        self._waiting.append(own)
        with self._turn:
            while not own.is_done:  # bounded: each pass does the first of those that wait
                self._carry_out()
        if own.error is not None:
            raise own.error
        return own.answers[0]

    def _carry_out(self) -> None:
        some = [self._waiting.popleft() for _ in range(min(len(self._waiting), CHANGES_MAX))]
        try:
            with self._changing() as connection:
                for each in some:
                    each.carry_out(connection)
        except (SQLAlchemyError, BailiwickError):  # of the database, maybe told in our words
            for each in some:
                self._alone(each)
        except BaseException as error:
            for each in some:
                each.error = error
            raise
        finally:
            for each in some:
                each.is_done = True

    def _alone(self, change: _Change[Any]) -> None:
        change.forget()
        try:
            with self._changing() as connection:
                change.carry_out(connection)
        except Exception as error:
            change.forget()
            change.error = error
