"""The closed words of trust: kinds of evidence, why it is not believed, what a token allows.

Each value is the one spelling used everywhere: in verdicts, in the journal, on the wire, in metric
labels and in published test cases.
"""

from __future__ import annotations

from enum import StrEnum


class EvidenceKind(StrEnum):
    """By what a node proves which machine it is and what it runs."""

    ED25519 = "ed25519"
    """A statement signed with a key that the node holds."""
    DICE = "dice"
    """A chain of certificates, one per boot layer."""
    TPM2 = "tpm2"
    """A quote over the registers of a TPM 2.0."""
    NITRO = "nitro"
    """A document of an AWS Nitro enclave."""
    GPU_CC = "gpu_cc"
    """A report of an NVIDIA GPU or switch in confidential mode."""
    SEV_SNP = "sev_snp"
    """A report of an AMD SEV-SNP guest, by signature and chain."""
    TDX = "tdx"
    """A quote of an Intel TDX guest, by signature and chain."""


class UntrustedReason(StrEnum):
    """Why evidence is not believed, or what it proves is not allowed. There is no "other"."""

    # how it is written
    MALFORMED = "malformed"
    MISSING_FIELD = "missing_field"
    KEY_OR_SIGNATURE_SHAPE = "key_or_signature_shape"
    EVENTLOG_MALFORMED = "eventlog_malformed"
    # who signed it
    WEAK_KEY = "weak_key"
    AK_ATTRIBUTES = "ak_attributes"
    SCHEME_MISMATCH = "scheme_mismatch"
    BAD_SIGNATURE = "bad_signature"
    CHALLENGE_SIGNATURE = "challenge_signature"
    BAD_MAGIC = "bad_magic"
    NOT_A_QUOTE = "not_a_quote"
    # by whose authority
    CHAIN = "chain"
    EK_CHAIN = "ek_chain"
    AK_CHAIN = "ak_chain"
    RIM_CHAIN = "rim_chain"
    RIM_SIGNATURE = "rim_signature"
    ISSUER_MISMATCH = "issuer_mismatch"
    NOT_A_CA = "not_a_ca"
    # for whom and when
    NOT_ENROLLED = "not_enrolled"
    """No key of the node's is known by which this could be judged."""
    IDENTITY_MISMATCH = "identity_mismatch"
    """Good evidence, but of another machine than the one that enrolled under this name."""
    NONCE_MISMATCH = "nonce_mismatch"
    NONCE_SPENT = "nonce_spent"
    """The nonce was used, ran out, or was never handed to this node: a replay."""
    REPORT_DATA_MISMATCH = "report_data_mismatch"
    CLOCK_ROLLBACK = "clock_rollback"
    RESET_COUNT_CHANGED = "reset_count_changed"
    RESTART_COUNT_CHANGED = "restart_count_changed"
    FIRMWARE_VERSION_CHANGED = "firmware_version_changed"
    # what it tells
    WEAK_BANK = "weak_bank"
    PCR_SELECTION = "pcr_selection"
    PCR_DIGEST_MISMATCH = "pcr_digest_mismatch"
    EVENTLOG_MISSING = "eventlog_missing"
    EVENTLOG_REPLAY_MISMATCH = "eventlog_replay_mismatch"
    EVENTLOG_DIGEST_MISMATCH = "eventlog_digest_mismatch"
    PCR_POLICY = "pcr_policy"
    FIRMWARE = "firmware"
    """The firmware digest that the node states is not an allowed one."""
    NO_MEASUREMENTS = "no_measurements"
    MEASUREMENT_MISMATCH = "measurement_mismatch"
    DEVICE_MISSING = "device_missing"
    """Good reports, but of fewer devices than the node says that it has."""
    CODE_HASH = "code_hash"
    CONFIGURATION_HASH = "configuration_hash"
    FWID = "fwid"
    SVN = "svn"
    MODE = "mode"
    FLAGS = "flags"
    DEBUG = "debug"
    DEBUG_MODE = "debug_mode"
    # in the gate
    VERIFIER_FAULT = "verifier_fault"
    """The verifier itself failed. That is a bug of ours, and no reason to trust."""


class Operation(StrEnum):
    """What a capability token lets its bearer do with a lease's resource."""

    MEM_READ = "mem_read"
    MEM_WRITE = "mem_write"
    BLOCK_READ = "block_read"
    BLOCK_WRITE = "block_write"
    GPU_SUBMIT = "gpu_submit"
    TASK_SUBMIT = "task_submit"
    LEASE_RENEW = "lease_renew"


class MintDenial(StrEnum):
    """Why a token was not minted."""

    NO_SUCH_LEASE = "no_such_lease"
    NOT_OWNER = "not_owner"
    """The lease is another tenant's."""
    LEASE_ENDING = "lease_ending"
    """The lease is being revoked, is fenced, or its term is over."""
    STALE_GENERATION = "stale_generation"
    NODE_QUARANTINED = "node_quarantined"
    WRONG_AUDIENCE = "wrong_audience"
    """The lease is not on that node."""
    NO_OPERATION = "no_operation"
    TTL_TOO_LONG = "ttl_too_long"
    NODE_MINTS = "node_mints"
    """The node mints its own tokens; the broker holds no key that it would believe."""


class TokenFault(StrEnum):
    """Why a token is not accepted, in the order the checks are made."""

    MALFORMED = "malformed"
    UNKNOWN_KEY = "unknown_key"
    BAD_SIGNATURE = "bad_signature"
    EXPIRED = "expired"
    REVOKED = "revoked"
    """Its lease was renewed or is over, or the token was revoked by its id."""
    WRONG_AUDIENCE = "wrong_audience"
    WRONG_TENANT = "wrong_tenant"
    WRONG_LEASE = "wrong_lease"
    WRONG_RESOURCE = "wrong_resource"
    OPERATION_NOT_ALLOWED = "operation_not_allowed"
    EVALUATION_LIMIT = "evaluation_limit"
    """Judging it took more than it may; that says nothing about the token."""
