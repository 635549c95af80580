"""What members run: a program that starts Slurm's daemons in order and keeps them alive.

It is packed into one file and has nothing but the standard library.
"""
