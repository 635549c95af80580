"""So that the folder can be run as it is: ``python -m bailiwick.operators.ray.member``."""

from .main import main

if __name__ == "__main__":
    main()
