"""Keeps what a guard knows as fresh as the server has it.

Rules:

- Keys and revocations are asked for every few seconds, on a thread of its own. The first answer is
  waited for, so that a wrong address or login is noticed when the service starts.
- A server that does not answer changes nothing at once: what is known is good for a minute after it
  was last heard (``STALE_MS_MAX``). Past that the guard lets nobody in.
- Only news is asked for, with an overlap that is longer than the clocks of two replicas may differ:
  one of them dates a revocation, the other may be the one that is asked. If the server says that it
  lost what was before a point, and that leaves a gap, the answer does not count.
- The server's clock dates the revocations, this machine's clock how old the answer is. An answer
  that shows the two more than a minute apart does not count: here a token might outlive the note
  that it was revoked.
"""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable

from bailiwick.capability import KeyRing, Revocations
from bailiwick.capability.revocation import KEEP_MS, SKEW_MS_MAX
from bailiwick.client import Client
from bailiwick.client.errors import ClientError
from bailiwick.guard.guard import Known, wall_ms
from bailiwick.vocab.errors import BailiwickError, Unavailable
from bailiwick.wire.actions.trust import CAPABILITY_KEYS, CAPABILITY_REVOCATIONS

STALE_MS_MAX = 60_000
REFRESH_S = 5.0
OVERLAP_MS = SKEW_MS_MAX + 10_000

_log = logging.getLogger("bailiwick.guard")


class Follower:
    """Follows one server; ``known`` is what a :class:`Guard` asks for. ``close`` ends it."""

    def __init__(
        self,
        client: Client,
        *,
        now_ms: Callable[[], int] = wall_ms,
        refresh_s: float = REFRESH_S,
    ) -> None:
        self._client, self._now_ms, self._refresh_s = client, now_ms, refresh_s
        self._heard_ms = 0  # by the server's clock: all that was revoked before is known
        self._revoked = Revocations()
        self._known = self._refresh()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="bailiwick-guard", daemon=True)
        self._thread.start()

    def known(self) -> Known:
        """What was last heard; it says itself until when it may be relied on."""
        return self._known

    def close(self) -> None:
        """Ask no more."""
        self._stop.set()
        self._thread.join()
        self._client.close()

    def _refresh(self) -> Known:
        """Ask the server now; an error leaves what was known as it is."""
        asked_ms = self._now_ms()
        keys = self._client.send(CAPABILITY_KEYS)
        since_ms = max(0, self._heard_ms - OVERLAP_MS)
        news = self._client.send(CAPABILITY_REVOCATIONS, query={"since": since_ms})
        if news.complete_from_ms > max(since_ms, news.now_ms - KEEP_MS):
            raise Unavailable("the list of revoked tokens", "the server lost a part of it")
        if not asked_ms - SKEW_MS_MAX <= news.now_ms <= self._now_ms() + SKEW_MS_MAX:
            apart_s = abs(news.now_ms - asked_ms) // 1000
            told = f"this machine's clock and the server's are {apart_s} s apart; set them right"
            raise Unavailable("the list of revoked tokens", told)
        revoked = self._revoked.copy()
        revoked.merge(Revocations.read(news.revoked.model_dump(mode="json")))
        revoked.drop_old(now_ms=news.now_ms)
        ring = KeyRing.read(keys.model_dump(mode="json"))
        self._revoked, self._heard_ms = revoked, news.now_ms
        self._known = Known(ring, revoked, asked_ms + STALE_MS_MAX)
        return self._known

    def _follow(self) -> None:
        while not self._stop.wait(self._refresh_s * random.uniform(0.5, 1.0)):  # until closed
            try:
                self._refresh()
            except (ClientError, BailiwickError) as error:
                _log.warning("what is known of lease tokens was not refreshed: %s", error)
