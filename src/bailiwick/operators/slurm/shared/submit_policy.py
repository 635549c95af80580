"""What Slurm asks before it takes a job: a script, and the file of grants that it reads.

Rules:

- Refused by default. A job is taken if the file has a line for just this user, account and
  partition that has not ended; the file is read at each submission.
- A file that is missing, cut short or not understood grants nothing, and an error anywhere in the
  script is a refusal: by itself Slurm takes a job whose script failed.
- Who a job is of is written into ``admin_comment``, which no user can set or change.
- A guest's job ends by the end of his policy and is not requeued.
- A job stays where it was submitted to: its owner does not move it by an update.

It is not a wall by itself. It is asked at submission and at an update, and for nothing else; the
associations and partitions say the same, and :mod:`.plans` end what is under way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from bailiwick.operators.slurm.shared.shape import QueueGrant

GRANTS: Final = "grants"
"""The file beside ``slurm.conf``; the script has its folder as ``@HOME@/etc``."""
_NONE: Final = "-"
_END: Final = "end"


def render_grants(grants: Iterable[QueueGrant]) -> str:
    """The file: a line for each, and how many they are, so that one cut short is known.

    >>> own = QueueGrant("ann", "vision", "vision", "own+vision", 0, "ann@lab")
    >>> print(render_grants([own]), end="")
    ann vision vision own+vision 0 ann@lab -
    end 1
    """
    lines = [
        f"{each.user} {each.account} {each.partition} {each.qos} {each.until_s} "
        f"{each.identity} {each.policy or _NONE}"
        for each in grants
    ]
    return "\n".join([*lines, f"{_END} {len(lines)}", ""])


SUBMIT: Final = """-- What may be submitted where several projects share a Slurm: at first nothing.
-- The file of grants is the operator's. A line of it:
--   USER ACCOUNT PARTITION LIMITS UNTIL IDENTITY POLICY
-- UNTIL is in seconds since the epoch, or 0; its last line says how many there are.
local path = "@HOME@/etc/grants"
local unset = 4294967294
local gpu_fields = {"tres_per_job", "tres_per_node", "tres_per_socket", "tres_per_task"}
local fixed_fields = {
  "account", "partition", "qos", "wckey", "reservation", "req_nodes", "exc_nodes", "features",
  "comment", "admin_comment", "licenses", "dependency",
}
local pattern = "^(%S+) (%S+) (%S+) (%S+) (%d+) (%S+) (%S+)$"

local function deny(text)
  slurm.log_user("%s", text)
  return slurm.ERROR
end

-- All grants, or an error: what is not understood is not guessed at.
local function read_grants()
  local file = assert(io.open(path, "r"))
  local found, count = {}, nil
  for line in file:lines() do
    assert(count == nil, "grants go on after their end")
    count = tonumber(string.match(line, "^end (%d+)$"))
    if count == nil then
      local user, account, partition, qos, ends, identity, policy = string.match(line, pattern)
      assert(user, "a grant is not understood")
      found[#found + 1] = {
        user = user, account = account, partition = partition, qos = qos,
        ends = tonumber(ends), identity = identity, policy = policy,
      }
    end
  end
  file:close()
  assert(count == #found, "grants are cut short")
  return found
end

local function minutes_left(grant) return math.floor((grant.ends - os.time()) / 60) end

local function find_grant(user, account, partition)
  for _, each in ipairs(read_grants()) do
    local is_it = each.user == user and each.account == account
    -- Without a partition it is the first that is one's own: the queue of the project's own name.
    if is_it and each.partition == (partition or account) then
      if each.ends == 0 or each.ends > os.time() then return each end
    end
  end
  return nil
end

local function names_no_kind(spec)
  for item in string.gmatch(spec or "", "[^,]+") do
    local rest = string.match(item, "gpu(.*)$")
    if rest and not string.match(rest, "^:%a") then return true end
  end
  return false
end

local function check_gpus(job)
  for _, name in ipairs(gpu_fields) do
    if names_no_kind(job[name]) then
      return deny("name the kind of GPU, such as --gpus=hopper:1")
    end
  end
  return slurm.SUCCESS
end

local function submit(job)
  local user, account = job.user_name, job.account or job.default_account
  if not user or not account then return deny("a job has a user and a project's account") end
  if job.partition and string.find(job.partition, ",") then return deny("name one partition") end
  local grant = find_grant(user, account, job.partition)
  if not grant then
    return deny(user .. " may not submit for " .. account .. " to " .. (job.partition or account))
  end
  if job.qos and job.qos ~= grant.qos then return deny("the limits here are " .. grant.qos) end
  if grant.ends > 0 then
    if minutes_left(grant) < 1 then return deny("what allows this ends within a minute") end
    if job.time_limit == unset or job.time_limit > minutes_left(grant) then
      job.time_limit = minutes_left(grant)
    end
    job.requeue = 0
  end
  job.account, job.partition, job.qos = account, grant.partition, grant.qos
  job.admin_comment = "identity=" .. grant.identity .. ";project=" .. account
    .. ";policy=" .. grant.policy .. ";user=" .. user
  return check_gpus(job)
end

-- What is said here reaches nobody: who updates is told that it failed, and no more.
local function modify(job, known, uid)
  if uid == 0 then return slurm.SUCCESS end
  for _, name in ipairs(fixed_fields) do
    if job[name] and job[name] ~= known[name] then return deny("a job keeps its " .. name) end
  end
  local user = string.match(known.admin_comment or "", ";user=(%S+)$")
  local grant = user and find_grant(user, known.account, known.partition)
  if not grant then return deny("what allowed this has ended") end
  if grant.ends > 0 then
    local limit = job.time_limit
    if limit and limit ~= unset and limit > minutes_left(grant) then
      return deny("longer than what allows it")
    end
    if job.requeue == 1 then return deny("a guest's job is not requeued") end
  end
  return check_gpus(job)
end

-- Slurm takes a job if this script ends in an error; here that is a refusal.
local function closed(judge, ...)
  local is_well, answer = pcall(judge, ...)
  if is_well and answer ~= nil then return answer end
  slurm.log_error("job_submit: %s", tostring(answer))
  return slurm.ERROR
end

function slurm_job_submit(job, partitions, uid) return closed(submit, job) end
function slurm_job_modify(job, known, partitions, uid) return closed(modify, job, known, uid) end

return slurm.SUCCESS
"""
