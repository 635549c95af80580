"""Cells: planes of their own under one admission. See :mod:`.rules`."""
