"""A private, real Slurm that two projects share, as the operator would have it rendered.

Its people are users that every Debian has, and they come in by Slurm's own programs: nothing of
the platform stands in between.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import assert_never

from bailiwick.operators.slurm.shared.books import books_of, difference
from bailiwick.operators.slurm.shared.books_reading import load_books
from bailiwick.operators.slurm.shared.mapping import (
    Person,
    SharedMapping,
    SharedNode,
    SharedTerms,
)
from bailiwick.operators.slurm.shared.plans import (
    AwaitNone,
    Call,
    CallAgain,
    EndWorker,
    PlanStep,
    SendAway,
)
from bailiwick.operators.slurm.shared.settings import (
    accounting_settings,
    changed,
    partition_lines,
    settings,
)
from bailiwick.operators.slurm.shared.shape import SlurmShape, plan_shape
from bailiwick.operators.slurm.shared.submit_policy import GRANTS, SUBMIT, render_grants
from bailiwick.wire.shared import SubmitRight
from tests.support.ports import free_ports
from tests.support.slurm_cluster import SlurmCluster
from tests.support.tools import leave_out, need
from tests.support.waiting import WAIT_S, until

ALICE, BOB, CARL = "games", "news", "mail"
"""Of vision, of audio, and of vision too."""
GPUS = {"n1": ("hopper", 4), "n2": ("hopper", 4)}
TERMS = SharedTerms(kinds=("hopper",), own_limits={"vision": {"gpus-hopper": 2}}, min_job_age_s=10)
NODES = (SharedNode("n1", "vision"), SharedNode("n2", "audio"))
PEOPLE = (
    Person("alice@lab", ALICE, frozenset(("vision",))),
    Person("bob@lab", BOB, frozenset(("audio",))),
    Person("carl@lab", CARL, frozenset(("vision",))),
)

OPEN = """function slurm_job_submit(job, partitions, uid) return slurm.SUCCESS end
function slurm_job_modify(job, known, partitions, uid) return slurm.SUCCESS end
return slurm.SUCCESS
"""
KILL_WAIT_S = 5


@dataclass(frozen=True)
class Told:
    """What a program said, and whether it did it."""

    is_done: bool
    text: str

    @property
    def job_id(self) -> str:
        """Of a job that was taken."""
        assert self.is_done, self.text
        return self.text.split()[0]


@dataclass
class SharedSlurm(SlurmCluster):
    """The same daemons, shaped by the operator's functions."""

    terms: SharedTerms = TERMS
    attached: frozenset[str] = frozenset(("vision", "audio"))
    rights: tuple[SubmitRight, ...] = field(default_factory=tuple)
    _lua_at: int = 0

    def shape(self) -> SlurmShape:
        """What it shall be now."""
        mapping = SharedMapping(self.attached, self.rights, NODES, PEOPLE)
        return plan_shape(mapping, self.terms, now_ms=int(time.time() * 1_000))

    def apply(self) -> int:
        """Have it be so; how many calls that took of the accounting."""
        shape = self.shape()
        found = load_books(lambda words: self.run(*words))
        calls = difference(found, books_of(shape))
        for words in calls:
            self.run(*words)
        self.apply_files(shape)
        return len(calls)

    def apply_files(self, shape: SlurmShape) -> None:
        """Give the controller its files, and wait until it knows of all associations."""
        lua = SUBMIT.replace("@HOME@", str(self.folder))
        self._write_lua(lua)
        self.write_grants(render_grants(shape.grants))
        lines = "\n".join(partition_lines(shape.partitions))
        self.configure_controller(settings(self.terms), partitions=lines)
        keys = {each.key for each in shape.grants}
        until(lambda: keys <= self.known(), "the controller knows the associations")

    def known(self) -> set[tuple[str, ...]]:
        """Those that the controller itself has, and not only the accounting."""
        rows = self.run("scontrol", "-o", "show", "assoc_mgr", "flags=assoc").splitlines()
        found = set()
        for row in rows:
            words = dict(word.partition("=")[::2] for word in row.split() if "=" in word)
            user = words.get("UserName", "").partition("(")[0]
            found.add((user, words.get("Account", ""), words.get("Partition", "")))
        return found

    def write_grants(self, text: str) -> None:
        """Replace the file of grants as a whole."""
        new = self.folder / "etc/grants.new"
        new.write_text(text)
        new.rename(self.folder / "etc" / GRANTS)

    def by(self, user: str, *words: str, extra: Mapping[str, str] | None = None) -> Told:
        """Call one of Slurm's programs as somebody."""
        who = pwd.getpwnam(user)
        done = subprocess.run(
            (
                *("setpriv", f"--reuid={who.pw_uid}", f"--regid={who.pw_gid}", "--clear-groups"),
                *words,
            ),
            env={**self.env, **(extra or {})},
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            check=False,
        )
        return Told(done.returncode == 0, done.stdout + done.stderr)

    def sbatch(self, user: str, *words: str, seconds: int = 0) -> Told:
        """Submit a small job as somebody."""
        job = ("--parsable", "-o", "/dev/null", "-c1", "--mem=1", "--wrap", f"sleep {seconds}")
        return self.by(user, "sbatch", *words, *job)

    def do(self, steps: Iterable[PlanStep]) -> None:
        """Carry out a plan as an operator would."""
        for step in steps:
            match step:
                case Call(words):
                    self.run(*words)
                case AwaitNone(words, _):
                    until(lambda words=words: not self.run(*words).split(), "nothing is left")
                case CallAgain(words, for_s, _):
                    end = time.monotonic() + for_s
                    while time.monotonic() < end:  # for as long as the step says
                        self.run(*words)
                        time.sleep(0.5)
                case SendAway() | EndWorker():
                    raise AssertionError(f"no step of a plan for a project: {step}")
                case _:
                    assert_never(step)

    @contextmanager
    def policy_off(self) -> Iterator[None]:
        """Have the submit policy let everything pass, so that the other walls stand alone."""
        path = self.folder / "etc/job_submit.lua"
        kept = path.read_text()
        self._write_lua(OPEN)
        try:
            yield
        finally:
            self._write_lua(kept)

    def _write_lua(self, text: str) -> None:
        """Another script has another time: by that the controller knows it."""
        path = self.folder / "etc/job_submit.lua"
        path.write_text(text)
        self._lua_at = max(self._lua_at + 2, int(time.time()))
        os.utime(path, (self._lua_at, self._lua_at))

    def jobs(self, *words: str) -> list[str]:
        """The numbers and states of jobs that are not gone."""
        return self.run("squeue", "-hr", "-o", "%i %T %r", *words).splitlines()

    def _configure(self, me: str) -> None:
        super()._configure(me)
        path = self.folder / "etc/slurmdbd.conf"
        path.write_text(changed(path.read_text(), accounting_settings(self.terms)))
        conf = self.folder / "etc/slurm.conf"
        conf.write_text(
            changed(conf.read_text(), {"KillWait": str(KILL_WAIT_S)})
            + "PartitionName=x Nodes=ALL\n"
        )


@contextmanager
def shared_slurm() -> Iterator[SharedSlurm]:
    """A shared Slurm for as long as the block lasts."""
    need("slurm")
    if os.geteuid() != 0:
        leave_out("root", "jobs of several users take a daemon that may become each of them")
    folder = Path(tempfile.mkdtemp(prefix="bw-shared-", dir=_base()))
    folder.chmod(0o755)  # munge insists that everybody may pass through
    cluster = SharedSlurm(folder, free_ports(2 + len(GPUS)), {}, GPUS)
    try:
        cluster.start()
        cluster.apply()
        yield cluster
    except BaseException:
        for path in sorted(cluster.logs.glob("*")):
            print(f"== {path.name}\n{path.read_text(errors='replace')[-2500:]}")
        raise
    finally:
        if cluster.folder.exists():
            cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _base() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
