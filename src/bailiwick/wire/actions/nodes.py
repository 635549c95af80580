"""The machines: inventory, heartbeat, counters, modes, quarantine, enrolment and attestation."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, Action, Outcome, Where
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.counting import CounterReport, CountersTaken
from bailiwick.wire.fleet import (
    Heard,
    Inventory,
    MigReport,
    ModeChange,
    NewNode,
    NewNote,
    Node,
    NodeLabels,
    Picture,
    Quarantine,
)
from bailiwick.wire.foreseen import LabelsSet, ModeSet
from bailiwick.wire.health import HealthReport, NodeTestReport, NodeTicket
from bailiwick.wire.mig import MigWish
from bailiwick.wire.node_work import NodeWork, OutputReport, OutputTaken, WorkReport
from bailiwick.wire.trust import (
    Attestation,
    Attested,
    Enrolled,
    EnrolmentChallenge,
    EnrolmentOffer,
    EnrolmentProof,
    IssuedLeaseToken,
    NewNonce,
    NodeAttestation,
    NodeTokenWish,
)

_P, _W = Permission, Where
_NODE = "/v1/nodes/{node}"

# fmt: off
NODE_LIST = Action(
    "node.list", "List nodes", "GET", "/v1/nodes",
    _P.NODE_READ, _W.ROWS, NOTHING, Page[Node])
NODE_REGISTER = Action(
    "node.register", "Register a node", "POST", "/v1/nodes",
    _P.NODE_OPERATE, _W.FLEET, NewNode, Done)
FLEET_PICTURE: Action[None, Picture] = Action(
    "fleet.picture", "See the fleet as one picture", "GET", "/v1/fleet/picture",
    _P.NODE_READ, _W.ROWS, NOTHING, Picture,
    outcomes={
        200: Outcome(Picture, "The picture; `ETag` is a digest of it"),
        304: Outcome(None, "It is as `If-None-Match` says"),
    })
NODE_READ = Action(
    "node.read", "Read a node", "GET", _NODE,
    _P.NODE_READ, _W.ROWS, NOTHING, Node)
NODE_REPORT = Action(
    "node.report", "Report a node's inventory", "PUT", _NODE + "/inventory",
    _P.NODE_REPORT, _W.FLEET, Inventory, Done)
NODE_BEAT = Action(
    "node.beat", "Send a node's heartbeat", "POST", _NODE + "/heartbeat",
    _P.NODE_REPORT, _W.FLEET, NOTHING, Heard, omits_null=True)
NODE_COUNT = Action(
    "node.count", "Report a node's usage counters", "POST", _NODE + "/counters",
    _P.NODE_REPORT, _W.FLEET, CounterReport, CountersTaken)
NODE_DEPART = Action(
    "node.depart", "Remove a node", "DELETE", _NODE,
    _P.NODE_OPERATE, _W.FLEET, NOTHING, Done)
NODE_MODE = Action(
    "node.mode", "Change a node's mode", "PUT", _NODE + "/mode",
    _P.NODE_OPERATE, _W.FLEET, ModeChange, ModeSet)
NODE_OPEN = Action(
    "node.open", "Open a node again", "POST", _NODE + "/open",
    _P.NODE_OPERATE, _W.FLEET, NOTHING, ModeSet)
NODE_NOTE_ADD = Action(
    "node_note.add", "Write a note about a node", "POST", _NODE + "/notes",
    _P.NODE_OPERATE, _W.FLEET, NewNote, Done)
NODE_NOTE_END = Action(
    "node_note.end", "End a note about a node", "DELETE", _NODE + "/notes/{note_id}",
    _P.NODE_OPERATE, _W.FLEET, NOTHING, Done)
NODE_LABEL = Action(
    "node.label", "Give a node labels, or take them away", "PATCH", _NODE + "/labels",
    _P.NODE_OPERATE, _W.FLEET, NodeLabels, LabelsSet)
NODE_MIG = Action(
    "node.mig", "Repartition a node's devices", "POST", _NODE + "/mig",
    _P.NODE_OPERATE, _W.FLEET, MigWish, ModeSet)
NODE_MIG_CANCEL = Action(
    "node.mig_cancel", "Cancel a node's repartitioning", "DELETE", _NODE + "/mig",
    _P.NODE_OPERATE, _W.FLEET, NOTHING, Done)
NODE_MIG_REPORT = Action(
    "node.mig_report", "Report how a repartitioning went", "POST", _NODE + "/mig/outcome",
    _P.NODE_REPORT, _W.FLEET, MigReport, Done)
NODE_HEALTH_REPORT = Action(
    "node.health_report", "Report a node's health", "POST", _NODE + "/health",
    _P.NODE_REPORT, _W.FLEET, HealthReport, Done)
NODE_TEST_REPORT = Action(
    "node.test_report", "Report how a node's test went", "POST", _NODE + "/test",
    _P.NODE_REPORT, _W.FLEET, NodeTestReport, Done)
NODE_TEST = Action(
    "node.test", "Test a node", "PUT", _NODE + "/test",
    _P.NODE_OPERATE, _W.FLEET, NOTHING, Done)
NODE_TICKET = Action(
    "node.ticket", "Read a ticket about a node", "GET", _NODE + "/ticket",
    _P.NODE_READ, _W.FLEET, NOTHING, NodeTicket)
NODE_QUARANTINE = Action(
    "node.quarantine", "Quarantine a node", "PUT", _NODE + "/quarantine",
    _P.NODE_OPERATE, _W.FLEET, Quarantine, Done)
NODE_LIFT = Action(
    "node.lift", "Lift a node's quarantine", "DELETE", _NODE + "/quarantine",
    _P.NODE_OPERATE, _W.FLEET, NOTHING, Done)
NODE_ENROL = Action(
    "node.enrol", "Enrol a node's keys", "POST", _NODE + "/enrolment",
    _P.NODE_REPORT, _W.FLEET, EnrolmentOffer, EnrolmentChallenge)
NODE_PROVE = Action(
    "node.prove", "Prove a node's keys", "POST", _NODE + "/enrolment/proof",
    _P.NODE_REPORT, _W.FLEET, EnrolmentProof, Enrolled)
NODE_WITHDRAW = Action(
    "node.withdraw", "Withdraw a node's keys", "DELETE", _NODE + "/enrolment",
    _P.NODE_OPERATE, _W.FLEET, NOTHING, Done)
NODE_NONCE = Action(
    "node.nonce", "Get a nonce to attest with", "POST", _NODE + "/nonce",
    _P.NODE_REPORT, _W.FLEET, NOTHING, NewNonce)
NODE_ATTEST = Action(
    "node.attest", "Present a node's evidence", "POST", _NODE + "/attestation",
    _P.NODE_REPORT, _W.FLEET, Attestation, Attested)
NODE_ATTESTATION = Action(
    "node.attestation", "Read a node's attestation", "GET", _NODE + "/attestation",
    _P.NODE_READ, _W.ROWS, NOTHING, NodeAttestation)
NODE_TOKEN = Action(
    "node.token", "Let a node mint a lease token", "POST", _NODE + "/lease-tokens",
    _P.NODE_REPORT, _W.FLEET, NodeTokenWish, IssuedLeaseToken)
NODE_WORK = Action(
    "node.work", "Read what is to run on a node", "GET", _NODE + "/work",
    _P.NODE_REPORT, _W.FLEET, NOTHING, NodeWork, waits=True)
NODE_OBSERVE = Action(
    "node.observe", "Report what became of a node's jobs", "POST", _NODE + "/work",
    _P.NODE_REPORT, _W.FLEET, WorkReport, Done)
NODE_OUTPUT = Action(
    "node.output", "Report what a node's jobs printed", "POST", _NODE + "/output",
    _P.NODE_REPORT, _W.FLEET, OutputReport, OutputTaken)
# fmt: on
