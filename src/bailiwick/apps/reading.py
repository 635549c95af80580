"""A manifest's file: YAML or JSON; whatever is wrong is told with its line and column.

Rules:

- Every mistake is told, not only the first; a word that is not known, with the nearest one.
- What the file says and what the canonical form says are read by the same words.
- A key is printable ASCII and a number is whole: then the canonical form is one for everybody.

>>> load_manifest("app: hello\\nversion: latest\\n")
Traceback (most recent call last):
...
bailiwick.apps.reading.ManifestRefused: line 1, column 1: title is missing
line 1, column 1: roles is missing
line 1, column 1: artifacts is missing
line 1, column 1: runtime_backend is missing
line 1, column 1: runbook is missing
line 2, column 1: version: expected a version such as 1.2.0 or 2.0.0-rc.1, got 'latest'
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from bailiwick.apps.endpoints.spec import EndpointSpec, check_endpoints, read_endpoint
from bailiwick.apps.manifest import (
    HEADINGS,
    ROLES_MAX,
    RUNBOOK_MAX,
    TEXT_MAX,
    WITHIN_MAX_MS,
    ArtifactRef,
    Manifest,
    RoleShape,
    RoleSpec,
    check_slug,
    check_word,
)
from bailiwick.apps.parameters import check_schema
from bailiwick.apps.semver import check_version
from bailiwick.apps.upgrades import find_cycle
from bailiwick.documents import (
    DocumentProblem,
    DocumentRefused,
    MarkedDocument,
    Place,
    nearest_name,
)
from bailiwick.documents.words import (
    Fields,
    Reader,
    as_text,
    command,
    flag,
    gpus,
    one,
    plain,
    read_words,
    word_of,
)
from bailiwick.vocab.apps import (
    ArtifactKind,
    ControlPlaneScope,
    DataOnRollback,
    OperatingMode,
    Privilege,
)
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.permissions import Permission
from bailiwick.vocab.strict_json import JsonRefused, StrictJson
from bailiwick.vocab.units import parse_bytes, parse_cores, parse_span
from bailiwick.vocab.words import Exclusivity, HardwareGeneration, LeaseClass

FILE_BYTES_MAX: Final = 256 << 10
DEPTH_MAX: Final = 24
LIST_MAX: Final = 64


class ManifestRefused(DocumentRefused):
    """It is no manifest of an app; everything that is wrong with it."""

    what = "manifest"


def load_manifest(text: str) -> Manifest:
    """The manifest that a file says; refused with every mistake and its line."""
    size = len(text.encode())
    if size > FILE_BYTES_MAX:
        raise InvalidValue("manifest", f"{size} bytes", f"at most {FILE_BYTES_MAX}")
    found = MarkedDocument(text, refused=ManifestRefused, deepest=DEPTH_MAX)
    try:
        return manifest_of(found.plain)
    except ManifestRefused as refused:
        raise ManifestRefused(map(found.place, refused.problems)) from None


def read_canonical(text: str) -> Manifest:
    """The manifest whose canonical form this is; any other spelling is refused."""
    try:
        found = manifest_of(StrictJson(bytes_max=FILE_BYTES_MAX).read(text.encode()))
    except JsonRefused as error:
        raise InvalidValue("manifest", text[:80], f"JSON ({error})") from None
    if found.canonical != text:
        raise InvalidValue("manifest", text[:80], "the canonical form")
    return found


def manifest_of(found: object) -> Manifest:
    """The manifest that these plain values are."""
    problems = list[DocumentProblem]()
    if not isinstance(found, dict):
        raise ManifestRefused([DocumentProblem((), "expected words with values, such as app:")])
    problems += _strange_values(found)
    problems += [
        DocumentProblem((), f"{word} is missing")
        for word in ("app", "version", "title", "roles", "artifacts", "runtime_backend", "runbook")
        if word not in found
    ]
    fields = read_words((), found, words=_TOP, problems=problems)
    fields["roles"] = _each("roles", found, _role, problems=problems)
    fields["artifacts"] = _each("artifacts", found, _artifact, problems=problems)
    fields["endpoints"] = _each("endpoints", found, _endpoint, problems=problems)
    if "parameters" in found:
        fields["parameters"] = found["parameters"]
        bad = check_schema(found["parameters"])
        problems += [replace(each, place=("parameters", *each.place)) for each in bad]
    for word, words in (("rollback", _ROLLBACK), ("health", _HEALTH), ("delete", _DELETE)):
        fields |= _inner(word, found, words, problems=problems)
    if "upgrades" in found:
        fields["upgrades"] = _upgrades(found, problems)
    problems += _check_roles(found, fields)
    hosts = {name: each.privileges is Privilege.HOST for name, each in fields["roles"].items()}
    problems += check_endpoints(fields["endpoints"], hosts)
    problems += _check_runbook(fields.get("runbook"))
    if problems:
        raise ManifestRefused(problems)
    return Manifest(**fields)


# -- words -----------------------------------------------------------------------------------


def _checked(field: str, check: Callable[[str, object], str]) -> Reader:
    return lambda word, value: {field: check(word, as_text(word, value))}


def _prose(most: int) -> Callable[[str, str], str]:
    def check(word: str, text: str) -> str:
        if not 0 < len(text.strip()) <= len(text) <= most:
            raise InvalidValue(word, text, f"1 to {most} characters")
        return text

    return check


def _words(check: Callable[[str, object], Any], *, least: int = 0) -> Reader:
    """A list of words without order, each once."""

    def read(word: str, value: object) -> Fields:
        if not isinstance(value, list) or not least <= len(value) <= LIST_MAX:
            raise InvalidValue(word, value, f"a list of {least} to {LIST_MAX}")
        found = [check(word, as_text(word, each)) for each in value]
        if len(set(found)) < len(found):
            raise InvalidValue(word, value, "each only once")
        return {word: tuple(sorted(found))}

    return read


def _closed(kind: type[Any]) -> Callable[[str, object], Any]:
    known = [each.value for each in kind]

    def check(word: str, text: object) -> Any:
        if text not in known:
            near = nearest_name(text, known)
            hint = f" (did you mean {near}?)" if near else ""
            raise InvalidValue(word, text, "one of " + ", ".join(known) + hint)
        return kind(text)

    return check


def _within(field: str) -> Reader:
    def check(word: str, text: str) -> int:
        found = parse_span(word, text)
        if not 1_000 <= found <= WITHIN_MAX_MS:
            raise InvalidValue(word, text, "1s to 7d")
        return found

    return one(field, check)


def _count(word: str, value: object) -> Fields:
    if type(value) is int:
        return {"count": (value, value)}
    if isinstance(value, list) and len(value) == 2 and all(type(each) is int for each in value):
        return {"count": tuple(value)}
    raise InvalidValue(word, value, "a number, or the least and the most, as [0, 8]")


_TOP: Final[Mapping[str, Reader | None]] = {
    "app": _checked("app", check_slug),
    "version": _checked("version", check_version),
    "title": one("title", _prose(100)),
    "description": one("description", _prose(TEXT_MAX)),
    "parameters": None,
    "roles": None,
    "artifacts": None,
    "endpoints": None,
    "permissions": _words(_closed(Permission)),
    "operating_modes": _words(_closed(OperatingMode), least=1),
    "control_plane_scopes": _words(_closed(ControlPlaneScope), least=1),
    "runtime_backend": _checked("runtime_backend", check_word),
    "scheduler_types": _words(check_word),
    "upgrades": None,
    "rollback": None,
    "health": None,
    "delete": None,
    "billing_units": _words(check_word),
    "runbook": one("runbook", _prose(RUNBOOK_MAX)),
}
_ROLE: Final[Mapping[str, Reader | None]] = {
    "count": _count,
    "shape": None,
    "artifact": plain("artifact"),
    "command": command,
    "ask": command,
    "privileges": word_of("privileges", Privilege),
    "control_plane": flag("control_plane"),
}
_SHAPE: Final[Mapping[str, Reader]] = {
    "cpus": one("cpu_milli", parse_cores),
    "mem": one("mem_bytes", parse_bytes),
    "block": one("block_bytes", parse_bytes),
    "gpus": gpus,
    "vram": one("gpu_vram", parse_bytes),
    "generation": word_of("generation", HardwareGeneration),
    "exclusivity": word_of("exclusivity", Exclusivity),
    "class": word_of("lease_class", LeaseClass),
}
_ARTIFACT: Final[Mapping[str, Reader]] = {
    "kind": word_of("kind", ArtifactKind),
    "digest": plain("digest"),
    "source": _checked("source", check_word),
}
_ROLLBACK: Final = {"data": word_of("rollback_data", DataOnRollback)}
_HEALTH: Final = {"ready_within": _within("ready_within_ms")}
_DELETE: Final = {"within": _within("delete_within_ms")}


# -- parts -----------------------------------------------------------------------------------

Part = Callable[[Place, dict[str, Any], list[DocumentProblem]], Any]


def _each(word: str, top: Fields, read: Part, *, problems: list[DocumentProblem]) -> dict[str, Any]:
    """The named parts under a word."""
    found, parts = top.get(word, {}), {}
    if not isinstance(found, dict) or (not found and word in top) or len(found) > ROLES_MAX:
        problems.append(
            DocumentProblem((word,), f"{word}: expected 1 to {ROLES_MAX} names with words")
        )
        return {}
    for name, each in found.items():
        here = (word, name)
        if not isinstance(each, dict):
            problems.append(DocumentProblem(here, f"{name}: expected words with values"))
            continue
        before = len(problems)
        try:
            parts[check_slug(word, name)] = read(here, each, problems)
        except InvalidValue as error:
            inner = (*here, error.field)
            if len(problems) == before:  # else what is missing was told already
                problems.append(DocumentProblem(inner if error.field in each else here, str(error)))
    return parts


def _role(place: Place, found: dict[str, Any], problems: list[DocumentProblem]) -> RoleSpec:
    fields = read_words(place, found, words=_ROLE, problems=problems)
    missing = [word for word in ("count", "shape", "artifact") if word not in found]
    problems += [DocumentProblem(place, f"role {place[-1]} has no {word}") for word in missing]
    shape = found.get("shape", {})
    if not isinstance(shape, dict):
        problems.append(DocumentProblem((*place, "shape"), "shape: expected words with values"))
        shape = {}
    inner = read_words((*place, "shape"), shape, words=_SHAPE, problems=problems)
    if missing or not {"count", "artifact"} <= {*fields}:
        raise InvalidValue("role", place[-1], "a count, a shape and an artifact")
    try:
        fields["shape"] = RoleShape(**inner)
    except InvalidValue as error:
        raise InvalidValue("shape", shape, error.expected) from None
    return RoleSpec(**fields)


def _artifact(place: Place, found: dict[str, Any], problems: list[DocumentProblem]) -> ArtifactRef:
    fields = read_words(place, found, words=_ARTIFACT, problems=problems)
    missing = [word for word in _ARTIFACT if word not in found]
    problems += [DocumentProblem(place, f"artifact {place[-1]} has no {word}") for word in missing]
    if len(fields) < len(_ARTIFACT):
        raise InvalidValue("artifact", place[-1], "a kind, a digest and a source")
    return ArtifactRef(**fields)


def _endpoint(place: Place, found: dict[str, Any], problems: list[DocumentProblem]) -> EndpointSpec:
    return read_endpoint(place, found, problems=problems)


def _inner(
    word: str, top: Fields, words: Mapping[str, Reader], *, problems: list[DocumentProblem]
) -> Fields:
    found = top.get(word, {})
    if not isinstance(found, dict):
        problems.append(DocumentProblem((word,), f"{word}: expected words with values"))
        return {}
    return read_words((word,), found, words=words, problems=problems)


def _upgrades(top: Fields, problems: list[DocumentProblem]) -> tuple[tuple[str, str], ...]:
    found = top["upgrades"]
    if not isinstance(found, list) or len(found) > LIST_MAX:
        problems.append(
            DocumentProblem(("upgrades",), f"upgrades: expected a list of up to {LIST_MAX}")
        )
        return ()
    paths = list[tuple[str, str]]()
    for at, each in enumerate(found):
        here, before = ("upgrades", at), len(problems)
        if not isinstance(each, dict) or {*each} != {"from", "to"}:
            problems.append(DocumentProblem(here, "an upgrade says from which version to which"))
            continue
        words = {word: _checked(word, check_version) for word in ("from", "to")}
        fields = read_words(here, each, words=words, problems=problems)
        if len(problems) > before:
            continue
        path = (fields["from"], fields["to"])
        if path in paths or path[0] == path[1] or top.get("version") not in path:
            text = f"{path[0]} to {path[1]}: expected two versions, one of them this one, once"
            problems.append(DocumentProblem(here, text))
        elif cycle := find_cycle([*paths, path]):
            problems.append(DocumentProblem(here, "upgrades in a circle: " + " -> ".join(cycle)))
        paths.append(path)
    return tuple(sorted(paths))


def _check_roles(top: Fields, fields: Fields) -> Iterator[DocumentProblem]:
    known = top.get("artifacts")
    for name, role in fields["roles"].items():
        if isinstance(known, dict) and role.artifact not in known:
            place: Place = ("roles", name, "artifact")
            yield DocumentProblem(
                place, f"no artifact {role.artifact!r}", nearest_name(role.artifact, known)
            )
    used = {role.artifact for role in fields["roles"].values()}
    if len(fields["roles"]) == len(top.get("roles") or ()):
        for name in fields["artifacts"]:
            if name not in used:
                yield DocumentProblem(("artifacts", name), f"no role uses the artifact {name}")


def _check_runbook(text: str | None) -> Iterator[DocumentProblem]:
    heads = [line for line in (text or "").lower().splitlines() if line.lstrip().startswith("#")]
    for heading in HEADINGS if text else ():
        if not any(heading in line for line in heads):
            yield DocumentProblem(
                ("runbook",), f"the runbook has no heading '# {heading.capitalize()}'"
            )


def _strange_values(top: Fields) -> Iterator[DocumentProblem]:
    """Keys that sort differently elsewhere, and values that JSON has not or not exactly."""
    waiting: list[tuple[Place, object]] = [((), top)]
    while waiting:  # bounded: each value is met once
        place, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [((*place, name), each) for name, each in value.items()]
            odd = [name for name in value if not (name.isascii() and name.isprintable())]
            yield from (DocumentProblem((*place, name), "a key is printable ASCII") for name in odd)
        elif isinstance(value, list):
            waiting += [((*place, at), each) for at, each in enumerate(value)]
        elif isinstance(value, str):
            if any("\ud800" <= char <= "\udfff" for char in value):
                yield DocumentProblem(place, "half a character: a lone surrogate")
        elif value is not None and not isinstance(value, int | float):
            yield DocumentProblem(place, "expected text or a number; quote it")
