"""Settings under which tenants may ask for anything: for tests about everything else.

What is denied, and to whom, by ceilings and by the default quota is tested in
``tests/unit/kernel/test_ceilings.py`` and ``tests/properties/test_safety_ceilings.py``.
"""

from __future__ import annotations

from typing import Any, Final

from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.kernel import Settings
from bailiwick.scheduler.rights.ceilings import OPEN

WIDE: Final[dict[str, Any]] = {
    "priority_max": OPEN.priority_max,
    "lease_classes": OPEN.lease_classes,
    "term_max_ms": OPEN.term_max_ms,
    "waiting_max": OPEN.waiting_max,
    "tenant_cpu_milli": INTEGER_MAX,
    "tenant_mem_bytes": INTEGER_MAX,
    "tenant_block_bytes": INTEGER_MAX,
    "tenant_gpu_count": INTEGER_MAX,
    "tenant_lease_count": INTEGER_MAX,
}
"""The highest of every ceiling, and no limit."""


def wide_settings(**how: Any) -> Settings:
    """These settings, with nothing that bounds what a tenant may ask for."""
    return Settings(**{**WIDE, **how})
