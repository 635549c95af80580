"""The campus's own rule about where work may land."""

from __future__ import annotations

from bailiwick import CapacityLedger, NodeSet, PlacementRequest
from bailiwick.demo.fleet import CLINICAL_NODES


class ClinicalOnly:
    """A node filter: machines of the clinic serve medical imaging, and nobody else."""

    def __init__(self, ledger: CapacityLedger) -> None:
        self._ledger, self._open = ledger, ledger.node_set()

    def registered(self, node: str) -> None:
        """A node joined; those of the clinic stay out of everybody else's set."""
        if node not in CLINICAL_NODES:
            self._open.add(self._ledger.handle_of(node))

    def nodes_for(self, request: PlacementRequest) -> NodeSet | None:
        """All nodes for imaging, the campus's own for others."""
        return None if request.tenant == "imaging" else self._open
