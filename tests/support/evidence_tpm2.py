"""Evidence of real TPMs in software, good and abusive, and the cases written from it.

``python -m tests.support.evidence_tpm2`` makes tests/vectors/attestation/tpm2 anew: every quote in
it was signed by a swtpm, the forged ones by a key that such a TPM holds. Keys and nonces differ
from run to run; times and the authorities' keys do not. Private keys stay in the TPMs, which are
gone afterwards.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography import x509

from bailiwick.agent.tpm2 import Talk
from bailiwick.attestation.tpm.structures import RsaKey, qualified_name_of, read_public, read_quote
from tests.support.attestation_cases import own
from tests.support.certificates import AT_MS, DAY_MS, der, pem, usage
from tests.support.paper_tpm import (
    AK_USE,
    EK_USE,
    EVENTS,
    Measured,
    authority,
    boot_events,
    certify,
    event_of,
    log_of,
    old_event,
    registers_of,
    tpm_name,
    use,
    variable,
)
from tests.support.software_tpm import SoftwareTpm, running

AT = "2026-11-15T12:00:00Z"
EKS = {
    "p256": ("ecc256:aes128cfb", "sha256"),
    "p384": ("ecc384:aes256cfb", "sha384"),
    "rsa": ("rsa2048:aes128cfb", "sha256"),
}
AKS = {
    "p256": "ecc256:ecdsa-sha256:null",
    "p384": "ecc384:ecdsa-sha384:null",
    "rsassa": "rsa2048:rsassa-sha256:null",
    "rsapss": "rsa2048:rsapss-sha256:null",
    "sha1": "ecc256:ecdsa-sha1:null",
}
EARLY = ("bad_signature", "malformed", "nonce_mismatch", "pcr_selection", "pcr_digest_mismatch")
"""Reasons that are found before anybody asks who vouches for the machine."""

CHOSEN = [0, 4, 7, 9]
QUOTED = {"sha256": CHOSEN}


short = partial(log_of, banks=("sha256",))
"""A log of one bank: most cases need no more."""


def nonce_of(label: str) -> bytes:
    """The nonce of a case."""
    return sha256(b"nonce " + label.encode()).digest()


@dataclass
class Machine:
    """A TPM that is switched on, and the keys that were made in it."""

    name: str
    tpm: SoftwareTpm
    tss: Any
    made: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)

    @contextmanager
    def talk(self) -> Iterator[Talking]:
        """A conversation; what it loads is gone afterwards."""
        with self.tpm.talking() as esys:
            talk = Talk(self.tss, esys)
            try:
                yield Talking(self, talk)
            finally:
                talk.flush()

    def power_cycle(self, *, resume: bool = False, locality: int = 0) -> None:
        """Off and on in good order: a resumption keeps the registers, a start empties them."""
        su = self.tss.TPM2_SU
        with self.tpm.talking() as esys:
            esys.shutdown(su.STATE if resume else su.CLEAR)
        control = f"127.0.0.1:{self.tpm.port + 1}"
        subprocess.run(["swtpm_ioctl", "--tcp", control, "-i"], check=True, capture_output=True)
        with self.tss.TCTILdr(*self.tpm.tcti.split(":", 1)) as link:
            link.set_locality(locality)
            with self.tss.ESAPI(link) as esys:
                esys.startup(su.STATE if resume else su.CLEAR)
            link.set_locality(0)

    def boot(self, events: tuple[Measured, ...]) -> None:
        """Have the measurements of a boot be in the registers."""
        types, tss = self.tss.types, self.tss
        with self.tpm.talking() as esys:
            for each in events:
                values = [
                    types.TPMT_HA(
                        hashAlg=getattr(tss.TPM2_ALG, bank.upper()),
                        digest=types.TPMU_HA(**{bank: each.digest(bank)}),
                    )
                    for bank in ("sha256", "sha384")
                ]
                digests = types.TPML_DIGEST_VALUES(digests=values)
                esys.pcr_extend(tss.ESYS_TR(each.register), digests)


@dataclass
class Talking:
    """What a machine's TPM is asked for. It has room for few keys, so one AK is held at a time."""

    machine: Machine
    talk: Talk

    def ek(self, kind: str) -> Any:
        """The endorsement key of that kind; the same one each time."""
        tss = self.talk.tss
        shape, name_alg = EKS[kind]
        bits = tss.TPMA_OBJECT
        attributes = bits.FIXEDTPM | bits.FIXEDPARENT | bits.SENSITIVEDATAORIGIN
        attributes |= bits.RESTRICTED | bits.DECRYPT | bits.USERWITHAUTH
        template = tss.types.TPM2B_PUBLIC.parse(shape, attributes, nameAlg=name_alg)
        made = self.talk.esys.create_primary(None, template, tss.ESYS_TR.ENDORSEMENT)
        self.machine.made[f"ek-{kind}"] = (bytes(made[1].marshal()), b"")
        return self.talk.keep(made[0])

    def ak(self, kind: str, *, under: str = "p256", without: str = "") -> tuple[str, Any]:
        """An attestation key by its name and handle; ``without`` leaves attributes out."""
        name = f"ak-{kind}-{under}{'-without-' if without else ''}{without}"
        self.talk.flush()
        parent, esys = self.ek(under), self.talk.esys
        if name not in self.machine.made:
            private, public, *_ = esys.create(parent, None, self._shape(kind, without))
            self.machine.made[name] = (bytes(public.marshal()), bytes(private.marshal()))
        public, private = self.machine.made[name]
        return name, self.talk.load_ak(parent, public, private=private)

    def lone_ak(self, hierarchy: str) -> tuple[str, Any]:
        """A key of the right kind that is under no endorsement key: a primary of a hierarchy."""
        tss, name = self.talk.tss, f"ak-alone-{hierarchy}"
        self.talk.flush()
        root = getattr(tss.ESYS_TR, hierarchy.upper())
        made = self.talk.esys.create_primary(None, self._shape("p256", ""), root)
        self.machine.made[name] = (bytes(made[1].marshal()), b"")
        return name, self.talk.keep(made[0])

    def _shape(self, kind: str, without: str) -> Any:
        tss, bits = self.talk.tss, self.talk.tss.TPMA_OBJECT
        attributes = bits.FIXEDTPM | bits.FIXEDPARENT | bits.SENSITIVEDATAORIGIN
        attributes |= bits.RESTRICTED | bits.SIGN_ENCRYPT | bits.USERWITHAUTH
        for word in without.split("+") if without else ():
            attributes &= ~getattr(bits, word.upper())
        return tss.types.TPM2B_PUBLIC.parse(AKS[kind], attributes)

    def quote(self, ak: Any, nonce: bytes, banks: Mapping[str, list[int]]) -> tuple[bytes, bytes]:
        """A genuine quote and its signature."""
        chosen = "+".join(f"{bank}:{','.join(map(str, some))}" for bank, some in banks.items())
        kinds = self.talk.tss.types
        asked: Any = chosen if any(banks.values()) else kinds.TPML_PCR_SELECTION()
        attest, signature = self.talk.esys.quote(ak, asked, nonce)
        return bytes(attest), bytes(signature.marshal())

    def sign(self, ak: Any, data: bytes) -> bytes:
        """A signature over data from outside, as far as the key gives one."""
        tss, esys = self.talk.tss, self.talk.esys
        hashed = esys.hash(data, tss.TPM2_ALG.SHA256, tss.ESYS_TR.ENDORSEMENT)
        scheme = tss.types.TPMT_SIG_SCHEME(scheme=tss.TPM2_ALG.NULL)
        return bytes(esys.sign(ak, hashed[0], scheme, hashed[1]).marshal())

    def time_of(self, ak: Any, nonce: bytes) -> tuple[bytes, bytes]:
        """An attestation of the TPM's time: signed by it, and no quote."""
        tss = self.talk.tss
        scheme = tss.types.TPMT_SIG_SCHEME(scheme=tss.TPM2_ALG.NULL)
        told, signature = self.talk.esys.get_time(ak, nonce, scheme)
        return bytes(told), bytes(signature.marshal())

    def certified(self, ak: Any, nonce: bytes) -> tuple[bytes, bytes]:
        """An attestation of the TPM that a key is in it: no quote either."""
        tss = self.talk.tss
        scheme = tss.types.TPMT_SIG_SCHEME(scheme=tss.TPM2_ALG.NULL)
        told, signature = self.talk.esys.certify(ak, ak, nonce, scheme)
        return bytes(told), bytes(signature.marshal())

    def registers(self, banks: Mapping[str, list[int]]) -> dict[str, dict[str, str]]:
        """What is in the registers, as a node reports it."""
        found: dict[str, dict[str, str]] = {}
        for bank, values in self.talk.read_registers(dict(banks)).items():
            found[bank] = {number: value.hex() for number, value in values.items()}
        return found


@contextmanager
def machines(*names: str) -> Iterator[list[Machine]]:
    """A TPM for each name, switched on, with nothing measured yet."""
    import tpm2_pytss

    folder = Path(tempfile.mkdtemp(prefix="bailiwick-tpm-"))
    try:
        for name in names:
            (folder / name).mkdir()
        tpms = {name: SoftwareTpm(folder / name) for name in names}
        with running(*tpms.values()):
            yield [Machine(name, tpm, tpm2_pytss) for name, tpm in tpms.items()]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# --- the cases -----------------------------------------------------------------------------------


@dataclass
class Book:
    """Cases and the files that they name, as they are made."""

    files: dict[str, bytes] = field(default_factory=dict)
    cases: list[dict[str, Any]] = field(default_factory=list)

    def keep(self, path: str, content: bytes) -> str:
        """The path of a file with that content; a content is kept once."""
        for known, held in self.files.items():
            if held == content:
                return known
        assert path not in self.files, path
        self.files[path] = content
        return path

    def add(
        self, name: str, made: Made, *, reason: str | None = None, note: str = "", **changes: Any
    ) -> None:
        """A case of a quote; ``changes`` are fields of the case, or None to leave one out."""
        case = {
            "id": name,
            "kind": "quote",
            "machine": made.machine,
            "ak_public": self.keep(f"keys/{made.machine}-{made.ak}.tpm2b", made.public),
            "attest": self.keep(f"quotes/{name}.attest", made.attest),
            "signature": self.keep(f"quotes/{name}.sig", made.signature),
            "nonce": made.nonce.hex(),
            "pcrs": made.pcrs,
            "required_selection": QUOTED,
            "at": AT,
            "expect": "untrusted" if reason else "trusted",
            "reason": reason,
            "note": note,
        }
        whole = case | ({} if reason in EARLY else self.vouched(made)) | changes
        if reason not in (None, "pcr_policy"):
            whole.pop("reference_pcrs", None)  # no such case gets as far, and they are long
        kept = ("reason", "pcrs", "nonce")
        self.cases.append({key: value for key, value in whole.items() if key in kept or value})

    def vouched(self, made: Made, *, maker: str = "maker", **changes: Any) -> dict[str, Any]:
        """The fields that say who vouches for the machine; ``changes`` are the certificate's."""
        if not made.ek:
            return {}
        key = read_public(made.ek).key
        fitting = usage(key_encipherment=True) if isinstance(key, RsaKey) else None
        how = ({} if fitting is None else {"usage": fitting}) | changes
        root, issuer = authority(maker)
        raw = certify(key.load(), maker=maker, **how)
        name = sha256(raw).hexdigest()[:8]
        return {
            "ek_public": self.keep(f"keys/{made.machine}-{made.ek_name}.tpm2b", made.ek),
            "ek_certificate": self.keep(f"certificates/ek-{name}.der", raw),
            "ek_intermediates": [self.keep(f"certificates/{maker}.pem", pem(issuer).encode())],
            "ek_roots": [self.keep(f"certificates/{maker}-root.pem", pem(root).encode())],
        }

    def log(self, name: str, raw: bytes) -> str:
        """The path of an event log."""
        return self.keep(f"logs/{name}.bin", raw)


@dataclass
class Made:
    """A quote and all that goes with it; fields may be replaced before it becomes a case."""

    machine: str
    ak: str
    public: bytes
    attest: bytes
    signature: bytes
    nonce: bytes
    pcrs: dict[str, dict[str, str]]
    ek_name: str = ""
    ek: bytes = b""

    def but(self, **changes: Any) -> Made:
        """The same with fields replaced."""
        return Made(**vars(self) | changes)


def quote_of(
    talking: Talking,
    label: str,
    *,
    kind: str = "p256",
    under: str = "p256",
    banks: Mapping[str, list[int]] = QUOTED,
    asked: bytes | None = None,
) -> Made:
    """A genuine quote for the nonce of that label, or over ``asked`` instead."""
    ak, handle = talking.ak(kind, under=under)
    over = nonce_of(label) if asked is None else asked
    attest, signature = talking.quote(handle, over, banks)
    machine = talking.machine
    return Made(
        machine=machine.name,
        ak=ak,
        public=machine.made[ak][0],
        attest=attest,
        signature=signature,
        nonce=nonce_of(label),
        pcrs=talking.registers(banks),
        ek_name=f"ek-{under}",
        ek=machine.made[f"ek-{under}"][0],
    )


def flipped(raw: bytes, at: int) -> bytes:
    """The bytes with one bit changed."""
    return raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]


def add_good(book: Book, talking: Talking, good: dict[str, Any]) -> None:
    """Quotes that must be trusted, of every scheme and selection."""
    sha384 = {"sha384": CHOSEN}
    for name, kind, under, banks in (
        ("good-p256", "p256", "p256", QUOTED),
        ("good-p384-sha384", "p384", "p384", sha384),
        ("good-rsassa", "rsassa", "rsa", QUOTED),
        ("good-rsapss", "rsapss", "rsa", QUOTED),
        ("good-two-banks", "p256", "p256", QUOTED | sha384),
        ("good-two-banks-reversed", "rsapss", "rsa", sha384 | QUOTED),
        ("good-all-registers", "p256", "p256", {"sha256": list(range(24))}),
    ):
        made = quote_of(talking, name, kind=kind, under=under, banks=banks)
        required = sha384 if banks == sha384 else QUOTED
        book.add(name, made, required_selection=required, **good)
    made = quote_of(talking, "good-secure-boot")
    book.add("good-secure-boot", made, policy={"require_secure_boot": True}, **good)
    ak = certify(
        read_public(made.public).key.load(), extra=((tpm_name(), True), (use(AK_USE), False))
    )
    roots = book.vouched(made)
    certified = {
        "ek_public": None,
        "ek_certificate": None,
        "ek_intermediates": None,
        "ek_roots": None,
        "ak_certificate": book.keep("certificates/ak.der", ak),
        "ak_intermediates": roots["ek_intermediates"],
        "ak_roots": roots["ek_roots"],
    }
    book.add("good-certified-ak", made, **good | certified)
    other = certify(
        read_public(made.ek).key.load(), extra=((tpm_name(), True), (use(AK_USE), False))
    )
    wrong = {"ak_certificate": book.keep("certificates/ak-other-key.der", other)}
    book.add("ak-certificate-of-another-key", made, reason="ak_chain", **good | certified | wrong)
    plain = certify(read_public(made.public).key.load(), extra=((tpm_name(), True),))
    wrong = {"ak_certificate": book.keep("certificates/ak-no-use.der", plain)}
    book.add("ak-certificate-for-no-use", made, reason="ak_chain", **good | certified | wrong)


def add_questions(book: Book, talking: Talking, good: dict[str, Any]) -> None:
    """Nonces and selections that are not those asked for; values that were not quoted."""
    for name, over in (
        ("wrong-nonce", nonce_of("another")),
        ("empty-nonce", b""),
        ("nonce-cut", nonce_of("nonce-cut")[:-1]),
        ("nonce-longer", nonce_of("nonce-longer") + b"\0"),
    ):
        book.add(name, quote_of(talking, name, asked=over), reason="nonce_mismatch", **good)
    made = quote_of(talking, "asked-with-nothing", asked=b"")
    note = "a gate that asks with nothing is answered by every quote over nothing"
    book.add("asked-with-nothing", made.but(nonce=b""), reason="nonce_mismatch", note=note, **good)
    for name, banks, reason in (
        ("selection-too-small", {"sha256": CHOSEN[:-1]}, "pcr_selection"),
        ("selection-empty", {}, "pcr_selection"),
        ("wrong-bank", {"sha384": CHOSEN}, "pcr_selection"),
        ("weak-bank", {"sha1": CHOSEN}, "weak_bank"),
        ("weak-bank-beside-a-good-one", QUOTED | {"sha1": [0]}, "weak_bank"),
    ):
        made = quote_of(talking, name, banks=banks)
        pcrs = made.pcrs if name.startswith("weak") else talking.registers(QUOTED)
        book.add(name, made.but(pcrs=pcrs), reason=reason, **good)
    made = quote_of(talking, "values")
    values = made.pcrs["sha256"]
    swapped = values | {"4": values["9"], "9": values["4"]}
    changed = values | {"7": flipped(bytes.fromhex(values["7"]), 5).hex()}
    missing = {number: value for number, value in values.items() if number != "7"}
    for name, told in (
        ("values-swapped", swapped),
        ("value-changed", changed),
        ("value-not-reported", missing),
    ):
        book.add(name, made.but(pcrs={"sha256": told}), reason="pcr_digest_mismatch", **good)
    odd = {"sha256": values | {"4": values["4"][:-2]}}
    book.add("value-too-short", made.but(pcrs=odd), reason="malformed", **good)
    book.add("register-below-nothing", made.but(pcrs={"sha256": values | {"-1": values["4"]}}),
             reason="malformed", **good)  # fmt: skip


def add_signatures(book: Book, talking: Talking, beta: Talking, good: dict[str, Any]) -> None:
    """Signatures that are none, and structures that no quote is."""
    made, other = quote_of(talking, "signed"), quote_of(talking, "signed-else")
    rsa = quote_of(talking, "signed-rsa", kind="rsassa", under="rsa")
    theirs = quote_of(beta, "signed")
    scheme = b"\x00\x16" + rsa.signature[2:]
    hashed = made.signature[:2] + b"\x00\x0c" + made.signature[4:]
    zero = made.signature[:4] + (b"\x00\x20" + bytes(32)) * 2
    for name, case, reason in (
        ("attest-bit-flipped", made.but(attest=flipped(made.attest, 60)), "bad_signature"),
        ("attest-longer", made.but(attest=made.attest + b"\0"), "bad_signature"),
        ("attest-cut", made.but(attest=made.attest[:-1]), "bad_signature"),
        ("signature-bit-flipped", made.but(signature=flipped(made.signature, 20)), "bad_signature"),
        ("signature-of-another-quote", made.but(signature=other.signature), "bad_signature"),
        ("signature-zero", made.but(signature=zero), "bad_signature"),
        ("signature-by-another-tpm", made.but(attest=theirs.attest, signature=theirs.signature),
         "bad_signature"),
        ("signature-cut", made.but(signature=made.signature[:-1]), "malformed"),
        ("signature-longer", made.but(signature=made.signature + b"\0"), "malformed"),
        ("signature-empty", made.but(signature=b""), "malformed"),
        ("scheme-relabelled", rsa.but(signature=scheme), "scheme_mismatch"),
        ("hash-relabelled", made.but(signature=hashed), "scheme_mismatch"),
        ("signature-of-the-other-kind", made.but(signature=rsa.signature), "scheme_mismatch"),
        ("ak-public-cut", made.but(ak="cut", public=made.public[:-1]), "malformed"),
    ):  # fmt: skip
        book.add(name, case, reason=reason, **good)
    _, handle = talking.ak("p256")
    for name, body in (("bad-magic", b"\xfe" + made.attest[1:]), ("no-magic", made.attest[4:])):
        case = made.but(attest=body, signature=talking.sign(handle, body))
        note = "the restricted key signs what does not begin as the TPM's own words do"
        book.add(name, case, reason="bad_magic", note=note, **good)
    for name, ask in (("gettime", talking.time_of), ("certify", talking.certified)):
        attest, signature = ask(handle, made.nonce)
        case = made.but(attest=attest, signature=signature)
        book.add(f"not-a-quote-{name}", case, reason="not_a_quote", **good)


def add_keys(book: Book, talking: Talking, beta: Talking, good: dict[str, Any]) -> None:
    """Keys that may not sign quotes, and keys that are not the enrolled machine's."""
    made, machine = quote_of(talking, "keys"), talking.machine
    for without in ("restricted", "fixedtpm+fixedparent"):
        name, handle = talking.ak("p256", without=without)
        free = "restricted" in without
        attest = made.attest if free else talking.quote(handle, made.nonce, QUOTED)[0]
        signature = talking.sign(handle, attest) if free else b""
        if not free:
            attest, signature = talking.quote(handle, made.nonce, QUOTED)
        case = made.but(ak=name, public=machine.made[name][0], attest=attest, signature=signature)
        book.add(f"ak-without-{without.split('+')[0]}", case, reason="ak_attributes", **good)
    weak = quote_of(talking, "ak-of-sha1", kind="sha1")
    book.add("ak-of-sha1", weak, reason="ak_attributes", **good)
    rsa = quote_of(talking, "ak-under-another-ek", under="rsa")
    case = rsa.but(ek=made.ek, ek_name=made.ek_name)
    note = "an AK of this TPM, but under another EK than the enrolled one"
    book.add("ak-under-another-ek", case, reason="identity_mismatch", note=note, **good)
    theirs = quote_of(beta, "ak-of-another-tpm")
    case = theirs.but(ek=made.ek, ek_name=made.ek_name, machine=made.machine, ak="ak-of-beta")
    note = "a genuine quote by another TPM's key, claimed to be of the enrolled TPM"
    book.add("ak-of-another-tpm", case, reason="identity_mismatch", note=note, **good)
    for hierarchy in ("endorsement", "owner"):
        name, handle = talking.lone_ak(hierarchy)
        attest, signature = talking.quote(handle, made.nonce, QUOTED)
        case = made.but(ak=name, public=machine.made[name][0], attest=attest, signature=signature)
        book.add(f"ak-alone-in-{hierarchy}", case, reason="identity_mismatch", **good)
    for kind, under in (("p256", "p256"), ("p384", "p384"), ("rsassa", "rsa")):
        ak = machine.made[talking.ak(kind, under=under)[0]][0]
        ek = machine.made[f"ek-{under}"][0]
        book.cases.append(
            {
                "id": f"names-{kind}",
                "kind": "names",
                "ak_public": book.keep(f"keys/{machine.name}-ak-{kind}-{under}.tpm2b", ak),
                "ek_public": book.keep(f"keys/{machine.name}-ek-{under}.tpm2b", ek),
                "ak_name": read_public(ak).name.hex(),
                "ek_name": read_public(ek).name.hex(),
                "ak_qualified_name": _signer(talking, kind, under).hex(),
                "note": "",
            }
        )


def _signer(talking: Talking, kind: str, under: str) -> bytes:
    """The qualified name of a key as its TPM writes it, not as we compute it."""
    attest = quote_of(talking, "names", kind=kind, under=under).attest
    found = attest[8 : 8 + int.from_bytes(attest[6:8], "big")]
    machine = talking.machine
    name, _ = talking.ak(kind, under=under)
    assert found == qualified_name_of(machine.made[name][0], machine.made[f"ek-{under}"][0])
    return found


def add_certificates(book: Book, talking: Talking, beta: Talking, good: dict[str, Any]) -> None:
    """Endorsement certificates that vouch for nothing."""
    made, theirs = quote_of(talking, "certificates"), quote_of(beta, "certificates")
    named, used = (tpm_name(), True), (use(EK_USE), False)
    unknown = book.vouched(made, maker="stranger") | {"ek_roots": book.vouched(made)["ek_roots"]}
    rows: list[tuple[str, dict[str, Any]]] = [
        ("ek-unknown-maker", unknown),
        ("ek-expired", book.vouched(made, ends_ms=AT_MS - 1000)),
        ("ek-not-valid-yet", book.vouched(made, begins_ms=AT_MS + DAY_MS)),
        ("ek-for-no-use", book.vouched(made, extra=(named,))),
        ("ek-for-another-use", book.vouched(made, extra=(named, (use(AK_USE), False)))),
        ("ek-names-no-tpm", book.vouched(made, extra=(used,))),
        ("ek-of-an-authority", book.vouched(made, ca=True)),
        ("ek-of-another-key", {"ek_certificate": book.vouched(theirs)["ek_certificate"]}),
        ("ek-without-its-issuer", {"ek_intermediates": None}),
        ("ek-unknown-critical-extension", book.vouched(made, extra=(named, used, _critical()))),
    ]
    for name, changes in rows:
        book.add(name, made, reason="ek_chain", **good | changes)
    junk = {"ek_certificate": book.keep("certificates/junk.der", b"\x30\x03abc")}
    book.add("ek-certificate-is-none", made, reason="ek_chain", **good | junk)
    root = der(authority("stranger")[0])
    forged = {"ek_intermediates": [book.keep("certificates/stranger-root.der", root)]}
    issuer = book.vouched(made, maker="stranger")["ek_intermediates"]
    forged["ek_intermediates"] += issuer
    note = "the bundle brings its own root"
    book.add("ek-own-root", made, reason="ek_chain", note=note, **good | unknown | forged)


def _critical() -> tuple[Any, bool]:
    return x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4"), b"\x05\x00"), True


def add_logs(book: Book, talking: Talking, good: dict[str, Any]) -> None:
    """Logs that do not lead to the registers, or that tell what was not measured."""
    made, raw = quote_of(talking, "logs"), short(EVENTS)
    edited = list(EVENTS)
    secure = EVENTS[2]
    edited[2] = Measured(7, secure.kind, variable("SecureBoot", b"\0"), secure.data)
    separator = list(EVENTS)
    separator[6] = Measured(7, EVENTS[6].kind, b"\0\0\0\1", bytes(4))
    replay, data, shape = (
        f"eventlog_{word}" for word in ("replay_mismatch", "digest_mismatch", "malformed")
    )
    for name, log, reason in (
        ("log-event-missing", short(EVENTS[:-1]), replay),
        ("log-event-more", short((*EVENTS, EVENTS[-1])), replay),
        ("log-events-swapped", short((EVENTS[1], EVENTS[0], *EVENTS[2:])), replay),
        ("log-of-another-kernel", short(boot_events(kernel="other")), replay),
        ("log-without-the-bank", log_of(EVENTS, banks=("sha384",)), replay),
        ("log-of-another-locality", short(EVENTS, locality=3), replay),
        ("log-empty-but-its-head", short(()), replay),
        ("log-data-edited", short(edited), data),
        ("log-separator-edited", short(separator), data),
        ("log-cut", raw[:-1], shape),
        ("log-longer", raw + b"\0", shape),
        ("log-empty", b"", shape),
        ("log-locality-late", raw + _locality(), shape),
    ):
        case = {"event_log": book.log(name, log), "reference_pcrs": None}
        book.add(name, made, reason=reason, **good | case)
    missing = {"event_log": None, "policy": {"require_event_log": True}}
    book.add("log-missing", made, reason="eventlog_missing", **good | missing)
    missing = {"event_log": None, "policy": {"require_secure_boot": True}}
    book.add("log-missing-for-secure-boot", made, reason="eventlog_missing", **good | missing)
    old = b"".join(old_event(e.register, e.kind, e.data, e.digest("sha1")) for e in EVENTS)
    registers = {str(n): v.hex() for n, v in registers_of(EVENTS, "sha1").items()}
    for name, pcrs, reason in (
        ("old-log", registers, None),
        ("old-log-wrong-register", registers | {"0": "00" * 20}, replay),
    ):
        book.cases.append(
            {
                "id": name,
                "kind": "eventlog",
                "event_log": book.log("old-log", old),
                "pcrs": {"sha1": pcrs},
                "expect": "untrusted" if reason else "trusted",
                "reason": reason,
                "note": "",
            }
        )


def _locality() -> bytes:
    blank = {"sha256": bytes(32)}
    return event_of(0, 3, data=b"StartupLocality\0\3", digests=blank)


def add_boots(book: Book, machine: Machine, good: dict[str, Any]) -> None:
    """What only another start of the same machine shows; each begins with one."""
    machine.power_cycle()
    machine.boot(boot_events(kernel="other"))
    other = {"event_log": book.log("other-kernel", log_of(boot_events(kernel="other")))}
    with machine.talk() as talking:
        made = quote_of(talking, "other-kernel")
    book.add("other-kernel", made, reason="pcr_policy", **good | other)
    book.add("other-kernel-good-log", made, reason="eventlog_replay_mismatch", **good)
    told = made.but(pcrs=good["reference_pcrs"])
    book.add("other-kernel-good-values", told, reason="pcr_digest_mismatch", **good)

    off = boot_events(secure_boot=0)
    machine.power_cycle()
    machine.boot(off)
    alone = good | {"reference_pcrs": None, "policy": {"require_secure_boot": True}}
    with machine.talk() as talking:
        made = quote_of(talking, "secure-boot-off")
    log = {"event_log": book.log("secure-boot-off", log_of(off))}
    book.add("secure-boot-off", made, reason="pcr_policy", **alone | log)
    # What a node that has booted without it can still do: extend, and relabel what it extended.
    late = (Measured(7, EVENTS[2].kind, variable("SecureBoot", b"\1")), EVENTS[6])
    machine.boot(late)
    with machine.talk() as talking:
        made = quote_of(talking, "secure-boot-late")
    log = {"event_log": book.log("secure-boot-late", log_of((*off, *late)))}
    book.add("secure-boot-told-late", made, reason="pcr_policy", **alone | log)
    hidden = tuple(
        Measured(7, 0x800000E0, e.data) if e.register == 7 and e.kind in (4, 0x80000001) else e
        for e in off
    )
    log = {"event_log": book.log("secure-boot-hidden", log_of((*hidden, *late)))}
    note = (
        "the firmware's events of register 7 relabelled, so that the late ones seem to be its own"
    )
    book.add("secure-boot-hidden", made, reason="pcr_policy", note=note, **alone | log)

    machine.power_cycle(locality=3)
    machine.boot(EVENTS)
    with machine.talk() as talking:
        made = quote_of(talking, "locality")
    started = good | {"reference_pcrs": None}
    log = {"event_log": book.log("locality", log_of(EVENTS, locality=3))}
    book.add("good-locality-3", made, note="register 0 begins with 3", **started | log)
    book.add("locality-not-told", made, reason="eventlog_replay_mismatch", **started)


def add_clocks(book: Book, machine: Machine, good: dict[str, Any]) -> None:
    """What two quotes after one another tell."""
    machine.power_cycle()
    machine.boot(EVENTS)
    with machine.talk() as talking:
        first, second = (quote_of(talking, f"clock-{n}") for n in (1, 2))
    state = _clock(first)
    book.add("later-quote", second, previous=state, **good)
    book.add("same-quote-time", first, previous=state, **good)
    note = "its nonce is the one asked for; only the clock shows that it is old"
    ahead = _clock(second) | {"clock": state["clock"] + 100_000}
    book.add("clock-went-back", first, reason="clock_rollback", note=note, previous=ahead, **good)
    new = state | {"firmware_version": state["firmware_version"] + 1}
    reason = "firmware_version_changed"
    book.add("firmware-changed", second, reason=reason, previous=new, **good)
    machine.power_cycle(resume=True)
    with machine.talk() as talking:
        resumed = quote_of(talking, "resumed")
    reason = "restart_count_changed"
    book.add("resumed", resumed, reason=reason, previous=state, **good)
    allowed = {"policy": {"accept_resume": True}}
    book.add("resumed-allowed", resumed, previous=state, **good | allowed)
    back = {"reason": reason, "previous": _clock(resumed), **allowed}
    book.add("resumed-then-an-older-quote", second, **good | back)
    machine.power_cycle()
    machine.boot(EVENTS)
    with machine.talk() as talking:
        rebooted = quote_of(talking, "rebooted")
    book.add("rebooted", rebooted, reason="reset_count_changed", previous=state, **good)
    reason = "reset_count_changed"
    book.add("before-the-reboot", first, reason=reason, previous=_clock(rebooted), **good)
    machine.tpm.kill()
    machine.tpm.start()
    machine.boot(EVENTS)
    with machine.talk() as talking:
        unsafe = quote_of(talking, "unsafe")
    book.add("clock-not-safe", unsafe, **good)
    book.cases[-1]["reason"] = "clock_unsafe_flag"
    ahead = _clock(unsafe) | {"clock": _clock(unsafe)["clock"] + 100_000}
    book.add("clock-not-safe-orders-nothing", unsafe, previous=ahead, **good)
    book.cases[-1]["reason"] = "clock_unsafe_flag"


def _clock(made: Made) -> dict[str, int]:
    quote = read_quote(made.attest)
    names = ("clock", "reset_count", "restart_count", "firmware_version")
    return {name: getattr(quote, name) for name in names}


def make_book() -> Book:
    """All cases, from two TPMs."""
    book = Book()
    with machines("alpha", "beta") as (alpha, beta):
        for each in (alpha, beta):
            each.boot(EVENTS)
        with alpha.talk() as talking, beta.talk() as theirs:
            banks = QUOTED | {"sha384": CHOSEN}
            log = book.log("good", log_of(EVENTS))
            good = {"event_log": log, "reference_pcrs": talking.registers(banks)}
            add_good(book, talking, good)
            only = good | {"reference_pcrs": talking.registers(QUOTED)}
            add_questions(book, talking, only)
            add_signatures(book, talking, theirs, only)
            add_keys(book, talking, theirs, only)
            add_certificates(book, talking, theirs, only)
            add_logs(book, talking, only)
        add_boots(book, alpha, only)
        add_clocks(book, alpha, only)
    return book


def write(directory: Path) -> None:
    """Write the cases into a folder, in place of what is there."""
    book = make_book()
    shutil.rmtree(directory, ignore_errors=True)
    for path, content in book.files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_bytes(content)
    whole = {"format": "attestation-lab/tpm2/1", "cases": book.cases}
    (directory / "cases.json").write_text(json.dumps(whole, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    write(own("tpm2"))
