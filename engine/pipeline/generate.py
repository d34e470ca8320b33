"""One screen from a resolved job to its pictures: encode, denoise, decode, check."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backends.base import Array, Session
from engine.api.record import ResolvedRequest
from engine.api.values import ErrorCode, ErrorInfo, InputRole, Phase, PredictionType
from engine.families.base import IdentifiedCheckpoint
from engine.pipeline import checks, networks
from engine.pipeline.batch import ReplaceWildcards, request_of_picture
from engine.pipeline.denoiser_run import DenoiserRun
from engine.pipeline.denoising import Denoising, EncodedImage
from engine.pipeline.forecast import Run
from engine.pipeline.inputs import read_image
from engine.pipeline.prompt_encoding import Plans, PromptEncoding, texts_of
from engine.pipeline.stages import Reporter, Stages, as_pixels
from engine.sampling.types import Latent
from engine.text.tokenizers import ClipTokenizer

# How many pictures have their prompts encoded at once, where wildcards make them differ.
_PICTURES_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Job:
    """A request without gaps, the checkpoint it runs on, and which pictures of it to make."""

    request: ResolvedRequest
    checkpoint: IdentifiedCheckpoint
    tokenizer: ClipTokenizer
    # How many pictures the batch has, and the places in it of those to make.
    count: int
    places: range
    # None where text that looks like wildcards is text.
    replace_wildcards: ReplaceWildcards | None = None

    def requests(self) -> Iterator[ResolvedRequest]:
        """The request that makes each picture alone."""
        for place in self.places:
            yield request_of_picture(self.request, place, self.count, self.replace_wildcards)


@dataclass(frozen=True, slots=True)
class Picture:
    """A finished picture, uint8 [height, width, 3], and the request that makes it."""

    request: ResolvedRequest
    pixels: NDArray[np.uint8]


class Generation:
    """The run of one job through its stages."""

    def __init__(self, job: Job, stages: Stages, reporter: Reporter) -> None:
        """Read and plan what can be wrong. Raises EngineError before anything is loaded."""
        self.job, self.stages = job, stages
        self.request, self.checkpoint = job.request, job.checkpoint
        self.init = self._read_init()
        denoising = Denoising(job.request, job.checkpoint, redraws=self.init is not None)
        self._prompts = PromptEncoding(job.request, job.checkpoint, job.tokenizer, stages)
        self._denoiser = DenoiserRun(job.request, job.checkpoint, denoising, stages, reporter)
        # One of each for the whole job: `Stages` knows again what it has loaded.
        size = job.request.height, job.request.width
        self._encoder = networks.encoder(self.checkpoint, *size)
        self._decoder = networks.decoder(self.checkpoint, *size)

    @property
    def warnings(self) -> list[ErrorInfo]:
        """What the pictures so far were to have and have not."""
        return [
            ErrorInfo(
                ErrorCode.NOT_AVAILABLE,
                f"<{kind}:{name}> in the prompt had no effect.",
                "This version cannot apply such networks yet; the picture was made without.",
            )
            for kind, name in self._prompts.asked_for
        ]

    @property
    def found_prediction(self) -> PredictionType | None:
        """What the denoiser showed that it predicts, where nothing states it and it has run."""
        return self._denoiser.found

    def pictures(self) -> Iterator[Picture]:
        """Yield each picture as soon as it is decoded and checked."""
        requests = self.job.requests()
        init = beside = None
        announced = False
        while group := tuple(islice(requests, _PICTURES_AT_ONCE)):
            plans = self._prompts.plan(group)
            if not announced:
                self.stages.announce(self._runs(plans, group[0]), len(self.job.places))
                announced = True
            if init is None and self.init is not None:
                init = self._encode_image(self.init)
            if beside is None:
                beside = self._channels_beside()
            # The text encoder leaves a processor half idle and is small: the denoiser loads beside.
            self.stages.prepare(self._denoiser.network(plans[texts_of(group[0])]))
            prompts = self._prompts.encode(plans)
            for request in group:
                texts = texts_of(request)
                network = self._denoiser.network(plans[texts])
                latent = self._denoiser.run(network, request, prompts[texts], init, beside)
                image = self._decode(latent)
                rounds = request.convention.rounds_pixels
                yield Picture(request, as_pixels(image, rounds=rounds)[0])

    def first_runs(self) -> tuple[Run, ...]:
        """What the first picture will go through, before anything is loaded."""
        request = next(self.job.requests())
        return self._runs(self._prompts.plan((request,)), request)

    def _runs(self, plans: Plans, request: ResolvedRequest) -> tuple[Run, ...]:
        """What the job will do, for estimates: where its pictures differ, as the first one."""
        form = self.checkpoint.latent
        cells = (request.height // form.downscale) * (request.width // form.downscale)
        encoder = Run(Phase.ENCODE, self._encoder, size=cells)
        return (
            *((encoder,) if self.init is not None or self._sees_more else ()),
            *self._prompts.runs(plans),
            self._denoiser.forecast(plans[texts_of(request)], cells),
            Run(Phase.DECODE, self._decoder, each=True, size=cells),
            Run(Phase.SAVE, each=True, size=cells),
        )

    @property
    def _sees_more(self) -> bool:
        """Whether the denoiser sees more than the latent."""
        return networks.denoiser_channels(self.checkpoint) != self.checkpoint.latent.channels

    def _read_init(self) -> Array | None:
        paths = [i.path for i in self.request.inputs if i.role is InputRole.INIT]
        if not paths:
            return None
        return read_image(Path(paths[0]), self.request.width, self.request.height)

    def _encode_image(self, image: Array) -> EncodedImage:
        """The distribution of a picture's latent, scaled for the denoiser."""

        def work(session: Session) -> Array:
            return self.stages.call(session, {"image": image})["moments"]

        moments = self.stages.run(Phase.ENCODE, self._encoder, work, checks.numbers)
        return EncodedImage.from_moments(moments, self.checkpoint.latent)

    def _channels_beside(self) -> Latent | None:
        """What an inpainting denoiser sees beside the latent: the mask and the masked picture.

        Without a mask everything is to be painted: the mask is all ones and hides a grey picture
        (A1111 `txt2img_image_conditioning`). None for denoisers that see the latent alone.
        """
        if not self._sees_more:
            return None
        grey = np.zeros((1, 3, self.request.height, self.request.width), np.float32)
        hidden = self._encode_image(grey).mean
        return np.concatenate([np.ones_like(hidden[:, :1]), hidden], axis=1)

    def _decode(self, latent: Latent) -> Array:
        """Pixels in [-1, 1], float32 [1, 3, height, width]."""
        unscaled = self.checkpoint.latent.latent(latent)

        def work(session: Session) -> Array:
            return self.stages.call(session, {"latent": unscaled})["image"]

        # A blank page, redrawn a little, may come out blank.
        blank = self.init is not None and checks.is_flat(self.init)
        problem = checks.numbers if blank else checks.picture
        return self.stages.run(Phase.DECODE, self._decoder, work, problem, keep=True)
