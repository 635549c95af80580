"""Slurm as an app of one project: what its members are told, what they run, who looks after them.

It lives by the public contract alone, as the operator of a stranger would.
"""
