"""Artifacts that are fetched: from a real registry, a real place of blobs and a folder, and from
servers that lie, never end, send elsewhere or drip."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from ipaddress import ip_network
from pathlib import Path

import pytest

from bailiwick.apps.artifacts import Artifact, ArtifactSource
from bailiwick.executors.artifacts.fetching import Fetcher
from bailiwick.executors.artifacts.guarded import AddressForbidden
from bailiwick.executors.artifacts.store import ArtifactStore
from bailiwick.vocab.apps import ArtifactKind, SourceTier
from bailiwick.vocab.apps import VerificationReason as Why
from bailiwick.vocab.errors import (
    InvalidValue,
    LimitReached,
    NotFound,
    Unavailable,
    VerificationFailed,
)
from tests.support.blob_place import BlobPlace, answer, blob_place, drip, endless
from tests.support.oci_images import layer, pack, row
from tests.support.signing import BUNDLE, BundleSigner, MinisignSigner
from tests.support.small_registry import (
    SECRET,
    TOKEN,
    SmallRegistry,
    add_signature,
    small_registry,
)

DATA = b"what an app is made of\n" * 5_000
DIGEST = f"sha256:{hashlib.sha256(DATA).hexdigest()}"
BLOB = Artifact(DIGEST, ArtifactKind.BLOB, "main")
SIGNER = MinisignSigner()


def source(address: str, *keys: str, tier: SourceTier = SourceTier.PLATFORM) -> ArtifactSource:
    kind = ArtifactKind.BLOB if "://" in address else ArtifactKind.OCI
    return ArtifactSource("main", tier, kind, address, keys)


@pytest.fixture
def fetcher(tmp_path: Path) -> Fetcher:
    return Fetcher(ArtifactStore(tmp_path / "store"), seconds_max=60.0)


@pytest.fixture(scope="module")
def shared_place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlobPlace]:
    folder = tmp_path_factory.mktemp("place")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(folder / "cert.pem"))
        with blob_place(folder) as place:
            yield place


@pytest.fixture
def place(shared_place: BlobPlace) -> BlobPlace:
    shared_place.held.clear()
    shared_place.asked.clear()
    shared_place.behave = lambda handler: False
    shared_place.put(DIGEST, DATA)
    return shared_place


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[SmallRegistry]:
    pack(tmp_path / "app", layer(row("run", b"#!/bin/sh\n")), layer(row("data", b"x" * 9000)))
    with small_registry(app=tmp_path / "app") as found:
        yield found


def image(registry: SmallRegistry) -> Artifact:
    text = (registry.layouts["app"] / "index.json").read_text()
    return Artifact(text.partition('"digest": "')[2][:71], ArtifactKind.OCI, "main")


def seen(fetcher: Fetcher) -> list[str]:
    """What somebody could find in the store."""
    folder = fetcher.store.folder
    return sorted(each.name for each in folder.iterdir()) if folder.exists() else []


# -- what is good ----------------------------------------------------------------------------


def test_a_blob_of_the_web_is_here_once(fetcher: Fetcher, place: BlobPlace) -> None:
    found = fetcher.verify(BLOB, source(place.address))
    assert found.reason is Why.DIGEST_MATCHES
    assert found.fetched == ((DIGEST,), len(DATA))
    assert fetcher.store.path(DIGEST).read_bytes() == DATA
    fetcher.verify(BLOB, source(place.address))
    assert len(place.asked) == 1


def test_a_blob_of_a_folder_is_here_with_its_signature(fetcher: Fetcher, tmp_path: Path) -> None:
    at = tmp_path / "apps/sha256" / DIGEST.removeprefix("sha256:")
    at.parent.mkdir(parents=True)
    at.write_bytes(DATA)
    ours = source(f"file://{tmp_path}/apps", SIGNER.public)
    with pytest.raises(VerificationFailed) as failed:
        fetcher.verify(BLOB, ours)
    assert failed.value.reason == Why.NOT_SIGNED
    at.with_name(at.name + ".minisig").write_text(SIGNER.sign(DATA))
    assert fetcher.verify(BLOB, ours)[1:] == (Why.SIGNATURE_VALID, SIGNER.public)


def test_an_artifact_of_a_registry_comes_whole_and_is_signed(
    fetcher: Fetcher, registry: SmallRegistry
) -> None:
    artifact, address = image(registry), f"{registry.host}/app"
    found = fetcher.verify(artifact, source(address))
    assert len(found.fetched.parts) == 4
    assert found.fetched.parts[0] == artifact.digest
    manifest = fetcher.store.path(artifact.digest).read_bytes()
    signed = source(address, SIGNER.public)
    with pytest.raises(VerificationFailed) as failed:
        fetcher.verify(artifact, signed)
    assert failed.value.reason == Why.NOT_SIGNED
    media = "application/vnd.bailiwick.minisign.v1"
    for text in (SIGNER.sign(b"another"), SIGNER.sign(manifest)):
        add_signature(registry.layouts["app"], artifact.digest, text=text, media=media)
    assert fetcher.verify(artifact, signed).key == SIGNER.public


def test_a_fetch_that_broke_off_goes_on_from_there(fetcher: Fetcher, place: BlobPlace) -> None:
    def break_off(handler: BaseHTTPRequestHandler) -> bool:
        if handler.headers.get("Range"):
            return False
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(DATA)))
        handler.end_headers()
        handler.wfile.write(DATA[:70_000])
        handler.close_connection = True
        return True

    place.behave = break_off
    with pytest.raises(Unavailable):
        fetcher.fetch(BLOB, source(place.address))
    assert not fetcher.store.has(DIGEST)
    fetcher.fetch(BLOB, source(place.address))
    assert place.asked[-1][1] == "bytes=70000-"
    assert fetcher.store.path(DIGEST).read_bytes() == DATA


def test_a_half_that_is_no_part_of_it_is_fetched_anew(fetcher: Fetcher, place: BlobPlace) -> None:
    half = fetcher.store.path(DIGEST).with_name(DIGEST.removeprefix("sha256:") + ".part")
    half.parent.mkdir()
    half.write_bytes(b"something else")
    fetcher.fetch(BLOB, source(place.address))
    assert fetcher.store.path(DIGEST).read_bytes() == DATA


def test_what_a_disk_changed_is_fetched_anew(fetcher: Fetcher, place: BlobPlace) -> None:
    fetcher.fetch(BLOB, source(place.address))
    path = fetcher.store.path(DIGEST)
    path.chmod(0o600)
    path.write_bytes(DATA[:-1] + b"X")
    fetcher.verify(BLOB, source(place.address))
    assert path.read_bytes() == DATA


# -- what is not -----------------------------------------------------------------------------


def test_other_bytes_are_refused_and_never_seen(fetcher: Fetcher, place: BlobPlace) -> None:
    place.put(DIGEST, DATA[:-1] + b"X")
    with pytest.raises(VerificationFailed) as failed:
        fetcher.fetch(BLOB, source(place.address))
    assert failed.value.reason == Why.DIGEST_DIFFERS
    assert seen(fetcher) == []


def test_a_body_without_an_end_is_cut_off(fetcher: Fetcher, place: BlobPlace) -> None:
    place.behave = endless
    fetcher.bytes_max = 1 << 20
    with pytest.raises(VerificationFailed) as failed:
        fetcher.fetch(BLOB, source(place.address))
    assert failed.value.reason == Why.TOO_LARGE
    assert seen(fetcher) == []


def test_a_signature_without_an_end_is_cut_off(fetcher: Fetcher, place: BlobPlace) -> None:
    def behave(handler: BaseHTTPRequestHandler) -> bool:
        return handler.path.endswith(".minisig") and endless(handler)

    place.behave = behave
    with pytest.raises(VerificationFailed) as failed:
        fetcher.verify(BLOB, source(place.address, SIGNER.public))
    assert failed.value.reason == Why.SIGNATURE_MALFORMED


def test_one_who_drips_holds_nobody_up(fetcher: Fetcher, place: BlobPlace) -> None:
    place.behave = drip
    fetcher.seconds_max = 0.5
    began = time.monotonic()
    with pytest.raises(Unavailable):
        fetcher.fetch(BLOB, source(place.address))
    assert time.monotonic() - began < 60  # the headers alone would take 200 s


def test_a_redirect_to_another_host_is_refused(fetcher: Fetcher, place: BlobPlace) -> None:
    def elsewhere(handler: BaseHTTPRequestHandler) -> bool:
        answer(handler, b"", code=302, Location="https://169.254.169.254/latest/meta-data")
        return True

    place.behave = elsewhere
    with pytest.raises(InvalidValue, match="redirect"):
        fetcher.fetch(BLOB, source(place.address))


def test_what_is_not_there_is_not_there(fetcher: Fetcher, place: BlobPlace) -> None:
    place.held.clear()
    with pytest.raises(NotFound):
        fetcher.fetch(BLOB, source(place.address))


def test_a_registry_that_lies_about_a_part_is_refused(
    fetcher: Fetcher, registry: SmallRegistry
) -> None:
    artifact, address = image(registry), f"{registry.host}/app"
    good = fetcher.fetch(artifact, source(address)).parts
    for number, part in enumerate(good):
        registry.instead = {part: b"{}" if number else b'{"layers": []}'}
        other = replace_store(fetcher, f"other-{number}")
        with pytest.raises(VerificationFailed) as failed:
            other.verify(artifact, source(address))
        assert failed.value.reason == Why.DIGEST_DIFFERS
        assert part.removeprefix("sha256:") not in seen(other)


def replace_store(fetcher: Fetcher, name: str) -> Fetcher:
    return Fetcher(ArtifactStore(fetcher.store.folder.with_name(name)))


def test_a_manifest_that_names_too_much_is_refused(
    fetcher: Fetcher, registry: SmallRegistry
) -> None:
    fetcher.bytes_max = 700
    with pytest.raises(VerificationFailed) as failed:
        fetcher.fetch(image(registry), source(f"{registry.host}/app"))
    assert failed.value.reason == Why.TOO_LARGE


def test_the_fleets_password_is_for_its_own_sources_and_no_other_host(
    fetcher: Fetcher, registry: SmallRegistry, place: BlobPlace, tmp_path: Path
) -> None:
    artifact, address = image(registry), f"{registry.host}/app"
    registry.is_open = False
    with pytest.raises(InvalidValue):
        fetcher.fetch(artifact, source(address))
    fetcher.credentials = tmp_path / "registries.json"
    plain = "cmVhZGVyOnMzY3JldC13b3Jk"  # reader and the word
    fetcher.credentials.write_text(f'{{"auths": {{"{registry.host}": {{"auth": "{plain}"}}}}}}')
    fetcher.credentials.chmod(0o600)
    told = list[str]()

    def listen(handler: BaseHTTPRequestHandler) -> bool:
        told.append(str(handler.headers))
        return False

    place.behave, registry.moved_to = listen, f"https://{place.host}"
    with pytest.raises(NotFound):
        fetcher.fetch(artifact, source(address))
    assert told
    assert not any(TOKEN in each or SECRET in each for each in told)
    registry.moved_to = ""
    fetcher.fetch(artifact, source(address))
    fetcher.networks = (ip_network("127.0.0.0/8"),)
    own, other = source(address, tier=SourceTier.TENANT), replace_with(fetcher, tmp_path)
    with pytest.raises(InvalidValue):  # a tenant that names the same registry is nobody there
        other.fetch(artifact, own)


def replace_with(fetcher: Fetcher, tmp_path: Path) -> Fetcher:
    store = ArtifactStore(tmp_path / "another")
    return Fetcher(store, credentials=fetcher.credentials, networks=fetcher.networks)


def test_for_a_tenant_no_inner_address_and_no_folder_is_asked(
    fetcher: Fetcher, registry: SmallRegistry, place: BlobPlace, tmp_path: Path
) -> None:
    tenant = SourceTier.TENANT
    for address in (place.address, f"https://localhost:{place.host.partition(':')[2]}/apps"):
        with pytest.raises(AddressForbidden):
            fetcher.fetch(BLOB, source(address, tier=tenant))
    with pytest.raises(AddressForbidden):
        fetcher.fetch(image(registry), source(f"{registry.host}/app", tier=tenant))
    with pytest.raises(AddressForbidden):
        fetcher.fetch(BLOB, source(f"file://{tmp_path}", tier=tenant))
    assert place.asked == []
    assert registry.asked == []
    fetcher.networks = (ip_network("127.0.0.0/8"),)
    fetcher.fetch(BLOB, source(place.address, tier=tenant))


def test_a_link_or_a_pipe_in_a_folder_is_no_blob(fetcher: Fetcher, tmp_path: Path) -> None:
    at = tmp_path / "apps/sha256" / DIGEST.removeprefix("sha256:")
    at.parent.mkdir(parents=True)
    (tmp_path / "real").write_bytes(DATA)
    at.symlink_to(tmp_path / "real")
    with pytest.raises(NotFound):
        fetcher.fetch(BLOB, source(f"file://{tmp_path}/apps"))


def test_room_is_made_for_what_is_used_and_nothing_larger_fits(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path / "store", bytes_max=100)
    made = [bytes([n]) * 40 for n in range(3)]
    names = [f"sha256:{hashlib.sha256(each).hexdigest()}" for each in made]
    for data, name in zip(made, names, strict=True):
        with store.drafting(name, size_max=1000) as draft:
            draft.write(data)
    assert [store.has(each) for each in names] == [False, True, True]
    big = b"x" * 101
    name = f"sha256:{hashlib.sha256(big).hexdigest()}"
    with pytest.raises(LimitReached), store.drafting(name, size_max=1000) as draft:
        draft.write(big)


def test_two_fetches_of_one_digest_do_not_mix(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path / "store")
    with store.drafting(DIGEST, size_max=1 << 20) as draft:
        with pytest.raises(Unavailable), store.drafting(DIGEST, size_max=1 << 20):
            raise AssertionError
        draft.write(DATA)
    assert store.has(DIGEST)


def test_a_bundle_of_a_registry_is_read(fetcher: Fetcher, registry: SmallRegistry) -> None:
    artifact, address, signer = image(registry), f"{registry.host}/app", BundleSigner()
    fetcher.fetch(artifact, source(address))
    text = json.dumps(signer.envelope(fetcher.store.path(artifact.digest).read_bytes()))
    add_signature(registry.layouts["app"], artifact.digest, text=text, media=BUNDLE)
    found = fetcher.verify(artifact, source(address, signer.public))
    assert found.key == signer.public
