"""What was proven is not proven again, until one byte of what it depends on changes.

No verifier is needed here: small programs stand in for Nagini, Java and Coq, in a copy of the
folders that the real ones work in, and count how often they are asked.
"""

from __future__ import annotations

import doctest
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "proofs"))
import proven  # noqa: E402
from proven import Question, Verdict, Verdicts, folder_of, hash_of  # noqa: E402

QUESTION = Question("it holds", {"share.py": "ab12", "java": "17"})
PROVEN = Verdict(is_proven=True, said="Verification successful", took_s=2.5)
FAILED = Verdict(is_proven=False, said="Verification failed", took_s=2.5)


class Prover:
    """Proves, and counts how often."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.runs = 0

    def __call__(self) -> Verdict:
        self.runs += 1
        return self.verdict


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "proofs"


def asked(folder: Path | None, prover: Prover, question: Question = QUESTION) -> Verdict:
    """By a process that knows nothing but the folder."""
    return Verdicts(folder).ask(lambda: question, prover)


def test_its_opening_example_is_true() -> None:
    assert doctest.testmod(proven) == (0, 1)


# --- what is kept, and what is not ---------------------------------------------------------------


def test_the_same_question_is_proven_once(folder: Path) -> None:
    prover = Prover(PROVEN)
    first = asked(folder, prover)
    second = asked(folder, prover)
    assert prover.runs == 1
    assert (first.is_kept, second.is_kept) == (False, True)
    assert (second.is_proven, second.said, second.took_s) == (True, PROVEN.said, 2.5)
    assert "kept: proven 2" in second.when
    assert first.when == "2 s"


@pytest.mark.parametrize(
    "other",
    [
        Question("it does not hold", QUESTION.inputs),
        Question(QUESTION.what, {**QUESTION.inputs, "share.py": "ab13"}),
        Question(QUESTION.what, {**QUESTION.inputs, "more": ""}),
        Question(QUESTION.what, {"share.py": "ab12"}),
        Question(QUESTION.what, {"share.py": "17", "java": "ab12"}),
    ],
    ids=["another claim", "another input", "one more", "one less", "exchanged"],
)
def test_another_question_is_proven(folder: Path, other: Question) -> None:
    prover = Prover(PROVEN)
    asked(folder, prover)
    assert not asked(folder, prover, other).is_kept
    assert prover.runs == 2


def test_a_failure_is_never_kept(folder: Path) -> None:
    prover = Prover(FAILED)
    assert not asked(folder, prover).is_proven
    assert not asked(folder, prover).is_proven
    assert prover.runs == 2
    assert not folder.exists()


def test_a_failure_does_not_undo_what_was_proven_from_other_inputs(folder: Path) -> None:
    asked(folder, Prover(PROVEN))
    asked(folder, Prover(FAILED), Question("another", {}))
    assert asked(folder, Prover(FAILED)).is_kept


def test_what_is_proven_while_its_inputs_change_is_not_kept(folder: Path) -> None:
    now = ["ab12"]

    def pose() -> Question:
        return Question("it holds", {"share.py": now[0]})

    def prove() -> Verdict:
        now[0] = "ab13"
        return PROVEN

    assert Verdicts(folder).ask(pose, prove).is_proven
    assert Verdicts(folder).entries() == []


def test_a_fresh_proof_is_made_whatever_is_kept_and_is_kept_itself(folder: Path) -> None:
    prover = Prover(PROVEN)
    asked(folder, prover)
    assert not Verdicts(folder).renew(lambda: QUESTION, prover).is_kept
    assert prover.runs == 2
    assert asked(folder, prover).is_kept


def test_what_came_out_of_it_is_kept_too(folder: Path) -> None:
    program = bytes(range(256)) * 100
    asked(folder, Prover(Verdict(True, "built", 1.0, made=program)))
    kept = asked(folder, Prover(FAILED))
    assert kept.is_kept
    assert kept.made == program


def test_an_entry_tells_what_was_proven_when_how_long_and_by_what(folder: Path) -> None:
    asked(folder, Prover(PROVEN))
    (entry,) = Verdicts(folder).entries()
    assert entry["what"] == "it holds"
    assert entry["inputs"] == {"share.py": "ab12", "java": "17"}
    assert entry["took_s"] == 2.5
    assert entry["proven_at"].endswith("Z")
    assert json.loads((folder / f"{QUESTION.key}.json").read_text())["key"] == QUESTION.key


def test_only_so_many_are_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proven.ENTRIES_MAX", 5)
    verdicts = Verdicts(folder)
    questions = [Question(str(number), {}) for number in range(8)]
    for number, question in enumerate(questions):
        verdicts.keep(question, Verdict(True, "", 1.0, made=b"x" if number < 3 else b""))
        # What is written in one moment has one time; these are of different days.
        os.utime(folder / f"{question.key}.json", (number, number))
    verdicts.keep(QUESTION, PROVEN)
    assert len(list(folder.iterdir())) == 5
    assert verdicts.find(questions[3]) is None
    assert verdicts.find(questions[-1]) is not None
    assert verdicts.find(QUESTION) is not None


def test_nothing_of_a_writer_that_died_stays_for_ever(folder: Path) -> None:
    asked(folder, Prover(PROVEN))
    old, new = folder / "1.draft", folder / "2.draft"
    old.write_text("half")
    new.write_text("half")
    os.utime(old, (1, 1))
    Verdicts(folder).keep(QUESTION, PROVEN)
    assert not old.exists()
    assert new.exists()


# --- entries that are not to be believed ---------------------------------------------------------


def changed(entry: bytes, at: int) -> bytes:
    return entry[:at] + bytes([entry[at] ^ 1]) + entry[at + 1 :]


def test_an_entry_with_any_byte_changed_or_missing_is_ignored(folder: Path) -> None:
    asked(folder, Prover(PROVEN))
    path = folder / f"{QUESTION.key}.json"
    whole = path.read_bytes()
    for at in range(len(whole)):
        for content in (changed(whole, at), whole[:at]):
            path.write_bytes(content)
            kept = Verdicts(folder).find(QUESTION)
            # White space between the words is the one thing that may change.
            assert kept is None or json.loads(content) == json.loads(whole), (at, content)


@pytest.mark.parametrize(
    "content",
    [b"", b"null", b"[]", b"1", b'{"seal": 1}', b"\xff\xfe", b"[" * 100_000, b'{"layout": 1}'],
)
def test_what_is_no_entry_is_ignored_and_replaced(folder: Path, content: bytes) -> None:
    prover = Prover(PROVEN)
    asked(folder, prover)
    (folder / f"{QUESTION.key}.json").write_bytes(content)
    assert Verdicts(folder).entries() == []
    assert not asked(folder, prover).is_kept
    assert asked(folder, prover).is_kept
    assert prover.runs == 2


def test_an_entry_about_something_else_is_ignored(folder: Path) -> None:
    other = Question("another", {"share.py": "cd"})
    asked(folder, Prover(PROVEN), other)
    (folder / f"{other.key}.json").rename(folder / f"{QUESTION.key}.json")
    assert Verdicts(folder).find(QUESTION) is None


@pytest.mark.parametrize(
    "claim", [{"inputs": {}}, {"what": "another"}, {"layout": 0}, {"key": "another"}]
)
def test_an_entry_that_claims_another_thing_under_this_name_is_ignored(
    folder: Path, claim: dict[str, object]
) -> None:
    asked(folder, Prover(PROVEN))
    path = folder / f"{QUESTION.key}.json"
    entry = json.loads(path.read_text()) | claim
    del entry["seal"]
    words = json.dumps(entry, sort_keys=True, separators=(",", ":"))
    path.write_text(json.dumps(entry | {"seal": hash_of(words)}))
    assert Verdicts(folder).find(QUESTION) is None


@pytest.mark.parametrize("damage", [changed, lambda made, at: made[:at], None])
def test_a_program_that_is_not_the_one_that_was_made_is_ignored(
    folder: Path, damage: Callable[[bytes, int], bytes] | None
) -> None:
    prover = Prover(Verdict(True, "built", 1.0, made=b"\x7fELF and more"))
    asked(folder, prover)
    path = folder / f"{QUESTION.key}.made"
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage(path.read_bytes(), 5))
    assert not asked(folder, prover).is_kept


def test_a_link_or_a_pipe_in_place_of_an_entry_is_ignored(folder: Path, tmp_path: Path) -> None:
    asked(folder, Prover(PROVEN))
    path = folder / f"{QUESTION.key}.json"
    elsewhere = tmp_path / "entry.json"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert Verdicts(folder).find(QUESTION) is None
    path.unlink()
    os.mkfifo(path)
    assert Verdicts(folder).find(QUESTION) is None


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o702])
def test_a_folder_that_others_can_open_is_not_believed(folder: Path, mode: int) -> None:
    asked(folder, Prover(PROVEN))
    folder.chmod(mode)
    verdicts = Verdicts(folder)
    prover = Prover(PROVEN)
    assert not verdicts.ask(lambda: QUESTION, prover).is_kept
    assert prover.runs == 1
    assert len(verdicts.notes) == 1
    assert "open to others" in verdicts.notes[0]


@pytest.mark.parametrize("what", ["folder", "entry"])
def test_what_belongs_to_another_user_is_not_believed(folder: Path, what: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    asked(folder, Prover(PROVEN))
    os.chown(folder if what == "folder" else folder / f"{QUESTION.key}.json", 65_534, 65_534)
    assert Verdicts(folder).find(QUESTION) is None


def test_a_link_in_place_of_the_folder_is_not_followed(folder: Path, tmp_path: Path) -> None:
    asked(folder, Prover(PROVEN))
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    verdicts = Verdicts(folder)
    assert verdicts.find(QUESTION) is None
    assert len(verdicts.notes) == 1


# --- folders that cannot be used, and many who use one -------------------------------------------


def test_the_folder_is_closed_to_others_from_the_start(folder: Path) -> None:
    before = os.umask(0)
    try:
        asked(folder, Prover(PROVEN))
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / f"{QUESTION.key}.json").stat().st_mode) == 0o600


def test_a_folder_that_cannot_be_made_is_no_fault_and_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    verdicts = Verdicts(tmp_path / "cache" / "proofs")
    prover = Prover(PROVEN)
    for _ in range(2):
        assert verdicts.ask(lambda: QUESTION, prover).is_proven
    assert prover.runs == 2
    assert len(verdicts.notes) == 1
    assert "cannot be kept" in verdicts.notes[0]


def test_a_folder_that_cannot_be_written_is_no_fault() -> None:
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        folder = Path(top, "proofs")
        folder.mkdir(mode=0o700)
        me = os.geteuid()
        if me == 0:  # who may write everywhere: so another tries
            os.chown(folder, 65_534, -1)
            os.seteuid(65_534)
        try:
            folder.chmod(0o500)
            verdicts = Verdicts(folder)
            assert verdicts.ask(lambda: QUESTION, Prover(PROVEN)).is_proven
            assert verdicts.find(QUESTION) is None
            assert len(verdicts.notes) == 1
            assert "cannot be kept" in verdicts.notes[0]
            folder.chmod(0o700)
            verdicts.keep(QUESTION, PROVEN)
            assert verdicts.find(QUESTION) is not None
        finally:
            os.seteuid(me)


def test_without_a_folder_everything_is_proven_and_nothing_is_said() -> None:
    prover = Prover(PROVEN)
    assert not asked(None, prover).is_kept
    assert not asked(None, prover).is_kept
    assert prover.runs == 2


def test_many_writers_of_one_entry_leave_one_whole_entry(folder: Path) -> None:
    said = [str(number) * 50_000 for number in range(8)]
    seen: list[str] = []

    def write(words: str) -> None:
        verdicts = Verdicts(folder)
        for _ in range(20):
            verdicts.keep(QUESTION, Verdict(True, words, 1.0, made=b"the same from all"))
            kept = verdicts.find(QUESTION)
            seen.append(kept.said if kept else "nothing")
            assert verdicts.notes == []

    threads = [threading.Thread(target=write, args=(each,)) for each in said]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 160
    assert set(seen) <= set(said)
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        ({"BAILIWICK_CACHE": "no", "XDG_CACHE_HOME": "/x"}, None),
        ({"BAILIWICK_CACHE": "/c", "XDG_CACHE_HOME": "/x"}, "/c/proofs"),
        ({"XDG_CACHE_HOME": "/x"}, "/x/bailiwick/proofs"),
        ({"XDG_CACHE_HOME": "x"}, "/h/.cache/bailiwick/proofs"),
        ({}, "/h/.cache/bailiwick/proofs"),
    ],
)
def test_where_it_is(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], found: str | None
) -> None:
    monkeypatch.setenv("HOME", "/h")
    assert folder_of(environment) == (Path(found) if found else None)


def test_a_person_can_see_and_remove_what_is_kept(tmp_path: Path) -> None:
    asked(tmp_path / "proofs", Prover(PROVEN))

    def told(*words: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, ROOT / "proofs" / "proven.py", *words],
            text=True,
            capture_output=True,
            env=os.environ | {"BAILIWICK_CACHE": str(tmp_path)},
            check=False,
        )
        return done.returncode, done.stdout

    assert told("where") == (0, f"{tmp_path}/proofs\n")
    code, listed = told("list")
    assert code == 0
    assert listed.split()[2:] == ["2.5", "s", "it", "holds"]
    assert told("forget") == (0, "1 files removed\n")
    assert told("list") == (0, "")
    assert told() == (2, "")


# --- every input of Nagini and of Coq ------------------------------------------------------------

SESSION = """#!{python}
import json, sys
for line in sys.stdin:
    question = json.loads(line)
    good = "late_wrong" not in question["text"]
    said = "Verification " + ("successful" if good else "failed\\nErrors:\\nwrong")
    print(json.dumps({{"is_verified": good, "said": said}}), flush=True)
"""
JAVA = """#!/bin/sh
echo "    java.home = $(dirname "$0")" >&2
echo "    java.vm.name = A VM" >&2
echo "    java.vm.version = 17.0.1" >&2
"""
COQC = """#!/bin/sh
case "$1" in
-where) echo "$(dirname "$0")/../coq"; exit ;;
--version) echo 'Coq 8.16.1'; exit ;;
esac
for file; do :; done
case $file in
assumptions.v) sed -n 's/^Print.*/Closed under the global context/p' $file ;;
*) [ -f oracle.ml ] || { echo "File \\"$file\\", line 1" >&2; exit 1; } ;;
esac
"""
OCAMLFIND = """#!/bin/sh
if [ "$2" = -version ]; then echo 4.13.1; else echo "an oracle" >oracle; fi
"""
DRIVER = """
import os, platform, sys
machine = os.environ.get("MACHINE")
if machine:
    platform.machine = lambda: machine
sys.path[:0] = ["proofs", "proofs/nagini"]
from proven import Verdicts, folder_of
verdicts = Verdicts(folder_of(os.environ))
if sys.argv[1] == "coq":
    from coq_check import CoqProver, mutants
    with CoqProver(verdicts) as prover:
        told = [prover.theorems(), prover.mutant(mutants()[0])]
else:
    from verify import Prover, mutants
    prover = Prover(verdicts)
    with prover.nagini:
        told = [prover.member("total"), prover.mutant(mutants()[0])]
for each in told:
    assert each.is_proven, each.said
print(*(each.is_kept for each in told))
"""


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@dataclass
class Copy:
    """A copy of the proofs with tools that only pretend."""

    root: Path

    def asks(self, tool: str, **settings: str) -> list[str]:
        """Whether each verdict was a kept one, asked by a new process."""
        path = f"{self.root}/bin:/usr/bin:/bin"
        environment = {"PATH": path, "HOME": str(self.root / "home"), **settings}
        done = subprocess.run(
            [sys.executable, "-c", DRIVER, tool],
            cwd=self.root,
            text=True,
            capture_output=True,
            env=environment,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()


@pytest.fixture(scope="module")
def first_clone(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Everything in it is proven, and kept."""
    root = tmp_path_factory.mktemp("proofs") / "copy"
    ignored = shutil.ignore_patterns("build", "__pycache__")
    shutil.copytree(ROOT / "proofs", root / "proofs", ignore=ignored)
    (root / "requirements").mkdir()
    shutil.copy(ROOT / "requirements" / "nagini.txt", root / "requirements")
    mutants = root / "proofs" / "nagini" / "mutants.txt"
    # Its text is one that the pretended Nagini refuses.
    mutants.write_text(mutants.read_text().replace("+return at_ms", "+late_wrong = at_ms", 1))
    program(root / ".nagini/bin/python", SESSION.format(python=sys.executable))
    program(root / ".nagini/bin/z3", "a solver")
    (root / ".nagini/pyvenv.cfg").write_text("version_info = 3.11.7\n")
    site = root / ".nagini/lib/python3.11/site-packages"
    program(site / "nagini_translation/main.py", "translate()")
    program(site / "nagini_contracts/contracts.py", "Requires")
    (site / "z3_solver-4.10.2.0.dist-info").mkdir()
    program(root / "bin/java", JAVA)
    program(root / "bin/coqc", COQC)
    program(root / "bin/ocamlfind", OCAMLFIND)
    program(root / "bin/python3", "#!/bin/sh\n")
    for name in ("iris", "stdpp"):
        program(root / "coq/user-contrib" / name / "base.vo", f"compiled {name}")
    found = Copy(root)
    assert found.asks("nagini") == found.asks("coq") == ["False", "False"]
    return found


@pytest.fixture
def copy(first_clone: Copy, tmp_path: Path) -> Copy:
    """Another clone at another place, with what the first one kept."""
    shutil.copytree(first_clone.root, tmp_path / "another clone")
    return Copy(tmp_path / "another clone")


def put(path: str) -> Callable[[Copy], dict[str, str]]:
    """One more byte in a file."""

    def change(copy: Copy) -> dict[str, str]:
        file = copy.root / path
        assert file.is_file(), path
        file.write_bytes(file.read_bytes() + b"\n")
        return {}

    return change


def replaced(path: str, old: str, new: str) -> Callable[[Copy], dict[str, str]]:
    """A few letters are others."""

    def change(copy: Copy) -> dict[str, str]:
        file = copy.root / path
        assert file.read_text().count(old) == 1
        file.write_text(file.read_text().replace(old, new))
        return {}

    return change


def another_package(copy: Copy) -> dict[str, str]:
    site = copy.root / ".nagini/lib/python3.11/site-packages"
    (site / "z3_solver-4.10.2.0.dist-info").rename(site / "z3_solver-4.8.7.0.dist-info")
    return {}


def another_java(copy: Copy) -> dict[str, str]:
    home = copy.root / "jdk"
    program(home / "bin/java", (copy.root / "bin/java").read_text().replace("17.0.1", "21"))
    return {"JAVA_HOME": str(home)}


def another_library(copy: Copy) -> dict[str, str]:
    return {"COQPATH": "/elsewhere"}


def another_machine(copy: Copy) -> dict[str, str]:
    return {"MACHINE": "a machine of another kind"}


NAGINI_INPUTS = {
    "the annotated core": put("proofs/nagini/share.py"),
    "verify.py": put("proofs/nagini/verify.py"),
    "verifier.py": put("proofs/nagini/verifier.py"),
    "session.py": put("proofs/nagini/session.py"),
    "mutants.py": put("proofs/mutants.py"),
    "proven.py": put("proofs/proven.py"),
    "the lock file": put("requirements/nagini.txt"),
    "the installed packages": another_package,
    "the Python below Nagini": replaced(".nagini/pyvenv.cfg", "3.11.7", "3.11.8"),
    "the translator": put(".nagini/lib/python3.11/site-packages/nagini_translation/main.py"),
    "the contracts": put(".nagini/lib/python3.11/site-packages/nagini_contracts/contracts.py"),
    "the solver": put(".nagini/bin/z3"),
    "Java on the path": replaced("bin/java", "17.0.1", "17.0.2"),
    "Java elsewhere": another_java,
    "the machine": another_machine,
}
COQ_INPUTS = {
    **{f"{name}.v": put(f"proofs/{name}.v") for name in ("model", "sources", "maps", "ledger")},
    **{f"{name}.v": put(f"proofs/{name}.v") for name in ("collector", "examples", "extract")},
    "one more .v": lambda copy: program(copy.root / "proofs/more.v", "") or {},
    "oracle.ml": put("proofs/oracle.ml"),
    "check.sh": put("proofs/check.sh"),
    "coq_check.py": put("proofs/coq_check.py"),
    "mutants.py": put("proofs/mutants.py"),
    "proven.py": put("proofs/proven.py"),
    "selftest.py": put("proofs/selftest.py"),
    "Coq": replaced("bin/coqc", "8.16.1", "8.16.2"),
    "OCaml": replaced("bin/ocamlfind", "4.13.1", "4.14.0"),
    "Iris": put("coq/user-contrib/iris/base.vo"),
    "stdpp": put("coq/user-contrib/stdpp/base.vo"),
    "where libraries are": another_library,
    "the machine": another_machine,
}


@pytest.mark.parametrize(
    ("tool", "change"),
    [
        *(
            pytest.param("nagini", each, id=f"nagini: {name}")
            for name, each in NAGINI_INPUTS.items()
        ),
        *(pytest.param("coq", each, id=f"coq: {name}") for name, each in COQ_INPUTS.items()),
    ],
)
def test_a_change_of_any_input_is_proven_again(
    copy: Copy, tool: str, change: Callable[[Copy], dict[str, str]]
) -> None:
    settings = change(copy)
    assert copy.asks(tool, **settings) == ["False", "False"]


@pytest.mark.parametrize("tool", ["nagini", "coq"])
def test_another_clone_at_another_place_proves_nothing_again(copy: Copy, tool: str) -> None:
    assert copy.asks(tool) == ["True", "True"]


@pytest.mark.parametrize(
    ("tool", "path", "old", "new"),
    [
        ("nagini", "proofs/nagini/mutants.txt", "+late_wrong = at_ms", "+late_wrong = 1 + at_ms"),
        ("coq", "proofs/mutants.txt", "+nat := t.", "+nat := t + 1."),
    ],
)
def test_a_change_of_a_mutant_is_proven_again_and_nothing_else(
    copy: Copy, tool: str, path: str, old: str, new: str
) -> None:
    file = copy.root / path
    file.write_text(file.read_text().replace(old, new, 1))
    assert copy.asks(tool) == ["True", "False"]


@pytest.mark.parametrize("tool", ["nagini", "coq"])
def test_without_a_cache_everything_is_proven_from_nothing(copy: Copy, tool: str) -> None:
    assert copy.asks(tool, BAILIWICK_CACHE="no") == ["False", "False"]


def test_the_oracle_that_is_kept_is_the_one_that_was_built(copy: Copy) -> None:
    (entry,) = (copy.root / "home/.cache/bailiwick/proofs").glob("*.made")
    assert entry.read_text() == "an oracle\n"
    assert hash_of(entry.read_bytes()) in (entry.with_suffix(".json")).read_text()
