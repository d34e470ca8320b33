"""Places of a form that take a dropped picture themselves."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from PySide6.QtWidgets import QWidget


class DropSpot(NamedTuple):
    """A widget that takes a picture, what it then does in a few words, and doing it."""

    widget: QWidget
    words: str
    take: Callable[[Path], None]
