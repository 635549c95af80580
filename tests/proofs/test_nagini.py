"""What ships is what was verified, and the verifier refuses what is wrong."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAGINI = ROOT / "proofs" / "nagini"
ANNOTATED = NAGINI / "share.py"
SHIPPED = ROOT / "src" / "bailiwick" / "metering" / "share.py"

sys.path[:0] = [str(NAGINI), str(NAGINI.parent)]
from proven import Verdict  # noqa: E402
from verify import TIME_LIMIT_S, Prover, members_of, mutants, question  # noqa: E402

Report = Callable[[str, Verdict], None]

# `make prove` tries all of them; of these Nagini says quickly what is wrong.
SOME_MUTANTS = (
    "late reports are not clamped",
    "the next holder is charged",
    "no lock around a switch",
)


def run(script: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, NAGINI / script, *words]
    return subprocess.run(command, text=True, capture_output=True, check=False)


def stripped(text: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """What another annotated file would ship as."""
    path = tmp_path / "share.py"
    path.write_text(text)
    code = "import sys, pathlib, strip; print(strip.strip(pathlib.Path(sys.argv[1]).read_text()))"
    command = [sys.executable, "-c", code, path]
    return subprocess.run(command, cwd=NAGINI, text=True, capture_output=True, check=False)


def test_what_ships_is_the_verified_text_without_its_contracts() -> None:
    done = run("strip.py", "--check")
    assert done.returncode == 0, done.stdout


def test_every_line_that_ships_is_a_line_that_was_verified_or_declares_something() -> None:
    verified = iter(ANNOTATED.read_text().splitlines())
    for line in SHIPPED.read_text().splitlines():
        assert any(line in (each, re.sub("# ship: ?", "", each).rstrip()) for each in verified), (
            line
        )


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("# ship: from __future__", "# ship: print(1)\n# ship: from __future__", "declaration"),
        ("# ship:         ...", "# ship:         return 1", "declaration"),
        ("self.holder[part] = holder", "self.holder[part] = Old(holder)", "contracts are left"),
    ],
)
def test_what_would_ship_unverified_is_refused(
    tmp_path: Path, old: str, new: str, why: str
) -> None:
    text = ANNOTATED.read_text()
    assert old in text
    done = stripped(text.replace(old, new), tmp_path)
    assert done.returncode != 0
    assert why in done.stderr


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("member", members_of(ANNOTATED.read_text()))
def test_the_core_is_verified(prover: Prover, report: Report, member: str) -> None:
    verdict = prover.member(member)
    report(f"verified: {member}", verdict)
    assert verdict.is_proven, verdict.said


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("mutant", SOME_MUTANTS)
def test_a_wrong_core_is_refused(prover: Prover, report: Report, mutant: str) -> None:
    (chosen,) = [each for each in mutants() if each.what == mutant]
    verdict = prover.mutant(chosen, limit_s=TIME_LIMIT_S)
    report(f"refused: {mutant}", verdict)
    assert verdict.is_proven, verdict.said


@pytest.mark.timeout(7200)
def test_a_member_that_is_not_there_is_not_verified(prover: Prover, report: Report) -> None:
    """Nagini verifies nothing then, and calls it a success."""
    text, member = ANNOTATED.read_text(), "Parts.nonsense"

    def prove() -> Verdict:
        said = prover.nagini.verify(text, member, limit_s=TIME_LIMIT_S)
        is_told = not said.is_verified and said.words == f"there is no {member} to verify"
        return Verdict(is_told, said.words, said.took_s)

    verdict = prover.verdicts.ask(lambda: question("not there", text, member=member), prove)
    report("refused: a member that is not there", verdict)
    assert verdict.is_proven, verdict.said
