"""Real shells load the script and complete: whoever presses TAB gets our words."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bailiwick.cli.commands.completion import Shell, script_for
from tests.support.tools import need
from tests.support.waiting import WAIT_S

COMMANDS = Path(sys.executable).parent
"""Where ``bailiwick`` lies."""


def _needs(shell: Shell) -> str:
    need("shells")
    return shutil.which(shell.value) or shell.value


def _environment(home: Path) -> dict[str, str]:
    path = f"{COMMANDS}:/usr/local/bin:/usr/bin:/bin"
    return {"HOME": str(home), "PATH": path, "TERM": "dumb", "LANG": "C.UTF-8", "PS1": "$ "}


def _press_tab(command: list[str], home: Path, *, setup: str, line: str, wanted: str) -> str:
    """Type a line and TAB into an interactive shell; what it shows, once that holds ``wanted``."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(command[0], command, _environment(home))
    shown = b""
    try:
        # What was set up is acknowledged by a word that is not in what was typed.
        os.write(terminal, f"{setup}; echo re''ady\n".encode())
        shown = _read_until(terminal, b"\nready")
        os.write(terminal, f"{line}\t".encode())
        shown = _read_until(terminal, wanted.encode())
    finally:
        os.close(terminal)
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    return shown.decode(errors="replace")


def _read_until(terminal: int, wanted: bytes) -> bytes:
    shown, until = b"", time.monotonic() + WAIT_S
    while wanted not in shown:
        assert time.monotonic() < until, f"{wanted!r} was not shown: {shown!r}"
        if select.select([terminal], [], [], 1.0)[0]:
            shown += os.read(terminal, 65536)
    return shown


def test_bash_completes_a_command_and_a_verb_by_tab(tmp_path: Path) -> None:
    bash = [_needs(Shell.BASH), "--norc", "--noprofile", "-i"]
    load = "source <(bailiwick completion bash)"
    for line, wanted in [
        ("bailiwick nod", "bailiwick node"),
        ("bailiwick node dra", "bailiwick node drain"),
        ("bailiwick up --data-", "bailiwick up --data-dir"),
    ]:
        _press_tab(bash, tmp_path, setup=load, line=line, wanted=wanted)


def test_zsh_completes_at_the_first_tab_from_its_folder_of_functions(tmp_path: Path) -> None:
    zsh = [_needs(Shell.ZSH), "-f", "-i"]
    load = (
        "mkdir -p ~/.zfunc; bailiwick completion zsh > ~/.zfunc/_bailiwick; "
        "fpath+=~/.zfunc; autoload -U compinit; compinit -u -D"
    )
    _press_tab(zsh, tmp_path, setup=load, line="bailiwick nod", wanted="bailiwick node")


def test_fish_completes_from_its_folder_of_completions(tmp_path: Path) -> None:
    fish = _needs(Shell.FISH)
    folder = tmp_path / ".config/fish/completions"
    folder.mkdir(parents=True)
    (folder / "bailiwick.fish").write_text(script_for(Shell.FISH) + "\n")
    done = subprocess.run(
        [fish, "-c", "complete -C 'bailiwick no'"],
        env=_environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    # A name, and what it is about.
    assert done.stdout.split("\t")[0] == "node", done.stderr


def test_the_installer_for_the_current_shell_leaves_a_file_that_bash_reads(tmp_path: Path) -> None:
    bash = _needs(Shell.BASH)
    # The shell is found by looking at the processes above, so there must be one.
    install = "bailiwick --install-completion; true"
    done = subprocess.run(
        [bash, "--norc", "-c", install],
        env=_environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    assert "bash completion installed" in done.stdout, done.stderr
    again = [bash, "--rcfile", str(tmp_path / ".bashrc"), "-i"]
    _press_tab(again, tmp_path, setup="true", line="bailiwick nod", wanted="bailiwick node")


def test_asking_for_a_script_leaves_the_environment_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("_BAILIWICK_COMPLETE", "something")
    for shell in Shell:
        assert "bailiwick" in script_for(shell)
        assert os.environ["_BAILIWICK_COMPLETE"] == "something"


def test_the_script_for_zsh_says_in_its_first_line_what_it_completes() -> None:
    assert script_for(Shell.ZSH).startswith("#compdef bailiwick\n")
