"""The denoiser as samplers call it: a function from noisy latents to the predicted picture.

Samplers know only `Denoise` or `GuidedDenoise`. This module handles the network's prediction type,
the scale of the network's input, the timestep of a level, and guidance.
"""

import math
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from engine.api.values import PredictionType
from engine.sampling.attention_guidance import AttentionGuidance, SelfAttention
from engine.sampling.predictions import converted, picture_in
from engine.sampling.schedules import NoiseSchedule
from engine.sampling.types import Latent, Predict


class _Estimates(msgspec.Struct, frozen=True, eq=False):
    """The network's outputs in the order of `Predict`, or what they say of the picture.

    `perturbed` has one for each positive prompt, if PAG acts.
    """

    positives: Sequence[Latent]
    negative: Latent | None
    without_picture: Latent | None
    perturbed: Sequence[Latent]

    def each(self, change: Callable[[Latent], Latent]) -> "_Estimates":
        """Return the estimates, each changed."""

        def optional(estimate: Latent | None) -> Latent | None:
            return None if estimate is None else change(estimate)

        return _Estimates(
            [change(condition) for condition in self.positives],
            optional(self.negative),
            optional(self.without_picture),
            [change(condition) for condition in self.perturbed],
        )


class Denoiser(msgspec.Struct, frozen=True):
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

    What guidance by `attention` adds does not depend on the guidance of the prompts.
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
    attention: AttentionGuidance | None = None

    def __call__(self, x: Latent, sigma: np.float32) -> Latent:
        """Denoise float32 [B, C, H, W] at a level sigma > 0.

        Scales in and out as k-diffusion's CompVisDenoiser and CompVisVDenoiser do; for EDM as in
        Karras et al. (2022), table 1.
        """
        scale = self._guidance_at(sigma)
        asks_without_picture = self.image_guidance != 1 and self._acts(sigma)
        asks = asks_without_picture or self._sees_negative(x)
        if asks or not math.isclose(scale * sum(self.weights), 1.0):
            return self._guided(x, sigma, scale)[0]
        outputs = self._outputs(x, sigma, guided=False)
        pictures = outputs.each(lambda answer: self._picture(x, answer, sigma, self.prediction))
        # The factors add up to 1, so any output can replace the negative one.
        picture = _guide(pictures.positives, pictures.positives[0], self.weights, scale)
        if self.attention is None:
            return picture
        if self.attention.in_predictions:
            guided = _guide(outputs.positives, outputs.positives[0], self.weights, scale)
            guided = guided + self._differences(x, sigma, outputs, self.prediction)
            return self._picture(x, guided, sigma, self.prediction)
        return picture + self._differences(x, sigma, pictures, None)

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

    def _sees_negative(self, x: Latent) -> bool:
        """Return True if SAG degrades the picture under the negative prompt in any case."""
        seen = self.attention.seen_in(x) if self.attention else None
        return seen is not None and seen.by_negative

    def _guided(self, x: Latent, sigma: np.float32, scale: float) -> tuple[Latent, Latent]:
        """Run the negative prompt too; return the guided picture and the negative one."""
        outputs = self._outputs(x, sigma, guided=True)
        pictures = outputs.each(lambda answer: self._picture(x, answer, sigma, self.prediction))
        assert pictures.negative is not None, "the outputs are guided"
        terms = self.attention
        first = terms is not None and terms.in_predictions
        if self.rescale == 0 and not first:
            guided = self._combined(pictures, scale)
        else:
            kind = self.rescale_as or self.prediction
            estimates = outputs.each(lambda answer: self._converted(x, answer, sigma, kind))
            guided = self._combined(estimates, scale)
            if first:
                guided = guided + self._differences(x, sigma, estimates, kind)
            guided = self._rescaled(guided, estimates) if self.rescale else guided
            guided = self._picture(x, guided, sigma, kind)
        if terms is not None and not first:
            guided = guided + self._differences(x, sigma, pictures, None)
        return guided, pictures.negative

    def _rescaled(self, guided: Latent, estimates: _Estimates) -> Latent:
        assert estimates.negative is not None, "the estimates are guided"
        plain = _guide(estimates.positives, estimates.negative, self.weights, 1.0)
        ratio = _spread(plain) / _spread(guided)
        return guided * (self.rescale * ratio + (1 - self.rescale))

    def _outputs(self, x: Latent, sigma: np.float32, *, guided: bool) -> _Estimates:
        """Return the network's output for each prompt."""
        timestep, count = self.schedule.sigma_to_timestep(sigma), len(self.weights)
        given = self.schedule.network_input(x, sigma)
        perturbs = self.attention is not None and self.attention.perturbs(sigma, timestep) > 0
        if perturbs and self.attention is not None:
            output = self.attention.predict.perturbed(given, timestep, guided)
        else:
            output = self.predict(given, timestep, guided)
        without_picture = guided and self.image_guidance != 1
        parts = np.split(output, count * (1 + perturbs) + guided + without_picture)
        return _Estimates(
            parts[:count],
            parts[count] if guided else None,
            parts[count + 1] if without_picture else None,
            parts[count + guided + without_picture :],
        )

    def _combined(self, estimates: _Estimates, scale: float) -> Latent:
        """Combine the outputs by guidance and image guidance."""
        negative, without_picture = estimates.negative, estimates.without_picture
        assert negative is not None, "the estimates are guided"
        guided = _guide(estimates.positives, negative, self.weights, scale)
        if without_picture is None:
            return guided
        return guided + (negative - without_picture) * (self.image_guidance - 1)

    def _differences(
        self, x: Latent, sigma: np.float32, estimates: _Estimates, kind: PredictionType | None
    ) -> Latent:
        """Return what guidance by attention adds to estimates of this kind; None: to pictures."""
        total, terms = np.zeros_like(x), self.attention
        assert terms is not None, "there is guidance by attention"
        timestep = self.schedule.sigma_to_timestep(sigma)
        scale = terms.perturbs(sigma, timestep)
        for place, perturbed in enumerate(estimates.perturbed):
            difference = estimates.positives[place] - perturbed
            total = total + difference * np.float32(scale * self.weights[place])
        seen = terms.seen_in(x)
        if seen is None:
            return total
        return total + self._seen(x, sigma, estimates, kind, seen)

    def _seen(
        self,
        x: Latent,
        sigma: np.float32,
        estimates: _Estimates,
        kind: PredictionType | None,
        seen: SelfAttention,
    ) -> Latent:
        """Return what SAG adds: how an estimate differs from that of its degraded picture."""
        assert self.attention is not None, "there is guidance by attention"
        predict = self.attention.predict
        negative, count = estimates.negative, len(self.weights)
        guided, even = negative is not None, 1 / sum(self.weights)
        maps = np.split(predict.attention(), len(predict.attention()) // len(x))
        if negative is None:
            estimate = _guide(estimates.positives, estimates.positives[0], self.weights, even)
            attention = _guide(maps[:count], maps[0], self.weights, even)
        else:
            estimate, attention = negative, maps[count]
        picture = estimate if kind is None else self._picture(x, estimate, sigma, kind)
        degraded = seen.degraded(picture, attention)
        noised = degraded + x - picture
        timestep = self.schedule.sigma_to_timestep(sigma)
        output = predict.again(self.schedule.network_input(noised, sigma), timestep, guided)
        if not guided:
            parts = np.split(output, count)
            output = _guide(parts, parts[0], self.weights, even)
        if kind is None:
            again = self._picture(noised, output, sigma, self.prediction)
            return (degraded - again) * np.float32(seen.scale)
        again = self._converted(noised, output, sigma, kind)
        return (estimate - again) * np.float32(seen.scale)

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
