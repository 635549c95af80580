"""Bailiwick: many teams share one GPU fleet, and every decision can be checked.

The library is what ``bailiwick.names`` gathers. Import it from here; what is not there may change.
Nothing in this package reads a clock, a file or the network: time is an argument.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bailiwick.names import *  # noqa: F403
    from bailiwick.names import __all__ as __all__
else:

    def __getattr__(name: str) -> object:
        """All public names at once, when the first of them is asked for."""
        from importlib import import_module  # `from bailiwick import names` would ask here again

        names = import_module("bailiwick.names")
        if name != "__all__" and name not in names.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
        found = {each: getattr(names, each) for each in ("__all__", *names.__all__)}
        globals().update(found)
        return found[name]

    def __dir__() -> list[str]:
        """What is here, the public names among it."""
        return sorted({*globals(), *__getattr__("__all__")})
