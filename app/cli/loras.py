"""`--lora FILE[:STRENGTH[:TEXT]]`: LoRAs of a request, each with its strengths."""

import argparse
import math
from pathlib import Path

from app.cli.folders import add_folders_argument
from app.cli.option_group import OptionGroup
from app.model_folders import named_folders
from app.paths import Paths, typed_path, typed_text
from engine.api.fields import bounds_of
from engine.api.lora import LoraChoice, LoraReport
from engine.file_paths import exists

_BOUNDS = bounds_of(LoraChoice, "strength")
# A strength for the denoiser, and one for the text encoders.
_MOST_STRENGTHS = 2


def add_arguments(parser: OptionGroup) -> None:
    """Declare the options."""
    parser.add_argument(
        "--lora",
        dest="wanted_loras",
        type=parse_lora,
        action="append",
        default=[],
        metavar="FILE[:STRENGTH[:TEXT]]",
        help="apply a LoRA, a file or a name; TEXT is the text encoder's strength; may be repeated",
    )
    files = "LoRAs, beside the folders that are named in the window"
    add_folders_argument(parser, "--lora-folder", "lora_folders", files)


def folders(paths: Paths, options: argparse.Namespace) -> tuple[Path, ...]:
    """Return the folders to look into beside the usual ones, those of the options first."""
    return (*options.lora_folders, *named_folders(paths))


def parse_lora(text: str) -> LoraChoice:
    """Return the LoRA of a text such as "style.safetensors:0.8:0.5".

    A colon may also be part of the file's name, or follow the letter of a Windows drive: a file
    that exists under the longer name is meant, and only numbers are strengths.
    """
    file, strengths = text, list[float]()
    while len(strengths) < _MOST_STRENGTHS and not exists(typed_text(file)):
        before, colon, after = file.rpartition(":")
        strength = _strength(after) if colon else None
        if strength is None:
            break
        file, strengths = before, [strength, *strengths]
    if not file.strip():
        raise argparse.ArgumentTypeError(f"{text!r} names no file; write FILE:0.8")
    path = typed_path(file)
    return LoraChoice(
        # Other names are looked for in the LoRA folders.
        file=str(path) if exists(path) else file,
        strength=strengths[0] if strengths else 1.0,
        text_strength=strengths[1] if len(strengths) > 1 else None,
    )


def with_loras(before: tuple[LoraChoice, ...], wanted: list[LoraChoice]) -> tuple[LoraChoice, ...]:
    """Return both; a file that is in both has the wanted strengths."""
    chosen = {lora.file: lora for lora in (*before, *wanted)}
    return tuple(chosen.values())


def changed(before: tuple[LoraReport, ...], now: tuple[LoraReport, ...]) -> tuple[str, ...]:
    """Return the names of LoRAs whose files have another content than before."""
    digests = {lora.name: lora.digest for lora in before if lora.digest}
    found = (lora for lora in now if lora.digest)
    others = (lora.name for lora in found if lora.digest != digests.get(lora.name, lora.digest))
    return tuple(dict.fromkeys(others))


def _strength(text: str) -> float | None:
    """Return a strength; None if the text is no number. Raises ArgumentTypeError out of bounds."""
    try:
        strength = float(text)
    except ValueError:
        return None
    if math.isnan(strength) or not _BOUNDS.low <= strength <= _BOUNDS.high:
        low, high = _BOUNDS.whole
        raise argparse.ArgumentTypeError(f"the strength {text} is not from {low} to {high}")
    return strength
