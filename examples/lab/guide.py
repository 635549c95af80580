"""What the lab prints: who to log in as, and what to try."""

from __future__ import annotations

from typing import Final

from examples.lab.campus import TENANT, USUAL, Campus, can_share
from examples.lab.clusters import DEPARTMENT

_WHO: Final = {
    "ada": f"ada administers the project {TENANT}/vision",
    "ben": "ben works in it",
    "cleo": f"cleo administers the project {TENANT}/audio",
    "dan": "dan works in it",
    "eve": f"eve administers the project {TENANT}/genes",
    "grace": f"grace administers the tenant {TENANT}",
}
OF_A_PROJECT: Final = f"""\
Then try, as ada, the cluster c1 of her project:
  bailiwick context --tenant {TENANT} --project vision
  bailiwick app instance show c1
  bailiwick app call c1 submit -- sbatch --wrap=hostname
  bailiwick app call c1 read -- squeue
  bailiwick app instance scale c1 worker=3
"""
OF_THE_DEPARTMENT: Final = f"""\
And, as dan, the cluster {DEPARTMENT} that the projects vision and audio share:
  bailiwick context --tenant {TENANT} --project audio
  bailiwick shared show {DEPARTMENT}
  bailiwick shared call {DEPARTMENT} submit -- sbatch --wrap=hostname
  bailiwick shared call {DEPARTMENT} read -- sacct
  bailiwick shared call --queue vision/main {DEPARTMENT} submit -- sbatch --wrap=hostname
In the queue of vision he is refused. As ada, let him in, and let dan try again:
  bailiwick shared policy {DEPARTMENT} guests --queue main --for-project audio --until +1d
As cleo, give the cluster a worker of your project, look at it, and take it back:
  bailiwick context --tenant {TENANT} --project audio
  bailiwick shared contribute {DEPARTMENT} audio-0
  bailiwick shared withdraw {DEPARTMENT} audio-0
"""
ROOT_IS_NEEDED: Final = """\
A cluster that projects share is not here: its members become people's users, which takes root.
"""


def guide(campus: Campus) -> str:
    """Who to log in as, and what to try."""
    address = campus.api.address
    login = "bailiwick login" if address == USUAL else f"bailiwick login --server {address}"
    logins = "".join(f"  {login} {campus.codes[who]}    # {told}\n" for who, told in _WHO.items())
    return (
        f"Bailiwick listens on {address} as lab\n"
        f"In another terminal, each of these codes works once:\n{logins}"
        f"{OF_A_PROJECT}{OF_THE_DEPARTMENT if can_share() else ROOT_IS_NEEDED}"
        f"What each process prints is in {campus.folder}/*.log. "
        "Ctrl-C ends all of it and removes that folder.\n"
    )
