"""The catalogues of languages: `python -m tests.tools.catalogues` brings them up to date.

Texts are collected over the syntax trees. A new text is left unfinished in each catalogue for a
translator; one that is gone is dropped. lrelease compiles what the window loads.
"""

import ast
import re
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from app.notices.wording import CONTEXT

# A text: its context, and its words in English.
Source: TypeAlias = tuple[str, str]

ROOT = Path(__file__).parents[2]
LANGUAGES = ROOT / "ui/languages"
_PACKAGES = ("app", "engine", "ui")
# Functions that are given the context, and those whose texts are all in one.
_WITH_CONTEXT = frozenset({"translate", "QT_TRANSLATE_NOOP"})
_PACK_TEXTS = ("summary", "gain", "needs", "unavailable")
_CONTEXTS = {"sentence": CONTEXT, "_about": "Settings", "summary": "labels"}
# Functions that bound a field; sentences name it by their third argument, else by its own name.
_BOUNDING = frozenset({"within", "length_within", "each_within", "span_within"})
_NAME_PLACE = 2
# What is in each file that has a text; most of the time goes into syntax trees of others.
_CALLS = re.compile(rf"\b({'|'.join(('tr', *_WITH_CONTEXT, *_CONTEXTS, *_BOUNDING))})\(")


def collected() -> list[Source]:
    """Return every text that can be translated, by context."""
    files = (file for name in _PACKAGES for file in sorted((ROOT / name).rglob("*.py")))
    sources = (file.read_text("utf-8") for file in files)
    trees = (ast.parse(source) for source in sources if _CALLS.search(source))
    return sorted({*_of_tables(), *(text for tree in trees for text in _texts(tree, ""))})


def read_catalogue(path: Path) -> dict[Source, list[str]]:
    """Return the texts of a .ts file: one for each, or for each of the language's plural forms."""
    found: dict[Source, list[str]] = {}
    for context in ElementTree.parse(path).getroot().iter("context"):
        for message in context.iter("message"):
            translation = message.find("translation")
            assert translation is not None
            forms = [form.text or "" for form in translation] or [translation.text or ""]
            found[context.findtext("name", ""), message.findtext("source", "")] = forms
    return found


def write_catalogue(path: Path, texts: Mapping[Source, list[str]]) -> None:
    """Write a .ts file; `texts` are sorted by context."""
    root = ElementTree.Element("TS", version="2.1", language=path.stem, sourcelanguage="en")
    contexts: dict[str, ElementTree.Element] = {}
    for (name, source), forms in texts.items():
        if name not in contexts:
            contexts[name] = ElementTree.SubElement(root, "context")
            ElementTree.SubElement(contexts[name], "name").text = name
        message = ElementTree.SubElement(contexts[name], "message")
        ElementTree.SubElement(message, "source").text = source
        translation = ElementTree.SubElement(message, "translation")
        if not all(forms):
            translation.set("type", "unfinished")
        if "%n" in source:
            message.set("numerus", "yes")
            for form in forms:
                ElementTree.SubElement(translation, "numerusform").text = form
        else:
            translation.text = forms[0]
    ElementTree.indent(root, " ")
    head = '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n'
    text = head + ElementTree.tostring(root, encoding="unicode") + "\n"
    path.write_text(text, "utf-8", newline="\n")


def compile_catalogue(path: Path, target: Path) -> None:
    """Compile a .ts file into the .qm file that Qt loads."""
    program = Path(sys.executable).with_name("pyside6-lrelease")
    subprocess.run([program, "-silent", path, "-qm", target], check=True)


def main() -> None:
    """Bring every catalogue up to date, and compile it."""
    for path in sorted(LANGUAGES.glob("*.ts")):
        before = read_catalogue(path)
        write_catalogue(path, {source: before.get(source, [""]) for source in collected()})
        compile_catalogue(path, path.with_suffix(".qm"))


def _of_tables() -> Iterator[Source]:
    """Yield the texts of the lists of runtime packs and of models to begin with."""
    first = tomllib.loads((ROOT / "app/library/first_models.toml").read_text("utf-8"))
    yield from (("first_models", model["about"]) for model in first["model"])
    listed = tomllib.loads((ROOT / "installers/packs.toml").read_text("utf-8"))
    for pack in listed["packs"].values():
        yield from (("packs", pack[name]) for name in _PACK_TEXTS if pack.get(name))


def _texts(node: ast.AST, scope: str) -> Iterator[Source]:
    """Yield the texts below a node, which is in the class `scope`."""
    if isinstance(node, ast.Call):
        yield from _text_of(node, scope)
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield from _name_of_field(node.annotation, node.target.id)
    for child in ast.iter_child_nodes(node):
        yield from _texts(child, child.name if isinstance(child, ast.ClassDef) else scope)


def _name_of_field(annotation: ast.expr, name: str) -> Iterator[Source]:
    """Yield the names by which sentences tell that a field is out of its bounds."""
    for node in ast.walk(annotation):
        function = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
        if not isinstance(node, ast.Call) or function not in _BOUNDING:
            continue
        given = node.args[_NAME_PLACE] if len(node.args) > _NAME_PLACE else None
        called = given.value if isinstance(given, ast.Constant) else name
        if function == "span_within":
            yield from ((CONTEXT, f"{end} of {called}") for end in ("start", "end"))
        else:
            yield CONTEXT, str(called)


def _text_of(call: ast.Call, scope: str) -> Iterator[Source]:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    texts = [arg.value if isinstance(arg, ast.Constant) else None for arg in call.args[:2]]
    match texts:
        case [str(context), str(text)] if name in _WITH_CONTEXT:
            yield context, text
        case [str(text), *_] if name == "tr":
            yield scope, text
        case [str(text), *_] if name in _CONTEXTS:
            yield _CONTEXTS[name], text
        case _:
            return


if __name__ == "__main__":
    main()
