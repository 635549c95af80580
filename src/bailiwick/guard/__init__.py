"""Lets a data service accept the tokens of leases: ASGI and WSGI middleware, and what it knows."""

from typing import TYPE_CHECKING

from bailiwick.guard.guard import Guard, Known

if TYPE_CHECKING:
    from bailiwick.guard.follower import Follower

__all__ = ["Follower", "Guard", "Known"]


def __getattr__(name: str) -> object:
    """What follows a server, with the client it needs, when it is asked for."""
    if name != "Follower":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    from bailiwick.guard.follower import Follower

    return Follower
