"""What happened to nodes, quotas, shares, settings, and to the journal's own writer."""

from __future__ import annotations

from bailiwick.journal.body_spec import BodySpec
from bailiwick.journal.fields import (
    AMOUNT,
    DIGEST,
    INTEGERS,
    LABELS,
    NAME,
    PRINCIPAL,
    RESOURCES,
    SIGNED,
    TEXT,
    TEXTS,
    Amounts,
    ListOf,
    Words,
)
from bailiwick.journal.kinds.row import FLEET, GPU_AMOUNTS, GPU_GENERATION, PRIORITY, row
from bailiwick.journal.ocsf import (
    API,
    CREATE,
    DELETE,
    ENTITY,
    HIGH,
    LOW,
    MEDIUM,
    OTHER,
    UPDATE,
    Ocsf,
)
from bailiwick.journal.words import NoteOutcome
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import Dimension, LeaseClass, Strategy

_NODE_MODE = Words((NodeMode,))
_LIMITS = Amounts(Dimension)


class FleetKinds:
    """The kinds of the fleet slice."""

    NODE_REGISTERED = row(
        "node_registered",
        15,
        ocsf=Ocsf(ENTITY, CREATE),
        scope=FLEET,
        moves_shares=True,
        body=BodySpec(
            {"node": NAME, "resources": RESOURCES},
            {
                "gpu_count": AMOUNT,
                "gpu_generation": GPU_GENERATION,
                "vram_bytes": AMOUNT,
                "cell": NAME,
                "labels": LABELS,
                "gpu_generations": ListOf(GPU_GENERATION),
                "gpu_vram_bytes": INTEGERS,
                "gpu_models": TEXTS,
                "gpu_fabrics": TEXTS,
                "gpu_partitionable": INTEGERS,
                "gpu_numa": ListOf(SIGNED),
                "cache_milli": INTEGERS,
                "cache_numa": INTEGERS,
            },
        ),
    )
    NODE_DEPARTED = row(
        "node_departed",
        16,
        ocsf=Ocsf(ENTITY, DELETE, LOW),
        scope=FLEET,
        moves_shares=True,
        body=BodySpec(
            {"node": NAME},
            {"lease_ids": INTEGERS, "leases_left": AMOUNT, "last_seen_ms": AMOUNT, "note": TEXT},
        ),
    )
    NODE_MODE_CHANGED = row(
        "node_mode_changed",
        17,
        ocsf=Ocsf(ENTITY, UPDATE),
        scope=FLEET,
        moves_shares=True,
        body=BodySpec({"node": NAME, "before": _NODE_MODE, "after": _NODE_MODE}, {"note": TEXT}),
    )
    NODE_LABELLED = row(
        "node_labelled",
        143,
        ocsf=Ocsf(ENTITY, UPDATE),
        scope=FLEET,
        body=BodySpec({"node": NAME, "labels": LABELS, "labels_before": LABELS}, {}),
    )
    NODE_NOTED = row(
        "node_noted",
        144,
        ocsf=Ocsf(ENTITY, UPDATE),
        scope=FLEET,
        body=BodySpec(
            {"node": NAME, "note_id": AMOUNT, "text": TEXT, "author": PRINCIPAL, "until_ms": AMOUNT}
        ),
    )
    NODE_NOTE_ENDED = row(
        "node_note_ended",
        145,
        ocsf=Ocsf(ENTITY, UPDATE),
        scope=FLEET,
        body=BodySpec({"node": NAME, "note_id": AMOUNT, "outcome": Words((NoteOutcome,))}),
    )
    QUOTA_CHANGED = row(
        "quota_changed",
        25,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        body=BodySpec(
            {"limits": _LIMITS},
            {
                "limits_before": _LIMITS,
                "gpu_limits": GPU_AMOUNTS,
                "gpu_limits_before": GPU_AMOUNTS,
                "burst_dimension": Words((Dimension,)),
                "burst_capacity": AMOUNT,
                "burst_refill_per_s": AMOUNT,
                "burst_ceiling": AMOUNT,
                "priority_max": PRIORITY,
                "lease_classes": ListOf(Words((LeaseClass,))),
                "term_max_ms": AMOUNT,
                "waiting_max": AMOUNT,
            },
        ),
    )
    SHARE_CHANGED = row(
        "share_changed",
        51,
        ocsf=Ocsf(ENTITY, UPDATE, LOW),
        body=BodySpec({"share": AMOUNT}, {"share_before": AMOUNT}),
    )
    SETTINGS_CHANGED = row(
        "settings_changed",
        52,
        ocsf=Ocsf(ENTITY, UPDATE, MEDIUM),
        scope=FLEET,
        body=BodySpec(
            {"strategy": Words((Strategy,))},
            {
                "weights": ListOf(SIGNED),
                "headroom": RESOURCES,
                "headroom_priority": PRIORITY,
                "preempt_from": PRIORITY,
                "priority_max": PRIORITY,
                "lease_classes": ListOf(Words((LeaseClass,))),
                "aging_ceiling": PRIORITY,
                **dict.fromkeys(
                    (
                        "untrusted_grace_ms",
                        *("grace_ms", "teardown_ms", "confirm_teardown", "min_run_ms"),
                        *("max_cascade_depth", "fresh_checkpoint_ms", "half_life_ms"),
                        *("patience_ms", "horizon_ms", "queue_max", "keys_ms", "keys_max"),
                        *("clock_step_ms", "outage_ms", "clock_drift_ms"),
                        *("term_max_ms", "waiting_max"),
                        *("tenant_cpu_milli", "tenant_mem_bytes", "tenant_block_bytes"),
                        *("tenant_gpu_count", "tenant_lease_count"),
                        *("burst_min_run_ms", "job_mem_bytes_per_core"),
                        *("reservations_max", "slips_max", "aging_ms", "aging_max"),
                        *("offer_platform_managed", "rebalance_ms", "booking_wait_ms"),
                        *("booking_wait_max_ms", "health_drain_milli"),
                        *("test_wait_ms", "test_every_ms"),
                    ),
                    AMOUNT,
                ),
            },
        ),
    )
    STATE_CHECKPOINT = row(
        "state_checkpoint",
        53,
        ocsf=Ocsf(API, OTHER),
        scope=FLEET,
        body=BodySpec({"digest": DIGEST, "leases": AMOUNT, "waiting": AMOUNT}, {"format": AMOUNT}),
    )
    CLOCK_REPAIRED = row(
        "clock_repaired",
        66,
        ocsf=Ocsf(API, UPDATE, HIGH),
        scope=FLEET,
        moves_shares=True,
        body=BodySpec({"before_ms": AMOUNT, "after_ms": AMOUNT, "why": TEXT}),
    )
    LEADER_ELECTED = row(
        "leader_elected",
        54,
        ocsf=Ocsf(API, OTHER, MEDIUM),
        scope=FLEET,
        body=BodySpec({"epoch": AMOUNT, "leader": NAME}, {"address": TEXT, "waits_anew": AMOUNT}),
    )
