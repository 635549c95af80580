"""A machine's raw readings as one JSON object, and back: what was seen there is judged here.

Rules:

- The dump holds every value and every text that judging uses, and nothing else.
- Judging a dump gives the inventory that the machine itself would have given.
- A dump names its schema; another one is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from bailiwick.agent.machine.files import RecordedFiles, RecordingFiles
from bailiwick.agent.machine.inventory import Readings, judge
from bailiwick.agent.words import Unreadable

RAW_SCHEMA = "bailiwick.agent.raw/1"


def dump(readings: Readings) -> dict[str, Any]:
    """The readings as plain values, with the text of each file that judging them looks at."""
    files = RecordingFiles(readings.files)
    with suppress(Unreadable):  # a machine that cannot be judged is the one to look at elsewhere
        judge(Readings(readings.host, readings.gpus, files))
    return {
        "schema": RAW_SCHEMA,
        "host": dict(readings.host),
        "nvml": dict(readings.gpus),
        "files": files.texts,
        "folders": {path: list(names) for path, names in files.folders.items()},
    }


def replay(plain: object) -> Readings:
    """The readings that a dump tells."""
    if not isinstance(plain, Mapping):
        raise Unreadable("dump", plain, "one JSON object")
    if plain.get("schema") != RAW_SCHEMA:
        raise Unreadable("schema", plain.get("schema"), RAW_SCHEMA)
    parts = [plain.get(name) for name in ("host", "nvml", "files", "folders")]
    if not all(isinstance(part, Mapping) for part in parts):
        raise Unreadable("dump", sorted(map(str, plain)), "host, nvml, files and folders")
    host, nvml, files, folders = (dict(part or {}) for part in parts)
    return Readings(host, nvml, RecordedFiles(files, folders))
