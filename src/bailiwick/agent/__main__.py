"""``python -m bailiwick.agent --json``: this machine's raw readings, to be judged elsewhere.

Needs the source tree, psutil and, for GPUs, nvidia-ml-py; no installed Bailiwick.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from bailiwick.agent.machine.inventory import read_machine
from bailiwick.agent.machine.raw import dump
from bailiwick.vocab.errors import BailiwickError


def main() -> int:
    """Print the dump; 0, or 1 with one line on stderr."""
    parser = argparse.ArgumentParser(prog="python -m bailiwick.agent", description=main.__doc__)
    parser.add_argument("--json", action="store_true", required=True, help="the only format")
    parser.add_argument(
        "--block-path", type=Path, default=Path("/"), help="whose free space counts"
    )
    options = parser.parse_args()
    try:
        print(json.dumps(dump(read_machine(options.block_path)), indent=2))
    except BailiwickError as error:
        print(f"bailiwick.agent: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
