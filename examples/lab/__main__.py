"""A lab to play in: ``make lab``, or ``python -m examples.lab [--port 7077] [--folder DIR]``.

On one machine, with nothing left behind: a server, four nodes, a cluster of a project, one that two
projects share, and people to be. It needs Linux, the programs of Slurm (``make test-tools``), and
root or user namespaces; without root the shared cluster is left out.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import NoReturn

from examples.lab.campus import Campus, let_people_in, start_nodes, start_server
from examples.lab.clusters import make_clusters, offer_apps
from examples.lab.guide import guide
from examples.lab.room import clean_folder, default_folder, run_in

NEEDED = ("setpriv", "unshare", "slurmctld", "slurmd", "slurmdbd", "munged", "mariadbd")


def make_campus(folder: Path, *, port: int) -> Campus:
    """All of it."""
    campus = Campus(folder)
    start_server(campus, port=port)
    let_people_in(campus)
    start_nodes(campus)
    offer_apps(campus)
    make_clusters(campus)
    campus.tell("ready")
    return campus


def stay(campus: Campus) -> NoReturn:
    """Until the lab is ended, or its server is not there any more. Nodes may be lost: try it."""
    while campus.processes["server"].poll() is None:  # until then
        time.sleep(0.5)
    raise SystemExit(f"the server has ended:\n{campus.log_of('server')[-2_000:]}")


def main(words: list[str]) -> int:
    """Run a lab until told to end."""
    if words[:1] == ["inside"]:
        campus = make_campus(Path(words[1]), port=int(words[2]))
        print(guide(campus), end="", flush=True)
        stay(campus)
    parser = argparse.ArgumentParser(prog="python -m examples.lab", description=__doc__)
    parser.add_argument("--port", type=int, default=7077, help="of the server; 0 is any")
    parser.add_argument("--folder", type=Path, default=default_folder(), help="a short path")
    told = parser.parse_args(words)
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    missing = [
        each for each in NEEDED if not shutil.which(each) and not shutil.which(each, path=path)
    ]
    if missing:
        sys.exit(f"not installed: {', '.join(missing)}; `make test-tools` installs them")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with clean_folder(told.folder) as folder:
            return run_in(folder, port=told.port)
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
