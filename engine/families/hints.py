"""Hints: defaults of a checkpoint for sampling and previews, as in a folder's `safelight.json`."""

from pathlib import Path

import msgspec

from engine.api.limits import MAX_GUIDANCE, MAX_STEPS
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode, SamplerName, ScheduleName
from engine.errors import EngineError
from engine.untrusted_json import JsonError, read_json

FILE_NAME = "safelight.json"
_MAX_BYTES = 64 << 10


class PreviewFactors(msgspec.Struct, frozen=True):
    """A linear preview: approximate RGB in [-1, 1] as weights^T latent + bias.

    `weights` has a row of red, green and blue for each channel of the latent, which is scaled as
    for the denoiser.
    """

    weights: tuple[tuple[float, float, float], ...]
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)


class CheckpointHints(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint's defaults for settings that a request leaves open; None: no own default."""

    sampler: SamplerName | None = None
    schedule: ScheduleName | None = None
    steps: int | None = None
    guidance: float | None = None
    # The side of a picture, in pixels.
    size: int | None = None
    # True if steps and guidance apply to all samplers, as with a model distilled to few steps.
    any_sampler: bool = False
    # The preview of a latent space of the checkpoint's own; None for the family's preview.
    preview: PreviewFactors | None = None


class LearntHints(msgspec.Struct, frozen=True):
    """Defaults for a kind of checkpoint, and the evidence for the kind as text for the user."""

    hints: CheckpointHints
    evidence: Sentence


NO_HINTS = CheckpointHints()
_DECODER = msgspec.json.Decoder(CheckpointHints)


def read_hints(folder: Path) -> CheckpointHints:
    """Read the hints of a checkpoint folder; return NO_HINTS if it has no `safelight.json`.

    Raises EngineError(CHECKPOINT_CORRUPT) for a file that is unreadable or has invalid values.
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
        sentence("The file {path} does not say how to sample the model.", path=path),
        sentence("Correct it, or remove it: it only holds defaults."),
        detail,
    )
