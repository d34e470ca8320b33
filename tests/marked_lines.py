"""Statements of every kind, for `tests.test_line_coverage`; some of them never run."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

NAMES = [
    "one",
    "two",
]


@cache
def _sign(number: int) -> str:
    """Return a word."""
    if number > 0:
        return "positive"
    elif number == 0:  # noqa: RET505 (the line of an elif is what is tested)
        return "none"
    else:
        word = "negative"
        return word  # noqa: RET504


@dataclass(
    frozen=True,
)
class Pair:
    """Two numbers."""

    left: int
    right: int = 2

    @property
    def total(self) -> int:
        """Their sum."""
        return (
            self.left
            + self.right
        )  # fmt: skip

    @property
    def unused(self) -> int:
        return self.left


def _caught(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    except TypeError:
        number = 1
    else:
        number += 1
    finally:
        done = True
    return number if done else -1


def _kind(value: object) -> str:
    match value:
        case int():
            return "int"
        case str():
            return f"text {value}"
        case _:
            return "other"


def _counted(limit: int) -> Iterator[int]:
    count = 0
    while count < limit:
        count += 1
        if count == 2:
            continue
        yield count
    else:
        count = -1
    for _ in ():
        count = 7
    with suppress(KeyError):
        raise KeyError
        count = 8
    del count


def everything() -> list[object]:
    """Run a part of this file's lines."""
    return [
        *map(_sign, (1, -1)),
        Pair(1).total,
        _caught("x"),
        _caught("4"),
        _kind(1),
        _kind("a"),
        _kind([]),
        *_counted(3),
        *(lambda: NAMES)(),
    ]
