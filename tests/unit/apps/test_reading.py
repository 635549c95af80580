"""Manifests: what is right is read, and whatever is wrong is told with its line and column."""

from __future__ import annotations

import pytest

from bailiwick.apps.diff import changes
from bailiwick.apps.lint import lint_manifest
from bailiwick.apps.reading import ManifestRefused, load_manifest, read_canonical
from bailiwick.vocab.apps import Privilege
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.words import HardwareGeneration
from tests.support.app_manifests import DIGEST, HELLO


def _told(text: str) -> list[str]:
    with pytest.raises(ManifestRefused) as refused:
        load_manifest(text)
    return [problem.told for problem in refused.value.problems]


def test_a_manifest_is_read_with_its_units_and_defaults() -> None:
    found = load_manifest(HELLO)
    assert found.roles["controller"].count == (1, 1)
    assert found.roles["controller"].shape.mem_bytes == 512 * 2**20
    assert found.roles["worker"].shape.generation is HardwareGeneration.NVIDIA_HOPPER
    assert found.roles["worker"].privileges is Privilege.SANDBOX
    assert found.delete_within_ms == 600_000
    assert not found.asks_host


def test_the_canonical_form_gives_the_same_manifest_and_no_other_spelling_passes() -> None:
    found = load_manifest(HELLO)
    assert read_canonical(found.canonical) == found
    assert load_manifest(found.canonical).digest == found.digest
    for other in (f" {found.canonical}", HELLO, found.canonical.replace('":"', '": "')):
        with pytest.raises(InvalidValue):
            read_canonical(other)


# What is changed in the good manifest, and what is said about it.
BAD = [
    ("version: 1.2.0", "version: latest", "line 2, column 1: version: expected a version"),
    ("version: 1.2.0", "version: 1.2", "line 2, column 1: version: expected"),
    ("app: hello", "app: Hello", "line 1, column 1: app: expected 1 to 31 small letters"),
    (
        f'digest: "{DIGEST}"',
        "digest: service:latest",
        "line 22, column 24: digest: expected sha256",
    ),
    (
        "    shape: {cpus: 1, mem: 512MiB}\n",
        "",
        "line 10, column 3: role controller has no shape",
    ),
    ("{cpus: 1, mem: 512MiB}", "{}", "line 12, column 5: shape: expected at least one resource"),
    ("mem: 512MiB", "mem: 512", "line 12, column 22: mem: expected an amount with its unit"),
    ("mem: 512MiB", "memry: 1GiB", "line 12, column 22: no word 'memry'; did you mean mem?"),
    ("count: [0, 100]", "count: [5, 2]", "line 17, column 5: count: expected the least first"),
    ("count: [0, 100]", "count: [0, 5000]", "line 17, column 5: count: expected an integer"),
    ("artifact: service\n    command: [work]", "artifact: servce", "did you mean service?"),
    ("source: main", "host: main", "artifact service has no source"),
    ("kind: oci", "kind: tarball", "line 22, column 13: kind: expected one of oci, blob"),
    (
        "[{from: 1.1.0, to: 1.2.0}]",
        "[{from: 1.1.0, to: 1.2.0}, {from: 1.2.0, to: 1.1.0}]",
        "line 26, column 38: upgrades in a circle: 1.1.0 -> 1.2.0 -> 1.1.0",
    ),
    ("{from: 1.1.0, to: 1.2.0}", "{from: 1.0.0, to: 1.1.0}", "one of them this one"),
    ("scheduler.instance.read", "scheduler.instance.reed", "did you mean scheduler.instance.read"),
    ("  # Steps", "  Steps", "the runbook has no heading '# Steps'"),
    ("default: hello", "default: 7", "the default does not fit: expected string"),
    ("maxLength: 40", "pattern: a+", "line 7, column 41: pattern is not read here"),
    ("type: string,", "$ref: 'https://else.where',", "$ref is not read here"),
    ("type: object", "type: array", "line 5, column 1: expected a schema of type: object"),
    ("maxLength: 40", "maxLength: 4.5", "maxLength: expected a whole number"),
    ("title: Says hello", "titel: Says hello", "no word 'titel'; did you mean title?"),
    ("title: Says hello", "title: Says hello\ntitle: again", "'title' stands here twice"),
    ("app: hello", "app: *x", "found undefined alias"),
]


@pytest.mark.parametrize(("before", "after", "said"), BAD, ids=[each[1][:24] for each in BAD])
def test_what_is_wrong_is_told_with_its_place(before: str, after: str, said: str) -> None:
    assert before in HELLO
    told = _told(HELLO.replace(before, after, 1))
    assert any(said in each for each in told), told
    assert all(each.startswith("line ") for each in told)


def test_every_mistake_is_told_and_not_only_the_first() -> None:
    text = HELLO.replace("version: 1.2.0", "version: x").replace("kind: oci", "kind: y")
    assert len(_told(text)) >= 2


@pytest.mark.parametrize("text", ["", "[]", "7", "app", "{", "a: b: c", "\0", "- app"])
def test_what_is_no_manifest_is_refused(text: str) -> None:
    assert _told(text)


def test_a_file_that_is_too_large_is_not_read() -> None:
    with pytest.raises(InvalidValue, match="at most"):
        load_manifest("#" * 300_000)


def test_advice_has_lines_and_stops_nothing() -> None:
    text = HELLO.replace("control_plane: true", "privileges: host").replace(
        "additionalProperties: false", "description: open"
    )
    told = [each.told for each in lint_manifest(text)]
    assert any("line 15" in each and "fleet admin grants" in each for each in told)
    assert any("misspelt name" in each for each in told)
    assert lint_manifest(HELLO) == ()


def test_versions_are_compared_place_by_place() -> None:
    old = load_manifest(HELLO)
    new = load_manifest(
        HELLO.replace("count: [0, 100]", "count: [0, 8]").replace("cpus: 1", "cpus: 2")
    )
    told = {each.place: (each.before, each.after) for each in changes(old.plain(), new.plain())}
    assert told == {
        "roles.worker.count": ("[0, 100]", "[0, 8]"),
        "roles.controller.shape.cpus": ("1", "2"),
    }
