"""Judging evidence: verdicts per second on one core, beside the library's own signature check.

CPU time of one thread, in blocks; the quieter quartile of the blocks is told, and their mean beside
it. For a TPM the verifier of a policy is made once and asked again and again, as the gate does it:
each verdict parses keys and certificates anew, walks the path to a pinned root, replays the log and
checks every signature. For the other kinds a whole case is judged, its policy and roots read each
time, so their rates are lower than a gate's.

The evidence is the repository's own (tests/vectors/attestation), and that of the shared folder
where there is one: real machines have longer logs than ours.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import thread_time
from typing import Any, NamedTuple

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from bailiwick.attestation.cases import judge_case
from bailiwick.attestation.cases.reading import CaseFields
from bailiwick.attestation.cases.tpm2 import read_quote_case
from bailiwick.attestation.verdict import Trusted
from bailiwick.vocab.errors import InvalidValue
from bench.measure import QUIET, no_collection, percentile, say
from bench.report import Section, Table
from tests.support.attestation_cases import own, shared

BLOCK_S, BLOCKS, BLOCKS_QUICK = 0.1, 20, 4
QUOTE_BAR = 500
NODES, EVERY_S = 10_000, 300
OTHERS = ("ed25519", "dice", "nitro", "gpu-cc", "snp-tdx")

Case = dict[str, Any]


class Rate(NamedTuple):
    """Calls per second of CPU time: by the quieter quartile of the blocks, and by their mean."""

    quiet: float
    mean: float


def rate(call: Callable[[], object], *, quick: bool) -> Rate:
    """How often the call can be made in a second of one core."""
    begin = thread_time()
    call()
    count = max(1, int(BLOCK_S / max(thread_time() - begin, 1e-6)))
    each = []
    for _ in range(BLOCKS_QUICK if quick else BLOCKS):
        with no_collection():
            begin = thread_time()
            for _ in range(count):
                call()
            each.append((thread_time() - begin) / count)
    return Rate(1 / percentile(each, QUIET), len(each) / sum(each))


def raw_p256(*, quick: bool) -> Rate:
    """The library's check of one signature on P-256, with the key at hand."""
    private = ec.generate_private_key(ec.SECP256R1())
    message, algorithm = bytes(145), ec.ECDSA(hashes.SHA256())
    signature, public = private.sign(message, algorithm), private.public_key()
    return rate(lambda: public.verify(signature, message, algorithm), quick=quick)


def cases_in(folder: Path) -> list[Case]:
    """The good cases of a folder; none where there is no such folder."""
    path = folder / "cases.json"
    if not path.is_file():
        return []
    cases: list[Case] = json.loads(path.read_text())["cases"]
    return [each for each in cases if each.get("expect") == "trusted"]


def tpm_call(folder: Path, case: Case) -> Callable[[], object]:
    """One verdict on a quote, by a verifier that was made before."""
    found = read_quote_case(CaseFields(case, lambda path: (folder / path).read_bytes()))

    def call() -> object:
        return found.verifier.verify(found.evidence, found.asked)

    if not isinstance(call(), Trusted):
        raise InvalidValue("bench", case["id"], "a case that is trusted")
    return call


def quotes(section: Section, *, quick: bool) -> dict[str, Rate]:
    """A row for each good quote with a chain and a log."""
    table = Table(
        "TPM quotes, each with its certificates and event log, verdicts per second of CPU time",
        ["evidence", "per second", "mean", "P-256 checks of the library it costs"],
    )
    say("attestation: the library's own rate")
    raw = raw_p256(quick=quick)
    table.rows.append(["(the library's check, P-256)", *_row(raw, raw)])
    found = {"raw": raw}
    for where, folder in (("own", own("tpm2")), ("shared", shared("tpm2"))):
        for case in cases_in(folder):
            chained = case.get("ek_certificate") or case.get("ak_certificate")
            if not chained or not case.get("event_log") or case.get("previous"):
                continue
            name = f"{where}: {case['id']}"
            say(f"attestation: {name}")
            found[name] = rate(tpm_call(folder, case), quick=quick)
            table.rows.append([name, *_row(found[name], raw)])
    section.tables.append(table)
    return found


def others(section: Section, *, quick: bool) -> None:
    """A row for the first good case of each other kind."""
    table = Table(
        "other kinds, a whole case with its policy, cases per second of CPU time",
        ["evidence", "per second", "mean"],
    )
    for topic in OTHERS:
        for where, folder in (("own", own(topic)), ("shared", shared(topic))):
            for case in cases_in(folder)[:1]:
                name = f"{where}: {topic}, {case['id']}"
                say(f"attestation: {name}")
                found = rate(_case_call(folder, case), quick=quick)
                table.rows.append([name, f"{found.quiet:,.0f}", f"{found.mean:,.0f}"])
                section.data[name] = found.quiet
    if table.rows:
        section.tables.append(table)


def _case_call(folder: Path, case: Case) -> Callable[[], object]:
    @cache
    def read(path: str) -> bytes:
        return (folder / path).read_bytes()

    return lambda: judge_case(case, read)


def _row(found: Rate, raw: Rate) -> list[str]:
    return [f"{found.quiet:,.0f}", f"{found.mean:,.0f}", f"{raw.quiet / found.quiet:.1f}"]


def run(*, quick: bool = False) -> Section:
    """The section: quotes with chain and log, and the other kinds."""
    section = Section("attestation", "Judging evidence")
    found = quotes(section, quick=quick)
    quote = found["own: good-p256"].quiet
    share = NODES / EVERY_S / quote
    section.notes.append(
        f"{NODES:,} nodes judged anew every {EVERY_S // 60} minutes are {NODES / EVERY_S:.0f}"
        f" quotes a second: {100 * share:.1f} per cent of one core at our own P-256 quote's rate."
    )
    section.data |= {name: each.quiet for name, each in found.items()} | {"core_share": share}
    others(section, quick=quick)
    section.bar_at_least("TPM quote with chain and event log", quote, QUOTE_BAR, unit="/s")
    return section
