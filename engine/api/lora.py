"""LoRAs in requests and records: which files, how strongly, and how much of each was applied."""

from enum import StrEnum
from typing import Annotated

import msgspec

from engine.api.fields import within
from engine.api.weight_suffixes import weights_name

# The largest strength of either sign; the control of every tool ends earlier.
MAX_LORA_STRENGTH = 100.0
# The most LoRAs of a request, and the most that a prompt may name.
MAX_LORAS = 128


class LoraMode(StrEnum):
    """The way in which LoRAs change a network; every way makes the same picture, up to rounding."""

    AUTO = "auto"  # the faster one for this request
    MERGE = "merge"  # added to the weights before the first step
    SIDE = "side"  # computed beside the weights at every step
    TEXT_SIDE = "text_side"  # beside the text encoders, which run once; added to the denoiser


class LoraChoice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A LoRA that a request names by its file, and its strengths.

    `file` is a path, or a name that is looked for in the LoRA folders: the file's name with or
    without its suffix, a path below a folder, or the name in the file's metadata.
    """

    file: str
    # The factor of the denoiser's changes; 0 changes nothing.
    strength: Annotated[
        float, within(-MAX_LORA_STRENGTH, MAX_LORA_STRENGTH, "strength of a LoRA")
    ] = 1.0
    # The factor of the text encoders' changes; None: `strength`.
    text_strength: Annotated[
        float | None, within(-MAX_LORA_STRENGTH, MAX_LORA_STRENGTH, "text strength of a LoRA")
    ] = None
    # A hash in hexadecimal digits by which the file is found where its name is not; None: unknown.
    hash: str | None = None
    # False if the LoRA is kept in the list of the form without being used.
    enabled: bool = True

    @property
    def strengths(self) -> tuple[float, float]:
        """The strengths for the denoiser and for the text encoders."""
        text = self.strength if self.text_strength is None else self.text_strength
        return self.strength, text

    def __str__(self) -> str:
        """Return the file's name and the strengths, as in "style 0.8"."""
        own, text = self.strengths
        more = () if text == own else (f"(text {text:.4g})",)
        return " ".join([weights_name(self.file), f"{own:.4g}", *more])


class LoraHash(msgspec.Struct, frozen=True, kw_only=True):
    """A name by which a prompt names a LoRA, and the file's hash in hexadecimal digits.

    The hash finds the file where the name does not: files have other names on other machines.
    """

    name: str
    hash: str


class LoraReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A LoRA in a picture's record: its file, its strengths, and how much of it was applied.

    `points` are pairs of a strength and a fraction of the steps where the strength of the denoiser
    changes over the steps; `strength` is then that of the first step.
    """

    name: str
    # None if the file was not found; the picture was made without it.
    path: str | None = None
    strength: float = 1.0
    text_strength: float = 1.0
    points: tuple[tuple[float, float], ...] = ()
    # Weights by block, as the prompt's `lbw=` has them.
    blocks: str = ""
    # A hash of samples of the file, as the checkpoint's; empty if the file was not found.
    digest: str = ""
    # SHA-256 of the file, and the first 12 digits of the hash of its tensors alone (A1111's hash
    # of a LoRA, Civitai's AutoV3); None: not computed.
    sha256: str | None = None
    tensors_hash: str | None = None
    # The number of the file's keys that were applied, the number of all, and some of the others.
    applied_keys: int = 0
    total_keys: int = 0
    rest: tuple[str, ...] = ()
