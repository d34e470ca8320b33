"""One screen from a resolved job to its pictures: encode, denoise, decode, check."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backends.base import Array, Session
from engine.api.conventions import RedrawSteps
from engine.api.record import ResolvedRequest
from engine.api.values import InputRole, Phase
from engine.families.base import IdentifiedCheckpoint
from engine.pipeline import checks, networks
from engine.pipeline.conditioning import Conditioning, encode, plan_prompts
from engine.pipeline.inputs import read_image
from engine.pipeline.stages import Reporter, Stages, as_pixels
from engine.sampling.denoiser import Denoiser, initial_latents, noised
from engine.sampling.noise import SeededNoise
from engine.sampling.samplers import SAMPLERS
from engine.sampling.schedules import NoiseSchedule, ScheduleChoice, redraw_sigmas
from engine.sampling.types import Latent, Sigmas
from engine.text.tokenizers import ClipTokenizer


@dataclass(frozen=True, slots=True)
class Job:
    """A request without gaps, and the checkpoint it runs on."""

    request: ResolvedRequest
    checkpoint: IdentifiedCheckpoint
    tokenizer: ClipTokenizer
    # Pictures with seeds request.seed, + 1, ...
    count: int


@dataclass(frozen=True, slots=True)
class Picture:
    """A finished picture: uint8 [height, width, 3]."""

    seed: int
    pixels: NDArray[np.uint8]


class Generation:
    """The run of one job through its stages."""

    def __init__(self, job: Job, stages: Stages, reporter: Reporter) -> None:
        self.job, self.stages, self.reporter = job, stages, reporter
        self.request, self.checkpoint = job.request, job.checkpoint
        self.convention = job.request.convention
        self.init = self._read_init()
        self.denoiser = networks.denoiser(self.checkpoint, job.request.height, job.request.width)

    def pictures(self) -> Iterator[Picture]:
        """Yield each picture as soon as it is decoded and checked."""
        init = None if self.init is None else self._encode_image(self.init)
        beside = self._channels_beside()
        # The text encoder leaves a processor half idle and is small: the denoiser loads beside it.
        self.stages.prepare(self.denoiser)
        prompt = self._encode_prompts()
        for seed in range(self.request.seed, self.request.seed + self.job.count):
            latent = self._denoise(prompt, init, beside, seed)
            image = self._decode(latent)
            pixels = as_pixels(image, rounds=self.convention.rounds_pixels)[0]
            yield Picture(seed, pixels)

    def _read_init(self) -> Array | None:
        paths = [i.path for i in self.request.inputs if i.role is InputRole.INIT]
        if not paths:
            return None
        return read_image(Path(paths[0]), self.request.width, self.request.height)

    def _encode_prompts(self) -> Conditioning:
        """Both prompts, through the text encoder."""
        request = self.request
        info = SAMPLERS[request.sampler]
        plan = plan_prompts(
            request.prompt,
            request.negative_prompt,
            self.job.tokenizer,
            self.convention,
            request.steps * info.evaluations,
        )

        def work(session: Session) -> Conditioning:
            def encode_tokens(ids: NDArray[np.int64], seen: NDArray[np.bool_] | None) -> Array:
                feeds: dict[str, Array] = {"tokens": ids}
                if seen is not None:
                    feeds["seen"] = seen.astype(np.float32)
                return self.stages.call(session, feeds)["last_hidden_state"]

            return encode(plan, encode_tokens)

        masked = plan.seen is not None
        network = networks.text_encoder(self.checkpoint, request.clip_skip, masked=masked)
        return self.stages.run(Phase.ENCODE, network, work, _embedding_problem)

    def _encode_image(self, image: Array) -> Latent:
        """A picture's latent, scaled for the denoiser: the mean of its distribution."""
        latent = self.checkpoint.latent

        def work(session: Session) -> Latent:
            moments = self.stages.call(session, {"image": image})["moments"]
            return (moments[:, : latent.channels] - latent.shift) * np.float32(latent.scale)

        network = networks.encoder(self.checkpoint)
        return self.stages.run(Phase.ENCODE, network, work, checks.numbers)

    def _channels_beside(self) -> Latent | None:
        """What an inpainting denoiser sees beside the latent: the mask and the masked picture.

        Without a mask everything is to be painted: the mask is all ones and hides a grey picture
        (A1111 `txt2img_image_conditioning`). None for denoisers that see the latent alone.
        """
        if networks.denoiser_channels(self.checkpoint) == self.checkpoint.latent.channels:
            return None
        grey = np.zeros((1, 3, self.request.height, self.request.width), np.float32)
        hidden = self._encode_image(grey)
        return np.concatenate([np.ones_like(hidden[:, :1]), hidden], axis=1)

    def _denoise(
        self, prompt: Conditioning, init: Latent | None, beside: Latent | None, seed: int
    ) -> Latent:
        """From seeded noise, over the init picture if there is one, to a clean latent."""
        request = self.request
        schedule = NoiseSchedule.scaled_linear()
        choice = ScheduleChoice(request.schedule, schedule)
        sigmas = choice.sigmas(request.steps)
        if init is not None:
            rule = RedrawSteps.A1111
            sigmas = redraw_sigmas(choice, request.steps, request.strength, rule).taken

        def work(session: Session) -> Latent:
            evaluations = count()

            def predict(x: Latent, timestep: np.float32, guided: bool) -> Latent:
                session.pin("context", prompt.at(next(evaluations), guided=guided))
                sample = x if beside is None else _beside(x, beside)
                waves = networks.time_waves(self.checkpoint, float(timestep))
                feeds = {"sample": sample, "time_waves": waves}
                return self.stages.call(session, feeds)["prediction"]

            denoise = Denoiser(
                predict, schedule, self.checkpoint.prediction, request.guidance, prompt.weights
            )
            noise = SeededNoise([seed], self._latent_shape())
            x = self._start(noise.draw(), init, sigmas)
            total = len(sigmas) - 1
            self.reporter.progress(0, total)
            for step in SAMPLERS[request.sampler].function(denoise, x, sigmas, noise):
                x = step.x
                self.reporter.progress(step.index + 1, total)
                self.reporter.preview(step.index + 1, step.denoised, self.checkpoint.latent)
                if checks.numbers(x):
                    break  # further steps would only cost time
            return x

        return self.stages.run(Phase.DENOISE, self.denoiser, work, checks.numbers, keep=True)

    def _decode(self, latent: Latent) -> Array:
        """Pixels in [-1, 1], float32 [1, 3, height, width]."""
        form = self.checkpoint.latent
        unscaled = (latent / np.float32(form.scale) + np.float32(form.shift)).astype(np.float32)

        def work(session: Session) -> Array:
            return self.stages.call(session, {"latent": unscaled})["image"]

        # A blank page, redrawn a little, may come out blank.
        blank = self.init is not None and checks.is_flat(self.init)
        problem = checks.numbers if blank else checks.picture
        network = networks.decoder(self.checkpoint)
        return self.stages.run(Phase.DECODE, network, work, problem, keep=True)

    def _latent_shape(self) -> tuple[int, int, int]:
        form = self.checkpoint.latent
        return (
            form.channels,
            self.request.height // form.downscale,
            self.request.width // form.downscale,
        )

    def _start(self, noise: Latent, init: Latent | None, sigmas: Sigmas) -> Latent:
        if init is None:
            return initial_latents(noise, sigmas[0], self.convention.initial_noise)
        return noised(init, noise, sigmas[0])


def _beside(x: Latent, channels: Latent) -> Latent:
    """Latents [batch, C, H, W] with the same further channels [1, D, H, W] for each."""
    return np.concatenate([x, np.repeat(channels, len(x), axis=0)], axis=1)


def _embedding_problem(prompt: Conditioning) -> str | None:
    return next(filter(None, map(checks.numbers, prompt.all_vectors())), None)
