"""Policies on which Alloy, the search and the kernel must agree: `python -m models.agree`.

Prints one row for each policy and scheduler, and ends with 1 if they do not agree on one.
"""

from __future__ import annotations

import sys

from bailiwick.isolation.model.shape import FleetShape
from bailiwick.tools.isolation.agree import AgreeCase, agree_table

CASES = {
    "dedicated": AgreeCase(
        "vault: dedicated host for tenant bank", ("forgets_host", "frees_early"), depth=3
    ),
    "claim": AgreeCase(
        "vault: dedicated host for tenant bank",
        ("claim_uncounted",),
        FleetShape(hosts=1, seats=3),
        fault_depth=3,
    ),
    "cache": AgreeCase(
        "never share cache between tenant a and tenant b",
        ("forgets_cache",),
        FleetShape(hosts=1, caches=2),
    ),
    "label": AgreeCase("never share host among values of label team", ("forgets_host",)),
    "nodes": AgreeCase(
        "nodes: tenant bank only on nodes with attested.tpm2.firmware=v1", ("relabel_unnoticed",)
    ),
    "spread": AgreeCase("few: at most 1 of tenant bank per host", ("gang_uncounted",)),
    "linger": AgreeCase(
        "kept: keep host for tenant bank until scrubbed", ("residue_forgotten",), depth=3
    ),
    "window": AgreeCase(
        "never share host between tenant a and tenant b between 22:00 and 06:00",
        ("forgets_host",),
    ),
    "exception": AgreeCase(
        "never share host between tenant a and tenant b\n\nallow host between tenant a and "
        'tenant b owner o until 2030-01-01 because "x"',
        ("expiry_ignored",),
    ),
}


def main() -> int:
    """The whole table."""
    agreed = True
    print(f"{'policy':<12}{'fault':<20}{'alloy':<8}{'search':<8}kernel")
    for name, case in CASES.items():
        for row in agree_table(case):
            told = f"{row.alloy or '-':<8}{row.search:<8}{row.kernel}"
            print(f"{name:<12}{row.fault or '-':<20}{told}", flush=True)
            agreed = agreed and row.agrees
    return 0 if agreed else 1


if __name__ == "__main__":
    sys.exit(main())
