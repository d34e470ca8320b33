"""Hints: defaults of a checkpoint for sampling and previews, as in a folder's `safelight.json`."""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from engine.api.limits import MAX_GUIDANCE, MAX_STEPS
from engine.api.values import ErrorCode, SamplerName, ScheduleName
from engine.errors import EngineError
from engine.untrusted_json import JsonError, read_json

FILE_NAME = "safelight.json"
_MAX_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class PreviewFactors:
    """Roughly the picture of a latent as the denoiser sees it: weights^T latent + bias, in [-1, 1].

    `weights` has a row of red, green and blue for each channel of the latent.
    """

    weights: tuple[tuple[float, float, float], ...]
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)


class CheckpointHints(msgspec.Struct, frozen=True, kw_only=True):
    """The defaults of a checkpoint for what a request leaves open; None: as for all others."""

    sampler: SamplerName | None = None
    schedule: ScheduleName | None = None
    steps: int | None = None
    guidance: float | None = None
    # Pixels on a side.
    size: int | None = None
    # Whether steps and guidance hold for all samplers, as with a model distilled to few steps.
    any_sampler: bool = False
    # For a latent space of its own; None for the family's.
    preview: PreviewFactors | None = None


@dataclass(frozen=True, slots=True)
class LearntHints:
    """Defaults that suit a kind of checkpoint, and why, in words for a person."""

    hints: CheckpointHints
    evidence: str


NO_HINTS = CheckpointHints()
_DECODER = msgspec.json.Decoder(CheckpointHints)


def read_hints(folder: Path) -> CheckpointHints:
    """Read the hints of a checkpoint folder, empty without the file.

    Raises EngineError(CHECKPOINT_CORRUPT) where the file is there and makes no sense.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        return NO_HINTS
    try:
        hints = read_json(path, _DECODER, _MAX_BYTES)
    except (OSError, JsonError) as error:
        raise _corrupt(path, str(error)) from error
    steps_fit = hints.steps is None or 1 <= hints.steps <= MAX_STEPS
    guidance_fits = hints.guidance is None or 0 <= hints.guidance <= MAX_GUIDANCE
    if not (steps_fit and guidance_fits):
        raise _corrupt(path, "steps or guidance is out of range")
    return hints


def _corrupt(path: Path, detail: str) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_CORRUPT,
        f"The file {path} does not say how to sample the model.",
        "Correct it, or remove it: it only holds defaults.",
        detail,
    )
