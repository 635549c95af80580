"""The words by which people set limits, ceilings and burst credit, and by which they are told.

``gpus=8``, ``term_max=7d``, ``gpus=2:1h:1d``: which words there are and in what unit is decided
here; what a quota may be is not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.units import parse_bytes, parse_cores, parse_generation, parse_span
from bailiwick.vocab.words import Dimension, HardwareGeneration

if TYPE_CHECKING:
    from collections.abc import Iterable

_COUNT = re.compile("[0-9]{1,9}")
_LIMIT = re.compile(r"([A-Za-z0-9_-]+)=(.+)")
_BURST = re.compile(r"([a-z]+)=([^:]+):([^:]+)(?::([^:]+))?")

_WORDS = {
    "cpus": Dimension.CPU_MILLI,
    "mem": Dimension.MEM_BYTES,
    "block": Dimension.BLOCK_BYTES,
    "gpus": Dimension.GPU_COUNT,
    "vram": Dimension.GPU_VRAM,
    "leases": Dimension.LEASE_COUNT,
}
_NAMES = {dimension: word for word, dimension in _WORDS.items()}


def name_of(dimension: Dimension) -> str:
    """How a limit is told: by the word by which it is set.

    >>> name_of(Dimension.GPU_COUNT)
    'gpus'
    """
    return _NAMES[dimension]


_CEILINGS = {
    "priority_max": "priority_max",
    "classes": "lease_classes",
    "term_max": "term_max_ms",
    "waiting_max": "waiting_max",
}


def split_ceiling(texts: Iterable[str]) -> tuple[dict[str, Any] | None, list[str]]:
    """What is asked of the ceiling, none to have it lifted, and what else was typed.

    >>> split_ceiling(["gpus=8", "term_max=7d"])
    ({'term_max_ms': 604800000}, ['gpus=8'])
    >>> split_ceiling(["ceiling=none"])
    (None, [])
    """
    asked: dict[str, Any] = {}
    lifted: list[str] = []
    rest: list[str] = []
    for text in texts:
        name, _, typed = text.partition("=")
        if name in _CEILINGS:
            asked[_CEILINGS[name]] = parse_ceiling(name, typed)
        else:
            (lifted if name == "ceiling" else rest).append(text)
    for text in lifted:
        if text != "ceiling=none" or asked:
            expected = f"ceiling=none alone, or words of it: {', '.join(_CEILINGS)}"
            raise InvalidValue("ceiling", text, expected)
    return (None if lifted else asked), rest


def parse_ceiling(name: str, value: str) -> Any:
    """What a word of a ceiling is set to, as it was typed; it is lifted only as a whole.

    >>> parse_ceiling("term_max", "7d"), parse_ceiling("classes", "standard,spot")
    (604800000, ['standard', 'spot'])
    """
    if value == "none":
        raise InvalidValue(name, value, "a value: a ceiling is lifted whole, by ceiling=none")
    match name:
        case "term_max":
            return parse_span(name, value)
        case "classes":
            return value.split(",")
        case "waiting_max":
            if not _COUNT.fullmatch(value):
                raise InvalidValue(name, value, "a whole number")
            return int(value)
        case _:
            return value


def parse_burst(text: str) -> dict[str, Any] | None:
    """Burst credit as it was typed: how far above which limit, how long, and when it is back.

    What comes back in a second is a whole number, rounded up.

    >>> parse_burst("gpus=2:1h:1d")
    {'dimension': 'gpu_count', 'capacity': 7200000, 'refill_per_s': 84, 'ceiling': 2000}
    >>> parse_burst("none") is None
    True
    """
    if text == "none":
        return None
    found = _BURST.fullmatch(text)
    if found is None or found[1] not in _WORDS:
        expected = "none, or WORD=MOST:FOR[:BACK] such as gpus=2:1h:1d, WORD being one of "
        raise InvalidValue("--burst", text, expected + ", ".join(_WORDS))
    _, word, most = parse_limit(f"{found[1]}={found[2]}")
    ceiling = (most or 0) * (1000 if word == Dimension.GPU_COUNT else 1)
    for_ms, back_ms = (parse_span("--burst", each) for each in (found[3], found[4] or "1d"))
    capacity = ceiling * for_ms // 1000
    if not capacity or not back_ms:
        raise InvalidValue("--burst", text, "more than nothing, for a second at least")
    refill = -(-capacity * 1000 // back_ms)
    return {"dimension": word, "capacity": capacity, "refill_per_s": refill, "ceiling": ceiling}


def parse_limit(text: str) -> tuple[str, str, int | None]:
    """In which table, on what, how much; no number lifts the limit.

    >>> parse_limit("mem=1GiB"), parse_limit("H100=none")
    (('limits', 'mem_bytes', 1073741824), ('gpu_limits', 'nvidia_hopper', None))
    """
    found = _LIMIT.fullmatch(text)
    words = ", ".join(_WORDS)
    if found is None:
        raise InvalidValue("limit", text, f"WORD=LIMIT with one of {words} or a GPU generation")
    word, value = found[1], found[2]
    dimension = _WORDS.get(word)
    if dimension is None:
        word = _generation(text, word).value
        return "gpu_limits", word, None if value == "none" else _count(text, value)
    if value == "none":
        return "limits", dimension.value, None
    if dimension is Dimension.CPU_MILLI:
        return "limits", dimension.value, parse_cores("cpus", value)
    if dimension in (Dimension.GPU_COUNT, Dimension.LEASE_COUNT):
        return "limits", dimension.value, _count(text, value)
    return "limits", dimension.value, parse_bytes(word, value)


def _generation(text: str, word: str) -> HardwareGeneration:
    try:
        return parse_generation("limit", word)
    except InvalidValue as error:
        expected = f"one of {', '.join(_WORDS)}, or a GPU generation: {error.expected}"
        raise InvalidValue("limit", text, expected) from None


def _count(text: str, value: str) -> int:
    if not _COUNT.fullmatch(value):
        raise InvalidValue("limit", text, "a whole number, or none")
    return int(value)
