"""OCI images, packed by hand from rows of files: good ones, and ones that nobody should make."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import platform
import subprocess
import tarfile
from pathlib import Path
from typing import Any

MACHINE = {"aarch64": "arm64", "x86_64": "amd64"}.get(platform.machine(), platform.machine())
LAYER = "application/vnd.oci.image.layer.v1.tar"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def row(name: str, data: bytes = b"", **more: Any) -> tuple[tarfile.TarInfo, bytes]:
    """A member of a layer; ``more`` are fields of its header."""
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(data), 0o644
    for field, value in more.items():
        setattr(info, field, value)
    return info, data


def folder(name: str, mode: int = 0o755) -> tuple[tarfile.TarInfo, bytes]:
    """A folder."""
    return row(name, type=tarfile.DIRTYPE, mode=mode)


def link(name: str, target: str) -> tuple[tarfile.TarInfo, bytes]:
    """A symbolic link."""
    return row(name, type=tarfile.SYMTYPE, linkname=target)


def layer(*rows: tuple[tarfile.TarInfo, bytes]) -> bytes:
    """A plain tar of these rows."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for info, data in rows:
            tar.addfile(info, io.BytesIO(data))
    return made.getvalue()


def programs(*names: str) -> list[tuple[tarfile.TarInfo, bytes]]:
    """Programs of this machine and the libraries that they need, for an image."""
    parts: dict[str, str] = {}
    for name in names:
        program = Path(f"/bin/{name}").resolve()
        parts[str(program)] = f"bin/{name}"
        told = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        found = (word for line in told.splitlines() for word in line.split())
        libraries = {word for word in found if word.startswith("/")} - {str(program)}
        parts |= {path: path[1:] for path in libraries}
    return [row(name, Path(path).read_bytes(), mode=0o755) for path, name in parts.items()]


def pack(
    at: Path,
    *layers: bytes,
    env: tuple[str, ...] = (),
    tag: str = "latest",
    zipped: bool = True,
    media: str | None = None,
) -> str:
    """Write an OCI layout into a folder; the digest of its manifest."""
    (at / "blobs/sha256").mkdir(parents=True)

    def blob(data: bytes, media: str) -> dict[str, Any]:
        digest = hashlib.sha256(data).hexdigest()
        (at / "blobs/sha256" / digest).write_bytes(data)
        return {"mediaType": media, "digest": f"sha256:{digest}", "size": len(data)}

    config = {"architecture": MACHINE, "os": "linux", "config": {"Env": list(env)}}
    packed = [
        blob(each, media)
        if media is not None
        else blob(gzip.compress(each, mtime=0), LAYER + "+gzip")
        if zipped
        else blob(each, LAYER)
        for each in layers
    ]
    made = {
        "schemaVersion": 2,
        "config": blob(json.dumps(config).encode(), "application/vnd.oci.image.config.v1+json"),
        "layers": packed,
    }
    manifest = blob(json.dumps(made).encode(), MANIFEST)
    manifest["annotations"] = {"org.opencontainers.image.ref.name": tag}
    (at / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [manifest]}))
    (at / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    return str(manifest["digest"])


def archive(source: Path, at: Path) -> None:
    """The same as one file."""
    with tarfile.open(at, "w") as tar:
        for path in sorted(source.rglob("*")):
            tar.add(path, path.relative_to(source).as_posix(), recursive=False)
