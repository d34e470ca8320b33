"""Rules of code for Windows, which no other system would show to be broken.

For a function without types ctypes takes a handle for a C int: 32 bits of 64 (ctypes' reference,
"Specifying the required argument types"). The pseudo handle -1 of GetCurrentProcess is none then.

In a folder that may not be written to, `tempfile` of Python before 3.14 tries 2^31 names there:
`os.access` does not see lists of access (github.com/python/cpython/issues/66305).
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.test_architecture import ROOT, source_files

# It passes texts, None and a small number, which ctypes knows by themselves.
_UNTYPED = "app/faulty_start.py"
# Programs that nobody but a developer runs.
_OF_DEVELOPERS = ("benchmarks", "starter")


def _libraries(tree: ast.Module) -> set[str]:
    """The names that a module gives to libraries of Windows, and to what comes with one."""
    opening = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and node.returns is not None
        and "WinDLL" in ast.unparse(node.returns)
    }
    return {
        name.strip()
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) in {"ctypes.WinDLL", *opening}
        for target in node.targets
        for name in ast.unparse(target).strip("()").split(",")
    }


def _called(tree: ast.Module, libraries: set[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and ast.unparse(called.value) in libraries:
            yield called.attr


def _typed(tree: ast.Module) -> set[str]:
    return {
        node.value.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr == "argtypes"
        and isinstance(node.value, ast.Attribute)
    }


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _trees(word: str) -> Iterator[tuple[str, ast.Module]]:
    """The modules in which a word stands anywhere, in whatever case: few of a thousand."""
    for path in source_files():
        if word in path.read_text(encoding="utf-8").casefold():
            yield str(path.relative_to(ROOT)), _tree(path)


def _of_users(word: str) -> Iterator[tuple[str, ast.Call]]:
    """The calls in programs that users run and that have a word, each with the place of it."""
    for name, tree in _trees(word):
        if not name.startswith(_OF_DEVELOPERS):
            for node in ast.walk(tree):
                if isinstance(node, ast.Call):
                    yield f"{name}:{node.lineno}", node


def test_every_function_of_windows_that_is_called_has_its_types() -> None:
    calls = {
        (name, function)
        for name, tree in _trees("windll")
        for function in _called(tree, _libraries(tree))
        if function not in _typed(tree)
    }
    assert calls == set()


def test_the_check_sees_the_calls_that_there_are() -> None:
    seen = {
        function for _, tree in _trees("windll") for function in _called(tree, _libraries(tree))
    }
    assert {"SetPriorityClass", "SetProcessInformation", "LockFileEx", "OpenProcess"} <= seen


def test_no_library_is_shared_with_others_who_give_its_functions_other_types() -> None:
    found = {name for name, tree in _trees("windll") if "windll" in ast.unparse(tree)}
    assert found == {str(Path(_UNTYPED))}


def test_no_file_is_made_by_tempfile_in_a_folder_that_may_not_be_written_to() -> None:
    found = {
        place
        for place, call in _of_users("tempfile")
        if ast.unparse(call.func).startswith("tempfile.")
        and any(keyword.arg == "dir" for keyword in call.keywords)
    }
    assert found == set()


def test_a_file_that_stays_in_use_in_a_temporary_folder_ends_nothing() -> None:
    """A scanner, or a process that has just ended, may still hold one of its files."""
    found = {
        place
        for place, call in _of_users("temporarydirectory")
        if ast.unparse(call.func).endswith("TemporaryDirectory")
        and all(keyword.arg != "ignore_cleanup_errors" for keyword in call.keywords)
    }
    assert found == set()
