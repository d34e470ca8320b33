"""Fits the latent preview of the starter model: `python -m starter.preview`.

Drawn pictures go through the model's own VAE encoder. Each latent cell, scaled for the denoiser, is
paired with the mean colour of its pixels; least squares gives the linear map from its channels to
that colour. The result is written into `model/safelight.json`.
"""

import random
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from backends.base import Array, Precision
from backends.cpu import CpuBackend
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.hints import FILE_NAME, CheckpointHints, PreviewFactors, read_hints
from engine.families.identify import identify
from engine.memory.plan import WeightPlacement
from engine.weights.working_copies import WorkingCopies
from starter.scenes import draw, random_scene

MODEL = Path(__file__).resolve().parent / "safelight-starter"
FITTED, JUDGED = 96, 32

Float = NDArray[np.float64]


def main() -> None:
    checkpoint = identify(MODEL)
    latents, colours = _samples(checkpoint, FITTED + JUDGED)
    fitted = FITTED * len(latents) // (FITTED + JUDGED)
    factors = fit(latents[:fitted], colours[:fitted])
    shown = latents[fitted:] @ np.asarray(factors.weights) + factors.bias
    for name, channel in zip(("red", "green", "blue"), range(3), strict=True):
        likeness = np.corrcoef(shown[:, channel], colours[fitted:, channel])[0, 1]
        print(f"{name}: correlates {likeness:.3f} with unseen pictures")
    error = np.sqrt(np.mean((shown - colours[fitted:]) ** 2)) * 127.5
    print(f"root mean square error {error:.1f} of 255")
    hints = msgspec.structs.replace(read_hints(MODEL), preview=factors)
    (MODEL / FILE_NAME).write_bytes(_text(hints))


def fit(latents: Float, colours: Float) -> PreviewFactors:
    """Return the best linear map of latents [cells, channels] to colours [cells, 3], -1 to 1."""
    ones = np.ones((len(latents), 1))
    solution = np.linalg.lstsq(np.hstack([latents, ones]), colours, rcond=None)[0].round(4)
    rows = [(float(red), float(green), float(blue)) for red, green, blue in solution]
    return PreviewFactors(tuple(rows[:-1]), rows[-1])


def _samples(checkpoint: IdentifiedCheckpoint, pictures: int) -> tuple[Float, Float]:
    """Return cells of drawn pictures: latents [cells, channels], mean colours [cells, 3]."""
    backend = CpuBackend()
    compiler = Compiler(backend, backend.probe()[0], WorkingCopies(MODEL / "none"))
    cancel = CancelToken()
    session = compiler.load(
        checkpoint.architecture.autoencoder.encoder(),
        Precision.F32,
        WeightPlacement.MEMORY,
        lambda _done, _total: None,
        cancel,
    )
    form, rng = checkpoint.latent, random.Random(0)
    latents: list[Array] = []
    colours: list[Array] = []
    for _ in range(pictures):
        pixels = np.asarray(draw(random_scene(rng), rng), np.float32) / 127.5 - 1
        image = np.ascontiguousarray(pixels.transpose(2, 0, 1)[None])
        moments = session.run({"image": image})["moments"][0]
        seen = (moments[: form.channels] - form.shift) * form.scale
        latents.append(seen.reshape(form.channels, -1).T)
        side = form.downscale
        blocks = pixels.reshape(len(pixels) // side, side, -1, side, 3)
        colours.append(blocks.mean(axis=(1, 3)).reshape(-1, 3))
    session.close()
    return np.concatenate(latents).astype(np.float64), np.concatenate(colours).astype(np.float64)


def _text(hints: CheckpointHints) -> bytes:
    """Return the hints as JSON without the fields that are None."""
    fields = msgspec.structs.asdict(hints).items()
    said = {name: value for name, value in fields if value is not None}
    return msgspec.json.encode(said) + b"\n"


if __name__ == "__main__":
    main()
