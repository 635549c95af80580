"""Passing on to a leader that misbehaves: always an answer or ``Unavailable``, and in time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest

from bailiwick.server.peers import Peers
from bailiwick.vocab.errors import Unavailable

Meet = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def with_peer(meet: Meet, use: Callable[[Peers, str], Awaitable[None]]) -> None:
    async def run() -> None:
        server = await asyncio.start_server(meet, "127.0.0.1", 0)
        peers = Peers(wait_s=0.5)
        try:
            async with asyncio.timeout(20):
                await use(peers, f"127.0.0.1:{server.sockets[0].getsockname()[1]}")
        finally:
            peers.close()
            server.close()

    asyncio.run(run())


async def fails(peers: Peers, address: str) -> None:
    for _ in range(6):
        with pytest.raises(Unavailable):
            await peers.ask(address, {"command": {}})


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers out of order."""
    lines = [json.loads(await reader.readline()) for _ in range(3)]
    for plain in reversed(lines):
        writer.write(json.dumps({"id": plain["id"], "answer": plain["text"]}).encode() + b"\n")
    await reader.read()


async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()
    writer.close()


async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readline()
    writer.close()


async def say_nonsense(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readline()
    writer.write(b"nonsense\n")
    await reader.read()


async def answer_others(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readline()
    writer.write(b'{"id": 999, "answer": {}}\n{"id": [], "answer": {}}\n{"id": true}\n')
    await reader.read()
    writer.close()


def test_answers_find_their_questions() -> None:
    async def use(peers: Peers, address: str) -> None:
        texts = [f"text {number}" for number in range(12)]  # three on each of four connections
        asked = [peers.ask(address, {"text": text}) for text in texts]
        assert [found["answer"] for found in await asyncio.gather(*asked)] == texts

    with_peer(answer, use)


@pytest.mark.parametrize("meet", [say_nothing, hang_up, say_nonsense, answer_others])
def test_a_leader_that_does_not_answer_is_unavailable(meet: Meet) -> None:
    with_peer(meet, fails)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.0.0.1", "", "nowhere.invalid:7077"])
def test_a_leader_that_cannot_be_reached_is_unavailable(address: str) -> None:
    with_peer(answer, lambda peers, _: fails(peers, address))


def test_only_the_last_addresses_are_kept() -> None:
    async def use(peers: Peers, address: str) -> None:
        for number in range(1, 20):
            with pytest.raises(Unavailable):
                await peers.ask(f"127.0.0.1:{number}", {})
        assert len(peers._lines) <= 4

    with_peer(answer, use)
