"""Holds the numbers of STYLE.md, section 6, over the whole tree.

Each rule is a function from one source file to its offences, and has one test; the last test gives
every rule a bad sample, so that a rule which can no longer fail is noticed.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from bailiwick.scheduler.engine import Engine

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "src/bailiwick"
ENGINE_DIR = f"{PACKAGE}/scheduler/engine/"

LINE_COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 60
MODULE_LINES_MAX = 400
TEST_LINES_MAX = 800
C_LINES_MAX = 600
PARAMETERS_MAX = 6
POSITIONAL_MAX = 2
NESTING_MAX = 3
FOLDER_MODULES_MAX = 16

# Folders that are fuller than that, and by how much: none may be added, and none may grow.
CROWDED = {
    "src/bailiwick/cli/commands": 70,  # one for each word that is typed: a list, not a crowd
    "src/bailiwick/journal": 17,
    "src/bailiwick/kernel": 17,  # beside its slices
    "src/bailiwick/kernel/work": 17,  # beside requests and leases, what is sealed of graphs
    "src/bailiwick/metering": 18,
    "src/bailiwick/scheduler": 26,
    "src/bailiwick/server/http/routes": 41,  # one for each noun
    "src/bailiwick/services": 35,  # one for each noun, and what several of them share
    "src/bailiwick/store/migrations/versions": 24,  # one for each step, for ever
    "src/bailiwick/vocab": 27,  # one for each noun that has words of its own
    "src/bailiwick/wire": 34,  # one for each noun of the contract
    "src/bailiwick/wire/actions": 27,  # one for each noun
}

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTION_TYPES = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPE_TYPES = (*FUNCTION_TYPES, ast.ClassDef)
BLOCK_TYPES = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.Match,
)

# A note to self in a comment of Python or C, unless an issue number follows on the line.
LEFTOVER = re.compile(r"(?:#|//|/\*|\*)\s*(?:TODO|FIXME|XXX)\b(?!.*#\d+)")


@dataclass(frozen=True)
class Source:
    """One file: its path relative to the repository root, and its text."""

    path: str
    text: str

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @cached_property
    def functions(self) -> list[Function]:
        return [node for node in ast.walk(self.tree) if isinstance(node, FUNCTION_TYPES)]


Offence = tuple[int, str]
Rule = Callable[[Source], Iterator[Offence]]


# --- the rules ---------------------------------------------------------------------------------


def long_lines(source: Source) -> Iterator[Offence]:
    for number, line in enumerate(source.lines, 1):
        if len(line) > LINE_COLUMNS_MAX:
            yield number, f"{len(line)} columns"


def long_module(source: Source) -> Iterator[Offence]:
    if source.path.endswith((".c", ".h")):
        limit = C_LINES_MAX
    elif source.path.startswith("tests/"):
        limit = TEST_LINES_MAX
    else:
        limit = MODULE_LINES_MAX
    if len(source.lines) > limit:
        yield limit + 1, f"{len(source.lines)} lines, limit {limit}"


def long_functions(source: Source) -> Iterator[Offence]:
    for node in source.functions:
        length = (node.end_lineno or node.lineno) - node.lineno + 1
        if length > FUNCTION_LINES_MAX:
            yield node.lineno, f"{node.name}: {length} lines"


# Read as one phrase: "check_kind(field, value, kind)", and the calls that Recipe 56 spells out.
THREE_IN_A_ROW = {
    "check_kind",
    "check_gpu_generation",
    "record_gpu_generation_alloc",
    "record_gpu_generation_free",
    # The kernel's two functions and the journal's one, in the order in which everybody says them.
    "decide",
    "apply",
    "append",
}


def many_parameters(source: Source) -> Iterator[Offence]:
    # The engine mirrors the signatures of its C twin, where every argument is positional.
    if source.path.startswith(ENGINE_DIR):
        return
    methods = set(_methods(source.tree))
    for node in source.functions:
        # The language, not the author, fixes the parameters of a dunder method. (The fields of a
        # dataclass are no parameters in the tree, so they need no exemption.)
        if _is_dunder(node.name):
            continue
        arguments = node.args
        positional = len(arguments.posonlyargs) + len(arguments.args)
        if node in methods and not _has_decorator(node, "staticmethod"):
            positional -= 1  # self or cls
        total = positional + len(arguments.kwonlyargs)
        total += (arguments.vararg is not None) + (arguments.kwarg is not None)
        if total > PARAMETERS_MAX:
            yield node.lineno, f"{node.name}: {total} parameters"
        # A private function is called beside its definition, where three nouns still read well.
        allowed = POSITIONAL_MAX + (node.name.startswith("_") or node.name in THREE_IN_A_ROW)
        if total <= PARAMETERS_MAX and positional > allowed:
            yield node.lineno, f"{node.name}: parameter {allowed + 1} is not keyword-only"


def deep_nesting(source: Source) -> Iterator[Offence]:
    pending: list[tuple[ast.AST, int]] = [(source.tree, 0)]
    while pending:
        parent, depth = pending.pop()
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, SCOPE_TYPES):
                pending.append((node, 0))
            elif not isinstance(node, BLOCK_TYPES) or _is_elif(node, parent):
                pending.append((node, depth))
            elif depth == NESTING_MAX:
                yield node.lineno, f"{depth + 1} levels"
            else:
                pending.append((node, depth + 1))


def leftovers(source: Source) -> Iterator[Offence]:
    for number, line in enumerate(source.lines, 1):
        if LEFTOVER.search(line):
            yield number, line.strip()


def missing_docstrings(source: Source) -> Iterator[Offence]:
    if any(part.startswith("_") for part in Path(source.path).with_suffix("").parts):
        return  # private, or an __init__, which has a rule of its own
    if not ast.get_docstring(source.tree):
        yield 1, "module"
    pending: list[ast.stmt] = list(source.tree.body)
    while pending:
        node = pending.pop()
        if not isinstance(node, SCOPE_TYPES) or node.name.startswith("_"):
            continue
        # Both engines are described once, by the protocol they share.
        shared = source.path.startswith(ENGINE_DIR) and hasattr(Engine, node.name)
        if not (ast.get_docstring(node) or _is_documented_elsewhere(node) or shared):
            yield node.lineno, node.name
        if isinstance(node, ast.ClassDef):
            pending.extend(node.body)


def undescribed_package(source: Source) -> Iterator[Offence]:
    if source.path.endswith("/__init__.py") and not ast.get_docstring(source.tree):
        yield 1, "does not open with a docstring"


def floats_in_accounts(source: Source) -> Iterator[Offence]:
    if not source.path.startswith((f"{PACKAGE}/metering/", f"{PACKAGE}/billing/")):
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            yield node.lineno, f"the float {node.value}"
        elif isinstance(node, ast.Name) and node.id == "float":
            yield node.lineno, "the type float"


# --- what they lean on -------------------------------------------------------------------------


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _methods(tree: ast.Module) -> Iterator[Function]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from (child for child in node.body if isinstance(child, FUNCTION_TYPES))


def _has_decorator(node: Function | ast.ClassDef, *names: str) -> bool:
    """Whether a decorator's last word (`overload` of `typing.overload`) is one of the names."""
    words = (ast.unparse(decorator).partition("(")[0] for decorator in node.decorator_list)
    return any(word.rpartition(".")[2] in names for word in words)


def _is_documented_elsewhere(node: Function | ast.ClassDef) -> bool:
    """An overload, a setter or an override says what it does where it was first defined."""
    return _has_decorator(node, "overload", "override", "setter", "deleter")


def _is_elif(node: ast.AST, parent: ast.AST) -> bool:
    """An elif is an If alone in its parent's else, starting in the same column as the parent."""
    return (
        isinstance(node, ast.If)
        and isinstance(parent, ast.If)
        and parent.orelse == [node]
        and node.col_offset == parent.col_offset
    )


def _read(folder: str, *patterns: str) -> list[Source]:
    paths = sorted(path for pattern in patterns for path in (ROOT / folder).rglob(pattern))
    return [
        Source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
        for path in paths
    ]


def _assert_kept(rule: Rule, sources: list[Source]) -> None:
    """Fail with the whole list of offenders: pytest would shorten it in a plain comparison."""
    offenders = [
        f"{source.path}:{line}: {what}" for source in sources for line, what in sorted(rule(source))
    ]
    if offenders:
        pytest.fail("\n".join(offenders), pytrace=False)


@pytest.fixture(scope="module")
def package() -> list[Source]:
    sources = _read(PACKAGE, "*.py")
    assert sources, f"nothing to look at in {PACKAGE}"
    return sources


@pytest.fixture(scope="module")
def everything(package: list[Source]) -> list[Source]:
    return package + _read("tests", "*.py") + _read(PACKAGE, "*.[ch]")


# --- one test per rule -------------------------------------------------------------------------


def test_no_line_is_wider_than_100_columns(everything: list[Source]) -> None:
    _assert_kept(long_lines, everything)


def test_no_file_is_too_long(everything: list[Source]) -> None:
    _assert_kept(long_module, everything)


def test_no_function_is_longer_than_60_lines(package: list[Source]) -> None:
    _assert_kept(long_functions, package)


def test_parameters_are_few_and_keyword_only_from_the_third(package: list[Source]) -> None:
    _assert_kept(many_parameters, package)


def test_no_block_is_nested_deeper_than_three(package: list[Source]) -> None:
    _assert_kept(deep_nesting, package)


def test_every_leftover_names_its_issue(everything: list[Source]) -> None:
    _assert_kept(leftovers, everything)


def test_every_public_name_has_a_docstring(package: list[Source]) -> None:
    _assert_kept(missing_docstrings, package)


def test_every_package_says_what_it_decides(package: list[Source]) -> None:
    _assert_kept(undescribed_package, package)


def test_metering_and_billing_know_no_floats(package: list[Source]) -> None:
    _assert_kept(floats_in_accounts, package)


def crowded(paths: list[str]) -> dict[str, int]:
    """Folders with more modules than a person keeps in mind, and how many they have."""
    modules = (Path(path) for path in paths if not path.endswith("/__init__.py"))
    counts = Counter(module.parent.as_posix() for module in modules)
    return {folder: count for folder, count in counts.items() if count > FOLDER_MODULES_MAX}


def test_no_folder_has_more_than_16_modules(package: list[Source]) -> None:
    found = crowded([source.path for source in package])
    grown = {folder: count for folder, count in found.items() if count > CROWDED.get(folder, 0)}
    assert grown == {}, "part it by noun, as the kernel and the command line are"
    shrunk = {folder for folder, count in CROWDED.items() if found.get(folder, 0) < count}
    assert shrunk == set(), "write the smaller number down, so that it stays"


def test_a_crowded_folder_is_noticed() -> None:
    names = [f"{PACKAGE}/x/m{number}.py" for number in range(16)]
    assert crowded([*names, f"{PACKAGE}/x/__init__.py", f"{PACKAGE}/x/y/m.py"]) == {}
    assert crowded([*names, f"{PACKAGE}/x/one_more.py"]) == {f"{PACKAGE}/x": 17}


# --- and a sample of what each must refuse and accept ------------------------------------------

DEEP = """
def f():
    for a in b:
        if a:
            with a:
                pass
            while a:
                {inner}
"""
ELIFS = """
def f():
    if a:
        pass
    elif b:
        pass
    elif c:
        for x in y:
            if x:
                pass
    elif d:
        pass
"""
DOCUMENTED = '''"""Module."""
class A:
    """Class."""
    def __len__(self): ...
    def _hidden(self): ...
    @typing.override
    def told_above(self): ...
    @size.setter
    def size(self, size): ...
    def f(self):
        """Method."""
        def inner(): ...
class _B:
    def free(self): ...
'''
X = f"{PACKAGE}/x.py"
ENGINE = f"{PACKAGE}/scheduler/engine/x.py"
INIT = f"{PACKAGE}/x/__init__.py"
BILL = f"{PACKAGE}/billing/x.py"


# rule, path, text, and the lines it must name
SAMPLES: list[tuple[Rule, str, str, list[int]]] = [
    (long_lines, X, "x" * 100 + "\n" + "x" * 101, [2]),
    (long_module, X, "\n" * 400, []),
    (long_module, X, "\n" * 401, [401]),
    (long_module, "tests/test_x.py", "\n" * 800, []),
    (long_module, "tests/test_x.py", "\n" * 801, [801]),
    (long_module, f"{PACKAGE}/x.c", "\n" * 601, [601]),
    (long_functions, X, "def f():\n" + "    x\n" * 59, []),
    (long_functions, X, "async def f():\n" + "    x\n" * 60, [1]),
    (many_parameters, X, "def f(a, b, *, c, d, e, f): ...", []),
    (many_parameters, X, "def f(a, b, *, c, d, e, f, **g): ...", [1]),
    (many_parameters, X, "def f(a, b, c): ...", [1]),
    (many_parameters, X, "def _f(a, b, c): ...", []),
    (many_parameters, X, "def _f(a, b, c, d): ...", [1]),
    (many_parameters, X, "def check_kind(a, b, c): ...", []),
    (many_parameters, X, "class A:\n def f(self, a, b): ...", []),
    (many_parameters, X, "class A:\n def f(self, a, b, c): ...", [2]),
    (many_parameters, X, "class A:\n @staticmethod\n def f(a, b, c): ...", [3]),
    (many_parameters, X, "class A:\n def __exit__(self, a, b, c): ...", []),
    (many_parameters, ENGINE, "def f(a, b, c, d, e, f, g): ...", []),
    (deep_nesting, X, DEEP.format(inner="def g():\n                    if b: pass"), []),
    (deep_nesting, X, DEEP.format(inner="if b: pass"), [8]),
    (deep_nesting, X, ELIFS, []),
    (leftovers, X, "a  # TO" + "DO later\nb  # TO" + "DO(#12) later", [1]),
    (leftovers, f"{PACKAGE}/x.c", "/* FIX" + "ME */", [1]),
    (missing_docstrings, X, "def f(): ...", [1, 1]),
    (missing_docstrings, X, '"""M."""\nclass A:\n """A."""\n def f(self): ...', [4]),
    (missing_docstrings, X, DOCUMENTED, []),
    (missing_docstrings, f"{PACKAGE}/_x.py", "def f(): ...", []),
    (undescribed_package, INIT, "x = 1", [1]),
    (undescribed_package, INIT, '"""Decides x."""', []),
    (floats_in_accounts, BILL, "a = 0.5\nb: float = 1\nc = 1", [1, 2]),
    (floats_in_accounts, X, "a = 0.5", []),
]


@pytest.mark.parametrize(
    ("rule", "path", "text", "lines"),
    SAMPLES,
    ids=[f"{sample[0].__name__}-{number}" for number, sample in enumerate(SAMPLES)],
)
def test_each_rule_refuses_what_it_should_and_nothing_else(
    rule: Rule, path: str, text: str, lines: list[int]
) -> None:
    assert sorted(line for line, _ in rule(Source(path, text))) == lines
