"""Amounts as people type and read them: bytes, lengths of time, cores, GPUs and their kind.

Rules:

- Bytes and lengths of time have a unit, always: ``8GiB`` is 2**33, ``8GB`` is 8 * 10**9. ``8G``,
  which means one thing to one tool and another to the next, is refused.
- What is spelled here is read back as the very same amount.
- A generation of GPUs is understood by its word, without its maker, or by a model of it, in any
  case. A model that more than one generation has had is not.

>>> parse_bytes("mem", "8GiB"), parse_bytes("mem", "8GB"), spell_bytes(3 * 2**20)
(8589934592, 8000000000, '3MiB')
>>> parse_span("ttl", "1h30m"), spell_span(90_000), parse_gpus("gpus", "0.5")
(5400000, '1m30s', (0, 500))
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Final

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import MILLI
from bailiwick.vocab.words import HardwareGeneration

BYTES_MAX: Final = 2**53 - 1
SPAN_MS_MAX: Final = 2**52
GPUS_MAX: Final = 16
_BYTES: Final = {
    "pib": 2**50,
    "tib": 2**40,
    "gib": 2**30,
    "mib": 2**20,
    "kib": 2**10,
    "pb": 10**15,
    "tb": 10**12,
    "gb": 10**9,
    "mb": 10**6,
    "kb": 10**3,
    "b": 1,
}
_SHOWN: Final = ("PiB", "TiB", "GiB", "MiB", "KiB")
_SPANS: Final = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_SIZE: Final = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)\s*([A-Za-z]+)")
_PART: Final = re.compile(r"([0-9]{1,18})\s*(ms|d|h|m|s)\s*")
_BYTES_EXPECTED: Final = "an amount with its unit, such as 64GiB, 500MB or 0B"
_SPAN_EXPECTED: Final = "a length of time, such as 2h, 1h30m, 90s or 7d"


def parse_bytes(field: str, text: str) -> int:
    """The bytes that were meant."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise InvalidValue(field, text, _BYTES_EXPECTED)
    size = _BYTES.get(found[2].lower())
    if size is None:
        near = f"{found[1]}{found[2].rstrip('i')}iB"
        fits = near[-3:].lower() in _BYTES
        raise InvalidValue(field, text, f"{near} or another unit" if fits else _BYTES_EXPECTED)
    amount = Decimal(found[1]) * size
    if amount != int(amount) or amount > BYTES_MAX:
        raise InvalidValue(field, text, f"a whole number of bytes up to {BYTES_MAX}")
    return int(amount)


def spell_bytes(count: int) -> str:
    """The bytes in the largest unit that tells them exactly."""
    for unit in _SHOWN:
        if count and count % _BYTES[unit.lower()] == 0:
            return f"{count // _BYTES[unit.lower()]}{unit}"
    return f"{count}B"


def parse_span(field: str, text: str) -> int:
    """The milliseconds that were meant; units go from the largest down, each at most once."""
    rest, total, sizes = text.strip(), 0, [SPAN_MS_MAX]
    while rest:  # bounded: every round takes a part off
        part = _PART.match(rest)
        if part is None or _SPANS[part[2]] >= sizes[-1]:
            raise InvalidValue(field, text, _SPAN_EXPECTED)
        sizes.append(_SPANS[part[2]])
        total += int(part[1]) * _SPANS[part[2]]
        rest = rest[part.end() :]
    if len(sizes) == 1 or total > SPAN_MS_MAX:
        raise InvalidValue(field, text, _SPAN_EXPECTED)
    return total


def parse_term_s(field: str, text: str, *, most_s: int) -> int:
    """The seconds that were meant, if the server gives that many."""
    found = parse_span(field, text) // 1000
    if not 1 <= found <= most_s:
        raise InvalidValue(field, text, f"1s to {spell_span(most_s * 1000)}")
    return found


def spell_span(ms: int) -> str:
    """A length of time, exactly."""
    parts = []
    for unit, size in _SPANS.items():
        count, ms = divmod(ms, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def parse_cores(field: str, text: str) -> int:
    """Milli-cores of a number of cores, such as 4 or 0.5."""
    milli = _milli(text)
    if milli is None or not 0 <= milli <= 10**9:
        raise InvalidValue(field, text, "0 to 1000000 cores, such as 4 or 0.5")
    return milli


def parse_gpus(field: str, text: str) -> tuple[int, int]:
    """Whole devices, or (with 0 devices) the milli-share of one."""
    milli = _milli(text)
    whole = milli is not None and milli % MILLI == 0 and 0 <= milli // MILLI <= GPUS_MAX
    if milli is not None and whole:
        return milli // MILLI, 0
    if milli is None or not 0 < milli < MILLI:
        raise InvalidValue(field, text, f"0 to {GPUS_MAX} whole GPUs, or a share of one like 0.5")
    return 0, milli


def _milli(text: str) -> int | None:
    if not re.fullmatch(r"[0-9]{1,7}(\.[0-9]{1,3})?", text.strip()):
        return None
    try:
        return int(Decimal(text) * MILLI)
    except InvalidOperation:  # pragma: no cover - the pattern admits none
        return None


_G: Final = HardwareGeneration
_MODELS: Final = {
    _G.NVIDIA_VOLTA: "v100",
    _G.NVIDIA_TURING: "t4",
    _G.NVIDIA_AMPERE: "a2 a10 a16 a30 a40 a100 a800",
    _G.NVIDIA_ADA: "l4 l20 l40 l40s",
    _G.NVIDIA_HOPPER: "h20 h100 h200 h800 gh200",
    _G.NVIDIA_BLACKWELL: "b100 b200 b300 gb200 gb300",
    _G.AMD_MI200: "mi210 mi250 mi250x",
    _G.AMD_MI300: "mi300a mi300x mi308x mi325x",
    _G.AMD_MI350: "mi350x mi355x",
    _G.GOOGLE_TPU_V5: "v5e v5p",
    _G.GOOGLE_TPU_V6: "v6e",
    _G.AWS_TRAINIUM2: "trn2",
}
"""Models by which people call a generation."""


def _generation_words() -> dict[str, HardwareGeneration]:
    found = {name: each for each, names in _MODELS.items() for name in names.split()}
    for each in HardwareGeneration:
        found |= {each.value: each, each.value.partition("_")[2] or each.value: each}
    return found


_GENERATIONS: Final = _generation_words()


def parse_generation(name: str, text: str) -> HardwareGeneration:
    """The generation that was meant; else an error that lists what there is.

    >>> [parse_generation("generation", word).value for word in ("Hopper", "H100", "nvidia_ada")]
    ['nvidia_hopper', 'nvidia_hopper', 'nvidia_ada']
    """
    word = text.strip().lower().replace("-", "_")
    found = _GENERATIONS.get(word)
    if found is not None:
        return found
    from difflib import get_close_matches

    near = get_close_matches(word, _GENERATIONS, 1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    words = ", ".join(HardwareGeneration)
    raise InvalidValue(name, text, f"one of {words}, or a model such as H100{hint}")
