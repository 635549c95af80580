"""The example's operator, except that it breaks one rule of ``bailiwick app check``.

    python cheating_operator.py RULE FOLDER

- ``connects``: it keeps a connection to the port in ``FOLDER/port``.
- ``borrows``: it uses the token in ``FOLDER/borrowed``, which is a person's.
- ``forgets``: it looks after nothing once there is ``FOLDER/taken``, which it leaves behind: as one
  does that keeps in a file what the server should tell it.
"""

from __future__ import annotations

import os
import runpy
import socket
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "app" / "hello_operator.py"


def cheat(rule: str, folder: Path) -> None:
    """Break the rule, and be a good operator otherwise."""
    kept: list[socket.socket] = []
    match rule:
        case "connects":
            port = int((folder / "port").read_text())
            kept.append(socket.create_connection(("127.0.0.1", port)))
        case "borrows":
            os.environ["BAILIWICK_TOKEN_FILE"] = str(folder / "borrowed")
        case "forgets":
            if (folder / "taken").exists():
                return
            (folder / "taken").touch()
        case _:
            raise SystemExit(f"no rule is called {rule}")
    sys.argv = [str(EXAMPLE), "hello", "--alone"]
    runpy.run_path(str(EXAMPLE), run_name="__main__")


if __name__ == "__main__":
    cheat(sys.argv[1], Path(sys.argv[2]))
