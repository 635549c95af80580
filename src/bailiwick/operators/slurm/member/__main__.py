"""``python -m bailiwick.operators.slurm.member``."""

from .main import main

if __name__ == "__main__":
    main()
