"""Pytest plugin that counts lines: `-p tests.line_coverage --count-lines engine/api`.

Each statement of the counted folders is preceded by one that notes its line, as Python 3.11 has no
way to count lines but a trace function, which adds two thirds to the processor time of a test. The
report is coverage.py's, and so is the floor, `fail_under` in pyproject.toml.
"""

import ast
import io
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

import coverage
import pytest

_OPTION = "--count-lines"
_MARKS = "__lines__"
_BODIES = ("body", "orelse", "finalbody")
# File -> marks by line number, 0 for a line that has not run.
_marks: dict[str, list[int]] = {}
# File -> lines that other processes ran.
_others: dict[str, set[int]] = {}


class MarkingLoader(SourceFileLoader):
    """Loads a module from its source, with a mark before each statement."""

    def exec_module(self, module: ModuleType) -> None:
        vars(module)[_MARKS] = _marks.setdefault(self.path, [])
        super().exec_module(module)

    def get_code(self, fullname: str) -> CodeType:
        tree = ast.parse(self.get_data(self.path))
        last = max((node.end_lineno or 0 for node in tree.body), default=0)
        _marks[self.path][:] = [0] * (last + 1)
        return compile(marked(tree), self.path, "exec", dont_inherit=True)


class MarkingFinder:
    """Finds the modules of some packages, to be loaded with marks.

    It is no `PathFinder`, which would list every installed distribution a second time.
    """

    packages: tuple[str, ...] = ()

    @classmethod
    def find_spec(
        cls,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Return the spec of a module in one of the packages, None for any other."""
        if not f"{fullname}.".startswith(cls.packages):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = MarkingLoader(fullname, spec.loader.path)
        return spec


def marked(tree: ast.Module) -> ast.Module:
    """Put `__lines__[n] = 1` before each statement of line n; a docstring stays first.

    Expressions are not gone through: no statement is in one.
    """
    nodes: list[ast.AST] = [tree]
    while nodes:
        node = nodes.pop()
        heads = _heads(node)
        for name in _BODIES:
            body: list[ast.stmt] = getattr(node, name, [])
            nodes += body
            if body:
                setattr(node, name, _marked_body(body, heads))
        nodes += getattr(node, "handlers", [])
        nodes += getattr(node, "cases", [])
    return tree


def _heads(node: ast.AST) -> list[int]:
    """Return the lines of `except` and `case`, which are noted where their bodies run."""
    if isinstance(node, ast.ExceptHandler):
        return [node.lineno]
    return [node.pattern.lineno] if isinstance(node, ast.match_case) else []


def _marked_body(body: list[ast.stmt], heads: list[int]) -> list[ast.stmt]:
    result: list[ast.stmt] = []
    for statement in body:
        if _is_docstring(statement):
            result.append(statement)
            continue
        lines = [*heads, statement.lineno]
        heads = []
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            lines += [decorator.lineno for decorator in statement.decorator_list]
        result += [*(_mark(line, statement) for line in lines), statement]
    return result


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _mark(line: int, before: ast.stmt) -> ast.stmt:
    marks, number, one = ast.Name(_MARKS, ast.Load()), ast.Constant(line), ast.Constant(1)
    target = ast.Subscript(marks, number, ast.Store())
    mark = ast.Assign([target], one)
    for node in (mark, target, marks, number, one):
        node.lineno, node.col_offset = before.lineno, before.col_offset
    return mark


def lines_run(file: str) -> list[int]:
    """Return the lines that ran of a file that was loaded with marks."""
    return [line for line, mark in enumerate(_marks[file]) if mark]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take folders to count the lines of."""
    parser.addoption(
        _OPTION, action="append", default=[], metavar="FOLDER", help="count the lines that run"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Begin before any module of the folders is imported."""
    folders: list[str] = early_config.known_args_namespace.count_lines
    if folders:
        MarkingFinder.packages = tuple(f"{folder.replace('/', '.')}." for folder in folders)
        early = [name for name in sys.modules if f"{name}.".startswith(MarkingFinder.packages)]
        assert not early, f"imported before their lines are counted: {early}"
        sys.meta_path.insert(0, MarkingFinder)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    """Take the lines that a worker of pytest-xdist ran."""
    output: dict[str, dict[str, list[int]]] = getattr(node, "workeroutput", {})
    for file, lines in output.get(_OPTION, {}).items():
        _others.setdefault(file, set()).update(lines)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Report the lines that did not run; below the floor the run has failed."""
    folders: list[str] | None = session.config.getoption(_OPTION)
    if not folders:
        return
    own = {file: lines_run(file) for file in _marks}
    output: dict[str, object] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_OPTION] = own
        return
    everything = {
        str(file): set[int]()
        for folder in folders
        for file in (session.config.rootpath / folder).rglob("*.py")
    }
    for part in (own, _others):
        # The test of the marks loads a file from elsewhere.
        for file in part.keys() & everything.keys():
            everything[file] |= set(part[file])
    if not report(everything, session.config.rootpath):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def report(lines: dict[str, set[int]], root: Path) -> bool:
    """Print coverage.py's report on the lines that ran; return False below its floor."""
    judge = coverage.Coverage(data_file=None, config_file=str(root / "pyproject.toml"))
    judge.get_data().add_lines(lines)
    text = io.StringIO()
    total = judge.report(file=text)
    floor = float(judge.get_option("report:fail_under") or 0)  # pyright: ignore[reportArgumentType]
    verdict = f"{total:.2f} % of the lines ran; the floor is {floor:g}"
    print(f"\n{text.getvalue()}{verdict}")  # noqa: T201 (after the last test, which captures nothing)
    return total >= floor
