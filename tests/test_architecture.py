"""The layout's promises: import contracts hold, modules and functions stay small."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backends.registry import BACKENDS
from engine.families.registry import FAMILIES

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


def test_import_contracts_hold() -> None:
    done = subprocess.run([sys.executable, "-c", _LINT], cwd=ROOT, check=False)
    assert done.returncode == 0, "the contracts are in pyproject.toml, the broken ones above"


# The rooms of the engine that the app sees.
SEEN = {"api", "metadata"}


def contract(name: str) -> dict[str, Any]:
    """The contract whose name begins so."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (found,) = [contract for contract in contracts if contract["name"].startswith(name)]
    return found


def rooms_of(package: str) -> set[str]:
    return {path.parent.name for path in (ROOT / package).glob("*/__init__.py")}


@pytest.mark.parametrize("package", ["app", "engine"])
def test_each_room_is_on_a_layer(package: str) -> None:
    layers = contract(f"Inside the {package} imports point down")["layers"]
    placed = {name.strip("() ") for layer in layers for name in re.split("[:|]", layer)}
    # The command line has a contract of its own.
    assert rooms_of(package) - placed - {"cli"} == set()


@pytest.mark.parametrize("name", ["The app sees the engine's", "The window sees of the engine"])
def test_each_room_of_the_engine_is_seen_by_the_app_or_forbidden(name: str) -> None:
    forbidden = set(contract(name)["forbidden_modules"])
    assert {room for room in rooms_of("engine") if f"engine.{room}" not in forbidden} == SEEN


def test_each_backend_is_kept_apart_from_the_others() -> None:
    apart = set(contract("Backends are independent")["modules"])
    assert {backend.module for backend in BACKENDS} - apart == set()


def test_modules_stay_small() -> None:
    sizes = {str(path.relative_to(ROOT)): _lines(path) for path in source_files()}
    assert {name: size for name, size in sizes.items() if size > MODULE_LINES} == {}


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """The statements of a module, without their expressions, which have none in them."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting += getattr(node, name, [])


def test_functions_stay_small() -> None:
    sizes = {
        f"{path.relative_to(ROOT)}:{node.name}": (node.end_lineno or 0) - node.lineno + 1
        for path in source_files()
        for node in _statements(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    assert {name: size for name, size in sizes.items() if size > FUNCTION_LINES} == {}


# Thumbnails are decoded and kept without a window. None of these needs a screen.
DECODERS = {
    "app/decoding.py": tuple(
        f"PySide6.QtGui.{name}" for name in ("QImage", "QImageIOHandler", "QImageReader")
    ),
    "app/gallery/thumbnails.py": tuple(f"PySide6.QtGui.{name}" for name in ("QImage", "QPainter")),
}


def test_the_app_holds_state_not_widgets() -> None:
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "app").rglob("*.py")
        for name in _imported(path)
        if name.startswith(("PySide6.QtWidgets", "PySide6.QtGui"))
        and name not in DECODERS.get(str(path.relative_to(ROOT)), ())
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


# What stands above families asks `engine.families.architecture`, and names no family.
ABOVE_FAMILIES = ("engine/pipeline", "engine/jobs", "engine/memory", "app", "ui")
FAMILY_NAMES = re.compile(rf"(?<![\w.])({'|'.join(FAMILIES.names)})(?![\w-])")


def sources_above_families() -> Iterator[Path]:
    for folder in ABOVE_FAMILIES:
        yield from (ROOT / folder).rglob("*.py")


def test_nothing_above_families_names_one() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {word}"
        for path in sources_above_families()
        for word in _identifiers_and_texts(path)
        if FAMILY_NAMES.search(word)
    }
    assert found == set()


def test_nothing_above_families_imports_one() -> None:
    """A contract has this of what families share; the families themselves are the registry's."""
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for folder in ("bake", "pipeline", "jobs", "server")
        for path in (ROOT / "engine" / folder).rglob("*.py")
        for name in _imported(path)
        if f"{name}.".startswith(tuple(f"{module}." for module in FAMILIES.modules))
    }
    assert found == set()


def test_nothing_above_families_asks_for_a_configuration() -> None:
    """A cast or a question for a type of configuration belongs in a family's room."""
    asks = re.compile(r"cast\(\W*\w*Config|isinstance\([^()]*\w+Config\b|time_ids")
    found = {
        str(path.relative_to(ROOT))
        for path in sources_above_families()
        if path.relative_to(ROOT).parts[:2] != ("app", "cli")
        and asks.search(path.read_text(encoding="utf-8"))
    }
    assert found == set()


def _identifiers_and_texts(path: Path) -> Iterator[str]:
    """The names and the string constants of a module, without docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and id(node) not in docstrings:
            yield str(node.value)
