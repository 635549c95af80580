"""Talking to a TPM 2.0: its endorsement key, attestation keys under it, quotes, registers.

Rules:

- The endorsement key (EK) is the manufacturer's: it is read or made again from the TPM's own seed,
  and counts only if the TPM holds the certificate of just this key.
- An attestation key (AK) is made inside the TPM, under the EK: it signs nothing but what the TPM
  itself says, and its wrapped half is of no use to another TPM.
- A quote is over every register of every strong bank, so that any policy finds what it asks for.
  Registers and quote are of one moment, or the quote is made again.
- A TPM is left as it was found: nothing stays loaded, nothing is stored in it.
- ``tpm2_pytss`` is loaded here alone, and only when a TPM is asked for. Whatever a TPM refuses is
  one error, :class:`.CannotAttest`; that a key is of another TPM is one of its own.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import Any, Final

from bailiwick.agent.words import CannotAttest
from bailiwick.attestation.formats.der import read_first
from bailiwick.attestation.verdict import EvidenceError
from bailiwick.vocab.errors import InvalidValue

DEFAULT_TPM: Final = "device:/dev/tpmrm0"
TPM_KINDS: Final = ("device", "swtpm", "mssim", "tabrmd")
EK_KINDS: Final = (
    *("EK-ECC256", "EK-HIGH-ECC256", "EK-HIGH-ECC384", "EK-RSA2048", "EK-HIGH-RSA2048"),
)
"""Curves first: making an RSA key from its seed takes a hardware TPM many seconds."""

BANKS: Final = ("sha256", "sha384", "sha512")
"""Banks worth quoting: nobody believes SHA-1 any more."""

QUOTE_TRIES: Final = 5
REGISTERS_AT_ONCE: Final = 8
"""As many as a TPM tells in one answer."""

_RSA = 0x0001
_PERSISTENT_EKS = 0x81010000
_EK_CHAIN, _EK_CHAIN_END, _CHAIN_MAX = 0x01C00100, 0x01C001FF, 8
_AK_SHAPE = "ecc256:ecdsa-sha256:null"
_AK_ATTRIBUTES = "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|noda|restricted|sign"


def check_tpm(told: str) -> str:
    """How to reach a TPM, if it is one of the ways that are known.

    >>> check_tpm("swtpm:host=127.0.0.1,port=2321")
    'swtpm:host=127.0.0.1,port=2321'
    """
    if told.partition(":")[0] not in TPM_KINDS:
        ways = "device:/dev/tpmrm0, swtpm:host=127.0.0.1,port=2321, mssim:... or tabrmd:..."
        raise InvalidValue("--tpm", told, ways)
    return told


class OtherTpm(CannotAttest):
    """The wrapped key was made by another TPM, or by this one before it was cleared."""


@contextmanager
def talking(tpm: str) -> Iterator[Talk]:
    """A conversation with the TPM that is reached so."""
    tss = _library()
    name, _, rest = tpm.partition(":")
    try:
        with tss.TCTILdr(name, rest or None) as link, tss.ESAPI(link) as esys:
            talk = Talk(tss, esys)
            try:
                yield talk
            finally:
                talk.flush()
    except tss.TSS2_Exception as error:
        hint = "is it there, and may this user use it? --tpm says which"
        raise CannotAttest(f"the TPM at {tpm} does not do it: {error}", hint=hint) from None


def _library() -> Any:
    """``tpm2_pytss``, quiet; or what to do where it is not there."""
    os.environ.setdefault("TSS2_LOG", "all+NONE")  # else the C library tells on stderr what we tell
    try:
        importlib.import_module("tpm2_pytss.utils")
        return importlib.import_module("tpm2_pytss")
    except (ImportError, OSError, NotImplementedError, RuntimeError) as error:
        hint = (
            "pip install 'bailiwick[tpm2]'; it is built from source, so the machine needs a C"
            " compiler, pkg-config and libtss2-dev"
        )
        raise CannotAttest(f"tpm2-pytss cannot be loaded: {error}", hint=hint) from None


class Talk:
    """One conversation with a TPM; what it loads is gone at its end."""

    def __init__(self, tss: Any, esys: Any) -> None:
        self.tss, self.esys = tss, esys
        self._loaded: list[Any] = []

    def keep(self, handle: Any) -> Any:
        """The handle, which is to be flushed at the end."""
        self._loaded.append(handle)
        return handle

    def flush(self) -> None:
        """Leave nothing loaded."""
        for handle in reversed(self._loaded):
            with suppress(self.tss.TSS2_Exception):
                self.esys.flush_context(handle)

    # -- the endorsement key -----------------------------------------------------------------

    def find_ek(self, kinds: tuple[str, ...]) -> tuple[str, Any, bytes]:
        """The first kind of EK that has a certificate: kind, handle and the certificate."""
        read = self.tss.utils.NVReadEK(self.esys)
        for kind in kinds:
            certificate, template = self._described(kind, read)
            handle = self.open_ek(template, certificate) if certificate else None
            if handle is not None:
                return kind, handle, certificate
        hint = "its manufacturer should have put one there; a virtual TPM is given one when made"
        raise CannotAttest("the TPM holds no certificate of its endorsement key", hint=hint)

    def _described(self, kind: str, read: Any) -> tuple[bytes, Any]:
        """The certificate of an EK of that kind, empty if there is none, and how it is made."""
        try:
            padded, template = self.tss.utils.create_ek_template(kind, read)
        except ValueError:
            return b"", None
        return _cut(padded), template

    def open_ek(self, template: Any, certificate: bytes) -> Any:
        """The EK of a certificate: one that is loaded for good, else made again; or None."""
        for number in self._handles(_PERSISTENT_EKS, _PERSISTENT_EKS + 0xFFFF):
            handle = self.esys.tr_from_tpmpublic(number)
            if _material(self.esys.read_public(handle)[0]) in certificate:
                return handle
        made, public, *_ = self.esys.create_primary(None, template, self.tss.ESYS_TR.ENDORSEMENT)
        self.keep(made)
        return made if _material(public) in certificate else None

    def ek_chain(self) -> bytes:
        """The certificates between the EK's and its root, if the TPM holds them."""
        read = self.tss.utils.NVReadEK(self.esys)
        return b"".join(_cut(read(number)) for number in self._handles(_EK_CHAIN, _EK_CHAIN_END))

    def _handles(self, first: int, last: int) -> list[int]:
        told = self.esys.get_capability(self.tss.TPM2_CAP.HANDLES, first, _CHAIN_MAX)[1]
        return [int(each) for each in told.data.handles if first <= int(each) <= last]

    def named(self, handle: Any) -> tuple[bytes, bytes]:
        """The public part (``TPM2B_PUBLIC``) and the name of a loaded key."""
        public, name, _ = self.esys.read_public(handle)
        return bytes(public.marshal()), bytes(name)

    @contextmanager
    def may_use(self, ek: Any) -> Iterator[Any]:
        """The session that lets the EK be used once, as its template wants it."""
        tss, esys = self.tss, self.esys
        public = esys.read_public(ek)[0]
        if public.publicArea.objectAttributes & tss.TPMA_OBJECT.USERWITHAUTH:
            yield tss.ESYS_TR.PASSWORD
            return
        nobody, plain = tss.ESYS_TR.NONE, tss.types.TPMT_SYM_DEF(algorithm=tss.TPM2_ALG.NULL)
        session = esys.start_auth_session(
            nobody, nobody, tss.TPM2_SE.POLICY, plain, tss.TPM2_ALG.SHA256
        )
        try:
            esys.policy_secret(tss.ESYS_TR.ENDORSEMENT, session, b"", b"", b"", 0)
            yield session
        finally:
            with suppress(tss.TSS2_Exception):
                esys.flush_context(session)

    # -- the attestation key -----------------------------------------------------------------

    def make_ak(self, ek: Any) -> tuple[bytes, bytes]:
        """A new AK under the EK: its public part and its wrapped private one."""
        shape = self.tss.types.TPM2B_PUBLIC.parse(_AK_SHAPE, _AK_ATTRIBUTES)
        with self.may_use(ek) as session:
            private, public, *_ = self.esys.create(ek, None, shape, session1=session)
        return bytes(public.marshal()), bytes(private.marshal())

    def load_ak(self, ek: Any, public: bytes, *, private: bytes) -> Any:
        """The AK, ready for use; ``OtherTpm`` if this TPM did not wrap it."""
        types = self.tss.types
        try:
            shape = _whole(types.TPM2B_PUBLIC, public)
            secret = _whole(types.TPM2B_PRIVATE, private)
            with self.may_use(ek) as session:
                return self.keep(self.esys.load(ek, secret, shape, session1=session))
        except ValueError as error:
            raise OtherTpm(str(error)) from None
        except self.tss.TSS2_Exception as error:
            if error.error != self.tss.TPM2_RC.INTEGRITY:
                raise
            raise OtherTpm("it did not wrap that key") from None

    def save(self, ak: Any) -> Any:
        """The loaded AK as something to load again without its parent, until the TPM is reset."""
        return self.esys.context_save(ak)

    def load_saved(self, saved: Any) -> Any:
        """The AK as it was saved; None if the TPM was reset since."""
        with suppress(self.tss.TSS2_Exception):
            return self.keep(self.esys.context_load(saved))
        return None

    def activate(self, ak: Any, ek: Any, *, blob: bytes, secret: bytes) -> bytes:
        """The secret of a credential that was made for just this AK beside just this EK."""
        types = self.tss.types
        try:
            credential = _whole(types.TPM2B_ID_OBJECT, blob)
            seed = _whole(types.TPM2B_ENCRYPTED_SECRET, secret)
        except (self.tss.TSS2_Exception, ValueError):
            raise CannotAttest("the server's challenge is no credential for a TPM") from None
        with self.may_use(ek) as session:
            password = self.tss.ESYS_TR.PASSWORD
            found = self.esys.activate_credential(
                ak, ek, credential, seed, session1=password, session2=session
            )
        return bytes(found)

    # -- registers ---------------------------------------------------------------------------

    def banks(self) -> dict[str, list[int]]:
        """The registers of each bank that is switched on and worth quoting."""
        # The whole answer is held: its parts do not keep it alive, and are memory of C.
        told = self.esys.get_capability(self.tss.TPM2_CAP.PCRS, 0)[1]
        found = {}
        for each in told.data.assignedPCR:
            bits = int.from_bytes(bytes(each.pcrSelect)[: each.sizeofSelect], "little")
            registers = [number for number in range(24) if bits >> number & 1]
            if registers and str(each.hash) in BANKS:
                found[str(each.hash)] = registers
        if not found:
            hint = "the machine's firmware setup switches it on"
            raise CannotAttest("the TPM keeps no bank of SHA-256 registers", hint=hint)
        return found

    def read_registers(self, banks: Mapping[str, list[int]]) -> dict[str, dict[str, bytes]]:
        """What is in all these registers."""
        found: dict[str, dict[str, bytes]] = {}
        for bank, registers in banks.items():
            for at in range(0, len(registers), REGISTERS_AT_ONCE):
                some = registers[at : at + REGISTERS_AT_ONCE]
                digests = self.esys.pcr_read(_spell({bank: some}))[2]
                values = [bytes(each) for each in digests]
                if len(values) != len(some):
                    raise CannotAttest(f"the TPM tells {len(values)} of {len(some)} registers")
                found.setdefault(bank, {}).update(zip(map(str, some), values, strict=True))
        return found

    def quote(self, ak: Any, nonce: bytes) -> dict[str, bytes]:
        """A quote over all registers, and what was in them at that moment."""
        banks = self.banks()
        for _ in range(QUOTE_TRIES):
            registers = self.read_registers(banks)
            attest, signature = self.esys.quote(ak, _spell(banks), nonce)
            told = self.tss.types.TPMS_ATTEST.unmarshal(bytes(attest))[0]
            values = b"".join(value for bank in registers.values() for value in bank.values())
            if bytes(told.attested.quote.pcrDigest) == sha256(values).digest():
                return {
                    "attest": bytes(attest),
                    "signature": bytes(signature.marshal()),
                    "pcrs": _plain(registers),
                }
        raise CannotAttest("the TPM's registers change faster than they can be quoted")


def _whole(kind: Any, raw: bytes) -> Any:
    """A structure of the TPM, and nothing after it."""
    found, length = kind.unmarshal(raw)
    if length != len(raw):
        raise ValueError("bytes left over")
    return found


def _cut(padded: bytes | None) -> bytes:
    """A certificate without what pads it to the size of its place; empty if there is none."""
    if not padded:
        return b""
    try:
        return read_first(padded)[0].raw
    except EvidenceError:
        return b""


def _material(public: Any) -> bytes:
    """What tells a public key from all others, as it also stands in the key's certificate."""
    area = public.publicArea
    if int(area.type) == _RSA:
        return bytes(area.unique.rsa)
    return bytes(area.unique.ecc.x) + bytes(area.unique.ecc.y)


def _spell(banks: Mapping[str, list[int]]) -> str:
    return "+".join(f"{bank}:{','.join(map(str, some))}" for bank, some in banks.items())


def _plain(registers: Mapping[str, Mapping[str, bytes]]) -> bytes:
    told = {
        bank: {number: value.hex() for number, value in values.items()}
        for bank, values in registers.items()
    }
    return json.dumps(told, sort_keys=True, separators=(",", ":")).encode()
