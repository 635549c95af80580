"""A journal's meter as plain data, and back: so that not every start folds the whole journal.

Rules:

- What is read back answers every question, and folds every later record, exactly as what was
  written; a property test holds the two against each other.
- Plain data is lists, words and integers (which may be larger than 64 bits). Parts are numbered
  anew, densely; pools and accounts keep their numbers, because kept segments refer to them.
- What cannot be a meter's is refused, and nothing is half read. A snapshot of an earlier format
  that says no less is read as well: format 2 is of before there were apps, so no lease in it is a
  member's and no app has told anything. Format 3 has members, and not what they held when an app
  told of its use; format 4 has not whose they are. Both say less, so the journal is folded again.

>>> from bailiwick.metering.fold import JournalMeter
>>> read_meter(write_meter(JournalMeter())).size
0
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bailiwick.metering.core import new_core
from bailiwick.metering.fold import JournalMeter
from bailiwick.metering.holdings import Hold, MeteredNode
from bailiwick.metering.meter import Meter, SharePool
from bailiwick.metering.owners import (
    IDLE,
    UNAVAILABLE,
    Account,
    Idle,
    Payer,
    Stage,
    UnavailableCapacity,
    UnavailableCause,
    free_owner,
)
from bailiwick.metering.records import MeterFindingWord
from bailiwick.metering.told.between import read_used, write_used
from bailiwick.metering.told.book import read_told, write_told
from bailiwick.metering.values import Line, Share
from bailiwick.vocab.app_uses import MemberUse
from bailiwick.vocab.errors import BailiwickError, InvalidValue
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, PreemptionReason, ResourceKind

FORMAT: Final = 5
_READ: Final = (2, FORMAT)
_ACCOUNT_WORDS: Final = 8
_IDLE, _RELEASED = "idle", "released"


def payer_words(payer: Payer) -> list[str | None]:
    """A payer as words: one for nobody, eight for an account, and six more for a member's."""
    match payer:
        case Idle():
            return [_IDLE]
        case UnavailableCapacity():
            return [payer.cause.value]
        case Account():
            words = (payer.lease_class, payer.generation, payer.stage, payer.reason)
            names = [payer.tenant, payer.project, payer.tag]
            words_of = [None if word is None else word.value for word in words]
            member = () if payer.member is None else payer.member.words()
            return [*names, *words_of, _RELEASED if payer.is_released else None, *member]


def payer_of(words: list[str | None]) -> Payer:
    """The payer that such words mean."""
    if len(words) == 1:
        word = str(words[0])
        return IDLE if word == _IDLE else UNAVAILABLE[UnavailableCause(word)]
    tenant, project, tag, lease_class, generation, stage, reason, released = words[:_ACCOUNT_WORDS]
    member = words[_ACCOUNT_WORDS:]
    return Account(
        str(tenant),
        project,
        tag,
        LeaseClass(str(lease_class)),
        _generation(generation),
        Stage(str(stage)),
        None if reason is None else PreemptionReason(reason),
        released == _RELEASED,
        MemberUse.of(list(map(str, member))) if member else None,
    )


def _generation(word: str | None) -> HardwareGeneration | None:
    return None if word is None else HardwareGeneration(word)


# -- writing -------------------------------------------------------------------------------------


def write_meter(whole: JournalMeter) -> dict[str, Any]:
    """All that a journal's meter knows."""
    meter, rows = whole.meter, whole.meter.core.rows()
    place = {row[0]: number for number, row in enumerate(rows)}
    free = [0] * len(meter.shares)
    for pool in meter.pools():
        free[pool.number] = place[pool.free]
    accounts = range(len(meter.lines))
    return {
        "format": FORMAT,
        "size": whole.size,
        "clock_ms": whole.clock_ms,
        "edges": list(meter.edges),
        "counts": {word.value: count for word, count in whole.counts.items()},
        "lines": [_line_words(line) for line in meter.lines],
        "shares": [[s.node, s.kind.value, s.index, s.generation] for s in meter.shares],
        "pools": [_pool_row(pool) for pool in meter.pools()],
        "closed": [[*key, amount] for key, amount in meter.closed.items()],
        "closed_ms": meter.closed_ms,
        "rows": [[number, *row[1:]] for number, row in enumerate(rows)],
        "sums": [[list(row) for row in meter.core.used(number)] for number in accounts],
        "measured": meter.core.measured(),
        "free": free,
        "announced": [
            [place[part], [list(step) for step in steps]] for part, steps in meter.announced.items()
        ],
        "nodes": [_node_row(name, node, place) for name, node in whole.nodes.items()],
        "leases": [_hold_row(number, hold, place) for number, hold in whole.leases.items()],
        "told": write_told(whole.told),
        "used": write_used(whole.used),
    }


def _pool_row(pool: SharePool) -> list[int]:
    row = [pool.number, pool.capacity, pool.opened_ms]
    return [*row, pool.again] if pool.again else row


def _line_words(line: Line) -> list[Any]:
    generation = None if line.generation is None else line.generation.value
    return [line.kind.value, generation, payer_words(line.payer)]


def _node_row(name: str, node: MeteredNode, place: Mapping[int, int]) -> list[Any]:
    plain = [pool.number for pool in node.plain.values()]
    gpus = [pool.number for pool in node.gpus]
    lost = [place[part] for part in node.lost]
    return [name, node.mode.value, int(node.is_quarantined), plain, gpus, lost]


def _hold_row(number: int, hold: Hold, place: Mapping[int, int]) -> list[Any]:
    parts = [place[part] for part in hold.parts]
    return [number, hold.node, hold.holder, parts, hold.until_ms, hold.stage.value]


# -- reading -------------------------------------------------------------------------------------


def read_meter(body: Mapping[str, Any], *, logs: bool = False) -> JournalMeter:
    """The meter that :func:`write_meter` wrote."""
    if body.get("format") not in _READ:
        expected = f"{' or '.join(map(str, _READ))}; fold the journal again"
        raise InvalidValue("format", body.get("format"), expected)
    try:
        return _read(body, logs=logs)
    except BailiwickError:
        raise
    except (KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
        raise InvalidValue("snapshot", str(error), "a meter's; fold the journal again") from error


def _read(body: Mapping[str, Any], *, logs: bool) -> JournalMeter:
    edges = tuple(body["edges"])
    meter = Meter(edges, core=new_core(edges, logs=logs))
    for kind, generation, words in body["lines"]:
        line = Line(ResourceKind(kind), _generation(generation), payer_of(words))
        accounts = meter.groups.setdefault((line.kind, line.generation), {})
        accounts[line.payer] = len(meter.lines)
        meter.lines.append(line)
    meter.shares = [
        Share(node, ResourceKind(kind), index, _generation(generation))
        for node, kind, index, generation in body["shares"]
    ]
    sums = [[tuple(row) for row in rows] for rows in body["sums"]]
    rows = [tuple(row) for row in body["rows"]]
    meter.core.restore(rows, (sums, body["measured"], body["free"]))
    meter.closed = {
        (ResourceKind(kind), _generation(generation)): amount
        for kind, generation, amount in body["closed"]
    }
    meter.closed_ms = body["closed_ms"]
    meter.announced = {
        part: [(at_ms, account) for at_ms, account in steps] for part, steps in body["announced"]
    }
    pools: dict[int, SharePool] = {}
    for number, capacity, opened_ms, *again in body["pools"]:
        share = meter.shares[number]
        accounts = meter.groups.setdefault((share.kind, share.generation), {})
        free = body["free"][number]
        pool = SharePool(share, capacity, opened_ms, number, free, accounts, *again)
        pools[number] = meter.open_pools[share.node, share.kind, share.index] = pool
    return _read_fold(body, meter, pools)


def _read_fold(
    body: Mapping[str, Any], meter: Meter, pools: Mapping[int, SharePool]
) -> JournalMeter:
    whole = JournalMeter(meter)
    whole.size, whole.clock_ms = body["size"], body["clock_ms"]
    if body["format"] == FORMAT:
        whole.told = read_told(body["told"])
        whole.used = read_used(body["used"], whole.told)
    whole.counts.update({MeterFindingWord(word): n for word, n in body["counts"].items()})
    for name, mode, is_quarantined, plain, gpus, lost in body["nodes"]:
        node = whole.nodes[name] = MeteredNode(
            mode=NodeMode(mode), is_quarantined=bool(is_quarantined)
        )
        node.plain = {pools[number].share.kind.value: pools[number] for number in plain}
        node.gpus = [pools[number] for number in gpus]
        node.lost = list(lost)
        node.free = free_owner(node.mode, quarantined=node.is_quarantined)
    for lease_id, name, holder, parts, until_ms, stage in body["leases"]:
        whole.leases[lease_id] = Hold(name, holder, tuple(parts), until_ms, Stage(stage))
        if name in whole.nodes:
            whole.nodes[name].leases.add(lease_id)
    return whole
