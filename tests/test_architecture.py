"""The layout's promises: import contracts hold, modules and functions stay small."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = ("app", "backends", "engine", "starter", "ui", "benchmarks")
MODULE_LINES = 400
FUNCTION_LINES = 40
# In a process of its own: it configures logging, after which other tests hear nothing.
_LINT = """
import sys
from importlinter import cli
sys.exit(cli.lint_imports(config_filename="pyproject.toml", no_cache=True))
"""


def source_files() -> Iterator[Path]:
    for folder in SOURCES:
        yield from (ROOT / folder).rglob("*.py")


def test_import_contracts() -> None:
    done = subprocess.run([sys.executable, "-c", _LINT], cwd=ROOT, check=False)
    assert done.returncode == 0


def test_modules_stay_small() -> None:
    sizes = {str(path.relative_to(ROOT)): _lines(path) for path in source_files()}
    assert {name: size for name, size in sizes.items() if size > MODULE_LINES} == {}


def test_functions_stay_small() -> None:
    sizes = {
        f"{path.relative_to(ROOT)}:{node.name}": (node.end_lineno or 0) - node.lineno + 1
        for path in source_files()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    assert {name: size for name, size in sizes.items() if size > FUNCTION_LINES} == {}


def test_the_app_holds_state_not_widgets() -> None:
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "app").rglob("*.py")
        for name in _imported(path)
        if name.startswith(("PySide6.QtWidgets", "PySide6.QtGui"))
    }
    assert found == set()


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())
