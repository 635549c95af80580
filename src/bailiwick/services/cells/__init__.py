"""Cells: what people ask of a home (:mod:`.at_home`), and a home of its cell (:mod:`.in_cell`)."""
