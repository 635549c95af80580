"""Clusters whose machines are nodes: who of them takes part, and who is missed."""
