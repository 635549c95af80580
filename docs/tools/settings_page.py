"""The reference of settings: the model that the API takes, and what each field is for.

What a setting means is told here, because people read it here; a setting that is new and not told,
or told and gone, fails the generator.
"""

from __future__ import annotations

from typing import Any

import bailiwick.cli.main  # noqa: F401  # it fills the list of commands
from bailiwick.cli.lazy import load_command
from bailiwick.cli.shared.session import ENVIRONMENT
from bailiwick.phrases.amounts import span
from bailiwick.wire.settings import Settings
from docs.tools.markdown import code, table, text

OPENING = """\
# Settings

## Of the scheduler

How the kernel places, evicts, orders and remembers. There is one set for the whole fleet:
`bailiwick settings show` prints it, `bailiwick settings set grace_ms=45s` changes it, and each
change is a record in the journal. A change counts from then on and never judges again what was
decided before. Times may be typed with a unit (`45s`, `2h`, `7d`).
"""

MEANINGS = {
    "strategy": "How to choose among nodes that fit.",
    "weights": "Of the `weighted` strategy, in thousandths: cores, memory, GPU, block storage.",
    "headroom": "What is kept free for urgent work, by resource.",
    "headroom_priority": "The least priority that may use the headroom.",
    "preempt_from": "The least priority that may evict other work.",
    "grace_ms": "How long evicted work may still run after its warning.",
    "untrusted_grace_ms": "The same on a node whose evidence is bad; never longer than `grace_ms`.",
    "confirm_teardown": "Whether room is free only once an executor confirms that work is gone.",
    "teardown_ms": "How long that report may take before the room is fenced.",
    "min_run_ms": "How long work runs at least before more urgent work may evict it.",
    "max_cascade_depth": "How long a chain of evictions may get; work at its end is spared.",
    "fresh_checkpoint_ms": "How long after a checkpoint a lease counts as cheap to evict.",
    "half_life_ms": "How fast past usage fades in fair sharing: half of it counts after this time.",
    "patience_ms": "Once in this time, the request that lacked room longest goes first.",
    "horizon_ms": "How far ahead room is reserved for the first request that lacks it.",
    "queue_max": "How many requests may wait at a time.",
    "keys_ms": "How long the answer to an idempotency key is remembered.",
    "keys_max": "How many such answers are remembered at most.",
    "reservations_max": "For how many waiting requests room is kept at a time.",
    "slips_max": "How often a reserved start may move later; the last time the room is lost.",
    "aging_ms": "How long a request waits to stand one priority higher in the queue.",
    "aging_max": "By how many priorities waiting raises a request at most; 0 for none.",
    "aging_ceiling": "The highest priority to which waiting raises a request.",
    "clock_step_ms": "How far time may go forward from one command to the next.",
    "outage_ms": "How far time may go forward where a leader begins: the longest outage.",
    "clock_drift_ms": "How far a leader's clock may be from what it is compared with.",
    "priority_max": "The highest priority that a tenant may ask for, unless its quota says more.",
    "lease_classes": "The lease classes that it may ask for, likewise.",
    "term_max_ms": "The longest term that it may ask for, likewise.",
    "waiting_max": "How many of its requests may wait at a time, likewise.",
    "tenant_cpu_milli": "How many thousandths of a core a tenant without a quota may hold.",
    "tenant_mem_bytes": "How much memory it may hold.",
    "tenant_block_bytes": "How much block storage it may hold.",
    "tenant_gpu_count": "How many GPUs it may hold.",
    "tenant_lease_count": "How many leases it may hold.",
    "job_mem_bytes_per_core": "Memory a job gets for each core, if it names none.",
    "offer_platform_managed": "Whether the platform runs control planes of apps for tenants.",
    "rebalance_ms": "How long a request must lack room before work above its quota goes; 0: never.",
    "booking_wait_ms": "How long a booked node may be unused before others get it; 0: to its end.",
    "booking_wait_max_ms": "The longest such wait that who is not of the fleet may ask for.",
    "health_drain_milli": "How many of a thousand nodes are drained for their health at one time.",
    "test_wait_ms": "How long an agent has to test its machine.",
    "test_every_ms": "After how long a node with nothing to do is tested again; 0: never.",
    "burst_min_run_ms": "How long burst credit must last for a request that goes above a limit.",
}

VARIABLES = {
    "server": "The server, `http://127.0.0.1:7077` by default.",
    "token": "The token; it beats the session's and a job's own.",
    "tenant": "The tenant that is meant where no option names one.",
    "project": "The project that is meant where no option names one.",
    "ca_file": "Whom to trust for the server's name (PEM).",
}


def make() -> str:
    """The page."""
    fields = Settings.model_fields
    _agree("settings", {*fields}, {*MEANINGS})
    schema = Settings.model_json_schema()
    rows = [
        (
            code(name),
            code(_shown(name, fields[name].get_default(call_default_factory=True))),
            _allowed(schema["properties"][name], schema["$defs"]),
            text(MEANINGS[name]),
        )
        for name in fields
    ]
    parts = [OPENING, table(("setting", "default", "allowed", "meaning"), rows) + "\n"]
    parts += ["## Of a server\n", "Options of `bailiwick up`; nothing is read from a file.\n"]
    parts.append(table(("option", "meaning"), _server_options()) + "\n")
    parts += [
        "## Of the command line\n",
        "An option beats a variable, and that beats the session.\n",
    ]
    _agree("variables", {*ENVIRONMENT}, {*VARIABLES})
    rows2 = [(code(name), text(VARIABLES[field])) for field, name in ENVIRONMENT.items()]
    parts.append(table(("variable", "meaning"), rows2) + "\n")
    return "\n".join(parts)


def _agree(what: str, there: set[str], told: set[str]) -> None:
    if there != told:
        raise SystemExit(f"{what}: say what these mean, or remove them: {sorted(there ^ told)}")


def _shown(name: str, value: Any) -> str:
    if name.endswith("_ms"):
        return span(value)
    if hasattr(value, "model_dump"):
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "none" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _allowed(schema: Any, models: Any) -> str:
    if "$ref" in schema:
        schema = models[schema["$ref"].rpartition("/")[2]]
    if "enum" in schema:
        return ", ".join(code(word) for word in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_allowed(each, models) for each in schema["anyOf"])
    if "allOf" in schema:
        return _allowed(schema["allOf"][0], models)
    match schema.get("type"):
        case "integer":
            return f"{int(schema['minimum']):,} to {_limit(int(schema['maximum']))}"
        case "boolean":
            return "`true`, `false`"
        case "array":
            items = _allowed(schema["items"], models)
            count = schema.get("minItems")
            return f"some of {items}" if count is None else f"{count} numbers, each {items}"
        case "object":
            return "amounts of " + ", ".join(code(name) for name in schema["properties"])
        case "null":
            return "none"
        case other:
            raise SystemExit(f"what is allowed in {other}?")


def _limit(number: int) -> str:
    powers = {2**52: "2^52", 2**53: "2^53", 2**53 - 1: "2^53 - 1"}
    return powers.get(number, f"{number:,}")


def _server_options() -> list[tuple[str, str]]:
    command = load_command("up")
    return [
        (", ".join(code(each) for each in (*one.opts, *one.secondary_opts)), text(one.help or ""))
        for one in command.params
        if one.param_type_name == "option" and one.name != "help" and not one.hidden
    ]
