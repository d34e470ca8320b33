"""Counting numbered blocks in dotted names, and naming a missing block."""

import re
from collections.abc import Iterable
from pathlib import Path

from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError

_NUMBER = re.compile(r"[0-9]+")


class Numbering:
    """The number of numbered children of each dotted prefix: blocks, layers, residual blocks."""

    def __init__(self, names: Iterable[str], path: Path) -> None:
        self._path = path
        self._children: dict[str, set[int]] = {}
        counted: set[str] = set()
        for name in names:
            module = name.rpartition(".")[0]
            # Most names share most of their modules, so modules counted before are skipped.
            while module not in counted:
                counted.add(module)
                module = self._count(module)

    def _count(self, module: str) -> str:
        """Count a module as a child of its parent, if it is numbered, and return the parent."""
        within, dot, last = module.rpartition(".")
        if dot and _NUMBER.fullmatch(last):
            self._children.setdefault(within, set()).add(int(last))
        return within

    def count(self, prefix: str) -> int:
        """Count the children of `prefix`, which must be numbered from 0 without a gap.

        Raises EngineError(CHECKPOINT_CORRUPT), which names the first missing child.
        """
        found = self._children.get(prefix, set())
        for number in range(len(found)):
            if number not in found:
                raise damaged(
                    self._path, sentence("it lacks {prefix!r}", prefix=prefix + f".{number}")
                )
        return len(found)


def damaged(path: Path, what: Sentence) -> EngineError:
    """Return the error for a file with a valid header and invalid contents, described by `what`."""
    return EngineError(
        ErrorCode.CHECKPOINT_CORRUPT,
        sentence("{path} is damaged: {what}.", path=path.name, what=what),
        sentence("Download it again, or get another copy: it may have been cut or merged wrongly."),
    )
