"""From noise to a clean latent: a sampler's run on a denoiser, as the request's tool does it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from backends.base import Array
from engine.api.record import ResolvedRequest
from engine.api.values import ConventionName, PredictionType
from engine.families.base import IdentifiedCheckpoint, LatentFormat
from engine.sampling.denoiser import Denoiser, Predict
from engine.sampling.noise import PictureNoise, picture_noise
from engine.sampling.plan import plan_sampling
from engine.sampling.schedules import AlignedFor, EdmSchedule
from engine.sampling.types import Latent, NoiseSource, Sigmas, Step


@dataclass(frozen=True, slots=True, eq=False)
class EncodedImage:
    """The distribution of a picture's latent as the denoiser sees it: float32 [1, C, H, W] each."""

    mean: Latent
    deviation: Latent

    @classmethod
    def from_moments(cls, moments: Array, form: LatentFormat) -> Self:
        """From what the VAE says: means, and logarithms of variances (`AutoencoderKL`)."""
        mean, log_variance = np.split(moments, 2, axis=1)
        deviation = np.exp(np.clip(log_variance, -30, 20) / 2)
        return cls(form.seen(mean), form.seen_change(deviation))


class Denoising:
    """What the pictures of a job have in common: the sampler, its levels, how guidance acts."""

    def __init__(
        self, request: ResolvedRequest, checkpoint: IdentifiedCheckpoint, *, redraws: bool
    ) -> None:
        """`redraws`: over another picture. Raises EngineError(REQUEST_INVALID)."""
        self._request = request
        # As far as is known; where nothing states it, the denoiser may show it.
        self.prediction = checkpoint.prediction
        aligned_for = AlignedFor.SDXL if checkpoint.told_sizes else AlignedFor.SD1
        training = _training(checkpoint, request.convention.name)
        self._plan = plan_sampling(request, aligned_for, redraws=redraws, training=training)
        self._is_comfys = request.convention.name is ConventionName.COMFY
        form = checkpoint.latent
        cells = request.height // form.downscale, request.width // form.downscale
        self._shape = (form.channels, *cells)

    @property
    def steps(self) -> int:
        """How many steps are planned; none leaves a picture as it is."""
        return len(self._plan.sigmas) - 1

    def start(
        self, request: ResolvedRequest, init: EncodedImage | None
    ) -> tuple[Latent, NoiseSource]:
        """The first latents of one picture, [1, C, H, W], and the noise of its steps."""
        plan, latent, drawn = self._plan, None, 0
        if init is not None:
            latent = init.mean
            if request.convention.samples_encoded:
                latent, drawn = latent + init.deviation * self._noise(request).first, 1
        noise = self._noise(request, drawn)
        source = noise.steps(plan.sigmas, plan.whole, brownian=plan.brownian)
        return plan.start(noise.first, latent), source

    def run(
        self, x: Latent, noise: NoiseSource, predict: Predict, weights: tuple[float, ...]
    ) -> Iterator[Step]:
        """The sampler's steps from `x` on; `weights` are those of the positive prompts."""
        guidance = self._request.guidance_options
        denoise = Denoiser(
            predict,
            self._plan.training,
            self.prediction,
            self._request.guidance,
            weights,
            guidance.rescale,
            # ComfyUI's RescaleCFG measures velocities, whatever the network predicts.
            PredictionType.V if self._is_comfys else None,
            guided_levels=_guided_levels(self._plan.sigmas, guidance.range),
        )
        return self._plan.sampler(denoise, x, self._plan.sigmas, noise)

    def finish(self, x: Latent) -> Latent:
        """The latents to decode, from those of the last step."""
        return self._plan.finish(x)

    def _noise(self, request: ResolvedRequest, drawn: int = 0) -> PictureNoise:
        return picture_noise(
            request.seed, self._shape, request.seed_options, request.convention, drawn
        )


def _training(checkpoint: IdentifiedCheckpoint, tool: ConventionName) -> EdmSchedule | None:
    levels = checkpoint.levels
    if levels is None:
        return None
    return EdmSchedule.between(levels.sigma_min, levels.sigma_max, levels.sigma_data, tool)


def _guided_levels(sigmas: Sigmas, part: tuple[float, float]) -> tuple[float, float]:
    """The lowest and the highest level of the steps that begin within a part of the run."""
    steps = len(sigmas) - 1
    first, end = math.ceil(part[0] * steps), math.ceil(part[1] * steps)
    highest = math.inf if first == 0 else float(sigmas[min(first, steps)])
    lowest = 0.0 if end == steps else float(sigmas[end - 1]) if end else math.inf
    return lowest, highest
