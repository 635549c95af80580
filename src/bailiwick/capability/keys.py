"""Which key counts for which audience.

Rules:

- The broker's keys count for every node that has no key of its own.
- A node that mints for itself is believed under its own keys *only*. So whoever steals the broker's
  key can forge nothing for that node, and whoever steals a node's key nothing for another.
- An HMAC key verifies and mints alike. A verifier is therefore given the key of its own audience,
  derived from the broker's root, and never the root.
- A key is found by its id, which is computed from it. The id that a token states is a hint: with
  a wrong one it is refused, and with a right one it must still have the right signature.
- Only public keys have a text form.

>>> node = BiscuitKey(b"\\x09" + bytes(31))
>>> ring = KeyRing(shared=(HmacRoot(bytes(32)),), nodes={"node-1": (node,)})
>>> [type(key).__name__ for key in ring.keys_of("node-1") + ring.keys_of("node-2")]
['BiscuitKey', 'HmacKey']
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from types import MappingProxyType
from typing import Self, TypeAlias

from bailiwick.vocab.ed25519_points import KEY_BYTES, PRIME, is_small_order, y_of
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_name

KEYS_MAX = 16
"""Keys of one audience: the current one, and those that are going out of use."""

NODES_MAX = 100_000
_ID_BYTES = 4
_DERIVE = b"bailiwick-capability-audience-v1\0"
_ALGORITHM = "ed25519/"


@dataclass(frozen=True, slots=True)
class BiscuitKey:
    """The public key of a Biscuit minter; weak ones cannot be made."""

    public: bytes
    id: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.public, bytes) or len(self.public) != KEY_BYTES:
            raise InvalidValue("public_key", self.public, f"{KEY_BYTES} bytes")
        if is_small_order(self.public) or y_of(self.public) >= PRIME:
            told = "a canonical key that is not of small order"
            raise InvalidValue("public_key", self.public.hex(), told)
        digest = sha256(b"bailiwick-biscuit-key\0" + self.public).digest()
        object.__setattr__(self, "id", int.from_bytes(digest[:_ID_BYTES], "big"))

    @classmethod
    def read(cls, text: object) -> Self:
        """The key of ``ed25519/`` and hexadecimal."""
        if not isinstance(text, str) or len(text) != len(_ALGORITHM) + 2 * KEY_BYTES:
            raise InvalidValue("key", text, f"{_ALGORITHM} and {2 * KEY_BYTES} hexadecimal digits")
        try:
            raw = bytes.fromhex(text.removeprefix(_ALGORITHM))
        except ValueError:
            raw = b""
        if f"{_ALGORITHM}{raw.hex()}" != text:
            raise InvalidValue("key", text, f"{_ALGORITHM} and lower-case hexadecimal")
        return cls(raw)

    def __str__(self) -> str:
        return f"{_ALGORITHM}{self.public.hex()}"

    def for_audience(self, audience: str) -> BiscuitKey:
        """Itself: the audience is in the token."""
        return self


@dataclass(frozen=True, slots=True)
class HmacKey:
    """The secret of one audience: it verifies tokens for that node, and could mint them."""

    audience: str
    secret: bytes = field(repr=False)
    id: bytes = field(init=False, compare=False)

    def __post_init__(self) -> None:
        check_name("audience", self.audience)
        _check_secret(self.secret)
        digest = sha256(b"bailiwick-hmac-key\0" + self.secret).digest()
        object.__setattr__(self, "id", digest[:_ID_BYTES])

    def for_audience(self, audience: str) -> HmacKey | None:
        """Itself for its own audience, none for another."""
        return self if audience == self.audience else None


@dataclass(frozen=True, slots=True)
class HmacRoot:
    """The broker's secret, from which every audience's key is derived."""

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        _check_secret(self.secret)

    def for_audience(self, audience: str) -> HmacKey:
        """That audience's key."""
        return _derived(self.secret, audience)


RingKey: TypeAlias = BiscuitKey | HmacKey | HmacRoot
TokenKey: TypeAlias = BiscuitKey | HmacKey


@dataclass(frozen=True, slots=True)
class KeyRing:
    """The broker's keys, and those of the nodes that mint for themselves."""

    shared: tuple[RingKey, ...] = ()
    nodes: Mapping[str, tuple[RingKey, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shared", _checked("shared", self.shared))
        if not isinstance(self.nodes, Mapping) or len(self.nodes) > NODES_MAX:
            raise InvalidValue("nodes", type(self.nodes).__name__, f"at most {NODES_MAX} nodes")
        nodes = {
            check_name("nodes", name): _checked(f"nodes.{name}", keys)
            for name, keys in self.nodes.items()
        }
        object.__setattr__(self, "nodes", MappingProxyType(nodes))

    def keys_of(self, audience: str) -> tuple[TokenKey, ...]:
        """The keys under which tokens for this audience are believed."""
        found = (key.for_audience(audience) for key in self.nodes.get(audience, self.shared))
        return tuple(key for key in found if key is not None)

    def find(self, audience: str, key_id: bytes | int) -> TokenKey | None:
        """The one with that id; an HMAC key has bytes as its id, a Biscuit key a number."""
        for key in self.nodes.get(audience, self.shared):
            found = key.for_audience(audience)
            if found is not None and found.id == key_id:
                return found
        return None

    def told(self) -> dict[str, object]:
        """What may be published: the public keys, as texts."""
        return {
            "shared": _public(self.shared),
            "nodes": {name: _public(keys) for name, keys in sorted(self.nodes.items())},
        }

    @classmethod
    def read(cls, body: object) -> Self:
        """What :meth:`told` told; anything else is refused.

        A node with an empty list stays in: its keys are secret, and the broker's do not count.
        """
        if not isinstance(body, Mapping) or set(body) != {"shared", "nodes"}:
            raise InvalidValue("keys", body, "a map of shared and nodes")
        nodes = body["nodes"]
        if not isinstance(nodes, Mapping) or len(nodes) > NODES_MAX:
            raise InvalidValue("keys.nodes", type(nodes).__name__, f"at most {NODES_MAX} nodes")
        return cls(_texts(body["shared"]), {name: _texts(keys) for name, keys in nodes.items()})


@lru_cache(maxsize=4096)
def _derived(secret: bytes, audience: str) -> HmacKey:
    return HmacKey(audience, hmac.digest(secret, _DERIVE + audience.encode(), "sha256"))


def _check_secret(secret: object) -> None:
    if not isinstance(secret, bytes) or not KEY_BYTES <= len(secret) <= 2 * KEY_BYTES:
        told = "of another kind" if not isinstance(secret, bytes) else f"{len(secret)} bytes"
        raise InvalidValue("secret", told, f"{KEY_BYTES} to {2 * KEY_BYTES} bytes")


def _checked(where: str, keys: Iterable[RingKey]) -> tuple[RingKey, ...]:
    found = tuple(keys)
    if len(found) > KEYS_MAX or not all(isinstance(key, RingKey) for key in found):
        raise InvalidValue(where, f"{len(found)} values", f"at most {KEYS_MAX} keys")
    return found


def _public(keys: Iterable[RingKey]) -> list[str]:
    return [str(key) for key in keys if isinstance(key, BiscuitKey)]


def _texts(values: object) -> tuple[BiscuitKey, ...]:
    if not isinstance(values, list | tuple) or len(values) > KEYS_MAX:
        raise InvalidValue("keys", type(values).__name__, f"a list of at most {KEYS_MAX} keys")
    return tuple(BiscuitKey.read(each) for each in values)
