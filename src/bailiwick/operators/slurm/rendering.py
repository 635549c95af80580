"""Configurations as text: parameters and what leases hold in, the files of every member out.

Rules:

- The same cluster gives the same text, in the same order: what differs was changed by somebody.
- A folder is written ``@HOME@``, and the folder of the state ``@STATE@``: each member puts its own
  there. Nothing else differs between members.
- Every worker that could ever be has a line. One that is not there is ``FUTURE``: Slurm takes it in
  when it registers. The count of nodes never changes, so what Slurm saved is always understood.
- Slurm gives nobody more than its lease holds: cores, memory and GPUs are those of the lease, and
  what a machine says of itself does not count (``config_overrides``).
- Slurm counts the GPUs of a worker from 0. What a job finds in ``CUDA_VISIBLE_DEVICES`` is the
  number that each has on its machine, and nothing if it asked for none: the others are not its own.
- The submit policy fails closed: an error in it is a refusal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from bailiwick.operators.slurm.wanted import WORKERS_MAX, Cluster, HeldGpu, Worker

SLURM_CONF: Final = "slurm.conf"
DBD_CONF: Final = "slurmdbd.conf"
GRES_CONF: Final = "gres.conf"
CGROUP_CONF: Final = "cgroup.conf"
SUBMIT_LUA: Final = "job_submit.lua"
DATABASE_CONF: Final = "my.cnf"
TASK_PROLOG: Final = "task_prolog"
_SHARED: Final = (SLURM_CONF, CGROUP_CONF)
"""What workers have as the controller does."""
_ALONE = Worker("worker-0", "127.0.0.1", host="localhost", cpus=1, mem_mib=1)


def render(cluster: Cluster) -> dict[str, str]:
    """All files of the controller, by name."""
    return {
        SLURM_CONF: _slurm_conf(cluster),
        DBD_CONF: _dbd_conf(cluster),
        GRES_CONF: _gres_conf(cluster),
        CGROUP_CONF: "CgroupAutomount=no\nConstrainCores=no\nConstrainRAMSpace=no\n",
        SUBMIT_LUA: _SUBMIT.replace("@ACCOUNT@", cluster.account).replace(
            "@CLUSTER@", cluster.name
        ),
        DATABASE_CONF: _DATABASE,
    }


def render_worker(
    cluster: Cluster, key: str, *, files: dict[str, str] | None = None
) -> dict[str, str]:
    """The files of a worker, from those of its controller: of devices its own alone."""
    files = render(cluster) if files is None else files
    own = [line for line in files[GRES_CONF].splitlines() if _is_own(line, key)]
    found = [worker for worker in cluster.workers if worker.key == key]
    devices = [str(gpu.index) for worker in found for gpu in _in_order(worker)]
    return {name: files[name] for name in _SHARED} | {
        GRES_CONF: "\n".join([*own, ""]),
        TASK_PROLOG: _PROLOG.replace("@DEVICES@", " ".join(devices)),
    }


def _is_own(line: str, key: str) -> bool:
    return not line.startswith("NodeName=") or line.startswith(f"NodeName={key} ")


def _in_order(worker: Worker) -> list[HeldGpu]:
    """A worker's GPUs as Slurm counts them from 0."""
    return sorted(worker.gpus, key=lambda gpu: gpu.index)


def _slurm_conf(cluster: Cluster) -> str:
    kinds = sorted({gpu.kind for worker in cluster.workers for gpu in worker.gpus})
    lines = [
        f"ClusterName={cluster.name}",
        f"SlurmctldHost={cluster.host}({cluster.address})",
        f"SlurmctldPort={cluster.port}",
        f"SlurmUser={cluster.user}",
        f"SlurmdUser={cluster.user}",
        f"AccountingStorageHost={cluster.address}",
        f"AccountingStoragePort={cluster.port + 1}",
        f"KillWait={cluster.wish.kill_wait_s}",
        f"DefMemPerCPU={_memory_per_cpu(cluster)}",
        *_FIXED.splitlines(),
    ]
    if kinds:
        tres = ",".join(["gres/gpu", *(f"gres/gpu:{kind}" for kind in kinds)])
        lines += ["GresTypes=gpu", f"AccountingStorageTRES={tres}"]
    lines += _nodes(cluster)
    longest = str(cluster.wish.max_time_min) if cluster.wish.max_time_min else "INFINITE"
    lines.append(
        f"PartitionName={cluster.wish.partition} Nodes=ALL Default=YES MaxTime={longest} "
        f"AllowAccounts={cluster.account} State=UP"
    )
    return "\n".join([*lines, ""])


def _memory_per_cpu(cluster: Cluster) -> int:
    """What a job has for each core if it does not say: its share, not the whole machine."""
    return max(1, min((each.mem_mib // each.cpus for each in cluster.workers), default=1))


def _nodes(cluster: Cluster) -> list[str]:
    there = {worker.index: worker for worker in cluster.workers}
    # One that is not there yet is taken for one like the others.
    like = cluster.workers[0] if cluster.workers else _ALONE
    lines = []
    for index in range(WORKERS_MAX):
        worker = there.get(index)
        state = "FUTURE" if worker is None else "UNKNOWN"
        lines.append(_node(cluster, worker or like, index=index, state=state))
    return lines


def _node(cluster: Cluster, worker: Worker, *, index: int, state: str) -> str:
    words = [
        f"NodeName=worker-{index}",
        f"NodeAddr={worker.address}",
        f"NodeHostname={worker.host}",
        f"Port={cluster.worker_port(index)}",
        f"CPUs={worker.cpus}",
        f"RealMemory={worker.mem_mib}",
    ]
    if worker.gpus:
        words.append(f"Gres={_gres(worker.gpus)}")
    features = sorted({*worker.features, *(gpu.kind for gpu in worker.gpus)})
    if features:
        words.append(f"Feature={','.join(features)}")
    return " ".join([*words, f"State={state}"])


def _gres(gpus: Iterable[HeldGpu]) -> str:
    """GPUs as Slurm counts them.

    >>> _gres([HeldGpu("hopper", 2), HeldGpu("hopper", 3)])
    'gpu:hopper:2'
    """
    found = sorted(Counter(gpu.kind for gpu in gpus).items())
    return ",".join(f"gpu:{kind}:{count}" for kind, count in found)


def _gres_conf(cluster: Cluster) -> str:
    folder = "@HOME@/dev/gpu" if cluster.wish.pretend_gpus else "/dev/nvidia"
    lines = ["AutoDetect=off"]
    for worker in sorted(cluster.workers, key=lambda each: each.index):
        lines += [
            f"NodeName={worker.key} Name=gpu Type={gpu.kind} File={folder}{gpu.index}"
            for gpu in _in_order(worker)
        ]
    return "\n".join([*lines, ""])


def _dbd_conf(cluster: Cluster) -> str:
    return _DBD.format(user=cluster.user, port=cluster.port + 1)


# Jobs have the daemons' own user, so nothing here lets one user look at another's: there is one.
_FIXED: Final = """AuthType=auth/munge
AuthInfo=socket=@HOME@/run/munge.sock
CredType=cred/munge
CommunicationParameters=NoAddrCache
StateSaveLocation=@STATE@/ctld
SlurmdSpoolDir=@HOME@/spool/%n
SlurmctldPidFile=@HOME@/run/slurmctld.pid
SlurmdPidFile=@HOME@/run/slurmd.pid
SlurmctldLogFile=@HOME@/log/slurmctld.log
SlurmdLogFile=@HOME@/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SlurmdTimeout=60
SlurmdParameters=config_overrides
TreeWidth=65533
DebugFlags=NO_CONF_HASH
TaskProlog=@HOME@/etc/task_prolog
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=5
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
EnforcePartLimits=ALL
JobSubmitPlugins=lua
JobRequeue=1
MinJobAge=300
AccountingStorageType=accounting_storage/slurmdbd
AccountingStoragePass=@HOME@/run/munge.sock
AccountingStorageEnforce=associations,limits,qos,safe
AccountingStoreFlags=job_comment"""

_DBD: Final = """AuthType=auth/munge
AuthInfo=socket=@HOME@/run/munge.sock
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={port}
SlurmUser={user}
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StoragePass=@DATABASE_PASSWORD@
StorageLoc=slurm
LogFile=@HOME@/log/slurmdbd.log
PidFile=@HOME@/run/slurmdbd.pid
"""

_DATABASE: Final = """[mariadbd]
datadir=@STATE@/db
socket=@HOME@/run/mysql.sock
pid-file=@HOME@/run/mariadbd.pid
log-error=@HOME@/log/mariadbd.log
skip-networking
skip-name-resolve
innodb_buffer_pool_size=64M
innodb_log_file_size=16M
innodb_lock_wait_timeout=900
innodb_use_native_aio=OFF
performance_schema=OFF
"""

_PROLOG: Final = """#!/bin/sh
# What is printed here is put into the environment of each task.
set -- @DEVICES@
found=
case "${SLURM_STEP_GPUS-}${SLURM_JOB_GPUS-}" in
'') ;;
*)
  case "${CUDA_VISIBLE_DEVICES-}" in
  *[!0-9,]*) ;;
  *)
    for number in $(echo "${CUDA_VISIBLE_DEVICES-}" | tr , ' '); do
      eval "found=\\$found,\\${$((number + 1))-none}"
    done
    ;;
  esac
  ;;
esac
echo "export CUDA_VISIBLE_DEVICES=${found#,}"
echo "export NVIDIA_VISIBLE_DEVICES=${found#,}"
echo "export CUDA_DEVICE_ORDER=PCI_BUS_ID"
"""

_SUBMIT: Final = """-- What may be submitted: jobs of the one project, with GPUs by their kind.
-- A limit on one kind does not hold a request that names none, so such a request is refused.
local fields = {"tres_per_job", "tres_per_node", "tres_per_socket", "tres_per_task"}

local function untyped(spec)
  for item in string.gmatch(spec or "", "[^,]+") do
    local rest = string.match(item, "gpu(.*)$")
    if rest and not string.match(rest, "^:%a") then return true end
  end
  return false
end

local function deny(text)
  slurm.log_user("%s", text)
  return slurm.ERROR
end

local function check_gpus(job)
  for _, name in ipairs(fields) do
    if untyped(job[name]) then return deny("name the kind of GPU, such as --gpus=hopper:1") end
  end
  return slurm.SUCCESS
end

local function submit(job)
  if (job.account or "@ACCOUNT@") ~= "@ACCOUNT@" then
    return deny("jobs here are those of the account @ACCOUNT@")
  end
  job.account = "@ACCOUNT@"
  job.admin_comment = "cluster=@CLUSTER@;project=@ACCOUNT@"
  return check_gpus(job)
end

local function modify(job, known)
  if job.account and job.account ~= known.account then
    return deny("a job stays with its account")
  end
  -- Whose it is was written once. All here have one user, so nobody is asked who he is.
  if job.admin_comment and string.find(known.admin_comment or "", ";mark=", 1, true) then
    return deny("whose a job is stays as it is")
  end
  if job.comment and string.find(known.comment or "", "^principal=") then
    return deny("the comment of a job that was submitted for somebody stays as it is")
  end
  return check_gpus(job)
end

-- Slurm takes a job if this script ends in an error; here that is a refusal.
local function closed(judge, ...)
  local is_well, answer = pcall(judge, ...)
  if is_well then return answer end
  slurm.log_error("job_submit: %s", tostring(answer))
  return slurm.ERROR
end

function slurm_job_submit(job, partitions, uid) return closed(submit, job) end
function slurm_job_modify(job, known, partitions, uid) return closed(modify, job, known) end

return slurm.SUCCESS
"""
