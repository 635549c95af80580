"""What we rely on when we divide a GPU: the same claims for the stand-in and for a real driver.

Each claim is a function of a library (``pynvml``, or the stand-in) and the number of a GPU that
nobody uses. A claim that does not hold is an ``AssertionError`` that says what was seen. Whoever
runs them makes the GPU whole again afterwards. Nothing here needs more than the standard library.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from subprocess import PIPE
from typing import Any, Final

from bailiwick.agent.machine.mig import MigDevice, MigProfile, MigRefused, repartition
from bailiwick.vocab.mig import MigFailure, check_profile

Claim = Callable[[Any, int], None]


def why_not(library: Any, index: int) -> str:
    """Why this GPU cannot be divided here; empty if it can. It is whole afterwards."""
    try:
        library.nvmlInit()
        device = MigDevice(library, index)
        device.modes()
        device.set_mode(divided=True)
        device.set_mode(divided=False)
    except MigRefused as refused:
        return str(refused)
    except Exception as error:  # a driver that does not open at all
        return str(error)
    return ""


def profiles_have_names_that_can_be_asked_for(library: Any, index: int) -> None:
    """Every profile has a name in our form, none twice, and none is larger than the GPU."""
    assert repartition([index], [], library=library) is None
    kinds = divided(library, index).profiles()
    assert kinds, "a GPU that can be divided has profiles"
    for kind in kinds:
        check_profile(kind.name)
    assert len({kind.name for kind in kinds}) == len(kinds), [kind.name for kind in kinds]
    assert len({kind.id for kind in kinds}) == len(kinds), kinds
    assert all(1 <= kind.slices <= 8 and kind.most >= 1 for kind in kinds), kinds


def a_mode_counts_at_once(library: Any, index: int) -> None:
    """Divided, then whole: no reset in between."""
    device = divided(library, index)
    assert device.modes() == (True, True)
    device.set_mode(divided=False)
    assert device.modes() == (False, False)


def a_layout_is_there_after_it_was_asked_for(library: Any, index: int) -> None:
    """As many of the smallest as fit; then two of another; then the GPU is whole."""
    small, most = smallest(library, index)
    assert repartition([index], [small.name] * most, library=library) is None
    assert opened(library, index).layout() == [small.name] * most
    assert repartition([index], [small.name], library=library) is None
    assert opened(library, index).layout() == [small.name]
    assert repartition([index], [], library=library) is None
    assert opened(library, index).modes() == (False, False)


def room_goes_down_with_every_instance(library: Any, index: int) -> None:
    """What is left is told, and one more than that is refused as too much."""
    small, most = smallest(library, index)
    device = opened(library, index)
    for left in reversed(range(most)):
        device.make(small)
        assert device.room(small) == left, (device.room(small), left)
    assert refusal(lambda: device.make(small)) is MigFailure.DOES_NOT_FIT


def what_does_not_fit_leaves_what_was_there(library: Any, index: int) -> None:
    """Too many instances are refused, and the old ones are there again."""
    small, most = smallest(library, index)
    assert repartition([index], [small.name], library=library) is None
    too_many = [small.name] * (most + 1)
    assert repartition([index], too_many, library=library) is MigFailure.DOES_NOT_FIT
    assert opened(library, index).layout() == [small.name]


def what_does_not_fit_leaves_a_whole_gpu_whole(library: Any, index: int) -> None:
    """Too many instances are refused, and the mode is as it was: off."""
    small, most = smallest(library, index)
    assert repartition([index], [], library=library) is None
    too_many = [small.name] * (most + 1)
    assert repartition([index], too_many, library=library) is MigFailure.DOES_NOT_FIT
    assert opened(library, index).modes() == (False, False)


def an_unknown_profile_changes_nothing(library: Any, index: int) -> None:
    """A name that the GPU does not have is told, and its mode is as it was."""
    assert repartition([index], [], library=library) is None
    told = repartition([index], ["9g.999gb"], library=library)
    assert told is MigFailure.PROFILE_UNKNOWN, told
    assert opened(library, index).modes() == (False, False)


def a_divided_gpu_is_not_made_whole_under_instances(library: Any, index: int) -> None:
    """The driver itself refuses to end the mode while there are instances."""
    small, _ = smallest(library, index)
    assert repartition([index], [small.name], library=library) is None
    device = opened(library, index)
    assert refusal(lambda: device.set_mode(divided=False)) is MigFailure.IN_USE
    assert device.layout() == [small.name]


def a_whole_gpu_has_no_instances(library: Any, index: int) -> None:
    """No instance can be made while the mode is off."""
    small, _ = smallest(library, index)
    assert repartition([index], [], library=library) is None
    assert refusal(lambda: opened(library, index).make(small)) is MigFailure.NOT_SUPPORTED


def what_is_in_use_stays_and_costs_nothing_else(library: Any, index: int) -> None:
    """While a program runs in either instance the GPU keeps both, whatever it is to become."""
    small, _ = smallest(library, index)
    before = [small.name] * 2
    assert repartition([index], before, library=library) is None
    for used, wanted in product((0, 1), ([], [small.name])):
        with in_use(library, index, used):
            told = repartition([index], wanted, library=library)
            assert told is MigFailure.IN_USE, (used, wanted, told)
            device = opened(library, index)
            assert device.layout() == before, (used, wanted, device.layout())
            assert device.modes() == (True, True)
    assert repartition([index], [small.name], library=library) is None, "nobody is there any more"


CLAIMS: tuple[Claim, ...] = (
    profiles_have_names_that_can_be_asked_for,
    a_mode_counts_at_once,
    a_layout_is_there_after_it_was_asked_for,
    room_goes_down_with_every_instance,
    what_does_not_fit_leaves_what_was_there,
    what_does_not_fit_leaves_a_whole_gpu_whole,
    an_unknown_profile_changes_nothing,
    a_divided_gpu_is_not_made_whole_under_instances,
    a_whole_gpu_has_no_instances,
    what_is_in_use_stays_and_costs_nothing_else,
)


def opened(library: Any, index: int) -> MigDevice:
    """The GPU, with the library open."""
    library.nvmlInit()
    return MigDevice(library, index)


def divided(library: Any, index: int) -> MigDevice:
    """The GPU, divided, without any instance."""
    device = opened(library, index)
    if device.modes()[0]:
        device.clear()
    else:
        device.set_mode(divided=True)
    return device


def smallest(library: Any, index: int) -> tuple[MigProfile, int]:
    """Of a divided GPU without instances the kind of which most fit, and how many."""
    device = divided(library, index)
    small = max(device.profiles(), key=lambda each: (each.most, -each.memory_mb))
    return small, device.room(small)


@contextmanager
def in_use(library: Any, index: int, used: int) -> Iterator[None]:
    """A program computes in an instance: as the stand-in does, or a real one by the driver."""
    opened(library, index)
    simulated = getattr(library, "in_use", None)
    if simulated is not None:
        with simulated(index, used):
            yield
        return
    handle = library.nvmlDeviceGetHandleByIndex(index)
    mig = library.nvmlDeviceGetMigDeviceHandleByIndex(handle, used)
    uuid = str(library.nvmlDeviceGetUUID(mig))
    words = [sys.executable, "-c", _COMPUTES]
    env = os.environ | {"CUDA_VISIBLE_DEVICES": uuid}
    with subprocess.Popen(words, stdin=PIPE, stdout=PIPE, text=True, env=env) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        assert program.stdout.readline() == "computes\n"
        try:
            yield
        finally:
            program.stdin.close()  # it ends with its input
            program.wait(60)


_COMPUTES: Final = """
import sys
from bailiwick.agent.health.cuda import Cuda, load_cuda
with Cuda(load_cuda()).context(0):
    print("computes", flush=True)
    sys.stdin.read()
"""


def refusal(call: Callable[[], object]) -> MigFailure | None:
    """The word with which the driver refuses; nothing if it does not."""
    try:
        call()
    except MigRefused as refused:
        return refused.failure
    return None
