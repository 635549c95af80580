"""Jobs: commands that run under leases, submitted, held back, listed, read and cancelled."""

from bailiwick.services.jobs.jobs import JobDraft, Jobs, Submitted

__all__ = ["JobDraft", "Jobs", "Submitted"]
