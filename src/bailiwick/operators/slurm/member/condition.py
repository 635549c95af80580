"""What a member says of its condition, for whoever looks for the cause of a fault."""

from __future__ import annotations

import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

from .home import Home
from .probing import silent


def condition(home: Home, state: dict[str, Any]) -> dict[str, Any]:
    """Its daemons, the mark of its key, the room that it has; of a controller, who is silent."""
    found = {
        "daemons": state["daemons"],
        "key": _mark(home.root / "keys/munge.key"),
        "free_bytes": min(shutil.disk_usage(path).free for path in _folders(home)),
    }
    is_heard = state["daemons"].get("slurmctld", {}).get("is_up", False)
    return found | {"silent": silent(home) if is_heard else []}


def _folders(home: Home) -> list[Path]:
    return [path for path in (home.root, home.state) if path.is_dir()]


def _mark(key: Path) -> str:
    """By what two keys are told apart; nobody learns the key from it."""
    return sha256(key.read_bytes()).hexdigest()[:16] if key.exists() else ""
