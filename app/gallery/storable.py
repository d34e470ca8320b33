"""Texts and paths of any kind in the form in which SQLite keeps them."""

import os

from app.gallery.database import IndexDamagedError


def stored_text(text: str) -> str:
    """Return a text that SQLite and its index of words take: no lone surrogates, no null."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def stored_path(path: str) -> bytes:
    """Return a path as bytes: names of files need not be Unicode."""
    return os.fsencode(path)


def shown_path(stored: object) -> str:
    """Return the path that `stored_path` made bytes of.

    Raises IndexDamagedError for anything but bytes, which an index may hold whose byte flipped.
    """
    if not isinstance(stored, bytes):
        raise IndexDamagedError(f"a path that is {type(stored).__name__}")
    return os.fsdecode(stored)
