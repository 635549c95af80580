"""A generation of GPUs is understood as people call it, wherever it is typed."""

from __future__ import annotations

import pytest

from bailiwick.cli.bookings.options import BookingOptions
from bailiwick.cli.commands.node import parse_devices
from bailiwick.cli.outlook.what_if import parse_supposed
from bailiwick.cli.shared.quota_words import parse_limit
from bailiwick.tools.job_files.words import WORDS
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.units import parse_generation
from bailiwick.vocab.words import HardwareGeneration

HOPPER = HardwareGeneration.NVIDIA_HOPPER


@pytest.mark.parametrize("text", ["nvidia_hopper", "hopper", "Hopper", "H100", "h200", "GH200"])
def test_its_word_its_name_and_its_models_are_understood(text: str) -> None:
    assert parse_generation("--generation", text) is HOPPER


@pytest.mark.parametrize("word", list(HardwareGeneration))
def test_every_generation_is_understood_by_its_word_and_without_its_maker(
    word: HardwareGeneration,
) -> None:
    for text in (word.value, word.value.upper(), word.value.partition("_")[2] or word.value):
        assert parse_generation("--generation", text) is word


@pytest.mark.parametrize("text", ["hoper", "", "x100", "nvidia"])
def test_an_error_lists_what_there_is(text: str) -> None:
    with pytest.raises(InvalidValue, match="nvidia_hopper") as found:
        parse_generation("--generation", text)
    assert all(word.value in str(found.value) for word in HardwareGeneration)


def test_it_is_understood_wherever_it_is_typed() -> None:
    assert parse_devices("2xH100:80GiB")[0]["generation"] is HOPPER
    assert parse_limit("Hopper=4") == ("gpu_limits", "nvidia_hopper", 4)
    assert WORDS["generation"]("generation", "H100") == {"gpu_generation": HOPPER}
    assert BookingOptions(gpus=2, generation="Hopper").wish["generation"] is HOPPER
    assert parse_supposed(["generation=H100"])["generation"] == "nvidia_hopper"
    for wrong in ("hoper=4", "gpu=4"):
        with pytest.raises(InvalidValue, match=r"gpus.*GPU generation.*nvidia_hopper"):
            parse_limit(wrong)
