"""Tells what the real NVML of this machine says and does when a GPU is divided.

    PYTHONPATH=src python3 -m tests.support.real_mig [GPU]

It needs nvidia-ml-py and this repository, and nothing else. It changes the GPU, which must be idle,
and makes it whole again. What comes out is one line of JSON for each fact and each claim of
:mod:`tests.support.mig_contract`; the exit status is 1 if a claim does not hold, and 2 if the
GPU cannot be divided here (that is told, with what the driver said).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from bailiwick.agent.machine.mig import MigDevice, repartition
from tests.support.mig_contract import CLAIMS, why_not


def main(arguments: list[str]) -> int:
    """Facts first, then the claims."""
    index = int(arguments[0]) if arguments else 0
    try:
        import pynvml as library
    except ImportError:
        say("nvml", "nvidia-ml-py is not installed")
        return 2
    try:
        library.nvmlInit()
    except library.NVMLError as error:
        say("init", str(error))
        return 2
    tell_facts(library, index)
    reason = why_not(library, index)
    say("cannot_be_divided", reason or False)
    if reason:
        return 2
    device = MigDevice(library, index)
    device.set_mode(divided=True)
    say("profiles_when_divided", lambda: [asdict(each) for each in device.profiles()])
    say("room", lambda: {each.name: device.room(each) for each in device.profiles()})
    broken = 0
    for claim in CLAIMS:
        try:
            claim(library, index)
            say(claim.__name__, "holds")
        except Exception as error:  # whatever a driver does is what is to be told
            broken += 1
            say(claim.__name__, f"DOES NOT HOLD: {type(error).__name__}: {error}")
        repartition([index], [], library=library)
        library.nvmlInit()
    say("modes_afterwards", lambda: MigDevice(library, index).modes())
    return 1 if broken else 0


def tell_facts(library: Any, index: int) -> None:
    """What the driver says before anything is changed."""
    say("driver", lambda: str(library.nvmlSystemGetDriverVersion()))
    say("name", lambda: str(library.nvmlDeviceGetName(library.nvmlDeviceGetHandleByIndex(index))))
    say("modes", lambda: MigDevice(library, index).modes())
    say("profiles_when_whole", lambda: [asdict(p) for p in MigDevice(library, index).profiles()])


def say(name: str, value: Any | Callable[[], Any]) -> None:
    """One fact; what the driver refuses is a fact, too."""
    try:
        told = value() if callable(value) else value
    except Exception as error:  # whatever a driver does is what is to be told
        told = f"refused: {type(error).__name__}: {error}"
    sys.stdout.write(json.dumps({name: told}) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
