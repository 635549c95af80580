"""What a member says of itself and of its machine."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit

from .home import Home

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


def _source(host: str) -> str | None:
    """The address of this machine on the way to another; none if there is no way."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plug, suppress(OSError):
        plug.connect((host, 9))
        return str(plug.getsockname()[0])
    return None
