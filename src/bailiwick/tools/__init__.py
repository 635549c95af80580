"""Use cases that need no server: read, verify, meter, bill and replay a journal, wherever it lies.

Rules:

- Nothing here prints, asks or ends a process. How far something is goes to a ``Reporter``; what is
  not as it was sealed is raised.
"""
