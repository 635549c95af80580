"""Clients of one server under one token: one a thread, made anew when the token was renewed."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bailiwick.client import Client
from bailiwick.operators.kit.secrets import SecretFile
from bailiwick.wire.actions.tokens import SELF_READ, TOKEN_ISSUE
from bailiwick.wire.people import NewToken

_RENEW_AT: Final = 1 / 3
"""A token is renewed when less than this part of its time is left."""


@dataclass(frozen=True, slots=True)
class ServerPlace:
    """Where to ask, and whom to believe that he is it."""

    server: str
    ca_file: str | None = None


class Connections:
    """Gives each thread its client."""

    def __init__(self, place: ServerPlace, token: SecretFile) -> None:
        self._place, self._token = place, token
        self._mine = threading.local()
        self._all = list[Client]()
        self._lock = threading.Lock()

    def client(self) -> Client:
        """The client of this thread, with the token as it is now."""
        token = self._token.read()
        known: tuple[str, Client] | None = getattr(self._mine, "known", None)
        if known is not None and known[0] == token:
            return known[1]
        if known is not None:
            self.drop(known[1])
        made = self.make(token)
        self._mine.known = token, made
        return made

    def make(self, token: str | None = None) -> Client:
        """A client that is nobody else's."""
        told = self._token.read() if token is None else token
        client = Client(self._place.server, told, ca_file=self._place.ca_file)
        with self._lock:
            self._all.append(client)
        return client

    def drop(self, client: Client) -> None:
        """One that is not used any more."""
        client.close()
        with self._lock:
            if client in self._all:
                self._all.remove(client)

    def close(self) -> None:
        """Hang up everywhere."""
        with self._lock:
            found, self._all = self._all, []
        for each in found:
            each.close()

    def renew_token(self, ttl_s: int) -> bool:
        """Have a new token in the file, if the present one ends soon; whether it was so.

        This takes the permission ``iam.token.issue``. The new one carries what the old one did.
        """
        client = self.client()
        me = client.send(SELF_READ)
        left_s = me.expires_ms / 1_000 - time.time()
        if left_s > ttl_s * _RENEW_AT:
            return False
        body = NewToken(principal=me.principal, kind=me.kind, ttl_s=ttl_s, keys=me.keys)
        self._token.replace(client.send(TOKEN_ISSUE, body=body).token)
        return True


def token_at(path: str | Path) -> SecretFile:
    """The token that is in a file."""
    return SecretFile(Path(path))
