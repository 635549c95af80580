"""Makes the module that ships out of the annotated one, by deletions only.

What goes:

- imports from ``nagini_contracts``, and calls of contract functions and of lemmas as statements;
- an ``if`` in which nothing else is done;
- lemmas, predicates, functions over the proof's own sequences, and the lock's invariant;
- the decorator of a pure function that the program calls, too;
- comment lines right above any of these, and blank lines that would pile up.

What stays is the text that Nagini verified, line by line. One thing it cannot read: so a comment
that begins with ``# ship:`` loses that mark. Only imports, ``__slots__`` and a protocol without a
body may come in that way. A contract's name that is left is an error.

usage: strip.py [--check]     writes src/bailiwick/metering/share.py, or says whether it is so
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ANNOTATED = HERE / "share.py"
SHIPPED = HERE.parents[1] / "src" / "bailiwick" / "metering" / "share.py"
MARK = "# ship:"

CONTRACTS = {"Requires", "Ensures", "Assert", "Invariant", "Fold", "Unfold"}
GHOSTS = CONTRACTS | {
    *("Acc", "Implies", "Level", "Lock", "MustTerminate", "Old", "Predicate", "PSeq", "Pure"),
    *("Result", "ToSeq", "WaitLevel", "list_pred", "total", "within", "lacks", "free"),
    *("Assume", "Forall", "Exists", "Unfolding", "Inhale", "Exhale", "ContractOnly"),
}


class StripError(Exception):
    """The annotated file cannot be stripped honestly."""


def names_in(node: ast.AST) -> set[str]:
    """Every plain name in a piece of the program."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def is_ghost(node: ast.stmt) -> bool:
    """Whether a statement is there for the proof only."""
    match node:
        case ast.ImportFrom(module=str(module)):
            return module.startswith("nagini_contracts")
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))):
            return name in CONTRACTS or name.startswith("lemma_")
        case ast.If(body=body, orelse=[]):
            return all(is_ghost(each) for each in body)
        case ast.FunctionDef(name=name, args=args, decorator_list=decorators):
            is_predicate = any("Predicate" in names_in(each) for each in decorators)
            return name.startswith("lemma_") or is_predicate or "PSeq" in names_in(args)
        case ast.ClassDef(bases=bases):
            return any("Lock" in names_in(each) for each in bases)
        case _:
            return False


def ghost_lines(tree: ast.Module) -> set[int]:
    """The numbers of the lines that go."""
    gone: set[int] = set()

    def visit(node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt) and is_ghost(child):
                decorators = getattr(child, "decorator_list", [])
                first = min([child.lineno, *(each.lineno for each in decorators)])
                gone.update(range(first, (child.end_lineno or first) + 1))
                continue
            if isinstance(child, ast.FunctionDef):
                pure = [each for each in child.decorator_list if "Pure" in names_in(each)]
                gone.update(each.lineno for each in pure)
            visit(child)

    visit(tree)
    return gone


def without_comments_above(lines: list[str], gone: set[int]) -> set[int]:
    """A comment goes with what it explains."""
    wider = set(gone)
    for number in sorted(gone):
        above = number - 1
        while above >= 1 and above not in wider:
            text = lines[above - 1].strip()
            if not text.startswith("#") or text.startswith(MARK):
                break
            wider.add(above)
            above -= 1
    return wider


def check_marked(text: str) -> None:
    """Code that Nagini did not see may declare, and never do."""
    lines = [line for line in text.splitlines() if line.strip().startswith(MARK)]
    code = "\n".join(line.strip().removeprefix(MARK).removeprefix(" ") for line in lines)
    for node in ast.parse(code).body:
        match node:
            case ast.ImportFrom() | ast.Assign(targets=[ast.Name(id="__slots__")]):
                continue
            case ast.ClassDef(bases=[ast.Name(id="Protocol")], body=[_, *methods]):
                bodies = [each.body[1:] for each in methods if isinstance(each, ast.FunctionDef)]
                if len(bodies) == len(methods) and all(map(is_empty, bodies)):
                    continue
        raise StripError(f"more than a declaration is marked: {ast.unparse(node)}")


def is_empty(body: list[ast.stmt]) -> bool:
    """``...`` and nothing else."""
    return [ast.unparse(each) for each in body] == ["..."]


def strip(text: str) -> str:
    """The text that ships."""
    check_marked(text)
    lines = text.splitlines()
    gone = without_comments_above(lines, ghost_lines(ast.parse(text)))
    kept: list[str] = []
    for number, line in enumerate(lines, 1):
        indent, mark, rest = line.partition(MARK)
        is_marked = mark and not indent.strip()
        if number not in gone:
            kept.append((indent + rest.removeprefix(" ")).rstrip() if is_marked else line)
    shipped = "\n".join(without_piles(kept)) + "\n"
    left = names_in(ast.parse(shipped)) & GHOSTS
    if left:
        raise StripError(f"names of contracts are left in what ships: {sorted(left)}")
    return shipped


def without_piles(lines: list[str]) -> list[str]:
    """Two blank lines above a class or function, one elsewhere."""
    kept: list[str] = []
    for number, line in enumerate(lines):
        if line:
            kept.append(line)
            continue
        following = next((each for each in lines[number:] if each), "")
        most = 2 if following.startswith(("class ", "def ", "@")) else 1
        if kept[-most:] != [""] * most:
            kept.append(line)
    return kept


def main(words: list[str]) -> int:
    shipped = strip(ANNOTATED.read_text())
    if words != ["--check"]:
        SHIPPED.write_text(shipped)
        return 0
    if SHIPPED.read_text() == shipped:
        return 0
    print(f"{SHIPPED} is not what {ANNOTATED} strips to: run proofs/nagini/strip.py")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
