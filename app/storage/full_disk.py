"""The advice to a person whose disk has no room for a file of Safelight's own."""

from pathlib import Path

from engine.api.sentences import Sentence, sentence
from engine.durable import room_needed


def make_room(folder: Path, size: int) -> Sentence:
    """Return the advice to make room for a file of `size` bytes in a folder."""
    return sentence(
        "Make room on the disk of {folder}: {size:.1f} MB are needed.",
        folder=folder,
        size=room_needed(size),
    )
