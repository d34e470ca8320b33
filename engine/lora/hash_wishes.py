"""Wishes to have files of weights hashed in the background, for the store of their facts."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from engine.checkpoints.background_hash import Wish
from engine.checkpoints.files import is_archive
from engine.checkpoints.full_hash import FullHash
from engine.lora.files_below import ListedFile
from engine.lora.hashes import LoraHashes, legacy_hash
from engine.lora.listed_facts import ListedFacts

# The store is written after so many files, and after the last one.
_KEPT_TOGETHER = 20


def hash_wishes(files: Iterable[ListedFile], known: ListedFacts) -> tuple[Wish, ...]:
    """Return a wish for each file whose hashes are not known; `known` keeps what is found."""
    unknown = [listed for listed in files if known.of(listed).hashes is None]
    last = len(unknown) - 1
    return tuple(
        Wish(
            Path(listed.path),
            listed.stamp,
            partial(_keep, known, listed, number % _KEPT_TOGETHER == 0 or number == last),
            tensors=True,
        )
        for number, listed in enumerate(unknown)
    )


def _keep(known: ListedFacts, listed: ListedFile, saves: bool, found: FullHash) -> None:
    path = Path(listed.path)
    try:
        tensors = None if is_archive(path) else found.tensors
        known.note(listed, hashes=LoraHashes(found.whole, tensors, legacy_hash(path)))
    except OSError:
        return
    if saves:
        known.save()
