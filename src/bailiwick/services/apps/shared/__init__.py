"""Use cases of shared runtimes: the tenant's, a project's, and what each may read."""
