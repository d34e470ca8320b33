"""A docstring begins with a noun phrase or a verb, so that its first line makes sense alone."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = ("app", "backends", "benchmarks", "engine", "starter", "tests", "ui")
# A clause or a pronoun in place of the thing that is described.
_RIDDLES = frozenset(
    {"What", "Whether", "How", "Of", "That", "As", "It", "They", "This", "Those", "Which", "Who"}
)
# Any text that begins so; few files have one, and only those are parsed.
_SUSPECT = re.compile(rf"[\"']\s*[`,.:]*(?:{'|'.join(_RIDDLES)})\b")


def riddles(source: str) -> Iterator[str]:
    """The first lines of a module's docstrings that begin with a clause or a pronoun."""
    if not _SUSPECT.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            line = (ast.get_docstring(node) or "").partition("\n")[0]
            if line.partition(" ")[0].strip("`,.:") in _RIDDLES:
                yield line


def room_of(path: Path) -> str:
    """A folder of the engine, or another top folder."""
    folder, *rest = path.relative_to(ROOT).parts
    return f"engine/{rest[0]}" if folder == "engine" and len(rest) > 1 else folder


@cache
def found() -> dict[str, list[str]]:
    """Every such line of the sources, by room."""
    rooms: dict[str, list[str]] = {}
    for path in sorted(path for folder in SOURCES for path in (ROOT / folder).rglob("*.py")):
        for line in riddles(path.read_text(encoding="utf-8")):
            rooms.setdefault(room_of(path), []).append(f"{path.relative_to(ROOT)}: {line}")
    return rooms


def test_a_docstring_begins_with_a_noun_or_a_verb() -> None:
    assert found() == {}


def test_a_clause_in_place_of_a_noun_is_found() -> None:
    source = '"""What it is."""\ndef f():\n    """Whether so."""\ndef g():\n    """Return 1."""\n'
    assert list(riddles(source)) == ["What it is.", "Whether so."]


def test_a_test_name_begins_with_its_subject() -> None:
    """Pronouns and clauses such as `test_it_` and `test_what_is_` name no subject."""
    pronoun = re.compile(r"def (test_(?:it|they|that|what|as|of|this|so|which|how)_\w+)")
    files = (ROOT / "tests").rglob("*.py")
    assert [name for file in files for name in pronoun.findall(file.read_text("utf-8"))] == []
