"""The denoiser as samplers call it: a function from noisy latents to the predicted picture.

Samplers know only `Denoise` or `GuidedDenoise`. This module handles the network's prediction type,
the scale of the network's input, the timestep of a level, and guidance.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from engine.api.values import PredictionType
from engine.sampling.predictions import converted, picture_in
from engine.sampling.schedules import NoiseSchedule
from engine.sampling.types import Latent

# The network with its conditioning bound: (float32 [B, C, H, W], timestep, guided) -> float32
# [n * B, C, H, W]. The outputs are in order: one for each positive prompt; if guided, one for the
# negative prompt; if guided and with image guidance, one for the negative prompt without the
# picture. The timestep is one fractional number for the whole batch.
Predict = Callable[[Latent, np.float32, bool], Latent]


@dataclass(frozen=True, slots=True)
class Denoiser:
    """Estimates the picture in noisy latents; satisfies `Denoise` and `GuidedDenoise`.

    Classifier-free guidance (Ho and Salimans 2022) of several positive prompts, each with its
    weight: negative + sum of guidance * weight * (positive - negative) (Liu et al. 2022, equation
    11; A1111 `combine_denoised`). All prompts run in one batch; the negative one is left out when
    guidance * weights adds up to 1, where it has no effect.

    `rescale`, from 0 to 1, brings the contrast of the result back towards that of the prompts
    without guidance (Lin et al. 2023, section 3.4): the standard deviation of each picture in the
    network's prediction, as in diffusers' `rescale_noise_cfg`. `rescale_as` measures it in another
    prediction type than the network's: ComfyUI's RescaleCFG always measures V.

    `image_guidance` is for denoisers that edit a picture by instruction (Brooks et al. 2023,
    equation 3): they run once more without that picture, and the difference between the negative
    prompt with and without the picture is multiplied by it. 1 turns it off.

    Outside `guided_levels`, (lowest, highest) sigma, both included, the guidance is 1
    (Kynkaanniemi et al. 2024; A1111's "ignore negative prompt during early sampling" and NGMS).
    """

    predict: Predict
    schedule: NoiseSchedule
    prediction: PredictionType
    guidance: float
    weights: tuple[float, ...] = (1.0,)
    rescale: float = 0.0
    rescale_as: PredictionType | None = None
    guided_levels: tuple[float, float] = (0.0, math.inf)
    image_guidance: float = 1.0

    def __call__(self, x: Latent, sigma: np.float32) -> Latent:
        """Denoise float32 [B, C, H, W] at a level sigma > 0.

        Scales in and out as k-diffusion's CompVisDenoiser and CompVisVDenoiser do; for EDM as in
        Karras et al. (2022), table 1.
        """
        scale = self._guidance_at(sigma)
        asks_without_picture = self.image_guidance != 1 and self._acts(sigma)
        if asks_without_picture or not math.isclose(scale * sum(self.weights), 1.0):
            return self._guided(x, sigma, scale)[0]
        pictures = self._pictures(x, self._outputs(x, sigma, guided=False), sigma)
        # The factors add up to 1, so any output can replace the negative one.
        return _guide(pictures, pictures[0], self.weights, scale)

    def pair(self, x: Latent, sigma: np.float32) -> tuple[Latent, Latent]:
        """Return the guided picture, and the picture under the negative prompt.

        Outside `guided_levels` both are the same, as in A1111, and the negative is not run.
        """
        if self._acts(sigma):
            return self._guided(x, sigma, self.guidance)
        picture = self(x, sigma)
        return picture, picture

    def _acts(self, sigma: np.float32) -> bool:
        lowest, highest = self.guided_levels
        return bool(lowest <= sigma <= highest)

    def _guidance_at(self, sigma: np.float32) -> float:
        return self.guidance if self._acts(sigma) else 1.0

    def _guided(self, x: Latent, sigma: np.float32, scale: float) -> tuple[Latent, Latent]:
        """Run the negative prompt too; return the guided picture and the negative one."""
        outputs = self._outputs(x, sigma, guided=True)
        pictures = self._pictures(x, outputs, sigma)
        negative = pictures[len(self.weights)]
        if self.rescale == 0:
            return self._combined(pictures, scale), negative
        kind = self.rescale_as or self.prediction
        estimates = [self._converted(x, output, sigma, kind) for output in outputs]
        count = len(self.weights)
        plain = _guide(estimates[:count], estimates[count], self.weights, 1.0)
        guided = self._combined(estimates, scale)
        ratio = _spread(plain) / _spread(guided)
        guided = guided * (self.rescale * ratio + (1 - self.rescale))
        return self._picture(x, guided, sigma, kind), negative

    def _outputs(self, x: Latent, sigma: np.float32, *, guided: bool) -> list[Latent]:
        """Return the network's output for each prompt, in the order of `Predict`."""
        timestep = self.schedule.sigma_to_timestep(sigma)
        output = self.predict(self.schedule.network_input(x, sigma), timestep, guided)
        without_picture = guided and self.image_guidance != 1
        return np.split(output, len(self.weights) + guided + without_picture)

    def _combined(self, estimates: Sequence[Latent], scale: float) -> Latent:
        """Combine the outputs, in the order of `Predict`, by guidance and image guidance."""
        count = len(self.weights)
        guided = _guide(estimates[:count], estimates[count], self.weights, scale)
        if self.image_guidance == 1:
            return guided
        negative, without_picture = estimates[count:]
        return guided + (negative - without_picture) * (self.image_guidance - 1)

    def _pictures(self, x: Latent, outputs: list[Latent], sigma: np.float32) -> list[Latent]:
        return [self._picture(x, output, sigma, self.prediction) for output in outputs]

    def _picture(
        self, x: Latent, output: Latent, sigma: np.float32, kind: PredictionType
    ) -> Latent:
        # Predictions of another type than the network's assume latents of unit variance.
        data = self.schedule.sigma_data if kind is self.prediction else 1.0
        return picture_in(x, output, sigma, kind, data)

    def _converted(
        self, x: Latent, output: Latent, sigma: np.float32, wanted: PredictionType
    ) -> Latent:
        if self.prediction in (wanted, PredictionType.EPSILON, PredictionType.V):
            return converted(x, output, sigma, self.prediction, wanted)
        noise = (x - self._picture(x, output, sigma, self.prediction)) / sigma
        return converted(x, noise, sigma, PredictionType.EPSILON, wanted)


def _guide(
    positives: Sequence[Latent], negative: Latent, weights: tuple[float, ...], scale: float
) -> Latent:
    """Return negative + sum of scale * weight * (positive - negative)."""
    result = negative
    for positive, weight in zip(positives, weights, strict=True):
        result = result + (positive - negative) * (weight * scale)
    return result


def _spread(prediction: Latent) -> Latent:
    """Return the standard deviation of each picture of a batch: [B, 1, 1, 1]."""
    return prediction.std(axis=(1, 2, 3), keepdims=True)
