"""A real TPM 2.0 in software for tests (swtpm): private folder, private ports, its own authority.

Each is made as a manufacturer would: endorsement keys, RSA and ECC, with certificates from a local
authority (root and intermediate) in their places, and the SHA-256 bank switched on. It is a child
of the test in the foreground, ended by its number, and dies with the test run. The state folder is
always named by its whole path: swtpm leaves the directory it was started in.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.ports import free_ports
from tests.support.waiting import WAIT_S

STARTS = 5
os.environ.setdefault("TSS2_LOG", "all+NONE")


@dataclass
class Maker:
    """A manufacturer of TPMs: the authority that signs their endorsement keys."""

    folder: Path

    def __post_init__(self) -> None:
        self.folder = self.folder.resolve()
        ca = self.folder / "ca"
        ca.mkdir(parents=True)
        (self.folder / "localca.options").write_text(
            "--platform-manufacturer Bailiwick\n--platform-version 1\n--platform-model Test\n"
        )
        (self.folder / "localca.conf").write_text(
            f"statedir = {ca}\nsigningkey = {ca}/signkey.pem\n"
            f"issuercert = {ca}/issuercert.pem\ncertserial = {ca}/certserial\n"
        )
        (self.folder / "setup.conf").write_text(
            f"create_certs_tool = {shutil.which('swtpm_localca')}\n"
            f"create_certs_tool_config = {self.folder}/localca.conf\n"
            f"create_certs_tool_options = {self.folder}/localca.options\n"
            "active_pcr_banks = sha256\n"
        )

    @property
    def root(self) -> str:
        """The root certificate, in PEM."""
        return (self.folder / "ca/swtpm-localca-rootca-cert.pem").read_text()

    @property
    def intermediate(self) -> str:
        """The certificate that signs those of endorsement keys, in PEM."""
        return (self.folder / "ca/issuercert.pem").read_text()

    def make(self, name: str) -> SoftwareTpm:
        """A new TPM, which does not run yet."""
        state = self.folder / name
        state.mkdir()
        done = subprocess.run(
            [
                *("swtpm_setup", "--tpm2", "--tpm-state", str(state), "--create-ek-cert"),
                *("--config", str(self.folder / "setup.conf"), "--overwrite"),
                *("--runas", str(os.getuid())),
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return SoftwareTpm(state)


@dataclass
class SoftwareTpm:
    """One TPM: switched on, asked, rebooted, switched off."""

    state: Path
    port: int = 0
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def tcti(self) -> str:
        """How a program reaches it."""
        return f"swtpm:host=127.0.0.1,port={self.port}"

    def start(self) -> SoftwareTpm:
        """Switch it on; the port stays the same afterwards."""
        for _ in range(STARTS):
            self.port = self.port or free_ports(2)[0]  # the other is for control
            if self._started():
                return self
            self.port = 0  # somebody was quicker
        raise AssertionError("the software TPM does not start")

    def _started(self) -> bool:
        guard = shutil.which("setpriv")
        where = "bindaddr=127.0.0.1"
        self._process = subprocess.Popen(
            [
                *([guard, "--pdeathsig", "KILL"] if guard else []),
                *("swtpm", "socket", "--tpm2", "--tpmstate", f"dir={self.state}"),
                *("--server", f"type=tcp,port={self.port},{where}"),
                *("--ctrl", f"type=tcp,port={self.port + 1},{where}"),
                *("--flags", "not-need-init,startup-clear"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end and self._process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port + 1)) == 0:
                    return True
            time.sleep(0.01)
        self.kill()
        return False

    def stop(self) -> None:
        """Switch it off in good order."""
        if self._process is not None:
            with self.talking() as esys:
                esys.shutdown(self._library().TPM2_SU.CLEAR)
        self.kill()

    def kill(self) -> None:
        """Switch it off as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(WAIT_S)
            self._process = None

    def reboot(self) -> None:
        """The machine starts anew: every register is empty again, the reset counter one higher."""
        self.stop()
        self.start()

    @staticmethod
    def _library() -> Any:
        import tpm2_pytss

        return tpm2_pytss

    @contextmanager
    def talking(self) -> Iterator[Any]:
        """The TPM as the library talks to it; nobody else can meanwhile."""
        tss = self._library()
        with tss.TCTILdr(*self.tcti.split(":", 1)) as link, tss.ESAPI(link) as esys:
            yield esys

    def extend(self, register: int, digest: bytes, *, esys: Any = None) -> None:
        """Have a measurement be in a register (SHA-256), over ``esys`` if one talks already."""
        tss = self._library()
        value = tss.types.TPMT_HA(
            hashAlg=tss.TPM2_ALG.SHA256, digest=tss.types.TPMU_HA(sha256=digest)
        )
        with self.talking() if esys is None else nullcontext(esys) as talk:
            values = tss.types.TPML_DIGEST_VALUES(digests=[value])
            talk.pcr_extend(tss.ESYS_TR(register), values)

    def registers(self) -> dict[str, str]:
        """What is in the first eight registers."""
        with self.talking() as esys:
            digests = esys.pcr_read("sha256:0,1,2,3,4,5,6,7")[2]
            return {str(number): bytes(each).hex() for number, each in enumerate(digests)}

    def store(self, index: int, data: bytes) -> None:
        """Have data be in the TPM's own memory, as a manufacturer would."""
        tss = self._library()
        attributes = tss.TPMA_NV.OWNERWRITE | tss.TPMA_NV.AUTHREAD | tss.TPMA_NV.OWNERREAD
        public = tss.types.TPM2B_NV_PUBLIC(
            nvPublic=tss.types.TPMS_NV_PUBLIC(
                nvIndex=index,
                nameAlg=tss.TPM2_ALG.SHA256,
                attributes=attributes | tss.TPMA_NV.NO_DA,
                dataSize=len(data),
            )
        )
        with self.talking() as esys:
            place = esys.nv_define_space(None, public)
            for at in range(0, len(data), 1024):
                esys.nv_write(place, data[at : at + 1024], at, auth_handle=tss.ESYS_TR.OWNER)


@contextmanager
def running(*tpms: SoftwareTpm) -> Iterator[None]:
    """Switched on, and gone afterwards."""
    try:
        for tpm in tpms:
            tpm.start()
        yield
    finally:
        for tpm in tpms:
            tpm.kill()
