"""Every parser of bytes that a node sends: any byte string gives a verdict or our own error.

Hypothesis feeds plain bytes and mutated good inputs; atheris runs a few seconds on each target, led
by which code it reaches. ``make fuzz`` runs it for longer.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz import Target, all_modules, all_targets
from tests.fuzz.__main__ import main
from tests.fuzz.running import Bounds, fuzz
from tests.support.tools import need

TARGETS = all_targets()
SHORT = Bounds(runs=2_000, seconds=3, input_s=60, seed=1)

needs_fuzzer = pytest.mark.usefixtures("fuzzer")
each_target = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)


@pytest.fixture(scope="session")
def fuzzer() -> None:
    """Led by which code an input reaches; without it hypothesis still feeds every target."""
    need("fuzzer")


_EDGES = (b"\0", b"\xff", b"\x7f", b"\x80", b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff")


@st.composite
def mutated(draw: st.DrawFn, seeds: tuple[bytes, ...]) -> bytes:
    """A good input with a few changes: bytes, lengths, cuts, repetitions, pieces of another."""
    data = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        until = min(len(data), at + draw(st.integers(0, 40)))
        match draw(st.integers(0, 6)):
            case 0:
                data[at : at + 1] = draw(st.binary(min_size=1, max_size=1))
            case 1:
                edge = draw(st.sampled_from(_EDGES))
                data[at : at + len(edge)] = edge
            case 2:
                del data[at:until]
            case 3:
                data[at:at] = data[at:until] * draw(st.integers(1, 50))
            case 4:
                data[at:at] = draw(st.binary(max_size=16))
            case 5:
                del data[at:]
            case _:
                other = draw(st.sampled_from(seeds))
                data[at:until] = other[at : at + draw(st.integers(0, 200))]
    return bytes(data)


def test_every_area_has_targets_and_every_target_has_a_seed() -> None:
    assert {target.module for target in TARGETS} == set(all_modules())
    assert [target.name for target in TARGETS if not target.seeds] == []
    assert len({target.name for target in TARGETS}) == len(TARGETS)


@each_target
def test_seeds_are_fed_without_a_fault(target: Target) -> None:
    for raw in (*target.seeds, b""):
        target.feed(raw)


@each_target
@given(data=st.data())
def test_any_bytes_give_a_verdict_or_the_parsers_own_error(
    target: Target, data: st.DataObject
) -> None:
    target.feed(data.draw(st.binary(max_size=600) | mutated(tuple(target.seeds) or (b"",))))


@needs_fuzzer
@each_target
def test_a_short_guided_run_finds_nothing(target: Target) -> None:
    finding = fuzz(target.module, target.key, SHORT)
    assert finding is None, finding and finding.told


@needs_fuzzer
@pytest.mark.parametrize(
    ("key", "told", "kept"),
    [
        ("raises", "ZeroDivisionError: planted", b"BU"),
        ("hangs", "timeout", b"L"),
        ("swells", "out-of-memory", b"M"),
        ("is_good", None, None),
    ],
)
def test_a_planted_mistake_is_found(key: str, told: str | None, kept: bytes | None) -> None:
    # The time is that of the clock on the wall: a machine that stands still is not a finding.
    input_s = 5 if key == "hangs" else 60
    bounds = Bounds(runs=200_000, seconds=240, input_s=input_s, rss_mb=400, seed=1)
    finding = fuzz("tests.fuzz.planted", key, bounds)
    if told is None or kept is None:
        assert finding is None
    else:
        assert finding is not None
        assert told in finding.told
        assert finding.data is not None
        assert finding.data.startswith(kept)


def test_targets_are_named_by_area_and_parser(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nitro.shape", "ed25519", "--list"]) == 0
    named = capsys.readouterr().out.split()
    assert named == ["ed25519.anything", "ed25519.statement", "nitro.shape"]
    with pytest.raises(SystemExit):
        main(["nowhere"])
