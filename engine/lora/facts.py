"""Facts about a LoRA that its metadata state, for people and for recognition."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class LoraFacts:
    """The facts of a LoRA's metadata; unknown facts are empty.

    `base_model` is the trainer's name for the base model.
    """

    title: str = ""
    output_name: str = ""
    base_model: str = ""
    trigger_words: tuple[str, ...] = ()


def facts_of(path: Path, metadata: Mapping[str, str]) -> LoraFacts:
    """Return the facts that a file's metadata state."""
    return LoraFacts()
