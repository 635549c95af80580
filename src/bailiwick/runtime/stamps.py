"""Who wrote a batch of the journal: a stamp that only this ledger's servers can make.

The chain of hashes is public: whoever can write to the database can append a record that fits. So
each batch bears a stamp, an HMAC under a key that is not in the database.

Rules:

- A stamp covers the epoch, how many records there are then, and the hash of the last one. The hash
  names all that is before, so the newest stamp that holds proves the whole journal up to it.
- A journal without any stamp is from before there were stamps and is read as it is. Once it has
  been stamped, a record beyond the newest stamp that holds is damage: it is never taken up.
- From which record on there must be stamps is remembered outside of the database as well: taking
  every stamp away does not make an old journal of it.
- Rolling back to an earlier batch is not seen here; signed checkpoints show it.

>>> stamps = Stamps(b"k" * 32)
>>> mark = stamps.make(3, [b"one\\n", b"two\\n"], first=0)
>>> stamps.holds(StoredStamp(2, 3, mark), sha256(b"two").hexdigest())
True
>>> stamps.holds(StoredStamp(2, 3, mark), sha256(b"other").hexdigest())
False
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from bailiwick.journal.anchor import Anchor
from bailiwick.ports import JournalStore, StoredStamp
from bailiwick.vocab.errors import Damaged

_DOMAIN = b"bailiwick journal stamp v1"
LOOKED_MAX = 1_000
"""Stamps that are looked at, newest first, to say where damage begins."""

_ALL = 2**53
HINT = (
    "nothing of it was taken up; `bailiwick repair stamps --cut` takes it out into a file. If you "
    "replaced authority.pem, or an older version wrote here, `bailiwick repair stamps --accept`"
)


@dataclass(slots=True)
class Stamps:
    """Makes and checks the stamps of one ledger."""

    key: bytes = field(repr=False)
    since: int | None = None
    """The first record that must be under a stamp; ``None`` while there never was one."""
    remember: Callable[[int], None] = lambda since: None
    """Keeps ``since`` for the next start, outside of the database."""

    def make(self, epoch: int, lines: Sequence[bytes], *, first: int) -> bytes | None:
        """The stamp of a batch that begins with record ``first``; none for an empty one."""
        if not lines:
            return None
        self._note(first)
        last = sha256(lines[-1][:-1]).hexdigest()
        return self._mac(epoch, first + len(lines), last)

    def holds(self, stamp: StoredStamp, last_hash: str) -> bool:
        """Whether one of our servers made this stamp for a journal that ends in that record."""
        made = self._mac(stamp.epoch, stamp.size, last_hash)
        return hmac.compare_digest(made, stamp.mark)

    def check_end(self, store: JournalStore, anchor: Anchor) -> None:
        """Refuse records, verified up to this anchor, that no leader of ours wrote."""
        found = store.last_stamp(anchor.size)
        if found is None and self._may_lack(anchor.size):
            return
        if found is not None and found.size == anchor.size and self.holds(found, anchor.hash):
            self._note(found.size)
            return
        seq = self.first_unproven(store, anchor.size)
        raise Damaged("journal", f"record {seq}", "no leader of this ledger wrote it", hint=HINT)

    def first_unproven(self, store: JournalStore, size: int) -> int:
        """The first of these many records that no stamp of ours proves; ``size`` if there is none.

        Only the stamps are looked at: the chain between them is for the caller to verify.
        """
        end = size
        for _ in range(LOOKED_MAX):
            found = store.last_stamp(end)
            if found is None:
                break
            last = store.read(found.size - 1, 1)
            if last and self.holds(found, sha256(last[0][:-1]).hexdigest()):
                return found.size
            end = found.size - 1
        return size if self.since is None and end == size else min(self.since or 0, size)

    def batch_end(self, store: JournalStore, first: int, *, size: int) -> int | None:
        """Where the last whole batch in these records ends; ``None`` if there are no stamps yet.

        ``first`` means that the batch which begins there goes on beyond them.
        """
        found = store.last_stamp(size)
        if found is not None and found.size > first:
            return found.size
        is_old = found is None and self.since is None and store.last_stamp(_ALL) is None
        return None if is_old else first

    def _may_lack(self, size: int) -> bool:
        return self.since is None or size <= self.since

    def _note(self, size: int) -> None:
        if self.since is None or size < self.since:
            self.since = size
            self.remember(size)

    def _mac(self, epoch: int, size: int, last_hash: str) -> bytes:
        told = b"%s %d %d %s" % (_DOMAIN, epoch, size, last_hash.encode("ascii"))
        return hmac.digest(self.key, told, "sha256")
