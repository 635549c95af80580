"""What an executor cannot honour is known before anybody is asked, and where a job may land too."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.executors.abilities import (
    Abilities,
    Honoured,
    ImageNotHonoured,
    JobDemand,
    check_honoured,
)
from bailiwick.executors.registry import EXECUTORS, OWN, find_executor, labels_for
from bailiwick.fleet.node import implied_labels
from bailiwick.vocab.errors import InvalidValue

STEPS = st.sampled_from([1, 250, 1000])


@given(
    st.builds(Abilities, gpu_step_milli=STEPS, core_step_milli=STEPS, images=st.booleans()),
    st.builds(
        JobDemand,
        gpu_milli=st.sampled_from([0, 1, 250, 500, 1000]),
        cpu_milli=st.integers(0, 4000),
        image=st.sampled_from([None, "tool"]),
    ),
)
def test_it_is_honoured_if_every_part_can_be_given(can: Abilities, asked: JobDemand) -> None:
    gpu_steps = {n * can.gpu_step_milli for n in range(1001)}
    core_steps = {n * can.core_step_milli for n in range(4001)}
    found = check_honoured(asked, "there", can=can)
    is_given = (
        asked.gpu_milli in gpu_steps
        and asked.cpu_milli in core_steps
        and (asked.image is None or can.images)
    )
    assert isinstance(found, Honoured) == is_given
    match found:
        case Honoured():
            pass
        case ImageNotHonoured(image=image):
            assert image == asked.image
        case _:
            assert found.asked_milli % found.step_milli
            assert found.asked_milli in (asked.gpu_milli, asked.cpu_milli)


@pytest.mark.parametrize(
    ("name", "shares", "parts", "images"),
    [
        ("local", True, True, True),
        ("node", True, True, True),
        ("ray", False, True, False),
        ("slurm", False, False, False),
    ],
)
def test_what_each_executor_can(name: str, shares: bool, parts: bool, images: bool) -> None:
    can = find_executor(name).can

    def honours(asked: JobDemand) -> bool:
        return isinstance(check_honoured(asked, name, can=can), Honoured)

    assert honours(JobDemand(gpu_milli=500)) == shares
    assert honours(JobDemand(cpu_milli=500)) == parts
    assert honours(JobDemand(image="tool")) == images
    assert honours(JobDemand(gpu_milli=1000, cpu_milli=3000))


# -- where a job may land --------------------------------------------------------------------

NODES = {
    "here": {"executor": "local"},
    "n1": {"executor": "node", "zone": "a"},
    "h1": {"executor": "slurm"},
    "r1": {"executor": "ray", "zone": "a"},
    "bare": {"zone": "a"},
}


def landing(on: str | None, labels: dict[str, str]) -> set[str]:
    wanted = labels_for(on, labels).items()
    return {
        name
        for name, own in NODES.items()
        if wanted <= {**own, **implied_labels(name, own)}.items()
    }


@pytest.mark.parametrize(
    ("on", "labels", "places"),
    [
        (None, {}, {"here", "n1"}),
        (None, {"zone": "a"}, {"n1"}),
        (None, {"executor": "slurm"}, {"h1"}),
        (None, {"node-name": "h1"}, {"h1"}),
        (None, {"node-name": "bare"}, set()),
        ("local", {}, {"here"}),
        ("node", {}, {"n1"}),
        ("ray", {"zone": "a"}, {"r1"}),
        ("slurm", {"executor": "slurm"}, {"h1"}),
        ("r1", {}, {"r1"}),
        ("bare", {}, set()),
        ("nowhere", {}, set()),
    ],
)
def test_a_job_lands_where_it_says_and_without_a_word_where_jobs_run_on_the_machine(
    on: str | None, labels: dict[str, str], places: set[str]
) -> None:
    assert landing(on, labels) == places


def test_two_words_that_differ_and_an_executor_that_is_none_are_refused() -> None:
    for on, labels in (("ray", {"executor": "slurm"}), ("n1", {"node-name": "n2"})):
        with pytest.raises(InvalidValue, match="on: expected"):
            labels_for(on, labels)
    with pytest.raises(InvalidValue, match="local, node, ray, slurm"):
        labels_for(None, {"executor": "nobody"})


def test_those_that_run_jobs_on_the_machine_can_do_everything() -> None:
    assert {kind.name for kind in EXECUTORS} > set(OWN)
    assert all(find_executor(name).can == Abilities() for name in OWN)
