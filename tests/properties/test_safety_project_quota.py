"""What a tenant's people set for a project is never more than the tenant has, by a slow look."""

from __future__ import annotations

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.iam import GivenBy
from bailiwick.kernel import SetQuota
from bailiwick.scheduler.quota_policy import BurstCredit, GpuGenerationQuota, Quota, ResourceLimit
from bailiwick.scheduler.rights.nesting import find_excess
from bailiwick.vocab.errors import Conflict
from bailiwick.vocab.words import Dimension, HardwareGeneration
from tests.unit.kernel.desk import Desk

small = st.integers(0, 3)
tables = st.dictionaries(st.sampled_from(list(HardwareGeneration)[:3]), small, max_size=3)
limits = st.dictionaries(st.sampled_from(list(Dimension)), small, max_size=3)


@st.composite
def quotas(draw: st.DrawFn) -> Quota:
    """Quotas of small numbers, so that one is often within another."""
    rows = tuple(ResourceLimit(d, n) for d, n in draw(limits).items())
    table = tuple(GpuGenerationQuota(g, n) for g, n in draw(tables).items())
    if not rows or draw(st.booleans()):
        return Quota(rows, table)
    most = draw(st.integers(1, 2_500))
    return Quota(rows, table, BurstCredit(rows[0].dimension, 10**6, 0, most))


def most_gpus(quota: Quota, generation: HardwareGeneration) -> float:
    """How many GPUs of a generation a quota ever lets somebody hold, found word by word."""
    if not quota.gpu_generations:
        return inf
    return sum(each.count for each in quota.gpu_generations if each.generation is generation)


def most_of(quota: Quota, dimension: Dimension) -> float:
    """How much of a dimension a quota ever lets somebody hold, GPUs in thousandths."""
    scale = 1000 if dimension is Dimension.GPU_COUNT else 1
    found = [each.limit * scale for each in quota.limits if each.dimension is dimension]
    if quota.burst is not None and quota.burst.dimension is dimension:
        found[0] += quota.burst.ceiling
    return found[0] if found else inf


def hard(quota: Quota) -> Quota:
    """The same without its burst."""
    return Quota(quota.limits, quota.gpu_generations)


def exceeds(inner: Quota, outer: Quota) -> bool:
    """Whether the inner says of anything that more of it may be held than the outer's limits do."""
    said = {limit.dimension for limit in inner.limits}
    too_much = [most_of(inner, each) > most_of(hard(outer), each) for each in said]
    kinds = [each.generation for each in inner.gpu_generations]
    too_much += [most_gpus(inner, each) > most_gpus(outer, each) for each in kinds]
    return any(too_much)


@given(quotas(), quotas())
def test_an_excess_is_found_where_a_slow_look_finds_one(inner: Quota, outer: Quota) -> None:
    found = find_excess(inner, outer)
    assert (found is not None) == exceeds(inner, outer)
    if found is not None:
        assert found.wanted > found.most


@given(quotas(), quotas())
def test_a_quota_is_within_itself_and_nothing_is_beyond_no_limit(one: Quota, other: Quota) -> None:
    assert find_excess(hard(one), one) is None
    assert find_excess(other, Quota()) is None
    assert find_excess(Quota(), one) is None


@given(quotas(), quotas())
def test_the_kernel_takes_of_a_tenant_what_is_within_and_refuses_the_rest(
    inner: Quota, outer: Quota
) -> None:
    desk = Desk()
    desk.do(SetQuota("lab", outer))
    change = SetQuota("lab", inner, "p", given_by=GivenBy.TENANT)
    if exceeds(inner, outer):
        desk.refuses(Conflict, change)
        assert not desk.state.quotas.has_quota("lab", "p")
    else:
        desk.do(change)
        assert desk.state.quotas.quota_of("lab", "p") == inner
    # On the fleet's behalf it is written down as it is: the tenant's row is asked all the same.
    desk.do(SetQuota("lab", inner, "p"))
    assert desk.state.quotas.quota_of("lab", "p") == inner
