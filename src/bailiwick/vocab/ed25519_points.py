"""Which Ed25519 public keys prove nothing, because their order is small.

OpenSSL accepts such keys, and with one of them a single signature can verify for every message. So
whoever reads a key asks here, when it is enrolled and again when it is used.

>>> is_small_order(bytes(32)), is_small_order(b"\\x09" + bytes(31))
(True, False)
"""

from __future__ import annotations

KEY_BYTES = 32
PRIME = 2**255 - 19
_ORDER_8_Y = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
# The y of every point whose order divides eight: the neutral element, the point of order two,
# the two of order four, and the four of order eight.
_SMALL_ORDER_Y = frozenset((1, PRIME - 1, 0, _ORDER_8_Y, PRIME - _ORDER_8_Y))


def y_of(key: bytes) -> int:
    """The y coordinate as it is written, sign bit aside; it may be no canonical one."""
    return int.from_bytes(key, "little") & (2**255 - 1)


def is_small_order(key: bytes) -> bool:
    """Whether the key's order divides eight, however it is spelled."""
    return y_of(key) % PRIME in _SMALL_ORDER_Y
