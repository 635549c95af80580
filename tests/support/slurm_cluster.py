"""A private, real Slurm cluster for tests: controller, accounting, database and nodes with GPUs.

Everything lives in one folder and on ports that were free. Every daemon is a child of the test, in
the foreground, and dies with it; what a node leaves behind (the jobs and their keepers outlive
their daemon by design) is found by this cluster's own SLURM_CONF in its environment. The GPUs are
links to /dev/null: Slurm counts and hands them out as it does real ones.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.ports import free_ports
from tests.support.tools import need
from tests.support.waiting import WAIT_S, until

NODES = {"h1": ("hopper", 4), "h2": ("hopper", 4), "a1": ("ampere", 8)}

JOB = """#!/bin/bash
# SECONDS EXIT_CODE: writes down by its own clock when it began and ended. SECONDS may be "gate":
# then it runs until the test opens it.
told() { echo "$SLURM_JOB_ID $1 $(date +%s%3N)" >> "$JOB_LOG"; }
told began
trap 'told ended; exit "$2"' EXIT
trap 'exit 143' TERM
if [ "$1" = gate ]; then while [ ! -e "$JOB_LOG.gate" ]; do sleep 0.1; done; exit; fi
sleep "$1" & wait
"""


@dataclass
class SlurmCluster:
    """The daemons, and how a test talks to them."""

    folder: Path
    ports: list[int]
    node_words: Mapping[str, str] = field(default_factory=dict)
    """What the configuration says of a node's cores, and more; without it, that there are 64."""
    nodes: Mapping[str, tuple[str, int]] = field(default_factory=lambda: NODES)
    """The type of each node's GPUs, and how many it has."""
    has_accounts: bool = True
    """Whether it keeps accounts, in a database of its own."""
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def env(self) -> dict[str, str]:
        """What Slurm's programs need to find this cluster."""
        return {
            **{name: value for name, value in os.environ.items() if name != "LD_PRELOAD"},
            "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin",
            "SLURM_CONF": str(self.folder / "etc/slurm.conf"),
            "MYSQL_UNIX_PORT": str(self.folder / "run/mysql.sock"),
            "JOB_LOG": str(self.folder / "jobs.log"),
            "TZ": "UTC",
        }

    @property
    def hasty_env(self) -> dict[str, str]:
        """The same for who does not wait long for a controller that is away."""
        path = self.folder / "etc/hasty.conf"
        if not path.exists():
            told = (self.folder / "etc/slurm.conf").read_text()
            path.write_text(f"{told}MessageTimeout=2\n")
        return self.env | {"SLURM_CONF": str(path)}

    @property
    def logs(self) -> Path:
        """Where the nodes' own logs are."""
        return self.folder / "log"

    # -- talking to it -----------------------------------------------------------------------

    def run(self, *words: str, is_checked: bool = True) -> str:
        """Call one of Slurm's programs."""
        done = subprocess.run(
            words,
            env=self.env,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            check=False,
        )
        if is_checked and done.returncode:
            raise AssertionError(f"{words} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def submit(self, *words: str, seconds: int | None = None, exit_code: int = 0) -> str:
        """Submit a job of so many seconds, or one that runs until the gate opens; its id."""
        length = "gate" if seconds is None else str(seconds)
        job = (str(self.folder / "job.sh"), length, str(exit_code))
        return self.run("sbatch", "--parsable", "-o", "/dev/null", *words, *job).strip()

    def open_gate(self) -> None:
        """Let the jobs end that wait for it."""
        (self.folder / "jobs.log.gate").touch()

    def told(self, job_id: str, what: str) -> int | None:
        """When a job began or ended, by its own clock."""
        path = self.folder / "jobs.log"
        for line in path.read_text().splitlines() if path.exists() else ():
            name, word, at_ms = line.split()
            if (name, word) == (job_id, what):
                return int(at_ms)
        return None

    def state(self, job_id: str) -> str:
        """A job's state in the accounting database."""
        return self.run("sacct", "-aXnP", "-D", "-j", job_id, "-o", "state").strip()

    def await_saved(self) -> None:
        """Wait until the controller has saved all that happened so far; it does so now and then.

        It saves the jobs, then the nodes: only when a later round has begun are both saved.
        """
        self.await_jobs_saved()
        self.await_jobs_saved()

    def await_jobs_saved(self) -> None:
        """Wait until the controller has saved all jobs; it saves no more for some seconds then."""
        mark = f"mark-{time.time_ns()}"
        self.run(*("sbatch", "-o", "/dev/null", "-A", "uni", "--hold", "-J", mark, "job.sh", "0"))
        # All jobs are saved at once, so a state that has this one has those before it. The file's
        # time would not tell: a save just after the submission may be the last for a long while.
        until(lambda: mark.encode() in _read(self.folder / "state/job_state"), "the state is saved")

    # -- daemons -----------------------------------------------------------------------------

    def start(self) -> None:
        """Start everything, from munge to the nodes."""
        at, me = self.folder, pwd.getpwuid(os.getuid()).pw_name
        for name in ("etc", "run", "log", "state", "spool", "dev", "db"):
            (at / name).mkdir()
        self._configure(me)
        self._daemon(
            *("munged", "-F", "--num-threads=4"),
            *(f"--socket={at}/run/munge.sock", f"--key-file={at}/etc/munge.key"),
            *(f"--pid-file={at}/run/munged.pid", f"--seed-file={at}/state/munge.seed"),
            f"--log-file={at}/log/munged.log",
        )
        if self.has_accounts:
            self._start_accounts(me)
        self.start_controller()
        for name in self.nodes:
            (at / "spool" / name).mkdir()
            self._daemon("slurmd", "-D", "-N", name, label=name)
        self.await_nodes()

    def _start_accounts(self, me: str) -> None:
        at = self.folder
        self.run(
            *("mariadb-install-db", "--no-defaults", f"--datadir={at}/db", f"--user={me}"),
            *("--auth-root-authentication-method=normal", "--skip-test-db"),
            *("--innodb-log-file-size=16M", "--innodb-flush-method=nosync"),
        )
        self._daemon("mariadbd", f"--defaults-file={at}/etc/my.cnf", f"--user={me}")
        sql = ("mariadb", "--no-defaults", "-S", f"{at}/run/mysql.sock", "-uroot", "-e")
        until(lambda: self._is_ready(*sql, "select 1"), "the database answers")
        self.run(
            *sql,
            "create database slurm; create user slurm@localhost identified by 'slurm'; "
            "grant all on slurm.* to slurm@localhost",
        )
        self._daemon("slurmdbd", "-D")
        # The cluster must be known before its controller first starts.
        add = ("sacctmgr", "-iQ", "add", "cluster", "test")
        until(lambda: self._is_ready(*add), "the accounting answers")

    def start_controller(self) -> None:
        """Start the controller and wait for its answer."""
        self._daemon("slurmctld", "-D")
        ping = ("scontrol", "ping")
        until(lambda: " UP" in self.run(*ping, is_checked=False), "the controller answers")

    def configure_controller(self, changed: Mapping[str, str], *, partitions: str) -> None:
        """Give the controller these settings and partitions; nodes stay as they are.

        Other partitions it takes over as it runs; for other settings it is started anew.
        """
        path = self.folder / "etc/slurm.conf"
        before = [
            line for line in path.read_text().splitlines() if not line.startswith("PartitionName=")
        ]
        lines = [line for line in before if line.partition("=")[0] not in changed]
        lines += [f"{key}={value}" for key, value in changed.items() if value]
        text = "\n".join([*lines, partitions.strip(), ""])
        if {*lines} == {*before}:
            path.write_text(text)
            self.run("scontrol", "reconfigure")
            names = {line.split()[0].partition("=")[2] for line in partitions.splitlines()}
            shown = ("sinfo", "-h", "-o", "%R")
            until(lambda: {*self.run(*shown).split()} == names, "the partitions are others")
        else:
            controller = self.daemons.pop("slurmctld")
            controller.terminate()
            controller.wait(WAIT_S)
            path.write_text(text)
            self.start_controller()
        self.await_nodes()

    def start_node(self, name: str) -> None:
        """Start a node that was lost, and let it take jobs again."""
        self._daemon("slurmd", "-D", "-N", name, label=name)
        self._resume(name)

    def await_nodes(self) -> None:
        """Wait until every node is there, and nothing is left on it."""
        until(self._are_idle, "all nodes are idle")

    @contextmanager
    def operated(self) -> Iterator[None]:
        """Have somebody open the nodes again that the controller closes by itself.

        After a crash it gives numbers away again. A node on which the job that had such a number
        has not ended yet it closes for good: that is for a person to look at.
        """
        is_over = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            operator = pool.submit(self._operate, is_over)
            try:
                yield
            finally:
                is_over.set()
            operator.result()

    def _operate(self, is_over: threading.Event) -> None:
        shown = ("sinfo", "-hN", "-O", "nodelist:|,statecomplete:|,reason:64")
        while not is_over.wait(0.5):  # until told to stop
            for line in self.run(*shown, is_checked=False).splitlines():
                name, state, reason = line.strip().split("|", 2)
                if "drain" in state and reason.startswith("Duplicate jobid"):
                    self._resume(name)

    def _resume(self, name: str) -> None:
        self.run("scontrol", "update", f"nodename={name}", "state=resume", is_checked=False)

    def kill(self, label: str) -> int:
        """End a daemon without a warning; when, in milliseconds."""
        process = self.daemons.pop(label)
        process.kill()
        process.wait()
        return int(time.time() * 1000)

    def kill_node(self, name: str, job_id: str) -> int:
        """Lose a node: its daemon, and the job on it with all its keepers; when."""
        at_ms = self.kill(name)
        mark = f"SLURM_JOB_ID={job_id}".encode()
        for pid in self.left():
            environ = _environ(pid)
            if mark in environ or _is_keeper_of(pid, job_id):
                _kill(pid)
        return at_ms

    def stop(self) -> None:
        """End everything by its id, and leave no file; so nobody is given time to save one."""
        for process in self.daemons.values():
            process.kill()
        for process in self.daemons.values():
            process.wait()
        self.daemons.clear()
        for pid in self.left():
            _kill(pid)
        until(lambda: not self.left(), "nothing of the cluster lives")
        shutil.rmtree(self.folder)

    def left(self) -> list[int]:
        """The processes of this cluster that are no daemon of ours: jobs and their keepers."""
        mark = f"SLURM_CONF={self.folder}/etc/slurm.conf".encode()
        ours = {process.pid for process in self.daemons.values()}
        found = [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()]
        return [pid for pid in found if pid not in ours and mark in _environ(pid)]

    def _is_ready(self, *words: str) -> bool:
        try:
            self.run(*words)
        except AssertionError:
            return False
        return True

    def _are_idle(self) -> bool:
        rows = self.run("scontrol", "-o", "show", "node").splitlines()
        return sum(" State=IDLE " in row for row in rows) == len(self.nodes)

    def _daemon(self, *words: str, label: str | None = None) -> None:
        name = label or words[0]
        with (self.folder / f"log/{name}.out").open("ab") as out:
            self.daemons[name] = subprocess.Popen(
                # The daemon dies with the test, however that ends.
                ("setpriv", "--pdeathsig", "KILL", *words),
                env=self.env,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    def _configure(self, me: str) -> None:
        at, (controller, accounting, *nodes) = self.folder, self.ports
        host = socket.gethostname().split(".")[0]
        _write(at / "etc/munge.key", secrets.token_bytes(128), mode=0o600)
        _write(at / "job.sh", JOB.encode(), mode=0o755)
        _write(at / "etc/my.cnf", MY_CNF.format(at=at).encode())
        told = SLURMDBD_CONF.format(at=at, me=me, port=accounting)
        _write(at / "etc/slurmdbd.conf", told.encode(), mode=0o600)
        conf = SLURM_CONF.format(at=at, me=me, host=host, port=controller)
        conf += ACCOUNTS_CONF.format(at=at, dbd=accounting) if self.has_accounts else ""
        gres = "AutoDetect=off\n"
        for (name, (kind, count)), port in zip(self.nodes.items(), nodes, strict=True):
            where = f"NodeHostname={host} NodeAddr=127.0.0.1 Port={port}"
            words = self.node_words.get(name, "CPUs=64")
            conf += f"NodeName={name} {where} {words} RealMemory=64000 Gres=gpu:{kind}:{count}\n"
            gres += f"NodeName={name} Name=gpu Type={kind} File={at}/dev/gpu[0-{count - 1}]\n"
        for index in range(max(count for _, count in self.nodes.values())):
            (at / f"dev/gpu{index}").symlink_to("/dev/null")
        _write(at / "etc/slurm.conf", conf.encode())
        _write(at / "etc/gres.conf", gres.encode())


@contextmanager
def slurm_cluster(
    node_words: Mapping[str, str] | None = None,
    *,
    nodes: Mapping[str, tuple[str, int]] = NODES,
    has_accounts: bool = True,
) -> Iterator[SlurmCluster]:
    """A cluster for as long as the block lasts."""
    need("slurm")
    shm = Path("/dev/shm")
    base = shm if os.access(shm, os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="bw-slurm-", dir=base))
    folder.chmod(0o755)  # munge insists that everybody may pass through
    ports = free_ports(2 + len(nodes))
    cluster = SlurmCluster(folder, ports, node_words or {}, nodes, has_accounts)
    try:
        cluster.start()
        yield cluster
    except BaseException:
        for path in sorted(cluster.logs.glob("*")):
            print(f"== {path.name}\n{path.read_text(errors='replace')[-1500:]}")
        raise
    finally:
        cluster.stop()


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):  # it may have ended by itself
        os.kill(pid, signal.SIGKILL)


def _read(path: Path) -> bytes:
    """The file's bytes; none while it is being replaced."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _environ(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _is_keeper_of(pid: int, job_id: str) -> bool:
    """Whether this is the process that watches over one of the job's steps."""
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return f"slurmstepd: [{job_id}.".encode() in line


def _write(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    path.touch(mode)
    path.write_bytes(data)


MY_CNF = """[mariadbd]
datadir={at}/db
socket={at}/run/mysql.sock
pid-file={at}/run/mariadbd.pid
log-error={at}/log/mariadb.log
skip-networking
skip-name-resolve
innodb_buffer_pool_size=64M
innodb_log_file_size=16M
innodb_flush_log_at_trx_commit=0
innodb_flush_method=nosync
performance_schema=OFF
"""

SLURMDBD_CONF = """AuthType=auth/munge
AuthInfo=socket={at}/run/munge.sock
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={port}
CommunicationParameters=NoInAddrAny
SlurmUser={me}
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm
LogFile={at}/log/slurmdbd.log
PidFile={at}/run/slurmdbd.pid
"""

# The nodes' logs are at the level at which they tell when a script really ended.
SLURM_CONF = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser={me}
SlurmdUser={me}
AuthType=auth/munge
AuthInfo=socket={at}/run/munge.sock
CredType=cred/munge
StateSaveLocation={at}/state
SlurmdSpoolDir={at}/spool/%n
SlurmctldPidFile={at}/run/slurmctld.pid
SlurmdPidFile={at}/run/slurmd-%n.pid
SlurmctldLogFile={at}/log/slurmctld.log
SlurmdLogFile={at}/log/slurmd-%n.log
SlurmdDebug=verbose
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SlurmdTimeout=300
KillWait=60
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=100
GresTypes=gpu
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""

ACCOUNTS_CONF = """PreemptType=preempt/qos
PreemptMode=REQUEUE
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={dbd}
AccountingStoragePass={at}/run/munge.sock
AccountingStorageEnforce=associations,limits,qos
AccountingStorageTRES=gres/gpu,gres/gpu:ampere,gres/gpu:hopper
AccountingStoreFlags=job_comment
"""
