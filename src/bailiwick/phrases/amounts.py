"""How amounts read: lengths of time, thousandths, bytes, money, and units of a resource."""

from __future__ import annotations

from bailiwick.vocab.words import Dimension, ResourceKind

_GIB, _TIB = 2**30, 2**40

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_SPANS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"))


def span(ms: int) -> str:
    """A length of time in its two largest units.

    >>> span(5_400_000), span(1_500), span(250), span(0)
    ('1h 30m', '1.5s', '250ms', '0s')
    """
    sign, rest = ("-", -ms) if ms < 0 else ("", ms)
    if rest < 1_000:
        return f"{sign}{rest}ms" if rest else "0s"
    if rest < 60_000:
        whole, part = divmod(rest, 1_000)
        return f"{sign}{whole}.{part // 100}s" if part >= 100 else f"{sign}{whole}s"
    parts: list[tuple[int, str]] = []
    for size, unit in _SPANS:
        count, rest = divmod(rest, size)
        if count or parts:
            parts.append((count, unit))
    return sign + " ".join(f"{count}{unit}" for count, unit in parts[:2] if count)


def milli(amount: int) -> str:
    """Thousandths as whole ones, with decimals only where there are any.

    >>> milli(4_000), milli(1_500), milli(-250)
    ('4', '1.5', '-0.25')
    """
    sign, rest = ("-", -amount) if amount < 0 else ("", amount)
    whole, part = divmod(rest, 1_000)
    return f"{sign}{whole:,}" + (f".{part:03}".rstrip("0") if part else "")


def money(micros: int) -> str:
    """Millionths of a currency unit as units with two decimals, rounded half up.

    >>> money(2_500_000), money(-1_234_567_890), money(4_999)
    ('2.50', '-1,234.57', '0.00')
    """
    cents = (abs(micros) + 5_000) // 10_000
    sign = "-" if micros < 0 and cents else ""
    return f"{sign}{cents // 100:,}.{cents % 100:02}"


def size(count: int) -> str:
    """Bytes in the largest unit that leaves at least one.

    >>> size(25_275_125_760), size(512), size(0)
    ('23.5 GiB', '512 B', '0 B')
    """
    power = min(max(0, count.bit_length() - 1) // 10, len(_UNITS) - 1)
    tenths = count * 10 // 1024**power
    whole, part = divmod(tenths, 10)
    return f"{whole:,}.{part} {_UNITS[power]}" if part else f"{whole:,} {_UNITS[power]}"


def amount(unit: str, value: int) -> str:
    """An amount of a resource or a quota's dimension, with its unit.

    >>> amount("mem_bytes", 2**36), amount("gpu_milli", 1500), amount("cpu_milli", 4000)
    ('64 GiB of memory', '1.5 GPUs', '4 cores')
    """
    match unit:
        case "cpu_milli":
            return f"{milli(value)} core{'' if value == 1000 else 's'}"
        case "mem_bytes":
            return f"{size(value)} of memory"
        case "block_bytes":
            return f"{size(value)} of block storage"
        case "gpu_milli":
            return f"{milli(value)} GPU{'' if value == 1000 else 's'}"
        case "gpu_vram":
            return f"{size(value)} of GPU memory"
        case "gpu_count":
            return f"{value:,} GPU{'' if value == 1 else 's'}"
        case "lease_count":
            return f"{value:,} lease{'' if value == 1 else 's'}"
        case _:
            return f"{value:,} {unit}".rstrip()


def plural(count: int, noun: str) -> str:
    """A number and its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def gpus(milli: int) -> str:
    """GPU shares as GPUs."""
    return plural(milli // 1000, "GPU") if milli % 1000 == 0 else f"{milli / 1000:g} GPUs"


def credits(micros: int) -> str:
    """Money of a fleet that nobody sells."""
    return f"{micros / 10**6:,.2f} credits"


def short_amount(unit: str, value: int) -> str:
    """An amount beside the name of its unit: bytes made readable, all else as it is counted.

    >>> short_amount("mem_bytes", 2**36), short_amount("gpu_milli", 1500)
    ('64 GiB', '1,500')
    """
    if unit in (ResourceKind.MEM_BYTES, ResourceKind.BLOCK_BYTES, Dimension.GPU_VRAM):
        return f"{value / _TIB:.1f} TiB" if value >= _TIB else f"{value / _GIB:,.0f} GiB"
    if unit.endswith("_micros"):
        return credits(value)
    return f"{value:,}"
