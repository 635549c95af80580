"""Parsers that several kinds of evidence share: they take a node's bytes, strictly and bounded."""
