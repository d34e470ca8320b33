"""Nothing of the protocol or of the app's objects is there without a caller in the product."""

import ast
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from engine.api.messages import Command, Event, Message

ROOT = Path(__file__).parents[2]
# A table of all events, for whoever takes them.
EVENT_TABLE = ROOT / "app" / "engine" / "client.py"
# Found by the names of their fields, which are attributes; see `app.form.field`.
SIGNAL_OF_A_FIELD = "_changed"
# Qt calls these.
OF_QT = {"_SeedValidator.validate", "_Drawing.clone"}
# Only tests ask these, which must see what another program or a person sees.
FOR_TESTS = {
    "ThumbnailStore.kept_bytes",
    "NoticeCard.is_leaving",
}


@dataclass(frozen=True)
class Names:
    """The names in a source file. Its tree is not kept: all of them are half a gigabyte."""

    # Those that are called, and those that are read, in annotations too.
    called: frozenset[str]
    read: frozenset[str]
    # Attributes that are read, after the last name of what they are asked of.
    asked: frozenset[tuple[str, str]]
    # Class and name of each public method, property and signal.
    members: tuple[tuple[str, str], ...]


@cache
def names_in(file: Path) -> Names:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    nodes = tuple(ast.walk(tree))
    calls = (node.func for node in nodes if isinstance(node, ast.Call))
    return Names(
        frozenset(function.id for function in calls if isinstance(function, ast.Name)),
        frozenset(node.id for node in nodes if isinstance(node, ast.Name)),
        frozenset(
            (terminal(node.value), node.attr)
            for node in nodes
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
        ),
        tuple(members(tree)),
    )


@cache
def files_of(*folders: str) -> tuple[Path, ...]:
    return tuple(file for folder in folders for file in _files(ROOT / folder))


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(path.rglob("*.py"))


def made(*folders: str) -> set[str]:
    """The names that are called."""
    return {name for file in files_of(*folders) for name in names_in(file).called}


def named(*folders: str, leaving_out: Path | None = None) -> set[str]:
    """The names that are read, in annotations too."""
    files = (file for file in files_of(*folders) if file != leaving_out)
    return {name for file in files for name in names_in(file).read}


def names_of(union: object) -> list[str]:
    kinds: tuple[type[Message], ...] = typing.get_args(union)
    return [kind.__name__ for kind in kinds]


@pytest.mark.parametrize("command", names_of(Command))
def test_a_command_is_sent_by_the_app_and_taken_by_the_engine(command: str) -> None:
    assert command in made("app")
    assert command in named("engine/server")


@pytest.mark.parametrize("event", names_of(Event))
def test_an_event_is_sent_by_the_engine_and_taken_by_the_app(event: str) -> None:
    assert event in made("engine/server")
    assert event in named("app", "ui", leaving_out=EVENT_TABLE)


def members(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Class and name of each public method, property and signal."""
    for kind in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        for node in kind.body:
            match node:
                case ast.FunctionDef(name=name):
                    found = name
                case ast.Assign(targets=[ast.Name(id=name)]):
                    found = name
                case _:
                    continue
            # What Qt calls is in camel case.
            if not found.startswith("_") and found.islower():
                yield kind.name, found


def test_every_public_member_of_the_app_and_the_window_is_used() -> None:
    asking = files_of("app", "ui", "engine", "benchmarks")
    used = {name for file in asking for _, name in names_in(file).asked}
    unused = {
        f"{kind}.{name}"
        for file in files_of("app", "ui")
        for kind, name in names_in(file).members
        if name not in used and not name.endswith(SIGNAL_OF_A_FIELD)
    }
    assert unused == FOR_TESTS | OF_QT


OWNERS = {
    "EngineClient": ("app/engine/client.py", {"client"}),
    "JobQueue": ("app/queue/job_queue.py", {"queue"}),
    "Session": ("app/session.py", {"session"}),
}


@pytest.mark.parametrize("owner", OWNERS)
def test_every_public_member_of_a_central_object_is_asked_of_it(owner: str) -> None:
    """A use of another object's member of the same name does not count."""
    path, variables = OWNERS[owner]
    asked = {
        name
        for file in files_of("app", "ui")
        for of, name in names_in(file).asked
        if of.lstrip("_") in variables
    }
    found = {name for kind, name in names_in(ROOT / path).members if kind == owner}
    assert found - asked == set()


def terminal(node: ast.expr) -> str:
    """The last name of `a.b.c`."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(attr=name):
            return name
        case _:
            return ""
