"""The folder of a machine's images: what is in it, what is put there, what is taken away.

Rules:

- An image that is fetched appears as a whole, after all of it was seen to be what it should be; of
  one that was cut short nothing is left.
- Only what this machine can run is fetched; what it could not unpack is refused before.
- The same image again is no fault. Another one under the same name is: a job that names it would
  get something else.
- To remove an image leaves what was unpacked of it: a job may run in that.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bailiwick.executors.images.registry import (
    DOCUMENT_BYTES_MAX,
    Credentials,
    ImageReference,
    RegistryClient,
)
from bailiwick.executors.images.unpacked import (
    LAYERS_MAX,
    ImageName,
    check_media,
    find_manifest,
    is_for_here,
    opened,
    parse_name,
)
from bailiwick.vocab.errors import BailiwickError, Conflict, InvalidValue, NotFound, Unavailable
from bailiwick.vocab.values import GIB

FETCHED_BYTES_MAX: Final = 32 * GIB
_BLOBS: Final = Path("blobs", "sha256")


@dataclass(frozen=True, slots=True)
class FoundImage:
    """An image of this machine, as far as it can be read."""

    name: str
    digest: str | None
    """Of its manifest for this machine; ``None``: it cannot be used."""
    fault: str = ""
    bytes: int = 0
    """Of what is packed, its layers together."""
    layers: int = 0
    env: Mapping[str, str] | None = None


def pull(
    reference: ImageReference,
    folder: Path,
    *,
    name: str | None = None,
    credentials: Credentials | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> FoundImage:
    """Fetch an image, whole, into the folder; what is there already is not fetched again."""
    called = parse_name(name or reference.name)
    if called.tag is not None or called.digest is not None:
        raise InvalidValue("--as", name, "a name alone")
    at = folder / called.name
    if at.exists() or at.with_name(f"{called.name}.tar").exists():
        return _same(folder, called.name, reference.digest)
    client = RegistryClient(reference, credentials)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=".new-", dir=folder))
        try:
            _fetch(client, reference.digest, draft, say=say)
            draft.rename(at)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    except OSError as error:
        raise Unavailable("the folder of images", error.strerror) from None
    finally:
        client.close()
    return look(folder, called.name)


def _same(folder: Path, name: str, digest: str) -> FoundImage:
    try:
        with opened(folder, name) as blobs:
            find_manifest(blobs, ImageName(name, digest=digest))
    except InvalidValue:
        why = "is there, and is another image"
        raise Conflict("image", name, why, hint="remove it, or give --as") from None
    return look(folder, name)


def _fetch(client: RegistryClient, digest: str, draft: Path, *, say: Callable[[str], None]) -> None:
    (draft / _BLOBS).mkdir(parents=True)
    top = client.manifest(digest)
    _keep(draft, digest, top)
    manifest = _parse(top)
    head = {"mediaType": _media(manifest), "digest": digest, "size": len(top)}
    if "manifests" in manifest:
        rows = [row for row in _rows(manifest, "manifests") if is_for_here(row.get("platform"))]
        if len(rows) != 1:
            raise _refuse(f"one image for this machine, not {len(rows)}")
        inner = client.manifest(_digest(rows[0]))
        _keep(draft, _digest(rows[0]), inner)
        manifest = _parse(inner)
    layers = _rows(manifest, "layers")
    if not 1 <= len(layers) <= LAYERS_MAX:
        raise _refuse(f"1 to {LAYERS_MAX} layers")
    for layer in layers:
        check_media(layer)
    wanted = [manifest.get("config") or {}, *layers]
    total = sum(_size(row) for row in wanted)
    if total > FETCHED_BYTES_MAX or _size(wanted[0]) > DOCUMENT_BYTES_MAX:
        raise _refuse(f"at most {FETCHED_BYTES_MAX} bytes")
    for number, row in enumerate(wanted):
        say(f"{number} of {len(wanted)}: {_digest(row)[:19]}... ({_size(row)} bytes)")
        path = draft / _BLOBS / _digest(row).partition(":")[2]
        with path.open("wb") as file:
            client.blob(_digest(row), _size(row), into=file)
    index = {"schemaVersion": 2, "manifests": [head]}
    (draft / "index.json").write_text(json.dumps(index), encoding="utf-8")
    (draft / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}', encoding="utf-8")


def _keep(draft: Path, digest: str, data: bytes) -> None:
    (draft / _BLOBS / digest.partition(":")[2]).write_bytes(data)


# -- what is there ---------------------------------------------------------------------------


def list_images(folder: Path) -> list[FoundImage]:
    """Every image of the folder, by name."""
    return [look(folder, name) for name in sorted(set(_names(folder)))]


def _names(folder: Path) -> Iterator[str]:
    try:
        paths = [*folder.iterdir()]
    except FileNotFoundError:
        return
    for path in paths:
        name = path.name.removesuffix(".tar") if path.is_file() else path.name
        if not name.startswith(".") and (path.is_dir() or path.name.endswith(".tar")):
            yield name


def look(folder: Path, name: str) -> FoundImage:
    """One image; one that is not there is an error, one that cannot be used says why."""
    try:
        parse_name(name)
    except InvalidValue:
        return FoundImage(name, None, "its name is none of an image")
    if not (folder / name).is_dir() and not (folder / f"{name}.tar").is_file():
        raise NotFound("image", name, hint="bailiwick image list shows those of this machine")
    try:
        with opened(folder, name) as blobs:
            digest, manifest = find_manifest(blobs, ImageName(name))
            layers = _rows(manifest, "layers")
            for layer in layers:
                check_media(layer)
            config = blobs.document(_digest(manifest.get("config")))
    except BailiwickError as error:
        return FoundImage(name, None, str(error))
    inner = config.get("config")
    env = [row for row in (inner or {}).get("Env") or () if isinstance(row, str)]
    told = dict(row.partition("=")[::2] for row in env)
    return FoundImage(name, digest, "", sum(map(_size, layers)), len(layers), told)


def remove(folder: Path, name: str) -> None:
    """Take an image away; one that is not there is an error."""
    parse_name(name)
    path, packed = folder / name, folder / f"{name}.tar"
    try:
        if path.is_dir():
            gone = Path(tempfile.mkdtemp(prefix=".gone-", dir=folder))
            path.rename(gone / name)
            shutil.rmtree(gone)
        elif packed.is_file():
            packed.unlink()
        else:
            raise NotFound("image", name, hint="bailiwick image list shows those of this machine")
    except OSError as error:
        raise Unavailable("the folder of images", error.strerror) from None


# -- documents -------------------------------------------------------------------------------


def _refuse(expected: str) -> InvalidValue:
    return InvalidValue("image", "(it)", expected)


def _parse(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise _refuse("documents that are JSON objects")
    return found


def _rows(document: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    rows = document.get(key)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise _refuse(f"a document that lists {key}")
    return rows


def _media(document: Mapping[str, Any]) -> str:
    return str(document.get("mediaType") or "application/vnd.oci.image.manifest.v1+json")


def _digest(row: object) -> str:
    digest = row.get("digest") if isinstance(row, Mapping) else None
    text = digest if isinstance(digest, str) else ""
    if len(text) != 71 or not text.startswith("sha256:"):
        raise _refuse("digests of SHA-256")
    if not set("0123456789abcdef").issuperset(text[7:]):
        raise _refuse("digests of SHA-256")
    return text


def _size(row: Mapping[str, Any]) -> int:
    size = row.get("size")
    if not isinstance(size, int) or not 0 <= size <= FETCHED_BYTES_MAX:
        raise _refuse("descriptors that tell a size")
    return size
