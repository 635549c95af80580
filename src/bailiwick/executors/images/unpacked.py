"""Images that jobs run in: found by name, checked by digest, unpacked once, never trusted.

An image is an OCI layout, a folder or an archive of one (``.tar``), that whoever runs the machine
has put into its folder of images, by hand or with :mod:`bailiwick.executors.images`. To start a
job fetches nothing from anywhere.

Rules:

- Every blob is what its digest says, or the image is refused. The same manifest is unpacked once;
  the folder appears as a whole.
- A layer is written only below its root: absolute names, ``..`` and links cannot lead out of it.
  There are no device nodes, no set-user bits and no owners: all files are the server's.
- Whiteouts remove what lower layers had, and nothing of their own layer.
- Bytes, entries and layers are bounded, in what is unpacked and not in what a header claims.
- What cannot be used is ``InvalidValue`` for the field ``image``, with the reason.

>>> parse_name("tools:v2")
ImageName(name='tools', tag='v2', digest=None)
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import platform
import re
import shutil
import tarfile
import tempfile
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from bailiwick.executors.images.layers import ImageBounds, Unpacking, refuse
from bailiwick.vocab.errors import InvalidValue

_NAME = re.compile(
    r"([a-z0-9]+(?:[._-][a-z0-9]+)*)(?::([A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?"
    r"(?:@(sha256:[0-9a-f]{64}))?"
)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
NAME_MAX = 255
_DOCUMENT_MAX = 4 << 20
LAYERS_MAX = 127
_PIECE = 1 << 20
_TAG = "org.opencontainers.image.ref.name"
_MACHINES: Final = {"aarch64": "arm64", "x86_64": "amd64"}
_ROOTFS, _CONFIG = "rootfs", "config.json"


@dataclass(frozen=True, slots=True)
class ImageName:
    """Which image: a file or folder, which of its tags, and (if said) exactly which digest."""

    name: str
    tag: str | None = None
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class UnpackedImage:
    """An image that can be run: its files, and the environment that it asks for."""

    root: Path
    env: Mapping[str, str]


def parse_name(text: str) -> ImageName:
    """``NAME``, ``NAME:TAG``, either with ``@sha256:...``."""
    found = _NAME.fullmatch(text) if len(text) <= NAME_MAX else None
    if found is None:
        raise InvalidValue("image", text[:NAME_MAX], "NAME, NAME:TAG or NAME@sha256:DIGEST")
    return ImageName(found[1], found[2], found[3])


class Images:
    """The images of one machine, and where they are unpacked."""

    def __init__(self, folder: Path, cache: Path, *, bounds: ImageBounds | None = None) -> None:
        self._folder, self._cache = folder, cache
        self._bounds = bounds or ImageBounds()
        self._lock = threading.Lock()

    def unpacked(self, text: str) -> UnpackedImage:
        """The image of that name, ready to be a root; the first time it is unpacked."""
        wish = parse_name(text)
        with opened(self._folder, wish.name) as blobs:
            digest, manifest = find_manifest(blobs, wish)
            at = self._cache / digest.partition(":")[2]
            with self._lock:
                if not at.is_dir():
                    self._unpack(blobs, manifest, at)
        env = json.loads((at / _CONFIG).read_bytes())
        return UnpackedImage(at / _ROOTFS, env)

    def _unpack(self, blobs: Blobs, manifest: Mapping[str, Any], at: Path) -> None:
        self._cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=".new-", dir=self._cache))
        try:
            config = blobs.document(_digest_of(manifest.get("config")))
            layers = manifest.get("layers")
            if not isinstance(layers, list) or not 1 <= len(layers) <= LAYERS_MAX:
                raise refuse(f"1 to {LAYERS_MAX} layers")
            unpacking = Unpacking(draft / _ROOTFS, self._bounds)
            for layer in layers:
                with blobs.checked(_digest_of(layer)) as file, _plain(layer, file) as plain:
                    unpacking.add(plain)
            unpacking.finish()
            (draft / _CONFIG).write_text(json.dumps(_env_of(config)), encoding="utf-8")
            draft.rename(at)
        except InvalidValue:
            raise
        except (OSError, EOFError, ValueError, zlib.error, tarfile.TarError) as error:
            raise refuse(f"layers that can be unpacked ({error})") from None
        finally:
            shutil.rmtree(draft, ignore_errors=True)


class Blobs:
    """What an image is made of, by digest; from a folder or an archive."""

    def __init__(self, folder: Path | None, archive: tarfile.TarFile | None) -> None:
        self._folder, self._archive = folder, archive

    def index(self) -> Mapping[str, Any]:
        """The document that an image begins with."""
        with self._open("index.json") as file:
            return _parse(file.read(_DOCUMENT_MAX + 1))

    def document(self, digest: str) -> Mapping[str, Any]:
        """A small document, if it has that digest."""
        with self._open(_path_of(digest)) as file:
            data = file.read(_DOCUMENT_MAX + 1)
        if f"sha256:{hashlib.sha256(data).hexdigest()}" != digest:
            raise refuse(f"a blob that is what {digest[:19]}... says")
        return _parse(data)

    @contextmanager
    def checked(self, digest: str) -> Iterator[IO[bytes]]:
        """A blob, from its beginning, after all of it was seen to have that digest."""
        with self._open(_path_of(digest)) as file:
            seen = hashlib.sha256()
            while piece := file.read(_PIECE):  # to the end of the file
                seen.update(piece)
            if f"sha256:{seen.hexdigest()}" != digest:
                raise refuse(f"a blob that is what {digest[:19]}... says")
            file.seek(0)
            yield file

    @contextmanager
    def _open(self, path: str) -> Iterator[IO[bytes]]:
        try:
            found: IO[bytes] | None
            if self._archive is not None:
                member = self._archive.getmember(path)
                found = self._archive.extractfile(member) if member.isreg() else None
            else:
                assert self._folder is not None
                found = (self._folder / path).open("rb")
        except (KeyError, OSError):
            found = None
        if found is None:
            raise refuse(f"an OCI layout with {path}")
        with found:
            yield found


@contextmanager
def opened(folder: Path, name: str) -> Iterator[Blobs]:
    """What an image of the folder is made of."""
    # A name has no slash, so it is below the folder; what lies there is the operator's.
    path, packed = folder / name, folder / f"{name}.tar"
    if path.is_dir():
        yield Blobs(path, None)
        return
    if not packed.is_file():
        raise refuse(f"one that is in the machine's folder of images, not {name!r}")
    try:
        with tarfile.open(packed, "r:") as archive:
            yield Blobs(None, archive)
    except (tarfile.TarError, OSError) as error:
        raise refuse(f"an OCI archive ({error})") from None


def find_manifest(blobs: Blobs, wish: ImageName) -> tuple[str, Mapping[str, Any]]:
    """The manifest that is meant for this machine, and its digest."""
    rows = _rows(blobs.index())
    if wish.tag is not None:
        rows = [row for row in rows if (row.get("annotations") or {}).get(_TAG) == wish.tag]
    for _ in range(2):  # an index may name an index of machines
        if wish.digest is not None and any(row.get("digest") == wish.digest for row in rows):
            rows = [row for row in rows if row.get("digest") == wish.digest]
        here = [row for row in rows if is_for_here(row.get("platform"))]
        if len(here) != 1:
            raise refuse(f"exactly one image for this machine under that name, not {len(here)}")
        digest = _digest_of(here[0])
        found = blobs.document(digest)
        if "manifests" not in found:
            if wish.digest not in (None, digest, rows[0].get("digest")):
                raise refuse(f"one with the digest {wish.digest}")
            return digest, found
        if wish.digest == digest:
            wish = ImageName(wish.name)
        rows = _rows(found)
    raise refuse("an index of images, not of indexes")


def _rows(index: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = index.get("manifests")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise refuse("an index that lists manifests")
    return rows


def is_for_here(platform_: object) -> bool:
    """Whether what is meant for that machine runs on this one."""
    if not isinstance(platform_, dict):
        return True
    machine = _MACHINES.get(platform.machine(), platform.machine())
    return (platform_.get("os"), platform_.get("architecture")) == ("linux", machine)


def check_media(layer: Mapping[str, Any]) -> bool:
    """Whether a layer is packed by gzip, or not at all; of another kind it is refused."""
    media = str(layer.get("mediaType", ""))
    if media.endswith(("+zstd", ".zstd")):
        fix = "skopeo copy --dest-compress-format gzip packs it again"
        raise refuse(f"layers packed by gzip or not at all, not by zstd ({fix})")
    if not media.endswith((".tar", "tar.v1", "+gzip", ".gzip")):
        raise refuse(f"layers as tar or tar+gzip, not {media!r}")
    return media.endswith("gzip")


@contextmanager
def _plain(layer: Mapping[str, Any], file: IO[bytes]) -> Iterator[IO[bytes]]:
    if check_media(layer):
        with gzip.open(file) as plain:
            yield plain  # type: ignore[misc]
    else:
        yield file


def _digest_of(row: object) -> str:
    digest = row.get("digest") if isinstance(row, Mapping) else None
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise refuse("digests of SHA-256")
    return digest


def _path_of(digest: str) -> str:
    return os.path.join("blobs", *digest.split(":"))


def _parse(data: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(data) if len(data) <= _DOCUMENT_MAX else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise refuse("documents that are JSON objects, of 4 MiB at most")
    return found


def _env_of(config: Mapping[str, Any]) -> dict[str, str]:
    inner = config.get("config")
    rows = inner.get("Env") if isinstance(inner, dict) else None
    texts = [row for row in rows or () if isinstance(row, str) and "\0" not in row]
    pairs = (text.partition("=") for text in texts)
    return {name: value for name, equals, value in pairs if name and equals}
