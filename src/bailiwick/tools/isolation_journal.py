"""Our own fleet's placements, from its journal as it grows.

Rules:

- Every record is verified before it counts: it continues the chain that was read so far.
- The state is rebuilt by the same fold as everywhere. What is judged is what the journal says runs,
  whatever the scheduler that wrote it believed about its policy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from bailiwick.isolation.adapters.cluster import ClusterReading
from bailiwick.journal.anchor import GENESIS
from bailiwick.journal.findings import Verified
from bailiwick.journal.record import parse_record
from bailiwick.journal.verify import verify_lines
from bailiwick.kernel import Kernel
from bailiwick.kernel.isolation.placements import placements, site_of
from bailiwick.store import open_store
from bailiwick.store.journal.files import describe
from bailiwick.tools.errors import NotAsSealed
from bailiwick.tools.record_source import database_of, follow
from bailiwick.vocab.errors import NotFound

_BATCH: Final = 2_000


def watch_journal(store: str) -> Callable[[], ClusterReading]:
    """What reads on in a control plane's database, each time it is called."""
    where = database_of(store)
    if where is None:
        raise NotFound("a control plane's database in", store)
    source, kernel, anchor = open_store(where, read_only=True), Kernel(), GENESIS

    def read() -> ClusterReading:
        nonlocal anchor
        while lines := source.read(anchor.size, _BATCH):  # bounded: by what was written so far
            verdict = verify_lines(lines, anchor)
            if not isinstance(verdict, Verified):
                raise NotAsSealed(store, describe(verdict))
            for line in lines:
                follow(kernel, parse_record(line[:-1]))
            anchor = verdict.anchor
        state = kernel.state
        sites = {site.node: site for site in map(site_of, state.ledger.entries.values())}
        return ClusterReading(sites, tuple(placements(state)))

    return read
