"""Published DICE chains, judged by the verifier's own checks.

A case may leave out the challenge and the instant; then nothing is said about freshness or
validity, which no gate would accept, and the rest is judged all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

from bailiwick.attestation.cases.reading import CaseFields, CaseOutcome, told, unhex
from bailiwick.attestation.dice.chain import check_chain
from bailiwick.attestation.dice.verifier import DiceRules, answer, appraise, claims_of, read_format
from bailiwick.attestation.policy_section import Section
from bailiwick.attestation.verdict import Trusted, Verdict, judged

ASKS_NOTHING = DiceRules()
"""What a case's policy means where it says nothing."""


def judge(case: CaseFields) -> CaseOutcome:
    """The verdict on one chain."""
    known = case.policy(*(each.name for each in fields(DiceRules)))
    rules = DiceRules.read(Section("policy", known), left_out=ASKS_NOTHING)
    challenge = case.get("challenge")
    if challenge is not None:
        given = Section("challenge", challenge)
        nonce = unhex("challenge.nonce", given.text("nonce"))
        signature = unhex("challenge.signature", given.text("signature"))
    root, certificates = case.file("root_public_key"), case.files("chain")
    at_ms = None if case.get("at") is None else case.at_ms()

    @judged
    def verdict() -> Verdict:
        form = read_format(case.text("format").encode())
        chain = check_chain(certificates, root, form=form, at_ms=at_ms)
        if challenge is not None:
            answer(chain, nonce, signature=signature)
        appraise(chain, rules)
        return Trusted(claims_of(chain), 0)

    return told(verdict())


KINDS: dict[str, Callable[[CaseFields], CaseOutcome]] = {"dice-chain": judge}
