"""Who gets what: capacity, quota, admission, placement, preemption, leases, fairness, federation.

Decisions here are functions of data and an explicit ``now_ms``. Nothing reads a clock, draws a
random number, or touches a file.
"""
