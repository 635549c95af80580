"""The commands of the Slurm app.

python -m bailiwick.operators.slurm pack FOLDER [--cpus 4] [--mem 8GiB] [--gpus nvidia_hopper:4]
    writes what is published: FOLDER/manifest.json, and FOLDER/sha256/DIGEST

python -m bailiwick.operators.slurm run --keys FOLDER [--app slurm] [--alone]
    looks after the clusters of a project; where it asks is in the environment
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bailiwick.operators.kit import TERM_S, OperatorSettings, run_operator
from bailiwick.operators.kit.packing import digest_of
from bailiwick.operators.slurm.keys import ClusterKeys
from bailiwick.operators.slurm.manifest import APP, SlurmOffer, manifest_of, pack_member
from bailiwick.operators.slurm.reconciling import SlurmOperator


def main(words: list[str] | None = None) -> None:
    """Do what is asked."""
    parser = argparse.ArgumentParser(
        prog="python -m bailiwick.operators.slurm",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    packing = verbs.add_parser("pack", help="write what is published")
    packing.add_argument("folder", type=Path)
    packing.add_argument("--version", default="1.0.0")
    packing.add_argument("--cpus", type=int, default=4, help="of a worker")
    packing.add_argument("--mem", default="8GiB", help="of a worker")
    packing.add_argument("--gpus", default="", help="of a worker: GENERATION:COUNT")
    packing.add_argument("--controller-cpus", type=float, default=1)
    packing.add_argument("--controller-mem", default="2GiB")
    running = verbs.add_parser("run", help="look after the clusters of a project")
    running.add_argument("--keys", type=Path, required=True, help="folder of the clusters' keys")
    running.add_argument("--app", default=APP, help="as the catalog calls it")
    running.add_argument("--alone", action="store_true", help="there is no other replica")
    told = parser.parse_args(words)
    if told.verb == "pack":
        offer = SlurmOffer(
            version=told.version,
            cpus=told.cpus,
            mem=told.mem,
            gpus=told.gpus,
            controller_cpus=told.controller_cpus,
            controller_mem=told.controller_mem,
        )
        pack(told.folder, offer)
        return
    settings = OperatorSettings.from_environ(told.app, term_s=0 if told.alone else TERM_S)
    run_operator(SlurmOperator(ClusterKeys(told.keys), pack_member()), settings)


def pack(folder: Path, offer: SlurmOffer) -> None:
    """Write what is published."""
    program = pack_member()
    blobs = folder / "sha256"
    blobs.mkdir(parents=True, exist_ok=True)
    (blobs / digest_of(program).partition(":")[2]).write_bytes(program)
    (folder / "manifest.json").write_text(manifest_of(offer))
    print(digest_of(program))


if __name__ == "__main__":
    main()
