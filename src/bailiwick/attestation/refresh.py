"""When a node is asked to prove itself again: before its proof runs out, and not all at once.

Rules:

- The point lies between half and three quarters of a proof's life, spread evenly by a hash of the
  node's name and of when the proof was given: the same on every replica, another after each proof.
  So a fleet that began at the same moment is soon spread out, and stays so.
- A quarter of the life is left for the answer: whoever answers within that never lapses.

>>> [refresh_at(node, since_ms=0, until_ms=300_000) // 1000 for node in ("n1", "n2", "n3")]
[157, 221, 217]
"""

from __future__ import annotations

from hashlib import blake2b


def refresh_at(node: str, *, since_ms: int, until_ms: int) -> int:
    """When a node with a proof of that time is due again; one that is over is due at once."""
    life = max(0, until_ms - since_ms)
    digest = blake2b(f"{node} {since_ms} {until_ms}".encode(), digest_size=8).digest()
    return since_ms + life // 2 + int.from_bytes(digest, "big") % (life // 4 + 1)
