"""The demo: a campus of labs shares one GPU fleet for three simulated days.

It uses the library as any program would (only the public names of ``import bailiwick``) and decides
nothing itself but when simulated people submit, save, finish and pull plugs.
"""
