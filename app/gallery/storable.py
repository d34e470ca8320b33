"""Texts and paths of any kind in the form in which SQLite keeps them."""

import os


def stored_text(text: str) -> str:
    """Return a text that SQLite and its index of words take: no lone surrogates, no null."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def stored_path(path: str) -> bytes:
    """Return a path as bytes: names of files need not be Unicode."""
    return os.fsencode(path)


def shown_path(stored: bytes) -> str:
    """Return the path that `stored_path` made bytes of."""
    return os.fsdecode(stored)
