"""Tokens of leases: minting and verifying, beside the bare signatures of the same run.

CPU time of one thread, the quieter quartile of the blocks and the mean of all beside it. Every HMAC
token is another one, so no cache can help; Biscuits are a thousand, again and again. The
references are ``hmac.digest`` over as many bytes as a token signs, and Ed25519 as ``cryptography``
does it (OpenSSL): what no verifier that calls them could pass.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from bailiwick.capability import (
    Accepted,
    BiscuitMinter,
    HmacMinter,
    KeyRing,
    Operation,
    Revocations,
    TokenClaims,
    Use,
    narrow,
    verify,
)
from bench.measure import Rate, rate, say
from bench.report import Section, Table

HMAC_BAR, BISCUIT_BAR = 100_000, 5_000
TOKENS, TOKENS_QUICK = 40_000, 8_000
BISCUITS, BISCUITS_QUICK = 10_000, 1_000
REVOKED = 10_000
NODE = "node-1"
SEED = bytes(range(32))


def claims(number: int) -> TokenClaims:
    """One of many leases on the node."""
    return TokenClaims(
        token_id=f"token-{number:08}",
        tenant="team-a",
        lease_id=number,
        generation=1,
        resource=f"lease-{number}",
        operations=(Operation.MEM_READ, Operation.MEM_WRITE),
        audience=NODE,
        expires_ms=300_000,
    )


def checker(ring: KeyRing, use: Use) -> Callable[[str], object]:
    """A service's own check, with a list of revocations that is not empty; it must accept."""
    revoked = Revocations()
    for number in range(REVOKED):
        revoked.renewed(10**9 + number, generation=2, at_ms=0)

    def check(token: str) -> object:
        found = verify(token, use, audience=NODE, keys=ring, revoked=revoked, now_ms=1_000)
        if not isinstance(found, Accepted):
            raise AssertionError(f"a good token was refused: {found}")
        return found

    return check


def hmac_rates(count: int) -> tuple[dict[str, Rate], dict[str, int]]:
    """Chained HMAC: as a verifier on the node does it, with the key of its own audience."""
    say(f"capability: {count:,} HMAC tokens")
    minter, wanted = HmacMinter(SEED), [claims(number) for number in range(count)]
    ring = KeyRing((minter.key.for_audience(NODE),))
    tokens = [minter.mint(each) for each in wanted]
    less = [narrow(token, operations=[Operation.MEM_READ], expires_ms=9_000) for token in tokens]
    check = checker(ring, Use(Operation.MEM_READ))
    body = bytes(len(tokens[0]) * 3 // 4 - 36)
    return {
        "raw": rate(lambda _: hmac.digest(SEED, body, "sha256"), tokens, block=2_000),
        "mint": rate(minter.mint, wanted, block=2_000),
        "verify": rate(check, tokens, block=2_000),
        "narrowed": rate(check, less, block=2_000),
    }, {"plain": len(tokens[0]), "narrowed": len(less[0])}


def biscuit_rates(count: int) -> tuple[dict[str, Rate], dict[str, int]]:
    """Biscuit: signatures, blocks and policy; the public key is all the verifier has."""
    say(f"capability: {count:,} times a Biscuit")
    minter = BiscuitMinter(SEED)
    wanted = [claims(number % 1_000) for number in range(count)]
    known = [minter.mint(each) for each in wanted[:1_000]]
    tokens = [known[number % 1_000] for number in range(count)]
    cut = [narrow(token, operations=[Operation.MEM_READ], key=minter.key) for token in known]
    less = [cut[number % 1_000] for number in range(count)]
    check = checker(KeyRing((minter.key,)), Use(Operation.MEM_READ))
    private, message = Ed25519PrivateKey.from_private_bytes(SEED), bytes(200)
    public, signature = private.public_key(), private.sign(message)
    return {
        "raw": rate(lambda _: public.verify(signature, message), tokens, block=200),
        "mint": rate(minter.mint, wanted, block=200),
        "verify": rate(check, tokens, block=200),
        "narrowed": rate(check, less, block=200),
    }, {"plain": len(known[0]), "narrowed": len(cut[0])}


def run(*, quick: bool = False) -> Section:
    """The section: both minters, each beside its bare signature."""
    section = Section("capability", "Tokens of leases")
    table = Table(
        "calls per second of one core, CPU time",
        ["what", "quieter quartile", "mean of all blocks", "characters"],
    )
    kinds = {
        "HMAC": (hmac_rates(TOKENS_QUICK if quick else TOKENS), "hmac.digest alone"),
        "Biscuit": (biscuit_rates(BISCUITS_QUICK if quick else BISCUITS), "Ed25519 verify alone"),
    }
    for name, ((found, sizes), raw) in kinds.items():
        rows = [
            (raw, found["raw"], ""),
            (f"{name}: mint", found["mint"], f"{sizes['plain']}"),
            (f"{name}: verify", found["verify"], f"{sizes['plain']}"),
            (f"{name}: verify, narrowed once", found["narrowed"], f"{sizes['narrowed']}"),
        ]
        for what, measured, size in rows:
            table.rows.append([what, f"{measured.quiet:,.0f}", f"{measured.mean:,.0f}", size])
        section.data[name.lower()] = {key: each.quiet for key, each in found.items()} | {
            "chars": sizes
        }
    section.tables.append(table)
    section.notes.append(
        f"Each verification looks at {REVOKED:,} revocations, the audience, the time and the "
        "operation. A Biscuit as minted has one Ed25519 signature, which its own code checks, "
        "and a proof that the chain ends there."
    )
    hmac_rate, biscuit_rate = kinds["HMAC"][0][0]["verify"], kinds["Biscuit"][0][0]["verify"]
    section.bar_at_least("HMAC tokens verified", hmac_rate.quiet, HMAC_BAR, unit="/s")
    section.bar_at_least("Biscuits verified, policy", biscuit_rate.quiet, BISCUIT_BAR, unit="/s")
    return section
