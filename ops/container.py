"""What the image runs: prepares a certificate and a key if there are none, then becomes the server.

    container.py [OPTION...]     `bailiwick up` with these options beside its own
    container.py health          0 if the server in this container is ready, else 1 and why

Told by the environment:

    BAILIWICK_NAMES                    names and addresses people use, with commas; the first is
                                       shown in the login (localhost,127.0.0.1)
    BAILIWICK_PORT                     the port inside (7077)
    BAILIWICK_TLS_CERT, _KEY, _CA      a certificate of your own (PEM files); else one is made
    BAILIWICK_DATABASE                 postgresql://user@host/name; else SQLite in the volume
    BAILIWICK_DATABASE_PASSWORD_FILE   a file that holds the password, and nothing else
    BAILIWICK_KEY_FILE                 the key that replicas share; else one is made in the volume

Rules:

- All that is made lies in the volume (HOME), for its owner alone, and is never replaced: only the
  server's certificate is made anew, when the names change or its end is near. The CA stays.
- The password goes to the database library by its own variable. It is in no list of arguments.
- A server in a container is reached by others, so it speaks TLS and runs no jobs.
- What is wrong is told in one line, with exit code 2.
"""

from __future__ import annotations

import ipaddress
import os
import ssl
import sys
from datetime import UTC, datetime, timedelta
from http.client import HTTPSConnection
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

COMMAND = Path(sys.executable).with_name("bailiwick")
CA_DAYS, SERVER_DAYS, RENEW_DAYS = 3650, 397, 30
HEALTH_S = 5.0


class BadSetting(Exception):
    """Something the container was told cannot be; the message names it."""


def main(arguments: list[str]) -> int:
    """Become the server, or ask it how it is."""
    try:
        if arguments == ["health"]:
            return check_health()
        become_server(arguments)
    except BadSetting as error:
        print(f"bailiwick: {error}", file=sys.stderr)
    except OSError as error:
        print(f"bailiwick: the volume cannot be used: {error}", file=sys.stderr)
    return 2


def become_server(arguments: list[str]) -> NoReturn:
    """Prepare what is missing, then run ``bailiwick up`` in place of this process."""
    os.umask(0o077)
    folder, names = volume(), names_of(os.environ.get("BAILIWICK_NAMES", ""))
    certificate, key, ca = certificate_files(folder, names)
    command = [str(COMMAND), "up", "--data-dir", str(folder), "--host", "0.0.0.0"]
    command += ["--port", str(port()), "--advertise", names[0]]
    command += ["--tls-cert", certificate, "--tls-key", key, *(["--tls-ca", ca] if ca else [])]
    database = os.environ.get("BAILIWICK_DATABASE")
    if database:
        command += ["--database", database, "--key-file", key_file(folder)]
        give_password()
    os.execv(command[0], [*command, *arguments])


def volume() -> Path:
    """Where everything lies: the home of the image's user, which must be ours to write."""
    folder = Path(os.environ.get("HOME", "/var/lib/bailiwick"))
    if not os.access(folder, os.W_OK | os.X_OK):
        told = f"user {os.getuid()} cannot write to {folder}: give it a volume that this user owns"
        raise BadSetting(told)
    return folder


def port() -> int:
    """The port to listen on."""
    told = os.environ.get("BAILIWICK_PORT") or "7077"
    if not told.isdecimal() or not 0 < int(told) < 65536:
        raise BadSetting(f"BAILIWICK_PORT: expected 1 to 65535, got {told!r}")
    return int(told)


def names_of(told: str) -> list[str]:
    """The names and addresses by which people reach the server."""
    names = [name.strip() for name in (told or "localhost,127.0.0.1").split(",")]
    for name in names:
        if not name or (any(letter in name for letter in " /:@") and not is_address(name)):
            raise BadSetting(f"BAILIWICK_NAMES: expected names and addresses, got {name!r}")
    return names


def is_address(name: str) -> bool:
    """Whether it is an address and not a name."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


# --- keys and certificates ---------------------------------------------------------------------


def key_file(folder: Path) -> str:
    """The key that signs tokens, as every replica on one database must have it."""
    named = os.environ.get("BAILIWICK_KEY_FILE")
    if named:
        return named
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    path = folder / "authority.pem"
    if not path.exists():
        save(path, private_pem(Ed25519PrivateKey.generate()))
    return str(path)


def give_password() -> None:
    """Hand the database's password to the library that asks for it."""
    named = os.environ.get("BAILIWICK_DATABASE_PASSWORD_FILE")
    if not named:
        return
    try:
        password = Path(named).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"BAILIWICK_DATABASE_PASSWORD_FILE: {error}") from None
    if not password:
        raise BadSetting(f"BAILIWICK_DATABASE_PASSWORD_FILE: {named} is empty")
    os.environ["PGPASSWORD"] = password


def certificate_files(folder: Path, names: list[str]) -> tuple[str, str, str | None]:
    """The certificate, its key, and the CA's certificate if there is one to trust."""
    given = [os.environ.get(f"BAILIWICK_TLS_{word}") for word in ("CERT", "KEY", "CA")]
    if given[0] and given[1]:
        return given[0], given[1], given[2]
    if any(given):
        raise BadSetting("BAILIWICK_TLS_CERT and BAILIWICK_TLS_KEY go together")
    tls = folder / "tls"
    tls.mkdir(mode=0o700, exist_ok=True)
    ca, ca_key = tls / "ca.pem", tls / "ca.key"
    certificate, key = tls / "server.pem", tls / "server.key"
    if not (ca.exists() and ca_key.exists()):
        make_ca(ca, ca_key)
        certificate.unlink(missing_ok=True)  # another authority's
    if not (key.exists() and is_good(certificate, names)):
        make_certificate(certificate, key, names=names, ca=ca, ca_key=ca_key)
    return str(certificate), str(key), str(ca)


def is_good(certificate: Path, names: list[str]) -> bool:
    """Whether the certificate is there, for these names, and lasts a while."""
    from cryptography import x509

    try:
        found = x509.load_pem_x509_certificate(certificate.read_bytes())
        held = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (OSError, ValueError, x509.ExtensionNotFound):
        return False
    until = datetime.now(UTC) + timedelta(days=RENEW_DAYS)
    return [str(name.value) for name in held] == names and found.not_valid_after_utc > until


def make_ca(path: Path, key_path: Path) -> None:
    """A certificate authority of this container's own."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key()
    name = common_name("Bailiwick CA of this container")
    made = (
        unsigned(name, name, days=CA_DAYS)
        .public_key(public)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .sign(key, hashes.SHA256())
    )
    save(key_path, private_pem(key))
    save(path, public_pem(made))


def make_certificate(
    path: Path, key_path: Path, *, names: list[str], ca: Path, ca_key: Path
) -> None:
    """The server's own certificate, signed by that authority."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID

    signer = serialization.load_pem_private_key(ca_key.read_bytes(), None)
    issuer = x509.load_pem_x509_certificate(ca.read_bytes())
    if not isinstance(signer, ec.EllipticCurvePrivateKey):
        raise BadSetting(f"{ca_key} is not the key that was made here")
    key = ec.generate_private_key(ec.SECP256R1())
    held = [
        x509.IPAddress(ipaddress.ip_address(name)) if is_address(name) else x509.DNSName(name)
        for name in names
    ]
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    made = (
        unsigned(common_name(names[0][:64]), issuer.subject, days=SERVER_DAYS)
        .public_key(key.public_key())
        .add_extension(x509.SubjectAlternativeName(held), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(identifier, critical=False)
        .sign(signer, hashes.SHA256())
    )
    save(key_path, private_pem(key))
    save(path, public_pem(made))


def common_name(text: str) -> x509.Name:
    """A subject with that name and nothing else."""
    from cryptography import x509

    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


def unsigned(subject: x509.Name, issuer: x509.Name, *, days: int) -> x509.CertificateBuilder:
    """The beginning of a certificate that counts from an hour ago: clocks differ."""
    from cryptography import x509

    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=days))
    )


def usage(*, signs_certificates: bool) -> x509.KeyUsage:
    """What a key is for: certificates, or a server's handshakes."""
    from cryptography import x509

    others = ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement")
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
        **dict.fromkeys(others, False),
    )


def private_pem(key: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey) -> bytes:
    """A key as text."""
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def public_pem(certificate: x509.Certificate) -> bytes:
    """A certificate as text."""
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM)


def save(path: Path, content: bytes) -> None:
    """The whole of it under that name, for its owner alone."""
    unfinished = path.with_name(f".{path.name}.new")
    unfinished.unlink(missing_ok=True)
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


# --- health ------------------------------------------------------------------------------------


def check_health() -> int:
    """Ask the server of this container whether it is ready."""
    # Nothing secret is sent, and only to this container itself: any certificate will do.
    anybody = ssl.create_default_context()
    anybody.check_hostname = False
    anybody.verify_mode = ssl.CERT_NONE
    connection = HTTPSConnection("127.0.0.1", port(), timeout=HEALTH_S, context=anybody)
    try:
        connection.request("GET", "/readyz")
        status = connection.getresponse().status
    except OSError as error:
        print(f"bailiwick does not answer: {error}", file=sys.stderr)
        return 1
    finally:
        connection.close()
    if status != 200:
        print(f"bailiwick is not ready: {status}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
