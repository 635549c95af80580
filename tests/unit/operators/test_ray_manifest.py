"""Ray's manifest and what it names agree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bailiwick.apps.manifest import Manifest
from bailiwick.apps.reading import load_manifest
from bailiwick.operators.kit.packing import BOOTSTRAP, digest_of, pack
from bailiwick.operators.ray import operator
from bailiwick.operators.ray.member.main import parse_words
from bailiwick.operators.ray.member.rendering import MIB, split_memory
from bailiwick.operators.ray.operator import bounds_of
from bailiwick.vocab.errors import InvalidValue

FOLDER = Path(operator.__file__).parent


def manifest() -> Manifest:
    return load_manifest((FOLDER / "manifest.yaml").read_text())


def test_the_manifest_names_the_program_that_the_operator_delivers() -> None:
    assert manifest().artifacts["member"].digest == digest_of(operator.pack_member())
    assert pack(FOLDER / "member") == operator.pack_member()


def test_each_role_is_told_what_its_lease_holds() -> None:
    for name, role in manifest().roles.items():
        program, _, bootstrap, *words = role.command
        assert (program, bootstrap) == ("/opt/ray/bin/python", BOOTSTRAP)
        told = parse_words(words)
        assert told.role == name
        assert told.mem_mib * MIB == role.shape.mem_bytes
        assert told.cpus * 1_000 == (0 if name == "head" else role.shape.cpu_milli)
        split_memory(told.mem_mib, is_head=name == "head", store_percent=60)


def test_what_members_run_needs_the_standard_library_alone() -> None:
    for path in (FOLDER / "member").glob("*.py"):
        imports = re.findall(r"^\s*(?:from|import) (\S+)", path.read_text(), re.M)
        assert not [each for each in imports if each.startswith("bailiwick")], path.name


def test_bounds_are_the_instances_own_parameters() -> None:
    assert bounds_of({}) is None
    found = bounds_of({"autoscale": {"max": 7, "idle_s": 5}})
    assert found is not None
    assert (found.least, found.most, found.idle_s) == (0, 7, 5)
    with pytest.raises(InvalidValue):
        bounds_of({"autoscale": {"min": 8, "max": 7}})
