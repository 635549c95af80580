"""A piece of the operator's own work as everybody can see it: how far it is, and what came of it.

The same title for the same generation of an instance is the same task, whoever begins it: an
operator that was killed in the middle goes on with the one that it began.
"""

from __future__ import annotations

from bailiwick.client import Client, Refusal
from bailiwick.client.http_client import Places
from bailiwick.vocab.errors import ErrorCode
from bailiwick.wire.actions.instances import (
    INSTANCE_OPERATION_ADVANCE,
    INSTANCE_OPERATION_FINISH,
    INSTANCE_OPERATION_READ,
)
from bailiwick.wire.instances import InstanceOperation, OperationProgress, OperationResult

_LINE_CHARS_MAX = 256
_LINES_MAX = 16
_RESULT_CHARS_MAX = 1_024


class OperatorTask:
    """One task, begun."""

    def __init__(self, client: Client, path: Places) -> None:
        self._client, self._path = client, path
        self._known = self._read()

    @property
    def is_over(self) -> bool:
        """Whether it has ended, as it may have before this operator was started."""
        return self._known is None or self._known.ended_ms is not None

    @property
    def progress(self) -> int:
        """How far it is, in hundredths."""
        return 100 if self._known is None else self._known.progress

    def advance(self, progress: int, *log: str) -> None:
        """Tell how far it is, and lines for its log; nothing is told if nothing is new."""
        progress = max(progress, self.progress)
        if self.is_over or (progress == self.progress and not log):
            return
        lines = [line[:_LINE_CHARS_MAX] for line in log][-_LINES_MAX:]
        body = OperationProgress(progress=progress, log=lines)
        try:
            self._client.send(INSTANCE_OPERATION_ADVANCE, path=self._path, body=body)
        except Refusal as refusal:
            self._go_on(refusal, progress)
        self._known = self._read()

    def succeed(self, result: str = "") -> None:
        """It is done."""
        self._finish(True, result)

    def fail(self, result: str) -> None:
        """It came to nothing, for this reason."""
        self._finish(False, result)

    def _finish(self, is_succeeded: bool, result: str) -> None:
        if not self.is_over:
            body = OperationResult(is_succeeded=is_succeeded, result=result[:_RESULT_CHARS_MAX])
            try:
                self._client.send(INSTANCE_OPERATION_FINISH, path=self._path, body=body)
            except Refusal as refusal:
                self._go_on(refusal, 100)
            self._known = self._read()

    def _go_on(self, refusal: Refusal, progress: int) -> None:
        """Go on if it was refused because somebody else has told as much already."""
        if refusal.problem.code is not ErrorCode.CONFLICT:
            raise refusal
        self._known = self._read()
        if not self.is_over and self.progress < progress:
            raise refusal

    def _read(self) -> InstanceOperation | None:
        try:
            return self._client.send(INSTANCE_OPERATION_READ, path=self._path)
        except Refusal as refusal:
            if refusal.problem.code is ErrorCode.NOT_FOUND:
                return None  # it ended, and so many after it that it is known no more
            raise
