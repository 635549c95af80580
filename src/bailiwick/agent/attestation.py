"""The node's side of attestation: it enrols once, and proves itself when the server asks.

Rules:

- It proves itself when the agent starts, so that a reboot shows at once, and then only when the
  server's answer to a beat holds a nonce. It has no clock of its own for that.
- Keys are offered once, which is remembered, and again when they have changed or when the server
  says that it knows none. So evidence is never sent under a key that the server cannot know, which
  would close the node. What was refused is offered again, with pauses that double, since an
  operator may have allowed it meanwhile.
- Devices are asked with a nonce made from the server's and this node's own key, and the node's own
  piece signs for what they answered. Where the server does not ask for devices, it says so, and
  they are left out of the next answers. Devices that fail are left out too, and told: whether the
  node is enough without them is the server's business.
- Nothing here ends the agent: a refusal, a verdict against the node and a TPM that fails are told
  in plain words, each once while it stays the same. A server that is away is the loop's business.

Whoever calls hands in the prover and the server, so a test needs neither a TPM nor a network.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, Protocol

from bailiwick.agent.words import CannotAttest
from bailiwick.attestation.evidence import PIECES_MAX, Evidence, bound_nonce, device_nonce
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason
from bailiwick.vocab.words import AttestationState

SKIP_BEATS_MOST: Final = 64
"""So many beats at most are let pass before what was refused is tried again."""

ALONE_ANSWERS: Final = 16
"""So many answers go without devices after the server did not want them."""

CAPABILITY_KEY: Final = "capability_key"


class NotAccepted(Exception):
    """The server refuses for a reason of the node's or of its policy: another try may pass."""


@dataclass(frozen=True, slots=True)
class KindVerdict:
    """What the server found of the evidence of one kind; ``where`` is for a person."""

    kind: EvidenceKind
    verdict: str
    reason: UntrustedReason | None = None
    where: str = ""


@dataclass(frozen=True, slots=True)
class NodeTrust:
    """What became of an answer, and how far the node is trusted now."""

    state: AttestationState
    found: tuple[KindVerdict, ...]


class Prover(Protocol):
    """Something in the machine that can prove which machine it is."""

    @property
    def kind(self) -> EvidenceKind:
        """The kind of its evidence."""

    @property
    def identity(self) -> bytes:
        """The key by which devices are asked: an AK's name, or a public key."""

    def spell(self) -> str:
        """Who the node is, for an operator who decides whether to allow it."""

    def offer(self) -> Mapping[str, bytes]:
        """The keys that it wants to be known by."""

    def prove(self, node: str, challenge: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """The answer to an enrolment's challenge. Raises ``CannotAttest``."""

    def present(self, node: str, nonce: bytes) -> Evidence:
        """Evidence of now. Raises ``CannotAttest``."""


class Memory(Protocol):
    """One line that outlives the agent."""

    def recall(self) -> str:
        """What was remembered last; nothing if nothing was."""

    def remember(self, line: str) -> None:
        """Have it be remembered."""


class TrustServer(Protocol):
    """What attestation wants of a server. All raise ``Away``, ``NotKnown`` or ``NotAccepted``."""

    def offer(
        self, node: str, kind: EvidenceKind, *, parts: Mapping[str, bytes]
    ) -> tuple[str, Mapping[str, bytes]]:
        """Offer keys; the exchange's id, and the challenge."""

    def prove(self, node: str, enrolment_id: str, *, parts: Mapping[str, bytes]) -> None:
        """Answer the challenge."""

    def nonce(self, node: str) -> bytes | None:
        """What to answer now; nothing if nothing is asked of this node."""

    def present(self, node: str, nonce: bytes, *, pieces: Sequence[Evidence]) -> NodeTrust:
        """Send evidence; what was found."""


@dataclass(slots=True)
class NodeAttestation:
    """One node's attestation; ``say`` tells an operator."""

    prover: Prover
    memory: Memory
    """Of which keys the server has taken."""
    say: Callable[[str], None]
    devices: Callable[[bytes], Sequence[Evidence]] | None = None
    """Reports of the machine's devices for a nonce, where it has any that can."""
    capability_key: bytes | None = None
    """The public key that this node mints tokens with, if it does."""
    _is_started: bool = False
    _pause: int = 1
    _skip: int = 0
    _alone: int = 0
    _told: dict[str, str] = field(default_factory=dict)
    _state: AttestationState | None = field(default=None)

    def turn(self, node: str, server: TrustServer, *, asked: bytes | None) -> None:
        """After a beat: answer the nonce that came with it, or, at the start, ask for one."""
        if self._skip:
            self._skip -= 1
            return
        if self._is_started and asked is None:
            return
        try:
            self._answer(node, server, asked=asked)
            self._is_started, self._pause = True, 1
        except (CannotAttest, NotAccepted, InvalidValue) as error:
            self._tell("standing", f"{node} cannot prove itself: {error}")
            self._skip = self._pause
            self._pause = min(2 * self._pause, SKIP_BEATS_MOST)

    def _answer(self, node: str, server: TrustServer, *, asked: bytes | None) -> None:
        nonce = server.nonce(node) if asked is None else asked
        if nonce is None:
            text = f"no proof is asked of {node}: no pool of the policy names it"
            self._tell("standing", f"{text}; it is {self.prover.spell()}")
            return
        if self.memory.recall() != self._mark(node):
            self._enrol(node, server)
        standing = self._present(node, server, nonce=nonce)
        if any(each.reason is UntrustedReason.NOT_ENROLLED for each in standing.found):
            self._enrol(node, server)
            fresh = server.nonce(node)
            if fresh is not None:
                standing = self._present(node, server, nonce=fresh)
        self._tell_standing(node, standing)

    def _enrol(self, node: str, server: TrustServer) -> None:
        try:
            enrolment_id, challenge = server.offer(node, self.prover.kind, parts=self._offer())
            proof = self.prover.prove(node, challenge)
            server.prove(node, enrolment_id, parts=proof)
        except NotAccepted as error:
            raise NotAccepted(f"{error}; it is {self.prover.spell()}") from None
        self.memory.remember(self._mark(node))
        self.say(f"{node} is enrolled by {self.prover.kind}: {self.prover.spell()}")

    def _offer(self) -> Mapping[str, bytes]:
        own = {} if self.capability_key is None else {CAPABILITY_KEY: self.capability_key}
        return {**self.prover.offer(), **own}

    def _mark(self, node: str) -> str:
        """What stands for these keys under this name."""
        offered = Evidence(self.prover.kind, self._offer())
        return sha256(f"{node} {offered.digest}".encode()).hexdigest()

    def _present(self, node: str, server: TrustServer, *, nonce: bytes) -> NodeTrust:
        reports = self._reports(node, nonce)
        if reports:
            signed = bound_nonce(nonce, [each.digest for each in reports])
            try:
                own = self.prover.present(node, signed)
                return server.present(node, nonce, pieces=(own, *reports))
            except NotAccepted:  # of a bundle that is refused as such the nonce is not spent
                self._alone = ALONE_ANSWERS
        return server.present(node, nonce, pieces=(self.prover.present(node, nonce),))

    def _reports(self, node: str, nonce: bytes) -> Sequence[Evidence]:
        self._alone = max(0, self._alone - 1)
        if self.devices is None or self._alone:
            return ()
        try:
            found = self.devices(device_nonce(nonce, self.prover.identity))
        except CannotAttest as error:
            self._tell("devices", f"{node} answers without its devices: {error}")
            return ()
        if len(found) >= PIECES_MAX:  # to leave some out would prove less than it seems
            raise CannotAttest(f"{len(found)} devices; at most {PIECES_MAX - 1} can be told")
        return found

    # -- telling -----------------------------------------------------------------------------

    def _tell_standing(self, node: str, standing: NodeTrust) -> None:
        against = [spell(each) for each in standing.found if each.verdict != "trusted"]
        if against:
            self._tell("standing", f"{node} is not believed: {'; '.join(against)}")
        elif standing.state is not self._state:
            self._tell("standing", f"{node} has proved itself: {standing.state.value}")
        self._state = standing.state

    def _tell(self, topic: str, text: str) -> None:
        if text != self._told.get(topic):
            self.say(text)
        self._told[topic] = text


def spell(found: KindVerdict) -> str:
    """A verdict in plain words, with what would help where somebody at the node can.

    >>> reason = UntrustedReason.FIRMWARE
    >>> spell(KindVerdict(EvidenceKind.TPM2, "untrusted", reason, "no such digest"))
    'tpm2 is untrusted (firmware), no such digest: the policy must list the firmware that runs here'
    """
    if found.reason is None:
        return f"{found.kind.value} is {found.verdict}"
    where = f", {found.where}" if found.where else ""
    advice = _ADVICE.get(found.reason, "an operator decides what follows")
    return f"{found.kind.value} is {found.verdict} ({found.reason.value}){where}: {advice}"


_R = UntrustedReason
_ADVICE: Final[Mapping[UntrustedReason, str]] = {
    _R.NOT_ENROLLED: "the server does not know this node's key",
    _R.IDENTITY_MISMATCH: "this is another machine than the one that enrolled under this name",
    _R.NONCE_SPENT: "the answer came too late; the next nonce is answered anew",
    _R.EK_CHAIN: "the policy must pin the authority that signed this TPM's certificate",
    _R.PCR_POLICY: "this machine booted something that the policy does not allow",
    _R.FIRMWARE: "the policy must list the firmware that runs here",
    _R.RESET_COUNT_CHANGED: "this machine was rebooted outside of maintenance",
    _R.RESTART_COUNT_CHANGED: "this machine was suspended and resumed",
    _R.EVENTLOG_MISSING: "the policy wants the firmware's log; may this user read it?",
    _R.CLOCK_ROLLBACK: "the TPM's clock went back",
}
