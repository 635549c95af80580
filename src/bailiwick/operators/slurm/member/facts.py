"""What a member says of itself and its machine, and of its condition when a fault is looked for."""

from __future__ import annotations

import os
import shutil
import socket
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from .home import Home
from .probing import silent

# An address for documentation: nothing is sent there. Which of its own a machine would use for the
# way out is all that is asked.
_FAR: Final = "192.0.2.1"


def facts(home: Home) -> dict[str, Any]:
    """Who and where the member is."""
    server = urlsplit(os.environ.get("BAILIWICK_SERVER", "")).hostname
    return {
        "host": socket.gethostname().split(".")[0],
        "user": home.user,
        "outward": _source(_FAR),
        "toward_server": _source(server) if server else None,
        "member_id": os.environ.get("APP_MEMBER_ID", ""),
        "devices": os.environ.get("CUDA_VISIBLE_DEVICES", ""),
    }


def condition(home: Home, state: dict[str, Any]) -> dict[str, Any]:
    """Its daemons, the mark of its key, the room that it has; of a controller, who is silent."""
    found = {
        "daemons": state["daemons"],
        "key": _mark(home.root / "keys/munge.key"),
        "free_bytes": min(shutil.disk_usage(path).free for path in _folders(home)),
    }
    is_heard = state["daemons"].get("slurmctld", {}).get("is_up", False)
    return found | {"silent": silent(home) if is_heard else []}


def _source(host: str) -> str | None:
    """The address of this machine on the way to another; none if there is no way."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plug, suppress(OSError):
        plug.connect((host, 9))
        return str(plug.getsockname()[0])
    return None


def _folders(home: Home) -> list[Path]:
    return [path for path in (home.root, home.state) if path.is_dir()]


def _mark(key: Path) -> str:
    """By what two keys are told apart; nobody learns the key from it."""
    return sha256(key.read_bytes()).hexdigest()[:16] if key.exists() else ""
