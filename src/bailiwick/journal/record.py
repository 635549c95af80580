r"""A record: one decision or action, in the only bytes that can stand for it.

Rules:

- Canonical bytes are RFC 8785 JSON. Keys are ASCII and numbers are integers, so sorted keys and
  no white space are all that canonical form asks of Python's own encoder.
- ``hash`` is SHA-256 of the canonical bytes, which hold ``prev_hash``: changing a record changes
  every hash after it.
- A record is at most 65,535 bytes (the length an entry bundle can say).
- :func:`parse_record` accepts exactly what :attr:`Record.canonical` can produce: a duplicate or
  unknown key, a float, white space, another order or escape, or data after the end are refused.
- A record names a tenant if its kind asks for one, and a project only inside a tenant.

>>> record = Record(
...     seq=0, at_ms=5000, kind=RecordKind.LEASE_RENEWED, tenant="acme", project=None,
...     actor="scheduler", correlation_id="req-7", prev_hash=GENESIS_HASH,
...     body={"lease_id": 4, "generation": 2, "expires_ms": 9000},
... )
>>> record.canonical[:53]
b'{"actor":"scheduler","at_ms":5000,"body":{"expires_ms'
>>> parse_record(record.canonical) == record
True
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType

from bailiwick.journal.fields import AMOUNT, DIGEST, NAME, PRINCIPAL, BodyValue, RecordRefused
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.shapes import RECORD_BYTES_MAX, Link
from bailiwick.journal.words import KindScope, RecordFault
from bailiwick.vocab.strict_json import JsonFault, JsonRefused, StrictJson

GENESIS_HASH = "0" * 64
"""What the first record names as the hash before it."""

_KEYS = frozenset(
    ("actor", "at_ms", "body", "correlation_id", "kind", "prev_hash", "project", "seq", "tenant")
)


def _plain(value: object) -> dict[str, object]:
    if isinstance(value, MappingProxyType):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} has no place in a record")


def _make_encoder() -> Callable[[object], str]:
    """JSON as RFC 8785 writes it, given ASCII keys and no floats."""
    plain = json.JSONEncoder(
        sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_plain
    )
    make: Callable[..., Callable[[object, int], Iterable[str]]] | None
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return plain.encode
    # ``encode`` makes this compiled encoder anew for each value, which takes as long as a body.
    write = make(None, _plain, json.encoder.encode_basestring, None, ":", ",", True, False, False)
    return lambda value: "".join(write(value, 0))


encode_json = _make_encoder()


@dataclass(frozen=True, slots=True)
class Context:
    """Who caused a record, in the course of what, and whose it is. Good for many records."""

    actor: str
    correlation_id: str
    tenant: str | None = None
    project: str | None = None

    def __post_init__(self) -> None:
        PRINCIPAL.check("actor", self.actor)
        PRINCIPAL.check("correlation_id", self.correlation_id)
        if self.tenant is not None:
            NAME.check("tenant", self.tenant)
        if self.project is not None:
            NAME.check("project", self.project)
            _require("tenant", self.tenant, "the tenant of the project")

    def within(
        self, tenant: str | None, project: str | None, *, correlation_id: str | None = None
    ) -> Context:
        """The same actor, for a record of another owner or course; all was checked already."""
        context = object.__new__(Context)
        put = object.__setattr__
        put(context, "actor", self.actor)
        put(context, "correlation_id", correlation_id or self.correlation_id)
        put(context, "tenant", tenant)
        put(context, "project", project)
        return context

    def check_scope(self, kind: RecordKind) -> None:
        """Refuse a kind that must name a tenant or project which is not named."""
        scope = kind.scope
        if scope is not KindScope.FLEET:
            _require("tenant", self.tenant, f"a tenant with {kind}")
        if scope is KindScope.PROJECT:
            _require("project", self.project, f"a project with {kind}")


def _require(field: str, value: str | None, expected: str) -> None:
    if value is None:
        raise RecordRefused(RecordFault.MISSING_FIELD, field, value=None, expected=expected)


def sets_back(kind: RecordKind, body: Mapping[str, object], *, last_ms: int, at_ms: int) -> bool:
    """Whether this is the one record by which time may go back, and goes from there to here."""
    is_repair = kind is RecordKind.CLOCK_REPAIRED
    return is_repair and (body.get("before_ms"), body.get("after_ms")) == (last_ms, at_ms)


@dataclass(frozen=True, slots=True)
class Record:
    """One sealed fact. Values are checked when it is made, and cannot change afterwards."""

    seq: int
    at_ms: int
    kind: RecordKind
    tenant: str | None
    project: str | None
    actor: str
    correlation_id: str
    body: Mapping[str, BodyValue]
    prev_hash: str

    def __post_init__(self) -> None:
        AMOUNT.check("seq", self.seq)
        AMOUNT.check("at_ms", self.at_ms)
        DIGEST.check("prev_hash", self.prev_hash)
        object.__setattr__(self, "kind", check_record_kind(self.kind))
        self.context.check_scope(self.kind)
        self.kind.check(self.body)
        object.__setattr__(self, "body", _frozen(self.body))
        if len(self.canonical) > RECORD_BYTES_MAX:
            raise _refused(RecordFault.TOO_LONG, len(self.canonical), "at most 65535 bytes")

    @property
    def context(self) -> Context:
        """Who caused the record, in the course of what, and whose it is."""
        return Context(self.actor, self.correlation_id, self.tenant, self.project)

    @property
    def moves_shares(self) -> bool:
        """Whether it moves a share of a device to another owner, which the meter must know."""
        return self.kind.moves_shares

    @property
    def link(self) -> Link:
        """What places the record in its chain."""
        return self.seq, self.at_ms, self.prev_hash

    @property
    def canonical(self) -> bytes:
        """The RFC 8785 bytes, which are what is hashed, stored and exported."""
        return canonical_bytes(self.kind, self, link=self.link, body=self.body)

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical bytes, in hexadecimal."""
        return sha256(self.canonical).hexdigest()


def canonical_bytes(
    kind: RecordKind, context: Context | Record, *, link: Link, body: object
) -> bytes:
    """The bytes of a record whose values are right. The body may hold anything JSON can say."""
    seq, at_ms, prev_hash = link
    project = "null" if context.project is None else f'"{context.project}"'
    tenant = "null" if context.tenant is None else f'"{context.tenant}"'
    # None of the values written bare here can need an escape; the body's may.
    return (
        f'{{"actor":"{context.actor}","at_ms":{at_ms},"body":{encode_json(body)},'
        f'"correlation_id":"{context.correlation_id}","kind":"{kind}","prev_hash":"{prev_hash}",'
        f'"project":{project},"seq":{seq},"tenant":{tenant}}}'
    ).encode()


def check_record_kind(value: object) -> RecordKind:
    """The kind spelled so; an unknown word is refused."""
    try:
        return RecordKind(value)  # type: ignore[arg-type]  # that is the question
    except ValueError:
        raise RecordRefused(
            RecordFault.UNKNOWN_KIND, "kind", value=value, expected="a known kind of record"
        ) from None


def parse_record(raw: bytes) -> Record:
    """The record that these canonical bytes are, or a refusal that names the fault."""
    values = _parse_json(raw)
    record = _from_values(values)
    if record.canonical != raw:
        raise _refused(RecordFault.NOT_CANONICAL, raw, "RFC 8785 bytes")
    return record


def _from_values(values: Mapping[str, object]) -> Record:
    for name in values:
        if name not in _KEYS:
            raise _refused(RecordFault.UNKNOWN_FIELD, name, "one of " + ", ".join(sorted(_KEYS)))
    for name in sorted(_KEYS):
        if name not in values:
            raise _refused(RecordFault.MISSING_FIELD, name, "every field of a record")
    # The constructor checks every one of them.
    return Record(**values)  # type: ignore[arg-type]


def _parse_json(raw: bytes) -> Mapping[str, object]:
    try:
        value = _READER.read(raw)
    except JsonRefused as refused:
        fault, expected = _FAULTS[refused.fault]
        raise _refused(fault, refused.value, expected) from None
    if not isinstance(value, dict):
        raise _refused(RecordFault.NOT_JSON, raw, "one JSON object")
    return value


_READER = StrictJson(bytes_max=RECORD_BYTES_MAX, is_bare=True)
_FAULTS = {
    JsonFault.TOO_LONG: (RecordFault.TOO_LONG, f"at most {RECORD_BYTES_MAX} bytes"),
    JsonFault.NOT_UTF8: (RecordFault.NOT_UTF8, "UTF-8"),
    JsonFault.NOT_JSON: (RecordFault.NOT_JSON, "one JSON object"),
    JsonFault.TOO_DEEP: (RecordFault.NOT_JSON, "one JSON object"),
    JsonFault.TRAILING_DATA: (RecordFault.TRAILING_DATA, "nothing after the record"),
    JsonFault.DUPLICATE_KEY: (RecordFault.DUPLICATE_KEY, "each key once"),
    JsonFault.NOT_AN_INTEGER: (RecordFault.NOT_AN_INTEGER, "an integer"),
}


def _frozen(body: Mapping[str, object]) -> Mapping[str, object]:
    kept: dict[str, object] = {}
    for name, value in body.items():
        if isinstance(value, list):
            kept[name] = tuple(value)
        elif isinstance(value, Mapping):
            kept[name] = MappingProxyType(dict(value))
        else:
            kept[name] = value
    return MappingProxyType(kept)


def _refused(fault: RecordFault, value: object, expected: str) -> RecordRefused:
    return RecordRefused(fault, "record", value=value, expected=expected)
