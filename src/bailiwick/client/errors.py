"""What can go wrong between a caller and the server, told apart by what one can do about it.

Rules:

- ``Refusal``: the server understood and says no; its ``Problem`` says why and under which id.
- ``Unreachable``: nobody answered, or nobody could, after as many tries as are made.
- ``Misunderstood``: an answer came that is not of this contract; versions or addresses differ.
"""

from __future__ import annotations

from bailiwick.wire.problem import Problem


class ClientError(Exception):
    """Base of what the client raises; ``correlation_id`` finds the request in the server's logs."""

    correlation_id: str


class Refusal(ClientError):
    """The server's own no."""

    def __init__(self, status: int, problem: Problem) -> None:
        super().__init__(f"{problem.code.value}: {problem.message}")
        self.status, self.problem = status, problem
        self.correlation_id = problem.correlation_id


class Unreachable(ClientError):
    """No answer from there."""

    def __init__(self, server: str, why: str, *, correlation_id: str) -> None:
        super().__init__(f"{server} does not answer: {why}")
        self.server, self.why, self.correlation_id = server, why, correlation_id


class Misunderstood(ClientError):
    """An answer that is none of this contract's."""

    def __init__(self, server: str, why: str, *, correlation_id: str) -> None:
        super().__init__(f"{server} answers in a way that is not understood: {why}")
        self.server, self.correlation_id = server, correlation_id
