"""A node's proof of itself by its TPM 2.0: which machine it is, and what it booted.

Rules:

- The attestation key (AK) is made once and its wrapped half lies in the state folder. In another
  TPM it cannot be loaded: a copied disk is told as such, and proves nothing.
- The TPM is opened for each act, so that other programs can use it in between.
- The firmware's log goes along where the machine has one that this user may read; whether it must
  is the policy's business.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Final

from bailiwick.agent.key_file import read_sealed, write_sealed
from bailiwick.agent.tpm2 import EK_KINDS, OtherTpm, Talk, check_tpm, talking
from bailiwick.agent.words import CannotAttest
from bailiwick.attestation.evidence import PART_BYTES_MAX, Evidence
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind

AK_NAME: Final = "tpm2-ak.json"
AK_SCHEMA: Final = "bailiwick.agent.tpm2-ak/1"
EVENT_LOG: Final = Path("/sys/kernel/security/tpm0/binary_bios_measurements")


class TpmProver:
    """Proves by the machine's TPM which machine it is and what it booted.

    ``state`` is the folder where the AK's wrapped half lies; ``event_log`` the firmware's own log.
    """

    kind: ClassVar[EvidenceKind] = EvidenceKind.TPM2

    def __init__(
        self,
        tpm: str,
        state: Path,
        *,
        event_log: Path | None = None,
        ek_kinds: tuple[str, ...] = EK_KINDS,
    ) -> None:
        self._tpm, self._path, self._event_log = check_tpm(tpm), state / AK_NAME, event_log
        if event_log is not None:
            read_event_log(event_log)  # one that was named must be there
        elif tpm.startswith("device:"):  # of another TPM it would be another machine's
            self._event_log = EVENT_LOG
        self._saved: Any = None
        with talking(tpm) as talk:
            self._ek_kind, ek, self._ek_certificate = talk.find_ek(ek_kinds)
            self._ek_public, ek_name = talk.named(ek)
            self._ek_intermediates = talk.ek_chain()
            self._public, self._private = self._ak_of(talk, ek, ek_name=ek_name)
            _, self._name = talk.named(self._load(talk, ek))

    @property
    def identity(self) -> bytes:
        """The name of the AK."""
        return self._name

    def spell(self) -> str:
        """Who the node is, for an operator who decides whether to allow it."""
        return f"{self._ek_kind} with EK certificate {sha256(self._ek_certificate).hexdigest()}"

    def offer(self) -> Mapping[str, bytes]:
        """What the node wants to be known by."""
        parts = {
            "ek_public": self._ek_public,
            "ek_certificate": self._ek_certificate,
            "ak_public": self._public,
        }
        if self._ek_intermediates:
            parts["ek_intermediates"] = self._ek_intermediates
        return parts

    def prove(self, node: str, challenge: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """That the EK and the AK are in one TPM: what only this TPM can decrypt."""
        blob, secret = challenge.get("credential_blob"), challenge.get("encrypted_secret")
        if blob is None or secret is None:
            raise CannotAttest("the server's challenge is no credential for a TPM")
        with talking(self._tpm) as talk:
            ek = talk.find_ek((self._ek_kind,))[1]
            ak = self._load(talk, ek)
            return {"secret": talk.activate(ak, ek, blob=blob, secret=secret)}

    def present(self, node: str, nonce: bytes) -> Evidence:
        """A quote of now, for this nonce."""
        with talking(self._tpm) as talk:
            ak = None if self._saved is None else talk.load_saved(self._saved)
            if ak is None:
                ak = self._load(talk, talk.find_ek((self._ek_kind,))[1])
            parts = talk.quote(ak, nonce)
        log = read_event_log(self._event_log, is_optional=True) if self._event_log else None
        if log:
            parts["event_log"] = log
        return Evidence(self.kind, parts)

    def _load(self, talk: Talk, ek: Any) -> Any:
        """The AK, loaded under the EK; saved too, since the EK may take seconds to make again."""
        try:
            ak = talk.load_ak(ek, self._public, private=self._private)
        except OtherTpm as error:
            raise self._of_another_tpm(error) from None
        self._saved = talk.save(ak)
        return ak

    def _ak_of(self, talk: Talk, ek: Any, *, ek_name: bytes) -> tuple[bytes, bytes]:
        """The AK that lies in the state folder; where there is none, a new one."""
        data = read_sealed(self._path)
        if data is None:
            public, private = talk.make_ak(ek)
            kept = {"public": public, "private": private, "ek_name": ek_name}
            plain = {name: value.hex() for name, value in kept.items()}
            text = json.dumps({"schema": AK_SCHEMA, **plain}, indent=1)
            write_sealed(self._path, text.encode() + b"\n")
            return public, private
        try:
            told = json.loads(data)
            if told["schema"] != AK_SCHEMA:
                raise ValueError(told["schema"])
            names = ("public", "private", "ek_name")
            public, private, made_under = (bytes.fromhex(told[name]) for name in names)
        except (ValueError, KeyError, TypeError):
            expected = f"what an agent wrote there ({AK_SCHEMA})"
            raise InvalidValue("attestation key", str(self._path), expected) from None
        if made_under != ek_name:
            raise self._of_another_tpm("it has another endorsement key")
        return public, private

    def _of_another_tpm(self, why: object) -> OtherTpm:
        hint = (
            "was the disk copied, or the TPM cleared? To have this machine be known as itself,"
            f" move {self._path.name} away and have an operator withdraw the old enrolment"
        )
        return OtherTpm(f"the key in {self._path} is not of this TPM: {why}", hint=hint)


def read_event_log(path: Path, *, is_optional: bool = False) -> bytes | None:
    """The firmware's log; nothing if it may be missing and is, or is not for this user."""
    try:
        with path.open("rb") as file:
            log = file.read(PART_BYTES_MAX + 1)
    except OSError as error:
        if is_optional and error.errno in (errno.ENOENT, errno.EACCES, errno.EPERM):
            return None
        raise CannotAttest(f"--event-log {path} cannot be read: {error}") from None
    if len(log) > PART_BYTES_MAX:
        raise CannotAttest(f"--event-log {path} has more than {PART_BYTES_MAX} bytes")
    return log
