"""Recipe 56: up to 4 Hopper and 8 Ampere GPUs, and nothing else by accident.

The per-generation table is an allow-list: once it has an entry, a GPU request must say its
generation, and a generation that is not listed has limit zero. Run it:

    python examples/recipe_56_gpu_generation_targeting.py
"""

from bailiwick import (
    GpuFleetPolicy,
    GpuGenerationLimitExceeded,
    GpuGenerationQuota,
    GpuGenerationRequired,
    HardwareGeneration,
    InvalidValue,
    PlacementRequest,
    Quota,
    QuotaManager,
    ResourceLimit,
    TenantId,
    WithinQuota,
)

HOPPER, AMPERE = HardwareGeneration.NVIDIA_HOPPER, HardwareGeneration.NVIDIA_AMPERE


def main() -> None:
    """The whole recipe, step by step."""
    quotas = QuotaManager()
    tenant = TenantId("research")
    allowances = (GpuGenerationQuota(HOPPER, 4), GpuGenerationQuota(AMPERE, 8))

    # A policy that lists a generation twice is refused before it can touch anything.
    try:
        GpuFleetPolicy(tenant, (*allowances, GpuGenerationQuota(HOPPER, 2)))
    except InvalidValue as error:
        print(f"policy: {error}")
    GpuFleetPolicy(tenant, allowances).commit(quotas)

    # Inference names Hopper and fits.
    inference = PlacementRequest(tenant=tenant, gpu_count=2, generation=HOPPER)
    assert isinstance(quotas.check(inference), WithinQuota)
    quotas.record_alloc(inference)

    # Training forgot to name its generation: fail closed.
    answer = quotas.check(PlacementRequest(tenant=tenant, gpu_count=1))
    assert answer == GpuGenerationRequired(requested=1)
    print(f"untagged: {answer.quota_violation}")

    # Blackwell is not listed: limit 0, and all four numbers are there.
    unlisted = quotas.check_gpu_generation(tenant, HardwareGeneration.NVIDIA_BLACKWELL, 1)
    assert unlisted == GpuGenerationLimitExceeded(
        generation=HardwareGeneration.NVIDIA_BLACKWELL, limit=0, used=0, requested=1
    )
    print(f"unlisted: {unlisted.quota_violation} limit={unlisted.limit}")

    # Two of four Hopper are in use, so three more are too many; a release makes room again.
    more = PlacementRequest(tenant=tenant, gpu_count=3, generation=HOPPER)
    print(f"exceeded: {quotas.check(more)}")
    quotas.record_free(inference)
    assert isinstance(quotas.check(more), WithinQuota)

    # gpu_count composes as one more cap over all generations together.
    quotas.set_quota(tenant, Quota(limits=[ResourceLimit.gpu_count(2)], gpu_generations=allowances))
    print(f"capped: {quotas.check(more)}")


if __name__ == "__main__":
    main()
