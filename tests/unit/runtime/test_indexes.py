"""Pages by owner: the same as walking everything, at the cost of the page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick.kernel.owner import Owner
from bailiwick.runtime.indexes import PIECE_MAX, ByOwner, Scan, SortedNumbers
from bailiwick.vocab.values import ProjectId, TenantId

OWNERS = [Owner(TenantId(f"t{n}"), ProjectId("p") if n % 2 else None) for n in range(5)]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 40), st.integers(0, 4)), max_size=120),
    st.integers(-1, 41),
    st.integers(1, 9),
)
def test_a_page_is_that_of_a_scan(
    changes: list[tuple[bool, int, int]], after: int, limit: int
) -> None:
    index, rows = ByOwner(), dict[int, Owner]()
    for comes, number, whose in changes:
        if comes and number not in rows:
            rows[number] = OWNERS[whose]
            index.add(number, OWNERS[whose])
        elif not comes:
            rows.pop(number, None)
            index.discard(number)
    for sees in (None, lambda owner: owner in OWNERS[1:3]):
        wanted = Scan(rows.items()).page(sees, after=after, limit=limit)
        assert index.page(sees, after=after, limit=limit) == wanted
    again = ByOwner()
    again.fill(rows.items())
    assert again.page(None, after=after, limit=limit) == index.page(None, after=after, limit=limit)


def test_numbers_stay_in_order_through_pieces_that_split_and_vanish() -> None:
    count = 5 * PIECE_MAX
    numbers = SortedNumbers()
    for number in [*range(0, count, 2), *range(1, count, 2)]:
        numbers.add(number)
    assert list(numbers.after(-1)) == list(range(count))
    assert max(map(len, numbers._pieces)) <= PIECE_MAX
    for number in range(count - 7):
        numbers.remove(number)
    assert list(numbers.after(0)) == list(range(count - 7, count))
    assert len(numbers._pieces) <= 2
    for number in range(count - 7, count):
        numbers.remove(number)
    assert not numbers


@pytest.mark.parametrize("after", [0, 1_200])
@pytest.mark.parametrize("own", [False, True])
def test_a_page_touches_as_many_rows_out_of_many_as_out_of_few(
    after: int, own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    touched: list[object] = []
    real = SortedNumbers.after

    def counted(numbers: SortedNumbers, number: int) -> Iterator[int]:
        for each in real(numbers, number):
            touched.append(each)
            yield each

    def sees(owner: Owner) -> bool:
        touched.append(owner)
        return owner == OWNERS[2]

    monkeypatch.setattr(SortedNumbers, "after", counted)
    costs = []
    for count in (2_000, 100_000):
        index = ByOwner()
        index.fill((number, OWNERS[number % 5]) for number in range(1, count + 1))
        for number in range(1, count // 2):  # the oldest are over: nobody pays for them
            index.discard(number)
        touched.clear()
        assert len(index.page(sees if own else None, after=after, limit=100)) == 100
        costs.append(len(touched))
    assert costs[0] == costs[1] <= 106
