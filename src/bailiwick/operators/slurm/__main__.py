"""The commands of the Slurm app.

python -m bailiwick.operators.slurm pack FOLDER [--cpus 4] [--mem 8GiB] [--gpus nvidia_hopper:4]
    writes what is published: FOLDER/manifest.json, and FOLDER/sha256/DIGEST

python -m bailiwick.operators.slurm run --keys FOLDER [--app slurm] [--alone]
    looks after the clusters of a project; where it asks is in the environment
    ``--packed FOLDER`` for members of another version than this operator's
    with BAILIWICK_RUNTIME it looks after that shared runtime, by its operator's token

python -m bailiwick.operators.slurm backup NAME FILE
python -m bailiwick.operators.slurm restore NAME FILE
    have the accounting of a cluster as a file, and back

python -m bailiwick.operators.slurm jobs NAME --keys FOLDER [--hours 24]
    says whose each job was; 3 if some are nobody's

python -m bailiwick.operators.slurm triage NAME
    says what is wrong with a cluster, the cause first; docs/runbooks/slurm.md says what to do
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from pathlib import Path
from typing import Final, assert_never

from bailiwick.operators.kit import TERM_S, OperatorSettings, run_operator
from bailiwick.operators.kit.packing import digest_of
from bailiwick.operators.slurm.backups import load_backup, save_backup
from bailiwick.operators.slurm.cluster_calls import ClusterCalls
from bailiwick.operators.slurm.faults import find_faults
from bailiwick.operators.slurm.keys import ClusterKeys
from bailiwick.operators.slurm.manifest import APP, SlurmOffer, manifest_of, pack_member
from bailiwick.operators.slurm.questions import MemberPrograms
from bailiwick.operators.slurm.queue.answering import QueueAnswers
from bailiwick.operators.slurm.queue.marks import CallersJob, NobodysJob, ProbeJob
from bailiwick.operators.slurm.queue.telling import UseTeller, read_marked
from bailiwick.operators.slurm.queue.use import SETTLE_S, TellingPlan
from bailiwick.operators.slurm.reconciling import SlurmOperator
from bailiwick.operators.slurm.shared.answering import SharedQueueAnswers
from bailiwick.operators.slurm.shared.attribution import JobAttributed, JobUnattributed
from bailiwick.operators.slurm.shared.findings import ENDED, attributions
from bailiwick.operators.slurm.shared.mapping import PROBE_ACCOUNT
from bailiwick.operators.slurm.shared.operating import SharedSlurmOperator
from bailiwick.operators.slurm.wanted import CONTROLLER

READ_S: Final = 60.0


def _parser() -> argparse.ArgumentParser:
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
    packing.add_argument("--shared", action="store_true", help="one for a whole tenant")
    packing.add_argument("--upgrades-from", action="append", default=[], metavar="VERSION")
    running = verbs.add_parser("run", help="look after the clusters of a project")
    running.add_argument("--keys", type=Path, required=True, help="folder of the clusters' keys")
    running.add_argument("--app", default=APP, help="as the catalog calls it")
    packed = "what was packed for another version: its members begin that program"
    running.add_argument("--packed", type=Path, action="append", default=[], help=packed)
    every = "how often the use of jobs is told, in seconds"
    running.add_argument("--tell-every", type=_seconds, default=3_600, help=every)
    running.add_argument("--alone", action="store_true", help="there is no other replica")
    one = verbs.add_parser("triage", help="say what is wrong with a cluster, the cause first")
    one.add_argument("name", help="of the instance")
    one.add_argument("--app", default=APP, help="as the catalog calls it")
    one = verbs.add_parser("jobs", help="say whose each job was")
    one.add_argument("name", help="of the instance")
    one.add_argument("--keys", type=Path, required=True, help="folder of the clusters' keys")
    one.add_argument("--hours", type=int, choices=range(1, 745), metavar="1..744", default=24)
    one.add_argument("--app", default=APP, help="as the catalog calls it")
    for verb, what in (
        ("backup", "have the accounting of a cluster as a file"),
        ("restore", "have the accounting of a cluster be what is in a file"),
    ):
        one = verbs.add_parser(verb, help=what)
        one.add_argument("name", help="of the instance")
        one.add_argument("file", type=Path)
        one.add_argument("--app", default=APP, help="as the catalog calls it")
    return parser


def main(words: list[str] | None = None) -> None:
    """Do what is asked."""
    told = _parser().parse_args(words)
    if told.verb == "pack":
        offer = SlurmOffer(
            version=told.version,
            cpus=told.cpus,
            mem=told.mem,
            gpus=told.gpus,
            controller_cpus=told.controller_cpus,
            controller_mem=told.controller_mem,
            upgrades_from=tuple(told.upgrades_from),
            is_shared=told.shared,
        )
        pack(told.folder, offer)
        return
    if told.verb == "backup":
        settings = OperatorSettings.from_environ(told.app)
        print(save_backup(settings, told.name, path=told.file))
        return
    if told.verb == "jobs":
        settings = OperatorSettings.from_environ(told.app)
        sys.exit(list_jobs(settings, told.name, keys=ClusterKeys(told.keys), hours=told.hours))
    if told.verb == "triage":
        sys.exit(triage(OperatorSettings.from_environ(told.app), told.name))
    if told.verb == "restore":
        load_backup(OperatorSettings.from_environ(told.app), told.name, path=told.file)
        return
    settings = OperatorSettings.from_environ(told.app, term_s=0 if told.alone else TERM_S)
    programs = MemberPrograms.read(pack_member(), told.packed)
    keys, every_s = ClusterKeys(told.keys), told.tell_every
    plan = TellingPlan(every_s, settle_s=min(every_s, SETTLE_S))
    if settings.runtime is not None:
        operator = SharedSlurmOperator(keys, programs)
        run_operator(operator, settings, on_call=SharedQueueAnswers())
        return
    looks_after = SlurmOperator(keys, programs, teller=UseTeller(keys, plan))
    run_operator(looks_after, settings, on_call=QueueAnswers(keys))


def list_jobs(settings: OperatorSettings, name: str, *, keys: ClusterKeys, hours: int) -> int:
    """Print whose the jobs of some hours were; 3 if some are nobody's."""
    now_s = int(time.time())
    with ClusterCalls(settings, name) as calls:
        if calls.is_shared:
            argv = [*ENDED, "-S", f"now-{hours}hours"]
            answer = calls.ask(CONTROLLER, do="slurm", argv=argv, wait_s=READ_S)
            return _list_shared(str(answer["out"]))
        marks = keys.marks(calls.instance.instance_id)
        rows = read_marked(partial(calls.ask, CONTROLLER), (now_s - 3_600 * hours, now_s))
        whose = {row.job_id: marks.attribute(row) for row in rows}
    for each in whose.values():
        match each:
            case CallersJob():
                told = f"call={each.call_id} correlation={each.correlation_id}"
                print(f"{each.job_id} {each.principal} {told}")
            case ProbeJob():
                print(f"{each.job_id} (probe)")
            case NobodysJob():
                print(f"{each.job_id} (nobody) {each.reason}")
            case _:
                assert_never(each)
    return 3 if any(isinstance(each, NobodysJob) for each in whose.values()) else 0


def _list_shared(text: str) -> int:
    are_all_somebodys = True
    for each in attributions(text, but=PROBE_ACCOUNT):
        match each:
            case JobAttributed():
                by = "" if each.policy is None else f" policy={each.policy}"
                print(f"{each.job_id} {each.identity} project={each.project}{by}")
            case JobUnattributed():
                print(f"{each.job_id} (nobody) {each.reason}")
                are_all_somebodys = False
            case _:
                assert_never(each)
    return 0 if are_all_somebodys else 3


def _seconds(word: str) -> int:
    found = int(word)
    if not 1 <= found <= 86_400:
        raise argparse.ArgumentTypeError("from 1 to 86400 seconds")
    return found


def triage(settings: OperatorSettings, name: str) -> int:
    """Print what is wrong with a cluster; how many faults there are."""
    with ClusterCalls(settings, name) as calls:
        instance, found = calls.instance, find_faults(calls.conditions())
    print(f"correlation app-instance-{instance.instance_id}")
    print(f"{instance.phase.value}: {instance.reason or 'nothing was reported'}")
    for each in found:
        print(f"{each.fault.value} {each.member} {each.why}")
    return min(len(found), 1)


def pack(folder: Path, offer: SlurmOffer, *, program: bytes | None = None) -> None:
    """Write what is published."""
    program = pack_member() if program is None else program
    blobs = folder / "sha256"
    blobs.mkdir(parents=True, exist_ok=True)
    (blobs / digest_of(program).partition(":")[2]).write_bytes(program)
    (folder / "manifest.json").write_text(manifest_of(offer, program))
    print(digest_of(program))


if __name__ == "__main__":
    main()
