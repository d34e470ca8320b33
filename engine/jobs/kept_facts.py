"""The places in the cache of what is known about files."""

from pathlib import Path

from engine.checkpoints.known_files import KnownFiles
from engine.lora.listed_facts import ListedFacts


def known_files(cache: Path) -> KnownFiles:
    """Return the store of facts about files, in the cache."""
    return KnownFiles(cache / "files")


def listed_facts(cache: Path) -> ListedFacts:
    """Return the store of facts about listed files of weights, in the cache."""
    return ListedFacts(cache / "loras.json")
