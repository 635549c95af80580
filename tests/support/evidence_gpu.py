"""Reports of GPUs and switches that do not exist, and manifests for them, by our own authorities.

``python -m tests.support.evidence_gpu`` writes tests/vectors/attestation/gpu-cc again, to the same
bytes. Manifests are made canonical by lxml, so that ours is held against another's.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256, sha384
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from lxml import etree

from bailiwick.attestation.evidence import Evidence, EvidenceContext
from bailiwick.vocab.trust import EvidenceKind
from tests.support.attestation_cases import own
from tests.support.certificates import (
    AT_MS,
    DAY_MS,
    Wanted,
    der,
    ec_key,
    issue,
    leaf_wanted,
    pem,
)

NONCE = sha256(b"gpu nonce").digest()
FWID = sha384(b"firmware").digest()
OTHER_FWID = sha384(b"other firmware").digest()
DRIVER, VBIOS = "545.00", "96.00.5E.00.01"
BLOCKS = tuple(sha384(f"block {index}".encode()).digest() for index in range(16))
SWID = "http://standards.iso.org/iso/19770/-2/2015/schema.xsd"
HASH = "http://www.w3.org/2001/04/xmlenc#sha384"
DS = "http://www.w3.org/2000/09/xmldsig#"
C14N = "http://www.w3.org/2006/12/xml-c14n11"
MORE = "http://www.w3.org/2001/04/xmldsig-more#"
LONG = {"begins_ms": AT_MS - 900 * DAY_MS, "ends_ms": AT_MS + 9000 * DAY_MS}
RIM_ENDS_MS = AT_MS + 400 * DAY_MS


def tlv(tag: int, *contents: bytes) -> bytes:
    """One value in DER."""
    content = b"".join(contents)
    size = len(content)
    if size < 0x80:
        return bytes((tag, size)) + content
    octets = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes((tag, 0x80 | len(octets))) + octets + content


def firmware_pair(digest: bytes) -> bytes:
    """An algorithm (SHA-384) and a digest."""
    return tlv(0x30, tlv(0x06, bytes.fromhex("608648016503040202")), tlv(0x04, digest))


def composite_id(digest: bytes, public: ec.EllipticCurvePublicKey) -> bytes:
    """The older form: version, public key, firmware."""
    spki = public.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return tlv(0x30, tlv(0x02, b"\x01"), spki, firmware_pair(digest))


def tcb_info(*digests: bytes) -> bytes:
    """TCG's form, as Blackwell has it: vendor, model, and a list of firmware."""
    fwids = tlv(0xA6, *(firmware_pair(each) for each in digests))
    return tlv(0x30, tlv(0x80, b"NVIDIA"), tlv(0x81, b"GB100 A01 GSP"), fwids, tlv(0x89, b"\0"))


@dataclass(frozen=True)
class Device:
    """A device that does not exist, as far as it differs from a Hopper GPU in good order."""

    model: str = "GH100 A01 GSP"
    firmware: tuple[str, bytes] | None = ("2.23.133.5.4.1", b"")
    """Where the certificate names firmware, and how; empty bytes for the good one."""
    root: str = "device-root"
    leaf: Wanted = field(default_factory=lambda: leaf_wanted(**LONG))
    boot: Wanted = field(default_factory=lambda: Wanted(**LONG))
    blocks: Sequence[bytes] = BLOCKS
    opaque: Mapping[int, bytes] = field(
        default_factory=lambda: {
            6: bytes.fromhex("005e009601000000"),
            3: DRIVER.encode() + b"\0",
            11: b"\x55",
            20: FWID,
        }
    )

    @property
    def key_label(self) -> str:
        """The label of the key that signs its reports."""
        return f"{self.model} FMC LF"

    @property
    def chain(self) -> list[x509.Certificate]:
        """The device's certificate first, the root last."""
        made = Wanted(**LONG)
        boot, ica, family = f"{self.model} BROM", f"{self.model} Provisioner", "Device Identity"
        extra: tuple[tuple[x509.ExtensionType, bool], ...] = ()
        if self.firmware is not None:
            oid, value = self.firmware
            value = value or composite_id(FWID, ec_key(boot).public_key())
            extra = ((x509.UnrecognizedExtension(x509.ObjectIdentifier(oid), value), False),)
        leaf = replace(self.leaf, extra=extra)
        return [
            issue(self.key_label, boot, wanted=leaf),
            issue(boot, ica, wanted=self.boot),
            issue(ica, family, wanted=made),
            issue(family, "device-root", wanted=made, sign_key=ec_key(self.root)),
            root(self.root),
        ]

    @property
    def certificates(self) -> bytes:
        """The chain in PEM."""
        return "".join(pem(each) for each in self.chain).encode()

    def report(
        self, nonce: bytes = NONCE, *, key: ec.EllipticCurvePrivateKey | None = None
    ) -> bytes:
        """The request, the answer and the signature."""
        body = request(nonce) + answer(self.blocks, opaque(self.opaque))
        return body + signature(key or ec_key(self.key_label), body)

    def parts(self, nonce: bytes = NONCE) -> dict[str, bytes]:
        """The parts of the evidence."""
        return {"report": self.report(nonce), "certificates": self.certificates}


HOPPER = Device()
OLD_HOPPER = Device(opaque={6: bytes.fromhex("005e009601000000"), 3: b"535.86.09\0", 11: b"\x55"})
BLACKWELL = Device(
    model="GB100 A01 GSP",
    firmware=("2.23.133.5.4.1.1", tcb_info(FWID, bytes(48))),
    opaque={6: bytes.fromhex("008800970f000000"), 3: b"575.32\0", 20: FWID, 33: b"\7\7"},
)
SWITCH = Device(model="LS_10 A01 FSP", opaque={6: b"96.10.55.00.01", 22: bytes(range(8))})


def root(label: str = "device-root") -> x509.Certificate:
    """A root by that key; all roots bear one name."""
    wanted = Wanted(**LONG)
    return issue("device-root", "device-root", wanted=wanted, key=label, sign_key=ec_key(label))


def request(nonce: bytes = NONCE) -> bytes:
    """The request: signed, all measurements."""
    return bytes.fromhex("11e001ff") + nonce + b"\0"


def block(index: int, value: bytes) -> bytes:
    """One measurement block in the common form."""
    inside = b"\x01" + len(value).to_bytes(2, "little") + value
    return bytes((index, 1)) + len(inside).to_bytes(2, "little") + inside


def opaque(fields: Mapping[int, bytes]) -> bytes:
    """Typed fields, one after another."""
    return b"".join(
        number.to_bytes(2, "little") + len(value).to_bytes(2, "little") + value
        for number, value in fields.items()
    )


def answer(blocks: Sequence[bytes], fields: bytes) -> bytes:
    """The answer as far as it is signed."""
    record = b"".join(block(index, value) for index, value in enumerate(blocks, 1))
    head = bytes.fromhex("11600000") + bytes((len(blocks),)) + len(record).to_bytes(3, "little")
    return head + record + sha256(b"device").digest() + len(fields).to_bytes(2, "little") + fields


def signature(key: ec.EllipticCurvePrivateKey, message: bytes) -> bytes:
    """r and s, each of the curve's size."""
    made = key.sign(message, ec.ECDSA(hashes.SHA384(), deterministic_signing=True))
    size = (key.key_size + 7) // 8
    return b"".join(part.to_bytes(size, "big") for part in decode_dss_signature(made))


def asked(**changes: Any) -> EvidenceContext:
    """What the gate asks."""
    return EvidenceContext(**{"node": "gpu-1", "nonce": NONCE, "at_ms": AT_MS} | changes)


def evidence(parts: Mapping[str, bytes]) -> Evidence:
    """A piece of evidence."""
    return Evidence(EvidenceKind.GPU_CC, parts)


# --- manifests ---------------------------------------------------------------------------------


def rim_root(label: str = "rim-root") -> x509.Certificate:
    """The root that vouches for signers of manifests."""
    wanted = Wanted(**LONG)
    return issue("rim-root", "rim-root", wanted=wanted, key=label, sign_key=ec_key(label))


def rim_chain(root_label: str = "rim-root") -> list[x509.Certificate]:
    """The signer first."""
    signer = leaf_wanted(begins_ms=AT_MS - 300 * DAY_MS, ends_ms=RIM_ENDS_MS)
    return [
        issue("rim-signer", "rim-ca", wanted=signer),
        issue("rim-ca", "rim-root", wanted=Wanted(**LONG), sign_key=ec_key(root_label)),
        rim_root(root_label),
    ]


def rim_body(
    version: str = DRIVER, values: Mapping[int, Sequence[bytes]] | None = None, *, total: int = 10
) -> str:
    """A manifest without its signature; ``values`` are the active ones."""
    active = {7: [BLOCKS[7]], 9: [bytes(48), BLOCKS[9]]} if values is None else values
    rows = []
    for index in range(total):
        given = active.get(index, [bytes(48)])
        listed = " ".join(f'ns2:Hash{n}="{value.hex()}"' for n, value in enumerate(given))
        rows.append(
            f'        <ns0:Resource type="Measurement" index="{index}" active="{index in active}"'
            f' alternatives="{len(given)}" {listed} name="Measurement_{index}" size="48"/>\n'
        )
    return (
        f'<SoftwareIdentity xmlns="{SWID}" xmlns:ns0="{SWID}" xmlns:ns2="{HASH}" name="GH100"'
        ' tagId="0" version="1.0" tagVersion="0">\n'
        '    <ns0:Entity name="Bailiwick tests" role="softwareCreator tagCreator"/>\n'
        f'    <ns0:Meta xmlns:ns1="urn:rim:meta" colloquialVersion="{version}" edition="GPU"'
        ' product="GH100" ns1:BindingSpec="RIMIM"/>\n'
        f'    <ns0:Payload xmlns:SHA384="{HASH}">\n{"".join(rows)}    </ns0:Payload>\n'
        "</SoftwareIdentity>"
    )


@dataclass(frozen=True)
class Signing:
    """How a manifest is signed, where that differs from a good one."""

    key: str = "rim-signer"
    root: str = "rim-root"
    reference: str = ""
    transforms: tuple[str, ...] = (DS + "enveloped-signature", C14N)
    method: str = MORE + "ecdsa-sha384"
    digest: str = MORE + "sha384"


def rim(body: str | None = None, signing: Signing | None = None) -> bytes:
    """A signed manifest; the signature is the last child of its element."""
    how, text = signing or Signing(), rim_body() if body is None else body
    tree = etree.fromstring(text.encode())
    digest = sha384(etree.tostring(tree, method="c14n")).digest()
    inside = "".join(f'<ds:Transform Algorithm="{each}"/>' for each in how.transforms)
    info = (
        f'<ds:SignedInfo><ds:CanonicalizationMethod Algorithm="{C14N}"/>'
        f'<ds:SignatureMethod Algorithm="{how.method}"/><ds:Reference URI="{how.reference}">'
        f"<ds:Transforms>{inside}</ds:Transforms>"
        f'<ds:DigestMethod Algorithm="{how.digest}"/>'
        f"<ds:DigestValue>{_base64(digest)}</ds:DigestValue></ds:Reference></ds:SignedInfo>"
    )
    bundle = "".join(
        f"<ds:X509Certificate>{_base64(der(each))}\n</ds:X509Certificate>"
        for each in rim_chain(how.root)
    )
    whole = (
        f'<ds:Signature xmlns:ds="{DS}">{info}<ds:SignatureValue>VALUE</ds:SignatureValue>'
        f"<ds:KeyInfo><ds:X509Data>{bundle}</ds:X509Data></ds:KeyInfo></ds:Signature>"
    )
    end = text.rindex("</")
    whole = text[:end] + whole + text[end:]
    signed = etree.fromstring(whole.encode()).find(f".//{{{DS}}}SignedInfo")
    made = signature(ec_key(how.key), etree.tostring(signed, method="c14n", with_tail=False))
    return whole.replace("VALUE", _base64(made)).encode()


def _base64(raw: bytes) -> str:
    return b64encode(raw).decode()


# --- the cases ---------------------------------------------------------------------------------

Row = tuple[Mapping[str, bytes], str | None, dict[str, Any]]
VBIOS_VALUES = {0: [BLOCKS[0]], 1: [sha384(b"older").digest(), BLOCKS[1]]}


def rows() -> dict[str, Row]:
    """Each case: parts, reason, and fields that differ (bytes become files)."""
    return {**_good(), **_forged(), **_misshapen(), **_manifests()}


def _good() -> dict[str, Row]:
    rims = {"vbios_rim": rim(rim_body(VBIOS, VBIOS_VALUES)), "driver_rim": rim()}
    switch_rim = rim(rim_body("96.10.55.00.01", VBIOS_VALUES))
    return {
        "hopper": (HOPPER.parts(), None, {}),
        "hopper-old-driver-names-no-firmware": (OLD_HOPPER.parts(), None, {}),
        "hopper-names-no-driver": (Device(opaque={20: FWID}).parts(), None, {}),
        "hopper-no-nonce-asked": (HOPPER.parts(), None, {"nonce": None}),
        "blackwell": (BLACKWELL.parts(), None, {}),
        "switch": (SWITCH.parts(), None, {"device": "nvswitch"}),
        "hopper-with-rims": (HOPPER.parts(), None, rims),
        "switch-with-rim": (SWITCH.parts(), None, {"vbios_rim": switch_rim}),
        "confidential-computing-off": ({}, None, {"state": "cc_off", "expect": "unsupported"}),
    }


def _forged() -> dict[str, Row]:
    good, own_root = HOPPER.parts(), Device(root="other-root")
    report = bytearray(good["report"])
    report[60] ^= 1
    no_boot = "".join(pem(each) for each in (HOPPER.chain[0], *HOPPER.chain[2:])).encode()
    below = issue("GH100 A01 GSP FMC LF2", HOPPER.key_label, wanted=leaf_wanted(**LONG))
    below_leaf = replace(HOPPER, model="GH100 A01 GSP").report(key=ec_key("GH100 A01 GSP FMC LF2"))
    certified = Device(opaque=dict(HOPPER.opaque) | {20: OTHER_FWID})
    unnamed = Device(firmware=None)
    zeros = Device(
        model="GB100 A01 GSP",
        firmware=("2.23.133.5.4.1.1", tcb_info(FWID, bytes(48))),
        opaque=dict(BLACKWELL.opaque) | {20: bytes(48)},
    )
    late = Device(boot=Wanted(begins_ms=AT_MS - 9 * DAY_MS, ends_ms=AT_MS - DAY_MS))
    not_ca = Device(boot=leaf_wanted(**LONG))
    return {
        "measurement-flipped": (good | {"report": bytes(report)}, "bad_signature", {}),
        "signed-by-another-key": (
            good | {"report": HOPPER.report(key=ec_key("other"))},
            "bad_signature",
            {},
        ),
        "signature-of-zeros": (
            good | {"report": good["report"][:-96] + bytes(96)},
            "bad_signature",
            {},
        ),
        "chain-of-another-device": (
            good | {"certificates": SWITCH.certificates},
            "bad_signature",
            {},
        ),
        "own-root-in-bundle": (own_root.parts(), "chain", {}),
        "chain-without-the-chip": (good | {"certificates": no_boot}, "chain", {}),
        "chain-ran-out": (late.parts(), "chain", {}),
        "chip-is-no-ca": (not_ca.parts(), "chain", {}),
        "device-certifies-another": (
            {"report": below_leaf, "certificates": pem(below).encode() + HOPPER.certificates},
            "chain",
            {},
        ),
        "wrong-nonce": (good, "nonce_mismatch", {"nonce": bytes(32).hex()}),
        "short-nonce": (good, "nonce_mismatch", {"nonce": NONCE[:31].hex()}),
        "empty-nonce": (good, "nonce_mismatch", {"nonce": ""}),
        "firmware-not-certified": (certified.parts(), "fwid", {}),
        "certificate-names-no-firmware": (unnamed.parts(), "fwid", {}),
        "firmware-of-zeros": (zeros.parts(), "fwid", {}),
    }


def _misshapen() -> dict[str, Row]:
    good, key = HOPPER.parts(), ec_key(HOPPER.key_label)
    p256 = ec_key("p256", ec.SECP256R1)
    weak = Device(leaf=leaf_wanted(**LONG, public_key=p256.public_key()))
    weak_report = weak.report(key=p256) + bytes(32)

    def signed(body: bytes) -> dict[str, bytes]:
        return good | {"report": body + signature(key, body)}

    fields = opaque(HOPPER.opaque)
    gap = answer(BLOCKS, fields).replace(block(4, BLOCKS[3]), block(5, BLOCKS[3]))
    raw_form = answer(BLOCKS, fields).replace(
        block(4, BLOCKS[3]), b"\4\2" + block(4, BLOCKS[3])[2:]
    )
    return {
        "cut": (good | {"report": good["report"][:-1]}, "malformed", {}),
        "bytes-after-it": (good | {"report": good["report"] + b"\0"}, "malformed", {}),
        "empty": (good | {"report": b""}, "malformed", {}),
        "no-request": (good | {"report": good["report"][37:]}, "malformed", {}),
        "block-comes-twice": (signed(request() + gap), "malformed", {}),
        "block-of-another-form": (signed(request() + raw_form), "malformed", {}),
        "field-comes-twice": (
            signed(request() + answer(BLOCKS, fields + opaque({3: b"590.00\0"}))),
            "malformed",
            {},
        ),
        "field-does-not-fit": (
            signed(request() + answer(BLOCKS, fields[:-1])),
            "malformed",
            {},
        ),
        "no-measurements": (Device(blocks=()).parts(), "no_measurements", {}),
        "no-driver-to-compare": (
            Device(opaque={6: bytes(8), 20: FWID}).parts(),
            "missing_field",
            {"driver_rim": rim()},
        ),
        "driver-is-no-version": (
            Device(opaque=dict(HOPPER.opaque) | {3: b"545 00\n"}).parts(),
            "malformed",
            {},
        ),
        "device-key-p256": (
            {"report": weak_report, "certificates": weak.certificates},
            "key_or_signature_shape",
            {},
        ),
        "no-certificates": (good | {"certificates": b""}, "chain", {}),
    }


def _manifests() -> dict[str, Row]:
    good = HOPPER.parts()
    whole = rim().decode()
    other = rim(rim_body(DRIVER, {7: [BLOCKS[8]]}))
    edited = whole.replace(BLOCKS[7].hex(), BLOCKS[8].hex()).encode()
    told = {
        "rim-of-other-values": (other, "measurement_mismatch"),
        "rim-of-a-block-beyond": (
            rim(rim_body(DRIVER, {17: [BLOCKS[0]]}, total=18)),
            "measurement_mismatch",
        ),
        "rim-of-another-version": (rim(rim_body("546.00")), "measurement_mismatch"),
        "rim-of-the-vbios-as-driver": (rim(rim_body(VBIOS, VBIOS_VALUES)), "measurement_mismatch"),
        "rim-edited": (edited, "rim_signature"),
        "rim-signed-by-another-key": (rim(None, Signing(key="other")), "rim_signature"),
        "rim-by-own-root": (rim(None, Signing(root="other-root")), "rim_chain"),
        "rim-without-signature": (rim_body().encode(), "rim_signature"),
        "rim-signature-wrapped": (wrapped(), "rim_signature"),
        "rim-with-a-document-type": (
            b'<!DOCTYPE a [<!ENTITY b "c">]>' + whole.encode(),
            "malformed",
        ),
        "rim-not-xml": (b"RIM", "malformed"),
        "rim-without-active-values": (rim(rim_body(DRIVER, {})), "malformed"),
    }
    found: dict[str, Row] = {
        name: (good, reason, {"driver_rim": raw}) for name, (raw, reason) in told.items()
    }
    ended = {"driver_rim": rim(), "at": "2028-11-15T12:00:00Z"}
    return found | {"rim-signer-ran-out": (good, "rim_chain", ended)}


def wrapped() -> bytes:
    """The good document hidden inside another, its signature with it: the classic forgery."""
    good, evil = rim().decode(), rim_body(DRIVER, {7: [BLOCKS[8]]})
    begin, end = good.index("<ds:Signature "), good.index("</ds:Signature>") + 15
    return evil.replace(
        "</SoftwareIdentity>", good[begin:end] + good + "</SoftwareIdentity>"
    ).encode()


def write(directory: Path) -> None:
    """Write cases.json and the files it names; equal files once."""
    made: dict[bytes, str] = {}

    def stored(folder: str, name: str, raw: bytes) -> str:
        if raw not in made:
            made[raw] = f"{folder}/{name}"
            (directory / folder).mkdir(parents=True, exist_ok=True)
            (directory / made[raw]).write_bytes(raw)
        return made[raw]

    cases = []
    for name, (parts, reason, changes) in rows().items():
        case: dict[str, Any] = {"id": name, "kind": "nvidia-spdm-report"}
        if parts:
            case["report"] = stored("reports", f"{name}.bin", parts["report"])
            case["certificate_chain"] = stored("chains", f"{name}.pem", parts["certificates"])
        case |= {
            "root": stored("roots", "device.pem", pem(root()).encode()),
            "rim_root": stored("roots", "rim.pem", pem(rim_root()).encode()),
            "nonce": NONCE.hex(),
            "at": "2026-11-15T12:00:00Z",
            "expect": "untrusted" if reason else "trusted",
            "reason": reason,
        }
        for key, value in changes.items():
            is_file = isinstance(value, bytes)
            case[key] = stored("rims", f"{name}-{key[:-4]}.swidtag", value) if is_file else value
        cases.append(case)
    text = json.dumps({"format": "attestation-lab/gpu-cc/1", "cases": cases}, indent=1)
    (directory / "cases.json").write_text(text + "\n")


if __name__ == "__main__":
    write(own("gpu-cc"))
