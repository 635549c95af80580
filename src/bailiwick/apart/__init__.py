"""Where an isolation policy meets requests: as a filter for ledgers, and as a look ahead."""

from bailiwick.apart.filter import Isolation, IsolationFilter

__all__ = ["Isolation", "IsolationFilter"]
