"""How the API is grouped for its readers: one tag for each thing that people speak of.

Rules:

- An action's noun (``node`` of ``node.quarantine``) has exactly one tag. An action whose noun has
  none cannot be built.
- The order here is the order in which the document, and what is made from it, lists them.

>>> tag_of("tenant_budget")
'budget'
"""

from __future__ import annotations

from typing import Final, NamedTuple

from bailiwick.vocab.errors import InvalidValue


class Tag(NamedTuple):
    """A group of operations: its name, what it is about, and the nouns of its actions."""

    name: str
    description: str
    nouns: tuple[str, ...]


TAGS: Final = (
    Tag("session", "Log in, see who you are, log out.", ("login", "session", "self")),
    Tag("notice", "What you are told of, by which ways; your inbox.", ("notice", "inbox")),
    Tag("tenant", "Teams or customers that share the fleet, and pay for it.", ("tenant",)),
    Tag("project", "Parts of a tenant, each with its own members and quota.", ("project",)),
    Tag(
        "member",
        "Who has which role: over the fleet, at a tenant, at a project.",
        ("fleet_member", "tenant_member", "project_member", "role", "invitation", "principal"),
    ),
    Tag(
        "account",
        "Service accounts: logins for programs, by another's word or by a key.",
        ("account", "account_trust", "account_key", "federation"),
    ),
    Tag(
        "token",
        "Bearer tokens and one-time login codes: issue, list, revoke; break glass.",
        ("token", "glass"),
    ),
    Tag(
        "quota",
        "How much a tenant or project may hold at once, and what it weighs in the queue.",
        (
            *("quota", "tenant_quota", "project_quota"),
            *("share", "tenant_share", "project_share"),
        ),
    ),
    Tag(
        "node",
        "The machines: inventory, heartbeat, drain, notes, quarantine, enrolment, attestation.",
        ("node", "node_note", "fleet"),
    ),
    Tag(
        "maintenance",
        "When machines are maintained: windows that are announced, and calendars.",
        ("window", "calendar"),
    ),
    Tag(
        "booking",
        "Whole nodes that are kept for a project from one time to another, and series of that.",
        ("booking", "booking_series"),
    ),
    Tag(
        "cell",
        "Planes of their own under one admission: who they are, what is asked of all of them.",
        ("cell", "global_request", "cell_home"),
    ),
    Tag("trust_policy", "What proof nodes must give before work runs on them.", ("trust_policy",)),
    Tag("isolation", "Who may not meet whom on the machines: the policy.", ("isolation",)),
    Tag(
        "lease",
        "A lease holds resources on a node for a limited time. Ask for one, or why not.",
        ("lease", "request"),
    ),
    Tag("queue", "Requests for leases that wait for room.", ("queue",)),
    Tag("job", "Commands that run under a lease, and what they print.", ("job",)),
    Tag("graph", "Graphs of tasks, each of which runs as a job.", ("graph",)),
    Tag(
        "app",
        "Apps that were published, version by version, and who may use them how.",
        ("app", "app_version", "entitlement"),
    ),
    Tag(
        "instance",
        "Apps that projects run: what is wanted, members, operations, what operators report.",
        (
            *("instance", "instance_member", "instance_operation", "instance_usage"),
            *("instance_queue", "instance_call", "instance_endpoint"),
        ),
    ),
    Tag(
        "shared_runtime",
        "Apps that a tenant shares between projects: attachments, workers, who may submit where.",
        (
            *("shared_runtime", "shared_attachment", "shared_worker", "shared_queue"),
            *("submit_policy", "shared_use", "shared_settlement"),
        ),
    ),
    Tag(
        "artifact",
        "What apps are made of: where it comes from, and whether it is trusted.",
        ("artifact", "artifact_source"),
    ),
    Tag(
        "event",
        "What happened to apps, as CloudEvents: list them, watch them, have them sent.",
        ("event", "webhook"),
    ),
    Tag("decision", "What the scheduler decided, and why.", ("decision",)),
    Tag("usage", "What was used, by whom, and how much of the fleet stood idle.", ("usage",)),
    Tag("finding", "Where what nodes counted differs from the journal.", ("finding",)),
    Tag("rates", "Prices: the list for everybody, and a tenant's own.", ("rates",)),
    Tag(
        "budget",
        "How much money a tenant or project may spend in a period.",
        ("budget", "tenant_budget", "project_budget"),
    ),
    Tag("invoice", "Invoices: draft, issue, trace to the records, correct.", ("invoice",)),
    Tag(
        "journal",
        "The sealed journal: read it, watch it grow, prove what it says.",
        ("record", "checkpoint"),
    ),
    Tag("capability", "What a service needs to check lease tokens by itself.", ("capability",)),
    Tag("settings", "How the scheduler works.", ("settings",)),
    Tag("trace", "Everything that one request led to.", ("trace",)),
    Tag(
        "server",
        "Is it up, is it ready, does it lead; metrics; sentences for words.",
        ("healthz", "readyz", "replica", "metrics", "words"),
    ),
)

_BY_NOUN: Final = {noun: tag.name for tag in TAGS for noun in tag.nouns}


def tag_of(noun: str) -> str:
    """The name of the tag that has a noun."""
    if noun not in _BY_NOUN:
        raise InvalidValue("noun", noun, "a noun of one of the tags in wire/actions/tags.py")
    return _BY_NOUN[noun]
