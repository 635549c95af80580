"""Who waits for something with a bound ends when he is told to, whatever happens in that moment."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import bailiwick
from bailiwick.runtime.waiting import await_set
from tests.support.waiting import WAIT_S


async def cancelled_when_set(turns: int) -> bool:
    """Whether a task ends that is cancelled so many turns of the loop after it may go on."""
    event = asyncio.Event()

    async def work() -> None:
        while True:  # until cancelled
            event.clear()
            await await_set(event, WAIT_S)

    task = asyncio.create_task(work())
    await asyncio.sleep(0.01)
    event.set()
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=1.0)
    if not done:
        task.cancel()  # this time it hears it, so that the test ends
    return bool(done)


@pytest.mark.parametrize("turns", range(5))
def test_a_cancellation_in_the_moment_of_the_news_is_heard(turns: int) -> None:
    assert asyncio.run(cancelled_when_set(turns))


def test_it_tells_whether_there_was_news() -> None:
    async def wait(*, is_set: bool) -> bool:
        event = asyncio.Event()
        if is_set:
            event.set()
        return await await_set(event, 0.001)

    assert asyncio.run(wait(is_set=True))
    assert not asyncio.run(wait(is_set=False))


def test_nobody_waits_in_the_way_that_loses_a_cancellation() -> None:
    found = Path(bailiwick.__file__).parent.rglob("*.py")
    assert [path.name for path in found if "asyncio.wait_for(" in path.read_text()] == []
