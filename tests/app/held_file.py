"""A file that another program holds for a moment, as programs on Windows can."""

from io import BufferedReader
from pathlib import Path

import pytest

from engine import regular_file


class Held:
    """A file that cannot be opened so many times, as where a program on Windows holds it."""

    def __init__(self, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = times
        self._open = regular_file.open_regular
        monkeypatch.setattr(regular_file, "open_regular", self._open_later)
        monkeypatch.setattr(regular_file, "_HELD_S", 0)

    def _open_later(self, path: Path) -> BufferedReader:
        if self.left:
            self.left -= 1
            raise PermissionError(13, "The process cannot access the file", str(path))
        return self._open(path)
