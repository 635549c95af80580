"""Nagini as a process that answers many questions: its start-up is paid once, not once a question.

usage: .nagini/bin/python session.py PARENT     (verifier.py starts it, in an empty folder)

Each line on standard input is a question in JSON: the text of a module and the member of it to
verify; `__main__` is what stands outside of all functions. Each answer is a line on standard
output: what Nagini said, word for word, and whether that is a proof.

Rules it keeps:
- The verdict is Nagini's: `translate_and_verify` is what its own command line calls, with the
  settings that the command line has by default. Its own tests run many files in one process too.
- One member, one solver. Two members in one solver disturb each other, so that a proof would depend
  on how many processors there are and which of them is free first.
- A member that is not there is not verified. Nagini verifies nothing then, and calls it a success.
- Nothing of one question is left for the next: Nagini's one changing setting is put back each time.
- mypy reads a text once. The same text has the same types, whichever member is verified.
- Anything unforeseen ends the process; an answer that did not come is no proof.
- When whoever asked is gone, it ends at once, its solver too: that may be at a search without end.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from argparse import Namespace
from pathlib import Path
from typing import Any, TextIO

BIN = Path(sys.executable).parent
sys.argv[0] = str(BIN / "nagini")  # Nagini looks for its solver beside its own command

import mypy.build  # noqa: E402
from nagini_translation import main as nagini  # noqa: E402
from nagini_translation.lib import config  # noqa: E402
from nagini_translation.lib.typeinfo import TypeInfo  # noqa: E402

TRANSLATE = nagini.translate
FIND_CACHED = mypy.build.find_cache_meta

# Nagini's command line without any option, but for --select, --ignore-global and one solver.
DEFAULTS: dict[str, Any] = {
    "arp": False,
    "benchmark": -1,
    "counterexample": False,
    "float_encoding": None,
    "ide_mode": False,
    "int_bitops_size": 8,
    "print_viper": False,
    "show_viper_errors": False,
    "sif": False,
    "submit_for_evaluation": False,
    "verbose": False,
    "verifier": "silicon",
    "viper_arg": "--numberOfParallelVerifiers=1",
    "write_viper_to_file": None,
}


class TypesOnce(TypeInfo):  # type: ignore[misc]
    """What mypy knows of a module, kept for as long as the text stays the same."""

    text = ""
    known: dict[str, Any] | None = None

    def check(self, filename: str, base_dir: str | None = None) -> bool:
        text = Path(filename).read_text(encoding="utf-8")
        if TypesOnce.known is None or TypesOnce.text != text:
            # Nagini wraps this function at each check, and never takes the wrapping off.
            mypy.build.find_cache_meta = FIND_CACHED
            TypesOnce.known = None
            if not super().check(filename, base_dir):
                return False
            TypesOnce.text, TypesOnce.known = text, dict(self.__dict__)
        self.__dict__.update(TypesOnce.known)
        return True


class NothingSelected(Exception):
    """There is no such member."""


def translated(*words: Any, **options: Any) -> Any:
    """As Nagini translates it; but there must be something to verify in it."""
    found = TRANSLATE(*words, **options)
    if found is not None and found[1].members().isEmpty():
        raise NothingSelected
    return found


def answer(question: dict[str, str], jvm: Any) -> dict[str, Any]:
    """Nagini's word on one member of a module."""
    Path("share.py").write_text(question["text"], encoding="utf-8")
    config.obligation_config._info.pop("disable_all", None)
    member = question["member"]
    options = Namespace(**DEFAULTS, select=member, ignore_global=member != "__main__")
    said: list[str] = []
    try:
        is_verified = nagini.translate_and_verify("share.py", jvm, options, said.append)
    except NothingSelected:
        return {"is_verified": False, "said": f"there is no {member} to verify"}
    return {"is_verified": is_verified is True, "said": "\n".join(said)}


def serve(questions: TextIO, answers: TextIO) -> None:
    """Answer until there are no more questions."""
    nagini.TypeInfo = TypesOnce
    nagini.translate = translated
    config.set_verifier("silicon")
    jvm = nagini.JVM(config.classpath)
    for line in questions:
        print(json.dumps(answer(json.loads(line), jvm)), file=answers, flush=True)


def end_with(parent: int) -> None:
    """Watch, for as long as the parent lives."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    end_with(int(sys.argv[1]))
    # Whatever else the tools print must not look like an answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    serve(sys.stdin, answers)


if __name__ == "__main__":
    main()
