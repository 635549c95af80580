"""The queue of a cluster, for people: what they ask it, whose each job was, and what jobs used.

:mod:`.programs` is what people may ask, :mod:`.front` how they type it, :mod:`.answering` has it
run. :mod:`.marks` is whose a job was, :mod:`.use` what jobs used by Slurm's own books, and
:mod:`.telling` has that told.
"""
