"""Texts of the engine and the backends are as true in the window as on the command line."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# An option, something in backquotes, pip, or one of our commands.
_OF_THE_COMMAND_LINE = re.compile(
    r"(?<![\w-])--[a-z]|`|\bpip\b|\btorchruntime install\b"
    r"|\bsafelight (generate|inspect|devices|packs|models|cache|bench|doctor|engine)\b"
)
# How a process is started and reads its arguments: nothing but an option.
_ARGUMENT = re.compile(r"--[a-z-]+=?")
_PROCESSES = {
    "engine/checkpoints/background_hash.py",
    "engine/checkpoints/full_hash.py",
    "engine/compile/child.py",
    "engine/compile/compile_process.py",
    "engine/devices/pack_trial.py",
    "engine/devices/trial_process.py",
    "engine/devices/trials.py",
    "engine/server/__init__.py",
}


def sentences(source: str, *, starts_processes: bool = False) -> Iterator[str]:
    """The texts of a module that a person might read: all but docstrings and arguments."""
    tree = ast.parse(source)
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        is_argument = starts_processes and _ARGUMENT.fullmatch(node.value)
        if id(node) not in docstrings and not is_argument:
            yield node.value


def of_the_command_line(source: str, *, starts_processes: bool = False) -> list[str]:
    said = sentences(source, starts_processes=starts_processes)
    return [text for text in said if _OF_THE_COMMAND_LINE.search(text)]


@pytest.mark.parametrize("folder", ["engine", "backends"])
def test_no_text_names_an_option_a_command_or_pip(folder: str) -> None:
    found = {
        f"{name}: {text}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for name in [path.relative_to(ROOT).as_posix()]
        for text in of_the_command_line(
            path.read_text(encoding="utf-8"), starts_processes=name in _PROCESSES
        )
    }
    assert found == set()


@pytest.mark.parametrize(
    "text",
    [
        '"Choose another folder with --out."',
        'f"Supply it with --{name} FILE, or (--vae {path})."',
        '"`safelight doctor` says what is missing."',
        '"safelight devices lists them."',
        '"torch is not installed: python -m pip install torch"',
        '"--out"',
    ],
)
def test_a_text_that_names_an_option_is_found(text: str) -> None:
    assert of_the_command_line(f'def hint():\n    """Not `this`, --but:"""\n    return {text}\n')


def test_arguments_of_processes_are_no_sentences() -> None:
    source = 'parser.add_argument("--parent")\ncommand = ["--skip=", "with --skip"]\n'
    assert of_the_command_line(source, starts_processes=True) == ["with --skip"]


def shown(source: str) -> Iterator[str]:
    """The texts of a module that the window shows: those it gives to be translated."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            called = node.func.id if isinstance(node.func, ast.Name) else called
            # Before it a context may be named, which nobody sees.
            texts = {"tr": node.args[:1], "translate": node.args[1:2]}.get(called, [])
            yield from (
                text.value
                for text in texts
                if isinstance(text, ast.Constant) and isinstance(text.value, str)
            )


@pytest.mark.parametrize("folder", ["ui", "app"])
def test_the_window_says_model_where_the_field_says_checkpoint(folder: str) -> None:
    found = {
        f"{path.relative_to(ROOT).as_posix()}: {text}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for text in shown(path.read_text(encoding="utf-8"))
        if "checkpoint" in text.lower()
    }
    assert found == set()
