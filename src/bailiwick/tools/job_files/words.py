"""What is asked for, from the words that people use to the contract's fields.

Rules:

- Options and job files have the same words and are read by the same table; an option beats the
  file.
- A number and its unit are read once, here. What a word means in the contract is this table and
  nothing else.

>>> body_of({"gpus": "2", "mem": "64GiB", "class": "spot"})["gpu_count"]
2
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from difflib import get_close_matches
from math import ceil
from time import time
from typing import Any, Final

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.job_arrays import parse_array
from bailiwick.vocab.units import (
    parse_bytes,
    parse_cores,
    parse_generation,
    parse_gpus,
    parse_span,
)
from bailiwick.vocab.words import Exclusivity, LeaseClass, Priority

Flat = dict[str, Any]
"""Fields of the contract; a dot stands before a field of a field."""

RETRIES_MAX: Final = 100
_CORES, _MEM_GIB = 1, 2
_GPU_CORES, _GPU_MEM_GIB = 1, 16
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")


def _text(word: str, value: object) -> str:
    """A scalar as it would be typed."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InvalidValue(word, value, "one value")
    return repr(float(value)) if isinstance(value, float) else str(value)


def _gpus(word: str, value: object) -> Flat:
    count, milli = parse_gpus(word, _text(word, value).removesuffix(".0"))
    return {"gpu_count": count, "gpu_milli": milli}


def _sized(field: str) -> Callable[[str, object], Flat]:
    return lambda word, value: {field: parse_bytes(word, _text(word, value))}


def _words(field: str, kind: type[Any]) -> Callable[[str, object], Flat]:
    def read(word: str, value: object) -> Flat:
        text = _text(word, value)
        words = [each.value for each in kind]
        if text in words:
            return {field: kind(text)}
        near = get_close_matches(text, words, 1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise InvalidValue(word, text, "one of " + ", ".join(words) + hint)

    return read


def _plain(field: str) -> Callable[[str, object], Flat]:
    return lambda word, value: {field: _text(word, value)}


def _flag(field: str) -> Callable[[str, object], Flat]:
    def read(word: str, value: object) -> Flat:
        if not isinstance(value, bool):
            raise InvalidValue(word, value, "true or false")
        return {field: value}

    return read


def _gang(word: str, value: object) -> Flat:
    text = _text(word, value)
    if not re.fullmatch("[0-9]{1,4}", text) or not 1 <= int(text) <= 4096:
        raise InvalidValue(word, value, "1 to 4096 members")
    return {"gang_size": int(text)}


def _array(word: str, value: object) -> Flat:
    return {"array": str(parse_array(_text(word, value)))}


def _retries(word: str, value: object) -> Flat:
    text = _text(word, value)
    if not re.fullmatch("[0-9]{1,3}", text) or int(text) > RETRIES_MAX:
        raise InvalidValue(word, value, f"0 to {RETRIES_MAX} further tries")
    return {"retries": int(text)}


def _deadline(word: str, value: object) -> Flat:
    if isinstance(value, datetime):
        at = value
    else:
        text = _text(word, value)
        if re.fullmatch(r"[0-9]+(ms|d|h|m|s).*", text):
            return {"deadline_ms": int(time() * 1000) + parse_span(word, text)}
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            expected = "a length of time from now, such as 6h, or 2026-12-31T18:00:00Z"
            raise InvalidValue(word, value, expected) from None
    at = at.astimezone() if at.tzinfo is None else at
    return {"deadline_ms": int(at.astimezone(UTC).timestamp() * 1000)}


def _texts(field: str) -> Callable[[str, object], Flat]:
    def read(word: str, value: object) -> Flat:
        if isinstance(value, Mapping):
            value = [f"{key}={_text(word, each)}" for key, each in value.items()]
        values = value if isinstance(value, list | tuple) else [value]
        return {field: [_text(word, each) for each in values]}

    return read


def _command(word: str, value: object) -> Flat:
    if isinstance(value, str):
        try:
            value = shlex.split(value)
        except ValueError as error:
            raise InvalidValue(word, value, f"words that a shell could split ({error})") from None
    if not isinstance(value, list | tuple) or not value:
        raise InvalidValue(word, value, "a program and its arguments")
    return {"command": [_text(word, each) for each in value]}


def _env(word: str, value: object) -> Flat:
    if isinstance(value, list | tuple):
        pairs = [_text(word, each).partition("=") for each in value]
        value = {name: rest for name, _, rest in pairs}
    if not isinstance(value, Mapping):
        raise InvalidValue(word, value, "names with values")
    for name in value:
        if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
            raise InvalidValue(word, name, "names of letters, digits and _")
    return {"env": {str(name): _text(word, each) for name, each in value.items()}}


WORDS: Final[dict[str, Callable[[str, object], Flat]]] = {
    "tenant": _plain("tenant"),
    "project": _plain("project"),
    "name": _plain("name"),
    "command": _command,
    "env": _env,
    "cwd": _plain("cwd"),
    "image": _plain("image"),
    "on": _plain("on"),
    "after": _texts("after"),
    "array": _array,
    "retries": _retries,
    "retry_on": _texts("retry_on"),
    "checkpoint": _plain("checkpoint"),
    "gpus": _gpus,
    "generation": lambda word, value: {
        "gpu_generation": parse_generation(word, _text(word, value))
    },
    "models": _texts("gpu_models"),
    "vram": _sized("gpu_vram"),
    "exclusivity": _words("exclusivity", Exclusivity),
    "cpus": lambda word, value: {"resources.cpu_milli": parse_cores(word, _text(word, value))},
    "mem": _sized("resources.mem_bytes"),
    "block": _sized("resources.block_bytes"),
    "priority": _words("priority", Priority),
    "class": _words("lease_class", LeaseClass),
    "tag": _plain("tag"),
    "labels": _texts("labels"),
    "job_labels": _texts("job_labels"),
    "scheduler_type": _plain("scheduler_type"),
    "gang": _gang,
    "ttl": lambda word, value: {"ttl_ms": parse_span(word, _text(word, value))},
    "deadline": _deadline,
    "wait": _flag("wait"),
    "preemptible_on_budget": _flag("preemptible_on_budget"),
}
"""Every word of a job file, and how it becomes fields of the contract."""

WORD_OF: Final[dict[str, str]] = {
    "gpu_count": "gpus",
    "gpu_milli": "gpus",
    "gpu_generation": "generation",
    "gpu_models": "models",
    "gpu_vram": "vram",
    "lease_class": "class",
    "gang_size": "gang",
    "ttl_ms": "ttl",
    "deadline_ms": "deadline",
    "cpu_milli": "cpus",
    "mem_bytes": "mem",
    "block_bytes": "block",
}
"""The word for a field of the contract, where it has another one."""

_LATER: Final = ("after", "array", "retries", "retry_on", "checkpoint")
JOB_FIELDS: Final = frozenset({"name", "command", "env", "cwd", "image", "on", *_LATER})
"""What a job has and a lease has not."""


def body_of(wish: Mapping[str, object], *, is_job: bool = True) -> dict[str, Any]:
    """The contract's fields for these words; the first that does not fit is refused."""
    flat: Flat = {}
    for word, value in wish.items():
        if is_job or word not in JOB_FIELDS:
            flat |= WORDS[word](word, value)
    return nested(flat)


def defaults_of(wish: Mapping[str, Any]) -> dict[str, str]:
    """Cores and memory for who says nothing of them."""
    devices = 0
    with suppress(ValueError, OverflowError, TypeError):  # told where it is read
        devices = ceil(float(wish.get("gpus") or 0))
    if devices <= 0:
        return {"cpus": f"{_CORES}", "mem": f"{_MEM_GIB}GiB"}
    return {"cpus": f"{_GPU_CORES * devices}", "mem": f"{_GPU_MEM_GIB * devices}GiB"}


def nested(flat: Flat) -> dict[str, Any]:
    """Dotted names as fields of fields."""
    body: dict[str, Any] = {}
    for name, value in flat.items():
        outer, dot, inner = name.partition(".")
        if dot:
            body.setdefault(outer, {})[inner] = value
        else:
            body[name] = value
    return body
