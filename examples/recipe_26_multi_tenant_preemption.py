"""Recipe 26: two teams share two machines; urgent work takes room from less urgent work.

A machine proves what it runs before it gets work, and the work gets a token for what it holds.
Everything happens in this process, on data that this file owns: no server, no database. Time is
an argument, so the same story always ends the same way. Run it:

    python examples/recipe_26_multi_tenant_preemption.py
"""

import secrets
from dataclasses import asdict

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from bailiwick import (
    AccountingTag,
    AdmissionController,
    Approved,
    CapacityLedger,
    Denied,
    Impossible,
    Lease,
    LeaseRevoker,
    NodeCapacity,
    PlacementRequest,
    PlacementScorer,
    Preemptable,
    PreemptionConfig,
    PreemptionManager,
    Priority,
    Quota,
    QuotaManager,
    ResourceLimit,
    Strategy,
    TenantId,
    WithinQuota,
)
from bailiwick import capability as tokens
from bailiwick.attestation import (
    AttestationGate,
    Ed25519Verifier,
    Evidence,
    EvidenceKind,
    Trusted,
    Untrusted,
)
from bailiwick.attestation.ed25519 import statement_of
from bailiwick.journal import Chain, Context, RecordKind

GB = 1_000_000_000


def main() -> None:
    """The whole recipe, step by step."""
    # 1. Register nodes and tenants.
    quotas = QuotaManager()
    alpha, beta = TenantId("team-alpha"), TenantId("team-beta")
    quotas.set_quota(alpha, Quota(limits=[ResourceLimit.mem_bytes(24 * GB)]))
    quotas.set_quota(beta, Quota(limits=[ResourceLimit.mem_bytes(8 * GB)]))
    ledger = CapacityLedger(quotas=quotas)
    ledger.register_node("node-1", NodeCapacity(cpu_cores=16, mem_bytes=8 * GB))
    ledger.register_node("node-2", NodeCapacity(cpu_cores=32, mem_bytes=16 * GB))

    # 2. Gate admission: quota first, then capacity.
    request = PlacementRequest(
        tenant=alpha,
        tag=AccountingTag("batch-etl"),
        cpu_cores=8,
        mem_bytes=4 * GB,
        priority=Priority.NORMAL,
    )
    match quotas.check(request):
        case WithinQuota():
            print("quota: team-alpha may ask for 4 GB")
        case denied:
            raise SystemExit(f"quota said {denied.quota_violation}")
    admission = AdmissionController(ledger, scorer=PlacementScorer(Strategy.BEST_FIT))
    match admission.evaluate(request):
        case Approved() as approved:
            held = ledger.reserve(approved.node, request)
            lease = ledger.commit(held.id)
            print(f"admission: approved on {lease.node}, lease {lease.id}")
        case Denied(reason=reason):
            raise SystemExit(f"admission said {reason}")

    # A tenant that used up its quota is refused at once, with the numbers.
    greedy = PlacementRequest(tenant=beta, cpu_cores=1, mem_bytes=9 * GB)
    print(f"quota: team-beta asked for 9 GB: {quotas.check(greedy)}")

    # 3. Score placement: every node that fits, least waste first.
    for row in PlacementScorer(Strategy.BEST_FIT).score(ledger, request):
        print(f"placement: {row.node} scores {row.score}")

    # 4. Preempt lower-priority work. Fill the large node first.
    for _ in range(3):
        admission.admit(request)
    urgent = PlacementRequest(
        tenant=alpha, cpu_cores=8, mem_bytes=12 * GB, priority=Priority.CRITICAL
    )
    quotas.set_quota(alpha, Quota(limits=[ResourceLimit.mem_bytes(64 * GB)]))
    print(f"admission: urgent work is {admission.evaluate(urgent).reason}")
    preemption = PreemptionManager(PreemptionConfig())
    revoker = LeaseRevoker(ledger)
    match preemption.find_victims(ledger, urgent, now_ms=60_000):
        case Preemptable() as plan:
            done = preemption.preempt(plan, revoker, now_ms=60_000)
            # 4b. Seal each eviction, so that anyone can check later who evicted whom, and why.
            journal = Chain()
            for ended in done.ended:
                print(f"preemption: lease {ended.lease.id} ended, reason {ended.reason}")
                sealed = journal.seal(
                    RecordKind.LEASE_PREEMPTED,
                    Context("scheduler", "urgent-1", tenant=str(ended.lease.tenant)),
                    at_ms=ended.ended_ms,
                    body={
                        "lease_id": ended.lease.id,
                        "reason": str(ended.reason),
                        "victim": str(ended.lease.tenant),
                        "preemptor": str(urgent.tenant),
                        "freed": asdict(ended.lease.resources),
                    },
                )
                print(f"journal: record {sealed.seq} has hash {sealed.hash[:16]}...")
            decision = admission.admit(urgent, now_ms=60_000, depth=plan.depth)
            print(f"admission: urgent work runs on {decision.node}")
        case Impossible() as refusal:
            raise SystemExit(f"no room can be made: {refusal.reason}")

    attest(ledger)
    for make in (tokens.HmacMinter, tokens.BiscuitMinter):
        use_token(decision.leases[0], make(secrets.token_bytes(32)))


def attest(ledger: CapacityLedger) -> None:
    """5. Verify attestation before scheduling: a node that cannot prove itself gets no work."""
    key, firmware = Ed25519PrivateKey.generate(), b"f" * 32
    public = key.public_key().public_bytes_raw()
    verifier = Ed25519Verifier(frozenset({public}), frozenset({firmware}), max_age_ms=300_000)
    gate = AttestationGate(verifier)
    for node, runs in (("node-1", b"x" * 32), ("node-2", firmware)):
        nonce = secrets.token_bytes(32)
        gate.ask(node, nonce, now_ms=60_000)
        said = statement_of(node, nonce, firmware=runs)  # on the node
        sent = Evidence(EvidenceKind.ED25519, {"statement": said, "signature": key.sign(said)})
        enrolled = {"public_key": public}
        match gate.verify(node, nonce, evidence=sent, now_ms=60_100, enrolled=enrolled):
            case Trusted():
                print(f"attestation: {node} is trusted")
            case Untrusted(reason=reason):
                ledger.set_quarantine(node, True)
                print(f"attestation: {node} is quarantined: {reason}")


def use_token(lease: Lease, minter: tokens.Minter) -> None:
    """6. Mint a capability token for the lease, narrow it, and check it where the data is."""
    read, write = tokens.Operation.MEM_READ, tokens.Operation.MEM_WRITE
    wish = tokens.MintWish(token_id="t-1", tenant=str(lease.tenant), operations=(read, write))
    view = tokens.LeaseView(
        lease_id=lease.id,
        tenant=str(lease.tenant),
        node=str(lease.node),
        generation=lease.generation,
        expires_ms=lease.expires_ms,
    )
    match tokens.CapBroker(minter).mint(wish, view, now_ms=60_000):
        case tokens.Issued(token=token):
            key = minter.key if isinstance(minter.key, tokens.BiscuitKey) else None
            for bearer in (token, tokens.narrow(token, operations=[read], key=key)):
                found = tokens.verify(
                    bearer,
                    tokens.Use(write, lease_id=lease.id),
                    audience=str(lease.node),
                    keys=tokens.KeyRing((minter.key,)),
                    revoked=tokens.Revocations(),
                    now_ms=61_000,
                )
                print(f"capability: {token[:4]} mem_write is {type(found).__name__}")
        case tokens.Denied(reason=reason):
            raise SystemExit(f"no token: {reason}")


if __name__ == "__main__":
    main()
