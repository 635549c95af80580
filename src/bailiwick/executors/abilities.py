"""What an executor can honour of a request, told before anybody is asked for a lease.

Rules:

- What a request asks for is known when it is made, and so is who could run it. So a refusal comes
  before the lease, with what was asked and what could be had.
- The first that cannot be honoured is told, in the order of the union below.

>>> whole = Abilities(gpu_step_milli=1000, core_step_milli=1000, images=False)
>>> check_honoured(JobDemand(gpu_milli=500), "there", can=whole)
GpuShareNotHonoured(executor='there', asked_milli=500, step_milli=1000)
>>> check_honoured(JobDemand(cpu_milli=2000), "there", can=whole)
Honoured()
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, TypeAlias

from bailiwick.vocab.jobs import Unhonoured


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """What an executor can do; by default everything."""

    gpu_step_milli: int = 1
    """The smallest part of a GPU that it can give, and the step between parts."""
    core_step_milli: int = 1
    images: bool = True


EVERYTHING: Final = Abilities()


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDemand:
    """What a job asks for, as far as not every executor has it."""

    gpu_milli: int = 0
    """Of each device."""
    cpu_milli: int = 0
    image: str | None = None


@dataclass(frozen=True, slots=True)
class Honoured:
    """All of it can be had."""


@dataclass(frozen=True, slots=True)
class GpuShareNotHonoured:
    """It asks for a part of a GPU that cannot be given."""

    executor: str
    asked_milli: int
    step_milli: int
    word: ClassVar[Unhonoured] = Unhonoured.GPU_SHARE


@dataclass(frozen=True, slots=True)
class CoreShareNotHonoured:
    """It asks for a part of a core that cannot be given."""

    executor: str
    asked_milli: int
    step_milli: int
    word: ClassVar[Unhonoured] = Unhonoured.CORE_SHARE


@dataclass(frozen=True, slots=True)
class ImageNotHonoured:
    """It asks for an image where jobs run without."""

    executor: str
    image: str
    word: ClassVar[Unhonoured] = Unhonoured.IMAGE


NotHonoured: TypeAlias = GpuShareNotHonoured | CoreShareNotHonoured | ImageNotHonoured
HonourDecision: TypeAlias = Honoured | NotHonoured


def check_honoured(asked: JobDemand, executor: str, *, can: Abilities) -> HonourDecision:
    """Whether an executor can honour what is asked for."""
    if asked.gpu_milli % can.gpu_step_milli:
        return GpuShareNotHonoured(executor, asked.gpu_milli, can.gpu_step_milli)
    if asked.cpu_milli % can.core_step_milli:
        return CoreShareNotHonoured(executor, asked.cpu_milli, can.core_step_milli)
    if asked.image is not None and not can.images:
        return ImageNotHonoured(executor, asked.image)
    return Honoured()
