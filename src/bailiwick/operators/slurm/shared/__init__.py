"""One Slurm for a whole tenant: what Slurm shall be for a shared runtime, and how it gets there.

All of it decides and none of it does: :mod:`.mapping` is what the platform says, :mod:`.shape` what
Slurm shall be, :mod:`.settings` and :mod:`.submit_policy` the files, :mod:`.books` the accounting's
changes, :mod:`.plans` how a part ends, :mod:`.attribution` whose each job was. :mod:`.operating`
has it done, and :mod:`.answering` answers people who come by the platform.
"""
