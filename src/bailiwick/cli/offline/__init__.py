"""Verbs that work on files and databases, without a server, and what they put on a screen."""
