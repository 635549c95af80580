"""Who answers which action: a handler says so itself, and there is one for each.

>>> async def renew() -> None: ...
>>> answers("lease.renoo")(renew)
Traceback (most recent call last):
...
bailiwick.vocab.errors.NotFound: no action 'lease.renoo'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar

from bailiwick.vocab.errors import InvariantBroken
from bailiwick.wire.actions.table import find_action

Handler: TypeAlias = Callable[..., Any]
H = TypeVar("H", bound=Handler)

HANDLERS: Final[dict[str, Handler]] = {}
"""Who answers each action; complete once the modules of all nouns are imported."""


def answers(name: str) -> Callable[[H], H]:
    """Have a handler answer the action of that name."""
    action = find_action(name)

    def register(handler: H) -> H:
        if HANDLERS.setdefault(action.name, handler) is not handler:
            raise InvariantBroken(f"{name} has two handlers")
        return handler

    return register
