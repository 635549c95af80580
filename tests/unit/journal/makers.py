"""Logs and records for tests: small by hand, or arbitrary, made from the table of bodies."""

from __future__ import annotations

import string
from operator import add
from typing import Any

from hypothesis import strategies as st

from bailiwick.journal import (
    Chain,
    Checkpoint,
    Context,
    Record,
    RecordKind,
    SeedSigner,
)
from bailiwick.journal.fields import (
    DIGEST,
    INTEGER_MAX,
    LABEL,
    NAME,
    PRINCIPAL,
    Amounts,
    FieldType,
    Integer,
    ListOf,
    Spelled,
    Text,
    Words,
)
from bailiwick.journal.kinds.health import FINDING
from bailiwick.journal.kinds.money import UNIT_PRICE
from bailiwick.journal.words import KindScope
from bailiwick.vocab.health import HealthCheck, HealthLevel

ORIGIN = "log.example/fleet"
SIGNER = SeedSigner(ORIGIN, bytes(range(32)))
LEASE_BODY = {"lease_id": 4, "generation": 2, "expires_ms": 9_000}

ALNUM = string.ascii_letters + string.digits
names = st.builds(add, st.sampled_from(ALNUM), st.text(ALNUM + "._-", max_size=62))
labels = st.builds("{}={}".format, names, names)
principals = st.builds(add, st.sampled_from(ALNUM), st.text(ALNUM + "._:@/+-", max_size=127))
hashes = st.binary(min_size=32, max_size=32).map(bytes.hex)
amounts = st.integers(0, INTEGER_MAX)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
_SPELLED = {
    NAME: names,
    PRINCIPAL: principals,
    DIGEST: hashes,
    LABEL: labels,
    UNIT_PRICE: st.builds("{}/{}={}".format, names, names, st.integers(0, 10**15 - 1)),
    FINDING: st.builds(
        "{}/{}/{}/{}/{}/{}".format,
        st.sampled_from(HealthCheck),
        st.sampled_from(HealthLevel),
        st.just("-") | st.integers(0, 63),
        *[st.integers(0, 10**15 - 1)] * 3,
    ),
}


def values_of(kind: FieldType) -> st.SearchStrategy[Any]:
    """Values that a field of this type accepts."""
    match kind:
        case Integer(signed=signed):
            return st.integers(-INTEGER_MAX if signed else 0, INTEGER_MAX)
        case Words(enums=enums):
            return st.sampled_from([word for enum in enums for word in enum])
        case Spelled():
            return _SPELLED[kind]
        case Text():
            return texts
        case ListOf(item=item):
            return st.lists(values_of(item), max_size=4)
        case Amounts(keys=keys):
            return st.dictionaries(st.sampled_from(list(keys)), amounts, max_size=4)
        case _:
            raise AssertionError(f"no strategy for {kind}")


def bodies_of(kind: RecordKind) -> st.SearchStrategy[dict[str, Any]]:
    """Bodies of one kind, with any of their optional fields."""
    spec = kind.body
    return st.fixed_dictionaries(
        {name: values_of(value) for name, value in spec.required.items()},
        optional={name: values_of(value) for name, value in spec.optional.items()},
    )


@st.composite
def contexts_of(draw: st.DrawFn, kind: RecordKind) -> Context:
    """Contexts that name what the kind asks for."""
    tenant = draw(names if kind.scope is not KindScope.FLEET else st.none() | names)
    projects = names if kind.scope is KindScope.PROJECT else st.none() | names
    project = draw(projects) if tenant is not None else None
    return Context(draw(principals), draw(principals), tenant, project)


@st.composite
def records(draw: st.DrawFn) -> Record:
    """Any record at all."""
    kind = draw(st.sampled_from(RecordKind))
    who = draw(contexts_of(kind))
    return Record(
        seq=draw(amounts),
        at_ms=draw(amounts),
        kind=kind,
        tenant=who.tenant,
        project=who.project,
        actor=who.actor,
        correlation_id=who.correlation_id,
        body=draw(bodies_of(kind)),
        prev_hash=draw(hashes),
    )


def make_record(**changes: Any) -> Record:
    """A small record, with some values changed."""
    values: dict[str, Any] = {
        "seq": 0,
        "at_ms": 5_000,
        "kind": RecordKind.LEASE_RENEWED,
        "tenant": "acme",
        "project": None,
        "actor": "scheduler",
        "correlation_id": "req-7",
        "body": LEASE_BODY,
        "prev_hash": "0" * 64,
    }
    return Record(**(values | changes))


def seal_one(chain: Chain, number: int, *, salt: int = 0) -> bytes:
    """Seal a record that differs from log to log (by salt) and from number to number."""
    who = Context("scheduler", f"req-{number}", tenant=("acme", "globex")[number % 2])
    body = {"lease_id": number + salt, "generation": 2, "expires_ms": 9_000_000 + number}
    return chain.seal(RecordKind.LEASE_RENEWED, who, at_ms=1_000 + number, body=body).line


def make_log(count: int, *, salt: int = 0) -> tuple[Chain, list[bytes]]:
    """A chain of that many records, and its lines."""
    chain = Chain()
    lines = [seal_one(chain, number, salt=salt) for number in range(count)]
    return chain, lines


def checkpoint_of(chain: Chain) -> Checkpoint:
    """What the log would sign of itself now."""
    return Checkpoint(ORIGIN, chain.size, chain.root())
