"""Slurm's programs as people know them, for a cluster that is an instance of the app.

bailiwick-slurm [--on NAME] PROGRAM WORDS...
    PROGRAM is sbatch, squeue, sacct, sinfo or scancel; NAME is the instance's, and is otherwise
    taken from BAILIWICK_SLURM. A link to this program that is called as one of them is that one.

Example: bailiwick-slurm --on c1 sbatch --nodes=2 job.sh

Rules:

- It is ``bailiwick app call``, typed for you: whoever is logged in there (``bailiwick login``, a
  session of hours) asks, and needs the key of the program's verb. Nothing else is kept or sent.
- A script is read here and sent; the cluster reads no file. Nothing may follow its name.
- Which options there are is the operator's to say; here it is only found which word is the script.

>>> command_of(["sbatch", "-N", "2", "job.sh"], on="c1")
['app', 'call', '--input', 'job.sh', 'c1', 'submit', '--', 'sbatch', '-N', '2']
>>> command_of(["squeue", "--long"], on="c1")
['app', 'call', 'c1', 'read', '--', 'squeue', '--long']
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final, NoReturn

from bailiwick.operators.slurm.queue.programs import RULES, USAGE, ProgramRule, letters_of

INSTANCE: Final = "BAILIWICK_SLURM"
_ON: Final = "--on"
_COMMAND_LINE: Final = ("-m", "bailiwick.cli.main")


class WrongUse(Exception):
    """What was typed cannot be meant; why, for a person."""


def main(argv: list[str] | None = None) -> NoReturn:
    """Become the command line with what was typed."""
    called, *words = sys.argv if argv is None else argv
    try:
        command = command_of(*_meant(Path(called).name, words))
    except WrongUse as wrong:
        print(f"bailiwick-slurm: {wrong}", file=sys.stderr)
        sys.exit(USAGE)
    os.execv(sys.executable, [sys.executable, *_COMMAND_LINE, *command])


def _meant(called: str, words: list[str]) -> tuple[list[str], str]:
    """The program with its words, and the instance."""
    on = os.environ.get(INSTANCE, "")
    if called in RULES:
        return [called, *words], on
    if words[:1] == [_ON]:
        on, words = "".join(words[1:2]), words[2:]
    elif words and words[0].startswith(f"{_ON}="):
        on, words = words[0].partition("=")[2], words[1:]
    if not words or words[0] not in RULES:
        raise WrongUse(f"type one of {', '.join(sorted(RULES))} and its words")
    return words, on


def command_of(words: list[str], on: str) -> list[str]:
    """What is typed to ``bailiwick`` for it."""
    if not on or on.startswith("-"):
        raise WrongUse(f"say which instance: {_ON} NAME, or {INSTANCE} in the environment")
    program, *rest = words
    rule, given = RULES[program], list[str]()
    if program == "sbatch":
        rest, script = _without_script(rule, rest)
        has_wrap = any(word == "--wrap" or word.startswith("--wrap=") for word in rest)
        if script and has_wrap:
            raise WrongUse("give a script or --wrap, not both")
        given = [] if has_wrap else ["--input", script or "-"]
    return ["app", "call", *given, on, rule.verb.value, "--", program, *rest]


def _without_script(rule: ProgramRule, words: list[str]) -> tuple[list[str], str]:
    """The options, and the file that follows them; none if there is none."""
    at = 0
    while at < len(words):  # it grows
        word = words[at]
        if word == "-" or not word.startswith("-"):
            break
        name, has_value, _ = word[2:].partition("=")
        if not word.startswith("--"):
            last = letters_of(rule, word)[-1]
            name, has_value = rule.letters.get(last[1], ""), last[2:]
        at += 2 if name in rule.valued and not has_value else 1
    script, after = "".join(words[at : at + 1]), words[at + 1 :]
    if after:
        raise WrongUse(f"nothing follows the script: write {after[0]!r} into it")
    return words[:at], script


if __name__ == "__main__":
    main()
