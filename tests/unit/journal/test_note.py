"""A checkpoint is trusted when the right keys signed exactly this text."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from bailiwick.journal import (
    Checkpoint,
    Cosignature,
    KeyAlgorithm,
    NoteFault,
    RefusedCheckpoint,
    SeedSigner,
    Signer,
    TrustedCheckpoint,
    VerifierKey,
    WeakKey,
    cosign_checkpoint,
    parse_note,
    parse_vkey,
    sign_checkpoint,
    verify_checkpoint,
)
from bailiwick.journal.note import NOTE_BYTES_MAX
from bailiwick.vocab.errors import InvalidValue
from tests.unit.journal.makers import ORIGIN, SIGNER

ROOT = sha256(b"root").digest()
CHECKPOINT = Checkpoint(ORIGIN, 20_852_163, ROOT)
NOTE = sign_checkpoint(CHECKPOINT, SIGNER)
KEY = VerifierKey.of(SIGNER)
WITNESSES = [SeedSigner(f"witness.example/w{n}", bytes([n] * 32)) for n in (1, 2, 3)]
WITNESS_KEYS = [VerifierKey.of(signer, KeyAlgorithm.COSIGNATURE) for signer in WITNESSES]
TESSERA_KEY = "example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx"
TESSERA_NOTE = """example.com/log/testdata
5
gy5gl3aksFyiCO95a/1vLXz88A3dRq+0l9Sxte8ZqZQ=

— example.com/log/testdata M9e0lmn5eDHyHP10zJObZdFAX2y1V8fdDKBi4IiHbDYf1TCUBwxZOhqwv2QZCqrdda2z\
TRTrmnwjwscN5RBTEmZUYAs=
""".encode()


def refusal_of(data: bytes) -> NoteFault:
    verdict = verify_checkpoint(data, [KEY])
    assert isinstance(verdict, RefusedCheckpoint), verdict
    return verdict.reason


def cosigned(*numbers: int) -> bytes:
    note = NOTE
    for number in numbers:
        note = cosign_checkpoint(note, WITNESSES[number], timestamp_s=1_679_315_147 + number)
    return note


def test_a_note_is_written_as_the_format_says() -> None:
    private = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    public = private.public_key().public_bytes_raw()
    text = f"{ORIGIN}\n20852163\n{b64encode(ROOT).decode()}\n"
    key_id = sha256(ORIGIN.encode() + b"\n\x01" + public).digest()[:4]
    packed = b64encode(key_id + private.sign(text.encode())).decode()
    assert f"{text}\n— {ORIGIN} {packed}\n".encode() == NOTE


def test_a_checkpoint_signed_by_a_known_key_is_trusted() -> None:
    assert verify_checkpoint(NOTE, [KEY]) == TrustedCheckpoint(CHECKPOINT, KEY)


def test_a_checkpoint_of_another_implementation_is_trusted() -> None:
    verdict = verify_checkpoint(TESSERA_NOTE, [parse_vkey(TESSERA_KEY)])
    assert isinstance(verdict, TrustedCheckpoint)
    assert verdict.checkpoint.size == 5


def test_extension_lines_are_signed_and_come_back() -> None:
    checkpoint = Checkpoint(ORIGIN, 1, ROOT, ("epoch 7", "x y"))
    note = sign_checkpoint(checkpoint, SIGNER)
    assert verify_checkpoint(note, [KEY]) == TrustedCheckpoint(checkpoint, KEY)
    assert refusal_of(note.replace(b"epoch 7", b"epoch 8")) is NoteFault.BAD_SIGNATURE


def test_every_flipped_bit_of_a_note_is_noticed() -> None:
    for position in range(len(NOTE)):
        flipped = NOTE[:position] + bytes([NOTE[position] ^ 1]) + NOTE[position + 1 :]
        assert isinstance(verify_checkpoint(flipped, [KEY]), RefusedCheckpoint)


def test_a_key_nobody_knows_proves_nothing() -> None:
    other = SeedSigner(ORIGIN, bytes(32))
    assert refusal_of(sign_checkpoint(CHECKPOINT, other)) is NoteFault.UNKNOWN_KEY
    assert verify_checkpoint(NOTE, []) == RefusedCheckpoint(NoteFault.UNKNOWN_KEY, ORIGIN)


def test_an_unknown_signature_beside_a_known_one_is_passed_over() -> None:
    line = sign_checkpoint(CHECKPOINT, SeedSigner(ORIGIN, bytes(32))).rpartition(b"\n\n")[2]
    assert isinstance(verify_checkpoint(NOTE + line, [KEY]), TrustedCheckpoint)


def test_a_known_signature_that_fails_refuses_the_whole_note() -> None:
    line = sign_checkpoint(Checkpoint(ORIGIN, 7, ROOT), SIGNER).rpartition(b"\n\n")[2]
    assert refusal_of(NOTE + line) is NoteFault.BAD_SIGNATURE


def test_a_log_key_vouches_only_for_its_own_origin() -> None:
    text = CHECKPOINT.text.replace(ORIGIN, "log.example/other")
    packed = b64encode(KEY.id + SIGNER.sign(text.encode())).decode()
    note = f"{text}\n— {ORIGIN} {packed}\n".encode()
    assert refusal_of(note) is NoteFault.ORIGIN_MISMATCH


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"20852163", b"020852163"),
        (b"20852163", b"-1"),
        (b"20852163", b"+1"),
        (b"20852163", b""),
        (b"20852163", b"1_0"),
        (b"20852163", b"9223372036854775808"),
        (b"20852163", "٢".encode()),
        (b"20852163", b"20852163\r"),
        (b"20852163", b" 20852163"),
        (b64encode(ROOT), b64encode(ROOT[:31])),
        (b64encode(ROOT), b64encode(ROOT) + b"="),
        (b64encode(ROOT), b64encode(ROOT).rstrip(b"=")),
        (b64encode(ROOT), b"\n" + b64encode(ROOT)),
        (b"\n\n", b"\n"),
        (b"\n\n", b"\n\nx\n"),
        (b"\n\n", b"\n\n\n"),
        ("— ".encode(), b"- "),
        ("— ".encode(), "—".encode()),
        (b"log.example/fleet\n", b"\n"),
        (b"log.example/fleet\n", b"log.example/fleet\x00\n"),
        (b"log.example/fleet\n", b"log.example/fleet\xff\n"),
    ],
)
def test_a_note_of_another_form_is_malformed(old: bytes, new: bytes) -> None:
    assert old in NOTE
    assert refusal_of(NOTE.replace(old, new, 1)) is NoteFault.MALFORMED


def test_a_note_must_end_in_a_newline_and_have_signatures() -> None:
    assert refusal_of(NOTE[:-1]) is NoteFault.MALFORMED
    assert refusal_of(NOTE + b"\n") is NoteFault.MALFORMED
    assert refusal_of(NOTE.partition(b"\n\n")[0] + b"\n\n") is NoteFault.MALFORMED
    assert refusal_of(b"") is NoteFault.MALFORMED
    short = NOTE.rpartition(b" ")[0] + b" AAAA\n"
    assert refusal_of(short) is NoteFault.MALFORMED


def test_a_note_is_bounded_but_takes_sixteen_signatures_and_more() -> None:
    line = NOTE.rpartition(b"\n\n")[2]
    assert isinstance(verify_checkpoint(NOTE + line * 15, [KEY]), TrustedCheckpoint)
    assert refusal_of(NOTE + line * 64) is NoteFault.MALFORMED
    assert refusal_of(b"x" * (NOTE_BYTES_MAX + 1)) is NoteFault.MALFORMED


def test_the_last_empty_line_separates_text_and_signatures() -> None:
    note = parse_note(b"one\n\ntwo\n\n" + NOTE.rpartition(b"\n\n")[2])
    assert note.text == "one\n\ntwo\n"


# --- witnesses ---------------------------------------------------------------------------------


def test_a_cosignature_is_written_as_the_format_says() -> None:
    private = Ed25519PrivateKey.from_private_bytes(bytes([1] * 32))
    public = private.public_key().public_bytes_raw()
    message = f"cosignature/v1\ntime 1679315147\n{CHECKPOINT.text}".encode()
    key_id = sha256(b"witness.example/w1\n\x04" + public).digest()[:4]
    packed = key_id + (1_679_315_147).to_bytes(8, "big") + private.sign(message)
    line = f"— witness.example/w1 {b64encode(packed).decode()}\n".encode()
    assert cosigned(0) == NOTE + line


def test_a_quorum_of_witnesses_is_counted() -> None:
    verdict = verify_checkpoint(cosigned(0, 2), [KEY], witnesses=WITNESS_KEYS, quorum=2)
    assert isinstance(verdict, TrustedCheckpoint)
    assert verdict.witnesses == (
        Cosignature("witness.example/w1", 1_679_315_147),
        Cosignature("witness.example/w3", 1_679_315_149),
    )
    verdict = verify_checkpoint(cosigned(0, 2), [KEY], witnesses=WITNESS_KEYS, quorum=3)
    assert verdict == RefusedCheckpoint(NoteFault.TOO_FEW_WITNESSES, "2")


def test_one_witness_twice_is_one_witness() -> None:
    verdict = verify_checkpoint(cosigned(0, 0), [KEY], witnesses=WITNESS_KEYS, quorum=2)
    assert verdict == RefusedCheckpoint(NoteFault.TOO_FEW_WITNESSES, "1")


def test_witnesses_do_not_replace_the_log() -> None:
    text = CHECKPOINT.text.encode()
    only = text + b"\n" + cosigned(0, 1).rpartition(b"\n\n")[2].partition(b"\n")[2]
    verdict = verify_checkpoint(only, [KEY], witnesses=WITNESS_KEYS, quorum=2)
    assert isinstance(verdict, RefusedCheckpoint)
    assert verdict.reason is NoteFault.UNKNOWN_KEY


def test_a_witness_signature_with_another_time_or_length_fails() -> None:
    line = cosigned(0)[len(NOTE) :].decode()
    key = WITNESS_KEYS[0]
    beyond = f"cosignature/v1\ntime {2**63}\n{CHECKPOINT.text}".encode()
    for packed in (
        key.id + (5).to_bytes(8, "big") + bytes(64),
        key.id + bytes(64),
        key.id + (2**63).to_bytes(8, "big") + WITNESSES[0].sign(beyond),
    ):
        forged = f"— {key.name} {b64encode(packed).decode()}\n"
        assert forged != line
        verdict = verify_checkpoint(NOTE + forged.encode(), [KEY], witnesses=WITNESS_KEYS)
        assert verdict == RefusedCheckpoint(NoteFault.BAD_SIGNATURE, key.name)


def test_keys_are_used_only_in_their_role() -> None:
    with pytest.raises(InvalidValue):
        verify_checkpoint(NOTE, [WITNESS_KEYS[0]])
    with pytest.raises(InvalidValue):
        verify_checkpoint(NOTE, [KEY], witnesses=[KEY])
    with pytest.raises(InvalidValue):
        verify_checkpoint(NOTE, [KEY], witnesses=WITNESS_KEYS, quorum=4)
    log_as_witness = VerifierKey.of(SIGNER, KeyAlgorithm.COSIGNATURE)
    with pytest.raises(InvalidValue):
        verify_checkpoint(NOTE, [KEY], witnesses=[log_as_witness])
    renamed = VerifierKey("witness.example/alias", WITNESSES[0].public_key, KeyAlgorithm(4))
    with pytest.raises(InvalidValue):
        verify_checkpoint(NOTE, [KEY], witnesses=[WITNESS_KEYS[0], renamed], quorum=2)


# --- signing -----------------------------------------------------------------------------------


class BadSigner:
    """A signer that returns what it is told, whatever the message."""

    name = ORIGIN

    def __init__(self, public_key: bytes, signature: bytes) -> None:
        self.public_key = public_key
        self.signature = signature

    def sign(self, message: bytes) -> bytes:
        del message
        return self.signature


def test_a_signature_that_does_not_verify_never_leaves() -> None:
    wrong: Signer = BadSigner(SIGNER.public_key, SIGNER.sign(b"something else"))
    with pytest.raises(InvalidValue):
        sign_checkpoint(CHECKPOINT, wrong)


def test_a_signer_with_a_weak_key_is_refused() -> None:
    neutral = (1).to_bytes(32, "little")
    with pytest.raises(WeakKey):
        sign_checkpoint(CHECKPOINT, BadSigner(neutral, neutral + bytes(32)))


def test_a_log_signs_only_its_own_origin() -> None:
    with pytest.raises(InvalidValue):
        sign_checkpoint(Checkpoint("log.example/other", 1, ROOT), SIGNER)


def test_a_witness_signs_only_checkpoints() -> None:
    with pytest.raises(InvalidValue):
        cosign_checkpoint(b"x\n\n" + NOTE.rpartition(b"\n\n")[2], WITNESSES[0], timestamp_s=5)
    with pytest.raises(InvalidValue):
        cosign_checkpoint(NOTE, WITNESSES[0], timestamp_s=0)


@pytest.mark.parametrize(
    "values",
    [("", 1, ROOT), ("a\nb", 1, ROOT), ("a", -1, ROOT), ("a", 2**63, ROOT), ("a", 1, ROOT[:31])],
)
def test_a_wrong_checkpoint_cannot_be_made(values: tuple[str, int, bytes]) -> None:
    with pytest.raises(InvalidValue):
        Checkpoint(*values)
    with pytest.raises(InvalidValue):
        Checkpoint("a", 1, ROOT, ("",))
