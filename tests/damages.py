"""Damages to files: each function changes a file in place."""

import json
import os
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

Damage = Callable[[Path], None]
_DEEP = "[" * 100_000 + "]" * 100_000


def empty(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    for place in range(middle - 32, middle + 32):
        if 0 <= place < len(content):
            content[place] ^= 0xA5
    path.write_bytes(content)


def deep_in_a_known_field(path: Path) -> None:
    fields = _fields(path)
    path.write_text(_object(dict.fromkeys(fields or ("known",), _DEEP)))


def deep_in_an_unknown_field(path: Path) -> None:
    known = {name: json.dumps(value) for name, value in _fields(path).items()}
    path.write_text(_object({**known, "not known": _DEEP}))


def of_wrong_types(path: Path) -> None:
    wrong = {name: json.dumps([value]) for name, value in _fields(path).items()}
    path.write_text(_object(wrong or {"known": "[5]"}))


def not_utf8(path: Path) -> None:
    before, value, after = path.read_bytes().partition(b'":"')
    path.write_bytes(before + value + b"\xc9\xff" + after)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "somebody's").write_text("file")


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def unreadable(path: Path) -> None:
    path.chmod(0)


ALL: tuple[Damage, ...] = (
    *(empty, cut, flipped, deep_in_a_known_field, deep_in_an_unknown_field),
    *(of_wrong_types, not_utf8, a_folder, a_pipe, unreadable),
)
_POSIX = {a_pipe, unreadable}


def parameters(
    seldom: Collection[Damage] = (), mark: pytest.MarkDecorator = pytest.mark.oracle
) -> list[Any]:
    """Every damage, with those left out that cannot be done here; those in `seldom` with a mark."""
    return [
        pytest.param(
            damage, id=damage.__name__, marks=[*_marks(damage), *[mark] * (damage in seldom)]
        )
        for damage in ALL
    ]


def _marks(damage: Damage) -> list[pytest.MarkDecorator]:
    absent = sys.platform == "win32" and damage in _POSIX
    root = damage is unreadable and sys.platform != "win32" and os.geteuid() == 0
    return [
        pytest.mark.skipif(absent, reason="not on Windows"),
        pytest.mark.skipif(root, reason="root may read everything"),
    ]


def _fields(path: Path) -> Mapping[str, object]:
    """Return the keys of a JSON object; none if the file holds something else."""
    try:
        value: object = json.loads(path.read_bytes())
    except ValueError:
        return {}
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _object(fields: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{json.dumps(name)}: {text}" for name, text in fields.items()) + "}"
