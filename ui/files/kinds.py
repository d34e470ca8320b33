"""The things that are asked for, and kinds of files as Qt's dialogs take them."""

import re
from collections.abc import Iterable
from enum import Enum, auto
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from app.form.other_formats import other_suffixes
from engine.api.saving import PICTURE_SUFFIXES
from engine.api.upscaler_names import UPSCALER_SUFFIXES
from engine.api.weight_suffixes import NETWORK_SUFFIXES, WEIGHT_SUFFIXES

translate = QCoreApplication.translate
_KIND = re.compile(r"(?P<title>.*?)\s*\((?P<patterns>[^()]*)\)\s*")


def patterns(suffixes: Iterable[str]) -> str:
    """Return the patterns of names with these suffixes, such as "*.png *.jpg"."""
    return " ".join(f"*{suffix}" for suffix in suffixes)


PICTURE_PATTERNS = patterns(PICTURE_SUFFIXES)
MODEL_PATTERNS = patterns(WEIGHT_SUFFIXES)
NETWORK_PATTERNS = patterns(NETWORK_SUFFIXES)
UPSCALER_PATTERNS = patterns(UPSCALER_SUFFIXES)


class FileQuestion(Enum):
    """The things that a person is asked for."""

    FILE = auto()
    FOLDER = auto()
    NEW_FILE = auto()


class FileKind(NamedTuple):
    """A kind of files: its title, and patterns of names such as `*.png`."""

    title: str
    patterns: tuple[str, ...]


def picture_kinds() -> str:
    """Return the kind of the pictures that the form takes."""
    endings = patterns((*PICTURE_SUFFIXES, *other_suffixes()))
    return translate("files", "Pictures ({endings})").format(endings=endings)


def model_kinds() -> str:
    """Return the kinds of files of weights, and of all files."""
    text = translate("files", "Models ({endings});;All files (*)")
    return text.format(endings=MODEL_PATTERNS)


def kinds_of(text: str) -> list[FileKind]:
    """Return the kinds in a text such as "Pictures (*.png *.jpg);;All files (*)".

    A part without brackets is a list of patterns, which is its title, too.
    """
    return [_kind(part) for part in text.split(";;") if part.strip()]


def _kind(part: str) -> FileKind:
    found = _KIND.fullmatch(part)
    title, patterns = (found["title"], found["patterns"]) if found else (part, part)
    return FileKind(title.strip(), tuple(patterns.split()))
