"""The samples of :mod:`.test_additions`: the least of each, and a program that uses it."""

from __future__ import annotations

from tests.support.additions import Addition, Edit

FLEET_KINDS = '''    """The kinds of the fleet slice."""

'''

A_RECORD_KIND = Addition(
    "record kind",
    (
        Edit(
            "journal/kinds/fleet.py",
            """\
    SAMPLE_NOTED = row(
        "sample_noted",
        9_001,
        ocsf=Ocsf(ENTITY, UPDATE),
        scope=FLEET,
        body=BodySpec({"node": NAME, "note": TEXT}),
    )
""",
            after=FLEET_KINDS,
        ),
    ),
    """
from bailiwick.journal import Chain, Context, RecordKind, Verified, parse_record, verify_lines
from bailiwick.metering import JournalMeter
from bailiwick.store import siem_page

kind = RecordKind("sample_noted")
assert kind is RecordKind.SAMPLE_NOTED
line = Chain().seal(kind, Context("me", "x"), at_ms=5, body={"node": "a", "note": "hm"}).line
assert isinstance(verify_lines([line]), Verified)
record = parse_record(line[:-1])
assert JournalMeter().add(record) == ()
assert "sample_noted" in siem_page()
print(record.kind, record.body["note"])
""",
    "sample_noted hm",
)

AN_EXECUTOR = Addition(
    "executor",
    (
        Edit(
            "executors/sample.py",
            '''\
"""Runs nothing, and says so."""

from pathlib import Path

from bailiwick.executors.port import Executor, Exited, JobSpec, JobStarted, LimitedBy


class SampleExecutor:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def start(self, spec: JobSpec) -> JobStarted:
        return JobStarted(spec.lease_id, 1, 2, "boot", self.folder, LimitedBy.RLIMIT, ())

    def status(self, lease_id: int) -> Exited:
        return Exited(0, None, lease_id, is_emptied=True)


def is_available() -> bool:
    return True


def open_executor(folder: Path) -> Executor:
    return SampleExecutor(folder)
''',
        ),
        Edit(
            "executors/registry.py",
            "from bailiwick.executors import sample\n",
            after="from bailiwick.executors import local, node, ray, slurm\n",
        ),
        Edit(
            "executors/registry.py",
            ' ExecutorKind("sample", sample.is_available, sample.open_executor),',
            after="ExecutorKind(LOCAL_EXECUTOR, local.is_available, local.open_executor),",
        ),
    ),
    """
from pathlib import Path
from bailiwick.executors.port import JobSpec
from bailiwick.executors.registry import DEFAULT, find_executor

kind = find_executor("sample")
assert kind is not DEFAULT and kind.is_available()
executor = kind.open(Path("/tmp"))
executor.start(JobSpec(7, argv=("true",), token="t"))
print(kind.label, executor.status(7).ended_ms)
""",
    "executor=sample 7",
)

A_VERIFIER = Addition(
    "verifier",
    (
        Edit(
            "vocab/trust.py",
            '    SAMPLE = "sample"\n',
            after='"""By what a node proves which machine it is and what it runs."""\n',
        ),
        Edit(
            "attestation/sample.py",
            '''\
"""Believes whoever knows the word."""

from dataclasses import dataclass

from bailiwick.attestation.verdict import Trusted, judged, refuse
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason


@dataclass(frozen=True)
class SampleVerifier:
    word: bytes
    max_age_ms: int
    kind = EvidenceKind.SAMPLE

    @classmethod
    def from_policy(cls, section, *, max_age_ms):
        word = section.text("word").encode()
        section.done()
        return cls(word, max_age_ms)

    @judged
    def verify(self, evidence, asked):
        if evidence.part("word") != self.word:
            raise refuse(UntrustedReason.BAD_SIGNATURE, "word")
        return Trusted({}, asked.at_ms + self.max_age_ms)
''',
        ),
        Edit(
            "attestation/verifiers.py",
            """\
        case EvidenceKind.SAMPLE:
            from bailiwick.attestation.sample import SampleVerifier

            return SampleVerifier
""",
            after="    match kind:\n",
        ),
    ),
    """
import json
from bailiwick.attestation.evidence import Evidence, EvidenceContext
from bailiwick.attestation.policy import TrustPolicy
from bailiwick.attestation.verifiers import verifiers_of
from bailiwick.vocab.trust import EvidenceKind

pool = {"nodes": ["a-*"], "require": "sample", "sample": {"word": "please"}}
policy = TrustPolicy.read(json.dumps({"pools": {"gpu": pool}}))
rule = policy.pool_of("a-1")
verifier = verifiers_of(rule)[EvidenceKind.SAMPLE]
asked = EvidenceContext(node="a-1", nonce=bytes(32), at_ms=5)
said = [
    type(verifier.verify(Evidence(EvidenceKind.SAMPLE, {"word": word}), asked)).__name__
    for word in (b"please", b"now")
]
print(*said)
""",
    "Trusted Untrusted",
)

BOOKS = Addition(
    "cluster's books",
    (
        Edit(
            "clusters/sample/__init__.py",
            '''\
"""Books with nothing in them."""

from bailiwick.clusters.accounting import MeteredBooks
from bailiwick.metering.report import ReportSpan, make_report


def meter(question, tell):
    tell("reading")
    report = make_report({}, (), span=ReportSpan(question.from_ms, question.to_ms))
    return MeteredBooks(report, "nothing at all", ())
''',
        ),
        Edit(
            "clusters/accounting.py",
            '    Accounting("sample", "Books of nobody.", "bailiwick.clusters.sample"),\n',
            after='        "bailiwick.clusters.slurm",\n    ),\n',
        ),
    ),
    """
from typer.testing import CliRunner
from bailiwick.cli.main import app

done = CliRunner().invoke(app, ["meter", "sample", "--from", "1h"])
print(done.exit_code, done.output.split(",")[0].strip())
""",
    "0 nothing at all",
)

A_COMMAND = Addition(
    "command",
    (
        Edit(
            "journal/kinds/fleet.py",
            """\
    EPOCHS_SKIPPED = row(
        "epochs_skipped",
        9_002,
        ocsf=Ocsf(ENTITY, UPDATE),
        scope=FLEET,
        body=BodySpec({"count": AMOUNT}),
    )
""",
            after=FLEET_KINDS,
        ),
        Edit(
            "kernel/fleet/commands.py",
            '''

@dataclass(frozen=True, slots=True)
class SkipEpochs:
    """So many epochs have no leader."""

    count: int

    def __post_init__(self) -> None:
        check_integer("count", self.count, low=1, high=INTEGER_MAX)
''',
            after="from bailiwick.vocab.words import PreemptionReason\n",
        ),
        Edit(
            "kernel/fleet/commands.py",
            "    SkipEpochs |\n",
            after="FleetCommand: TypeAlias = (\n",
        ),
        Edit(
            "kernel/fleet/events.py",
            '''

@dataclass(frozen=True, slots=True)
class EpochsSkipped(OfFleet):
    """So many epochs had no leader."""

    kind: ClassVar = RecordKind.EPOCHS_SKIPPED
    count: int

    def body(self) -> Body:
        """How many."""
        return {"count": self.count}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["count"])
''',
            after='"""The note of a drain that evicts nobody."""\n',
        ),
        Edit(
            "kernel/fleet/events.py",
            "    EpochsSkipped |\n",
            after="FleetEvent: TypeAlias = (\n",
        ),
        Edit(
            "kernel/fleet/rules.py",
            """\
        case cmd.SkipEpochs():
            return iter((ev.EpochsSkipped(command.count),))
""",
            after="    match command:\n",
        ),
        Edit(
            "kernel/fleet/rules.py",
            """

def _skipped(state: State, event: ev.EpochsSkipped, at_ms: int) -> None:
    del at_ms
    state.epoch += event.count
""",
            after="NODES_MAX = 1_000_000\n",
        ),
        Edit(
            "kernel/fleet/rules.py",
            "    ev.EpochsSkipped: _skipped,\n",
            after="APPLY: Mapping[type, Apply] = {\n",
        ),
        Edit(
            "kernel/fleet/rules.py",
            "    ev.EpochsSkipped: lambda event: cmd.SkipEpochs(event.count),\n",
            after="CAUSES: Mapping[type, Cause] = {\n",
        ),
    ),
    """
from bailiwick.journal import parse_record
from bailiwick.kernel import Envelope, Kernel, decode, decode_command, digest_of, encode
from bailiwick.kernel import encode_command
from bailiwick.kernel.fleet.commands import SkipEpochs
from bailiwick.kernel.slices import cause_of, event_of

command, kernel = SkipEpochs(3), Kernel()
assert decode_command(encode_command(command)) == command
outcome = kernel.execute(Envelope(command, key="once"), 5)
assert kernel.execute(Envelope(command, key="once"), 6).answer == outcome.answer
records = [parse_record(line[:-1]) for line in outcome.lines]
assert cause_of(event_of(records[0])) == command
again = Kernel()
again.replay(records)
digest = digest_of(kernel.state)
assert digest_of(again.state) == digest_of(decode(encode(kernel.state), digest)) == digest
print(encode_command(command)["command"], [str(each.kind) for each in records], again.state.epoch)
""",
    "skip_epochs ['epochs_skipped'] 3",
)

AN_ACTION = Addition(
    "API action",
    (
        Edit(
            "wire/actions/rates.py",
            """\
RATES_SAMPLE = Action(
    "rates.sample", "Read a sample of prices", "GET", TENANT + "/sample",
    _P.RATE_CARD_READ, _W.TENANT, NOTHING, Rates)
""",
            after="# fmt: off\n",
        ),
        Edit(
            "server/http/routes/rates.py",
            '''

@answers("rates.sample")
async def sample_rates(asked: Here, tenant: PathName) -> wire.Rates:
    """The prices of a tenant now."""
    return _spell(await rates.read(asked, tenant, at_ms=None))
''',
            after="    return _spell(await rates.read(asked, tenant, at_ms=at_ms))\n",
        ),
    ),
    """
import tempfile
from pathlib import Path
from bailiwick.wire.actions.rates import RATES_SAMPLE
from tests.support.http_house import http_house

with tempfile.TemporaryDirectory() as folder, http_house(Path(folder)) as house:
    path = RATES_SAMPLE.path_to(tenant="lab")
    people = "tenant_admin@lab", "tenant_admin@rival", None
    answers = [house.ask(who, "GET", path) for who in people]
    told = house.client.get("/openapi.json").json()["paths"]
    assert told[RATES_SAMPLE.path]["get"]["operationId"] == "rates_sample"
    print(*(answer.status_code for answer in answers), answers[0].json()["currency"])
""",
    "200 404 401 credit",
)

ADDITIONS = (A_COMMAND, A_RECORD_KIND, AN_ACTION, AN_EXECUTOR, A_VERIFIER, BOOKS)
