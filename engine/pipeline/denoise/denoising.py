"""From noise to a clean latent: a sampler's run on a denoiser, by the request's convention."""

import math
from collections.abc import Callable, Iterator

import msgspec
import numpy as np

from engine.api.conventions import Masking
from engine.api.evaluations import GuidedSampling, steps_within
from engine.api.features import ConcatChannels
from engine.api.masks import MaskedContent
from engine.api.record import ResolvedRequest
from engine.api.request import SeedOptions
from engine.api.values import ConventionName, PredictionType
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.latents import EncodedImage
from engine.pipeline.canvas.masks import CellMask
from engine.sampling.attention_guidance import (
    AttentionGuidance,
    PerturbedAttention,
    SelfAttention,
)
from engine.sampling.denoiser import Denoiser
from engine.sampling.level_callback import LevelCallbackDenoise
from engine.sampling.masking import Keeping, Kept, MaskedDenoise
from engine.sampling.noise import PictureNoise, picture_noise
from engine.sampling.plan import A1111_BY_TIMESTEPS, plan_sampling
from engine.sampling.schedules import FlowSchedule
from engine.sampling.types import (
    AttentivePredict,
    GuidedDenoise,
    Latent,
    NoiseSource,
    Predict,
    Sigmas,
    Step,
)


class EncodedCanvas(msgspec.Struct, frozen=True, eq=False):
    """The encoded canvas of a job; each part is None where the job has none.

    `init` is the picture to redraw, `hidden` the same picture with grey in the painted part. `map`
    is the map that the denoiser itself follows. `drawn` counts the draws of noise before it.
    """

    init: EncodedImage | None = None
    mask: CellMask | None = None
    hidden: EncodedImage | None = None
    map: EncodedImage | None = None
    drawn: int = 0


class Beginning(msgspec.Struct, frozen=True, eq=False):
    """The start of a sampler's run: the first latents, [1, C, H, W], the noise, the kept part.

    `concatenated` holds the denoiser's input channels that follow those of the latents.
    """

    x: Latent
    noise: NoiseSource
    kept: Kept | None
    concatenated: Latent | None


class ConditionedNetwork(msgspec.Struct, frozen=True, eq=False):
    """A denoiser with its prompts bound; `weights` are the weights of the positive prompts.

    Guidance by attention asks `attentive`.
    """

    predict: Predict
    prediction: PredictionType
    weights: tuple[float, ...]
    attentive: AttentivePredict | None = None
    # Called with the level of each evaluation before it.
    on_level: Callable[[np.float32], None] | None = None


class Denoising:
    """The sampling settings that all pictures of a pass share: sampler, noise levels, guidance."""

    def __init__(
        self,
        request: ResolvedRequest,
        checkpoint: IdentifiedCheckpoint,
        *,
        redraws: bool,
        masks: bool = False,
    ) -> None:
        """Plan the sampling. `redraws`: starts from a picture; `masks`: repaints a part of it.

        Raises EngineError(REQUEST_INVALID).
        """
        self._request = request
        self._noise_model = checkpoint.architecture.noise
        features = checkpoint.architecture.features
        self.sampling = GuidedSampling.of(request, features)
        self.terms = self.sampling.terms
        self._model = checkpoint.architecture.denoiser
        self._concat = features.concat_channels
        # diffusers' pipelines for these denoisers take the mean of what the VAE encoded.
        edits = self._concat is ConcatChannels.PICTURE
        self._by_mean = edits or checkpoint.architecture.reference_size is not None
        self._plan = plan_sampling(request, self._noise_model, redraws=redraws)
        self.redraws, self._masks = redraws, masks
        form = checkpoint.latent
        cells = request.height // form.downscale, request.width // form.downscale
        self._shape = (form.channels, *cells)

    @property
    def steps(self) -> int:
        """The number of planned steps; 0 where the strength leaves the picture as it is."""
        return len(self._plan.sigmas) - 1

    @property
    def encodes_init(self) -> bool:
        """True if the latent of the picture to redraw is needed."""
        blends = self._masks and not self._concat.takes_mask
        return self.redraws and (
            blends or self._concat is ConcatChannels.PICTURE or not self._from_noise
        )

    def start(
        self,
        request: ResolvedRequest,
        canvas: EncodedCanvas,
        first: int = 0,
        end: int | None = None,
    ) -> Beginning:
        """Return the start of one picture, with noise for the steps from `first` to `end`."""
        plan, latent, drawn = self._plan, None, canvas.drawn
        samples = request.convention.samples_encoded
        # diffusers draws for the map before all else but the kept part, which it does not use.
        shown_map = canvas.map and canvas.map.mean
        if shown_map is not None and canvas.map is not None and samples:
            drawn += canvas.mask is not None
            shown_map, drawn = self._sampled(canvas.map, request, drawn)
        # A refiner may need the latent of a picture that the base does not.
        init = canvas.init if self.encodes_init else None
        if init is not None:
            latent = init.mean
            samples = samples and init.deviation is not None
            if samples and not self._by_mean:
                latent, drawn = self._sampled(init, request, drawn)
        noise = self._noise(request, drawn)
        hidden = shown_map if canvas.hidden is None else canvas.hidden.mean
        if canvas.mask is not None and canvas.map is None and samples:
            # diffusers draws this noise even where the denoiser has no input for the picture.
            drawn_next = noise.next()
            if canvas.hidden is not None and canvas.hidden.deviation is not None:
                hidden = canvas.hidden.mean + canvas.hidden.deviation * drawn_next
        if latent is not None and canvas.mask is not None:
            latent = self._with_content(request, latent, canvas.mask)
        levels = self._levels(first, end)
        source = noise.steps(levels, plan.whole, brownian=plan.brownian)
        x = plan.start(noise.first, None if self._from_noise else latent)
        kept = None
        if canvas.mask is not None and latent is not None:
            kept = Kept(latent, canvas.mask.blended, noise.first, plan.sigmas[0])
        mask = None if canvas.mask is None else self._shown(canvas.mask)
        concatenated = self._model.concatenated(init, hidden, mask)
        return Beginning(x, source, kept, concatenated)

    def sample(
        self, denoise: GuidedDenoise, beginning: Beginning, first: int = 0, end: int | None = None
    ) -> Iterator[Step]:
        """Run the sampler over the levels from index `first` to index `end`; yield its steps."""
        levels = self._levels(first, end)
        return self._plan.sampler(denoise, beginning.x, levels, beginning.noise)

    def sampled(self, encoded: EncodedImage, request: ResolvedRequest, drawn: int) -> Latent:
        """Return a latent of an encoded picture, by the noise after so many draws."""
        return self._sampled(encoded, request, drawn)[0]

    def _sampled(
        self, encoded: EncodedImage, request: ResolvedRequest, drawn: int
    ) -> tuple[Latent, int]:
        """Return a latent of an encoded picture, and the draws of noise with the one for it."""
        if encoded.deviation is None:
            return encoded.mean, drawn
        noise = self._noise(request, drawn).first
        return encoded.mean + encoded.deviation * noise, drawn + 1

    def _levels(self, first: int, end: int | None) -> Sigmas:
        return self._plan.sigmas[first : None if end is None else end + 1]

    def progress(self, step: Step) -> tuple[int, int]:
        """Return the number of steps done after `step`, and the number of all steps."""
        return step.progress(self.steps), self.steps

    def timesteps(self) -> tuple[float, ...]:
        """Return the timestep that each step begins at.

        For a noise model without timesteps these are the positions of the levels.
        """
        timestep = self._plan.training.handover_timestep
        # Two decimals: a float32 sigma carries no more of the timestep.
        return tuple(round(float(timestep(sigma)), 2) for sigma in self._plan.sigmas[:-1])

    def nearest_timestep(self, sigma: np.float32) -> int:
        """Return the timestep of the training level nearest to `sigma`."""
        return int(np.abs(self._plan.training.sigmas - sigma).argmin())

    def denoise(self, beginning: Beginning, network: ConditionedNetwork) -> GuidedDenoise:
        """Return the function with which the sampler denoises its latents."""
        guidance = self._request.guidance_options
        denoise: GuidedDenoise = Denoiser(
            network.predict,
            self._plan.training,
            network.prediction,
            self.terms.scale,
            network.weights,
            guidance.rescale,
            self._noise_model.rescaled_as(self._request.convention.name),
            guided_levels=_guided_levels(self._plan.sigmas, guidance.range),
            image_guidance=self.terms.image,
            attention=self._attention_guidance(network.attentive),
        )
        if beginning.kept is not None and (keeping := self._keeping) is not None:
            denoise = MaskedDenoise(denoise, beginning.kept, keeping, self._plan.training)
        return (
            denoise if network.on_level is None else LevelCallbackDenoise(denoise, network.on_level)
        )

    def _attention_guidance(self, predict: AttentivePredict | None) -> AttentionGuidance | None:
        """Return the guidance by attention; None without one."""
        if predict is None or not (self.terms.perturbs or self.terms.looks_again):
            return None
        options = self._request.guidance_options
        perturbed, seen = None, None
        if self.terms.perturbs:
            levels = _guided_levels(self._plan.sigmas, options.pag_range)
            perturbed = PerturbedAttention(options.pag_scale, options.pag_adaptive, levels)
        if self.terms.looks_again:
            seen = SelfAttention(
                options.sag_scale,
                options.sag_blur,
                options.sag_threshold,
                self.terms.degrades_negative,
            )
        in_predictions = self._request.convention.name is ConventionName.DIFFUSERS
        return AttentionGuidance(predict, perturbed, seen, in_predictions)

    def seen_noised(self, latent: Latent, noise: Latent, level: float) -> Latent:
        """Return a latent as the denoiser sees it with this noise at the timestep next to a level.

        Where the denoiser has no timesteps, it is the level itself.
        """
        training, sigma = self._plan.training, np.float32(level)
        if training.has_timesteps:
            timestep = np.rint(training.sigma_to_timestep(sigma))
            sigma = training.timestep_to_sigma(np.array([timestep], np.float32))[0]
        return training.network_input(training.noised(latent, noise, sigma), sigma)

    def level_at(self, share: float) -> float:
        """Return the noise level that has this share of the timesteps above it."""
        return self._plan.training.level_at(share)

    def levels_within(self, part: tuple[float, float]) -> tuple[float, float]:
        """Return the lowest and highest level of the steps that begin within a part of the run.

        `part` is the part's start and end as shares of the steps, 0 to 1.
        """
        return _guided_levels(self._plan.sigmas, part)

    def finish(self, x: Latent, kept: Kept | None) -> Latent:
        """Turn the latents of the last step into the latents to decode."""
        x = self._plan.finish(x)
        if kept is None or self._keeping is Keeping.SHOWN_AND_PICTURE:
            return x
        # InvokeAI restores the kept part even where the denoiser has a mask input.
        invokes = self._request.convention.name is ConventionName.INVOKE
        return kept.blend(x, kept.latent) if self._keeping or invokes else x

    @property
    def _keeping(self) -> Keeping | None:
        """The method that keeps the unmasked part; None where the inpainting denoiser keeps it."""
        convention = self._request.convention
        match convention.masking:
            case Masking.COMFY:
                return Keeping.SHOWN_AND_PICTURE
            case Masking.DIFFUSERS:
                return None if self._concat.takes_mask else Keeping.SHOWN_LATER
            case Masking.A1111:
                by_timesteps = self._request.sampler in A1111_BY_TIMESTEPS
                a1111s = convention.name is ConventionName.A1111
                return Keeping.SHOWN if by_timesteps and a1111s else Keeping.PICTURE

    @property
    def _from_noise(self) -> bool:
        """True if the first latents are pure noise, without the picture."""
        # A flow's first level leaves nothing of the picture, and its pipelines encode it.
        if self._request.strength < 1 or isinstance(self._plan.training, FlowSchedule):
            return False
        tool = self._request.convention.name
        edits = self._concat is ConcatChannels.PICTURE and tool is not ConventionName.A1111
        # InvokeAI starts from the noised picture in both cases.
        return edits or (self._masks and tool is ConventionName.DIFFUSERS)

    def _shown(self, mask: CellMask) -> Latent:
        """Return the mask as the denoiser's input channels have it."""
        return mask.pixels if self._concat is ConcatChannels.FILL else mask.channel

    def _with_content(self, request: ResolvedRequest, latent: Latent, mask: CellMask) -> Latent:
        """Return the latent with its masked part filled as the request's `content` says.

        The same as in A1111 (`StableDiffusionProcessingImg2Img.init`).
        """
        match request.mask_options.content:
            case MaskedContent.LATENT_NOISE:
                seeds = SeedOptions(
                    batch_index=request.seed_options.batch_index,
                    batch_size=request.seed_options.batch_size,
                )
                convention = request.convention
                noise = picture_noise(request.seed, self._shape, seeds, convention).first
                return latent * (1 - mask.blended) + noise * mask.blended
            case MaskedContent.LATENT_NOTHING:
                return latent * (1 - mask.blended)
            case _:
                return latent

    def _noise(self, request: ResolvedRequest, drawn: int = 0) -> PictureNoise:
        return picture_noise(
            request.seed, self._shape, request.seed_options, request.convention, drawn
        )


def _guided_levels(sigmas: Sigmas, part: tuple[float, float]) -> tuple[float, float]:
    """Return the lowest and highest noise level of the steps that begin within a part of the run.

    `part` is the part's start and end as shares of the steps, 0 to 1.
    """
    steps = len(sigmas) - 1
    within = steps_within(part, steps)
    first, end = within.start, within.stop
    highest = math.inf if first == 0 else float(sigmas[min(first, steps)])
    lowest = 0.0 if end == steps else float(sigmas[end - 1]) if end else math.inf
    return lowest, highest
