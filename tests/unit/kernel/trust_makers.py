"""Policies, enrolments, verdicts and tokens of every sort, for hypothesis."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from bailiwick.attestation.policy import TrustPolicy
from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.journal.words import AttestationWord
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.trust import commands as cmd
from bailiwick.kernel.trust import events as ev
from bailiwick.kernel.trust.events import paired
from bailiwick.vocab.trust import EvidenceKind, MintDenial, Operation, UntrustedReason
from tests.unit.journal.makers import amounts, hashes, names

kinds = st.sampled_from(list(EvidenceKind))
owners = st.builds(Owner, names, st.none() | names)
ids = st.integers(1, INTEGER_MAX)
words = st.sampled_from([kind.value for kind in EvidenceKind])
requirements = st.recursive(
    words,
    lambda inner: st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
        lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"
    ),
    max_leaves=6,
)
patterns = st.text("abn-1*", min_size=1, max_size=9).filter(lambda text: text[0] != "-")
sections = st.dictionaries(
    st.text("abc_", min_size=1, max_size=5),
    st.integers(-9, 9) | st.booleans() | st.text('ab"\\é\n', max_size=9),
    max_size=2,
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Any policy's document, with some white space."""
    pools = {}
    for name in draw(st.lists(names, max_size=3, unique=True)):
        pool: dict[str, Any] = {
            "nodes": draw(st.lists(patterns, min_size=1, max_size=3)),
            "require": draw(requirements),
            "max_age_s": draw(st.integers(10, 10**6)),
        }
        for kind in draw(st.lists(words, max_size=2, unique=True)):
            pool[kind] = draw(sections)
        pools[name] = pool
    return json.dumps({"pools": pools}, indent=draw(st.sampled_from([None, 2])))


hexes = st.binary(min_size=1, max_size=900).map(bytes.hex)
keys = st.dictionaries(names, hexes, min_size=1, max_size=4)
claims = st.dictionaries(
    st.text("abc_", min_size=1, max_size=20).filter(lambda t: t[0] != "_"), names, max_size=4
)
operations = st.lists(st.sampled_from(list(Operation)), unique=True).map(tuple)


@st.composite
def verdicts(draw: st.DrawFn) -> tuple[Any, ...]:
    """What a verifier says, with what belongs to it."""
    word = draw(st.sampled_from(list(AttestationWord)))
    until, proven = draw(st.none() | amounts), {}
    reason = None
    if word is AttestationWord.UNTRUSTED:
        reason = draw(st.sampled_from(list(UntrustedReason)))
    if word is AttestationWord.TRUSTED:
        until, proven = draw(amounts), draw(claims)
    return draw(names), draw(kinds), word, draw(hashes), reason, until, proven


def _sealed(said: tuple[Any, ...], is_lapse: bool) -> ev.AttestationVerdict:
    *most, proven = said
    return ev.AttestationVerdict(*most, claims=paired(proven), is_lapse=is_lapse)


EVENTS: dict[type[Any], st.SearchStrategy[Any]] = {
    ev.PolicyChanged: st.builds(
        ev.PolicyChanged, documents().map(TrustPolicy.read), st.none() | hashes
    ),
    ev.NodeEnrolled: st.builds(ev.NodeEnrolled, names, kinds, hashes, keys.map(paired)),
    ev.NodeEnrolmentWithdrawn: st.builds(ev.NodeEnrolmentWithdrawn, names, kinds),
    ev.AttestationVerdict: st.builds(_sealed, verdicts(), st.booleans()),
    ev.TokenIssued: st.builds(
        ev.TokenIssued, owners, names, ids, ids, names, operations, amounts, st.booleans()
    ),
    ev.TokenRefused: st.builds(
        ev.TokenRefused,
        st.just(Owner()) | owners,
        st.sampled_from(list(MintDenial)),
        names,
        ids,
        st.none() | ids,
        st.none() | names,
        operations,
        st.booleans(),
    ),
}
COMMANDS: dict[type[Any], st.SearchStrategy[Any]] = {
    cmd.SetTrustPolicy: st.builds(cmd.SetTrustPolicy, documents()),
    cmd.EnrolNode: st.builds(cmd.EnrolNode, names, kinds, keys, hashes),
    cmd.WithdrawEnrolment: st.builds(cmd.WithdrawEnrolment, names, kinds),
    cmd.RecordVerdict: verdicts().map(lambda said: cmd.RecordVerdict(*said)),
    cmd.GrantToken: st.builds(
        cmd.GrantToken,
        ids,
        names,
        names,
        operations,
        st.none() | names,
        st.integers(1, 2**52),
        st.none() | st.integers(1, 2**31),
        st.booleans(),
    ),
}
