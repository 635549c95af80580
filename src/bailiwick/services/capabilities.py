"""Tokens for leases as a server makes them, and what those who check them are told.

Rules:

- The kernel decides and seals; a token is minted afterwards, from just what was sealed. It is in
  the answer that asked for it and nowhere else: not in the journal, not in a log, not in memory.
- One key signs for all nodes but those that enrolled a key of their own. Those are believed under
  that alone, so whoever steals the server's key forges nothing for them.
- Keys and revocations are everybody's to read: they name nodes and numbers of leases, no tenant.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

from bailiwick.capability.claims import TokenClaims
from bailiwick.capability.keys import BiscuitKey, KeyRing
from bailiwick.kernel import State
from bailiwick.kernel.trust.book import CAPABILITY_KEY
from bailiwick.services.revoking import RevocationBook
from bailiwick.vocab.errors import InvalidValue, Unavailable

if TYPE_CHECKING:
    from bailiwick.capability.biscuit_tokens import BiscuitMinter

SEED_BYTES = 32
CATCH_UP_S = 2.0


def new_seed() -> bytes:
    """A new key, as a file keeps it."""
    return secrets.token_bytes(SEED_BYTES).hex().encode() + b"\n"


def read_seed(text: bytes) -> bytes:
    """The key that a file keeps, as hexadecimal; nothing of it is in an error.

    >>> len(read_seed(b"00" * 32))
    32
    """
    try:
        seed = bytes.fromhex(text.decode("ascii").strip())
    except ValueError:
        seed = b""
    if len(seed) != SEED_BYTES:
        raise InvalidValue("key file", "(not shown)", f"{2 * SEED_BYTES} hexadecimal digits")
    return seed


class Capabilities:
    """Mints tokens under one key, and tells what counts no more; from any thread."""

    def __init__(self, seed: bytes, book: RevocationBook) -> None:
        self.book = book
        self.catch_up: Callable[[float], bool] = lambda wait_s: True
        """Whether the book knows all that is durable now, within the time."""
        self._seed = seed
        self._made: BiscuitMinter | None = None

    def mint(self, claims: TokenClaims) -> str:
        """The token that says what was sealed."""
        return self._minter().mint(claims)

    def keys(self, state: State) -> KeyRing:
        """Under which keys tokens are believed now; quick, for it is asked in the kernel's turn."""
        nodes: dict[str, tuple[BiscuitKey, ...]] = {}
        for node in state.ledger.entries:
            enrolled = state.trust.enrolled(str(node)).values()
            own = [each.keys[CAPABILITY_KEY] for each in enrolled if CAPABILITY_KEY in each.keys]
            if own:
                nodes[str(node)] = tuple(BiscuitKey(bytes.fromhex(key)) for key in own)
        return KeyRing((self._minter().key,), nodes)

    def check_complete(self) -> None:
        """Refuse to tell of revocations before all that are durable are known."""
        if not self.catch_up(CATCH_UP_S):
            raise Unavailable("revocations", "the newest records are still being read")

    def _minter(self) -> BiscuitMinter:
        if self._made is None:  # the library is loaded when the first token is asked for
            from bailiwick.capability.biscuit_tokens import BiscuitMinter

            self._made = BiscuitMinter(self._seed)
        return self._made
