"""Versions as they are named and ordered. Standard library only: the launcher uses it."""

import re

# Python's own scheme, as pyproject.toml has it: a release, or an early one (a1, b2, rc3).
_VERSION = re.compile(r"(0|[1-9]\d{0,5})((?:\.\d{1,6}){1,3})(?:(a|b|rc)(\d{1,4}))?")
_RELEASE = ("z", 0)  # after a, b and rc


def is_version(text: str) -> bool:
    """Return True for the name of a version, which is safe as the name of a folder."""
    return _VERSION.fullmatch(text) is not None


def order_of(version: str) -> tuple[tuple[int, ...], tuple[str, int]]:
    """Return a key by which versions are ordered. Raises ValueError if it is no version."""
    found = _VERSION.fullmatch(version)
    if found is None:
        raise ValueError(f"{version!r} is no version")
    numbers = [int(number) for number in f"{found[1]}{found[2]}".split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), (found[3], int(found[4])) if found[3] else _RELEASE


def is_newer(version: str, other: str) -> bool:
    """Return True if the first version is newer than the other."""
    return order_of(version) > order_of(other)
