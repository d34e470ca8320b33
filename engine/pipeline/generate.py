"""One screen from a resolved job to its pictures: encode, denoise, decode, check."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import msgspec
import numpy as np
from numpy.typing import NDArray

from backends.base import Array
from engine import result_checks
from engine.api.record import ResolvedRequest
from engine.api.values import ErrorCode, ErrorInfo, Phase, PredictionType
from engine.families.architecture import Conditioning, TextPlan, Texts, texts_of
from engine.families.base import IdentifiedCheckpoint
from engine.pipeline.batch import ResolvedJob
from engine.pipeline.canvas.canvas import read_canvas
from engine.pipeline.canvas.encoding import CanvasEncoding
from engine.pipeline.denoise.denoiser_run import DenoiserRun
from engine.pipeline.denoise.denoising import Denoising, EncodedCanvas
from engine.pipeline.denoise.refinement import BaseRun, Refinement
from engine.pipeline.forecast import Run
from engine.pipeline.stages import Reporter, Stages, as_pixels
from engine.pipeline.vae.autoencoding import Autoencoder
from engine.sampling.types import Latent
from engine.text.foreign_syntax import foreign_marks

# How many pictures have their prompts encoded at once, where wildcards make them differ.
_PICTURES_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Picture:
    """A finished picture, uint8 [height, width, 3], and the request that makes it."""

    request: ResolvedRequest
    pixels: NDArray[np.uint8]


@dataclass(slots=True, eq=False)
class PendingLatent:
    """The last finished latent, kept until its picture is decoded.

    Where decoding fails on a device, the next one need not denoise that picture again.
    """

    place: int | None = None
    latent: Latent | None = None

    def of(self, place: int) -> Latent | None:
        """The latent of the picture at this place in the batch, None where it is not kept."""
        return self.latent if place == self.place else None

    def keep(self, place: int, latent: Latent) -> None:
        """Keep this picture's latent instead of the one before."""
        self.place, self.latent = place, latent

    def forget(self) -> None:
        """Keep none: it may be damaged."""
        self.place = self.latent = None


class Generation:
    """The run of one job through its stages; `pending` is what an earlier run of it left."""

    def __init__(
        self,
        job: ResolvedJob,
        stages: Stages,
        reporter: Reporter,
        pending: PendingLatent | None = None,
    ) -> None:
        """Read and plan what can be wrong. Raises EngineError before anything is loaded."""
        self.job, self.stages = job, stages
        self._pending = pending or PendingLatent()
        self._encoded_canvas: EncodedCanvas | None = None
        self.request, self.checkpoint = job.request, job.checkpoint
        self.canvas = read_canvas(job.request, job.checkpoint.latent.downscale)
        denoising = self._denoising(job.checkpoint)
        # Kinds and names of networks in the prompts so far.
        self._asked_for: dict[tuple[str, str], None] = {}
        self._denoiser = DenoiserRun(job.request, job.checkpoint, denoising, stages, reporter)
        self._vae = Autoencoder(job.request, job.checkpoint, stages, reporter)
        self._encoding = CanvasEncoding(
            job.request, job.checkpoint, self.canvas, denoising, self._vae
        )
        self._refinement = self._refine(denoising, reporter)

    @property
    def warnings(self) -> list[ErrorInfo]:
        """What the pictures so far were to have and have not."""
        warnings = [
            ErrorInfo(
                ErrorCode.NOT_AVAILABLE,
                f"<{kind}:{name}> in the prompt had no effect.",
                "This version cannot apply such networks yet; the picture was made without.",
            )
            for kind, name in self._asked_for
        ]
        return warnings + self._foreign + self._shortages

    @property
    def _foreign(self) -> list[ErrorInfo]:
        """Signs that look as if they were to be drawn from, and are not."""
        if self.job.replace_wildcards is None:
            return []
        texts = self.request.prompt, self.request.negative_prompt
        signs = dict.fromkeys(sign for text in texts for _, sign in foreign_marks(text))
        return [
            ErrorInfo(
                ErrorCode.NOT_AVAILABLE,
                f"{sign} in the prompt is no wildcard here; it was drawn as words.",
                "Write {a|b} for one of several words, and __name__ for a line of a list.",
            )
            for sign in signs
        ]

    @property
    def _shortages(self) -> list[ErrorInfo]:
        if self._vae.tile == self.request.vae_tile:
            return []
        return [
            ErrorInfo(
                ErrorCode.OUT_OF_MEMORY,
                "There was not enough memory to decode the picture whole; it was done in tiles.",
                "Tones may differ a little from the whole picture's. A smaller one needs none.",
            )
        ]

    @property
    def found_prediction(self) -> PredictionType | None:
        """What the denoiser showed that it predicts, where nothing states it and it has run."""
        return self._denoiser.found

    def pictures(self, places: range | None = None) -> Iterator[Picture]:
        """Yield each picture as soon as it is decoded and checked; all, or those at `places`."""
        places = range(self.job.count) if places is None else places
        requests = self.job.requests(places)
        while placed := tuple(islice(requests, _PICTURES_AT_ONCE)):
            group = tuple(request for _, request in placed)
            plan = self._read(group)
            draw: Callable[[ResolvedRequest], Latent] | None = None
            for place, request in placed:
                latent = self._pending.of(place)
                if latent is None:
                    draw = draw or self._prepared(group, plan, len(places))
                    latent = draw(request)
                    self._pending.keep(place, latent)
                pixels = self._pixels(self._decode(latent))
                yield Picture(msgspec.structs.replace(request, vae_tile=self._vae.tile), pixels)

    def _prepared(
        self, group: Sequence[ResolvedRequest], plan: TextPlan, pictures: int
    ) -> Callable[[ResolvedRequest], Latent]:
        """How each of these pictures is drawn, once what they are drawn from is encoded."""
        if self._encoded_canvas is None:
            self.stages.announce(self._runs(plan, group[0]), pictures)
            self._encoded_canvas = self._encoding.encode()
        # The text encoder leaves a processor half idle and is small: the denoiser loads beside.
        self.stages.prepare(self._denoiser.network(plan, texts_of(group[0])))
        return self._taken(plan, plan.encode(self.stages), group, self._encoded_canvas)

    def _taken(
        self,
        plan: TextPlan,
        prompts: Mapping[Texts, Conditioning],
        group: Sequence[ResolvedRequest],
        canvas: EncodedCanvas,
    ) -> Callable[[ResolvedRequest], Latent]:
        """How each of these pictures is taken from noise to its latent."""

        def base(request: ResolvedRequest) -> BaseRun:
            texts = texts_of(request)
            return BaseRun(self._denoiser, self._denoiser.network(plan, texts), prompts[texts])

        refinement = self._refinement
        if refinement is None:
            return lambda request: base(request).all_of(request, canvas)
        planned = refinement.read(group)
        encoded = refinement.encode(planned)
        return lambda request: refinement.run(base(request), request, planned, encoded, canvas)

    def _denoising(self, checkpoint: IdentifiedCheckpoint) -> Denoising:
        redraws = self.canvas is not None
        masks = self.canvas is not None and self.canvas.mask is not None
        return Denoising(self.request, checkpoint, redraws=redraws, masks=masks)

    def _refine(self, base: Denoising, reporter: Reporter) -> Refinement | None:
        refiner = self.checkpoint.refiner
        if refiner is None or self.request.refiner is None:
            return None
        own = self._denoising(refiner)
        return Refinement(self.request, self.checkpoint, refiner, base, own, self.stages, reporter)

    def first_runs(self) -> tuple[Run, ...]:
        """What the first picture will go through, before anything is loaded."""
        _, request = next(self.job.requests(range(1)))
        return self._runs(self._read((request,)), request)

    def _read(self, requests: Sequence[ResolvedRequest]) -> TextPlan:
        """The prompts of these pictures. Raises EngineError(REQUEST_INVALID)."""
        plan = self.checkpoint.architecture.text.read(requests)
        self._asked_for |= dict.fromkeys((tag.kind, tag.name) for tag in plan.tags)
        return plan

    def _runs(self, plan: TextPlan, request: ResolvedRequest) -> tuple[Run, ...]:
        """What the job will do, for estimates: where its pictures differ, as the first one."""
        form = self.checkpoint.latent
        cells = (request.height // form.downscale) * (request.width // form.downscale)
        refinement, share = self._refinement, 1.0
        refined: tuple[Run, ...] = ()
        if refinement is not None and request.refiner is not None:
            share = request.refiner.switch_at
            refined = refinement.runs(refinement.read((request,)), request, cells)
        return (
            *self._encoding.runs(),
            *(Run(Phase.ENCODE, network) for network in plan.networks),
            self._denoiser.forecast(plan, texts_of(request), cells, share),
            *refined,
            *self._vae.decoding(),
            Run(Phase.SAVE, each=True, size=cells),
        )

    def _pixels(self, image: Array) -> NDArray[np.uint8]:
        """An image as pixels, in the picture that a part of it was painted in."""
        pixels = as_pixels(image, rounds=self.request.convention.rounds_pixels)[0]
        overlay = self.canvas.overlay if self.canvas else None
        return overlay.over(pixels) if overlay else pixels

    def _decode(self, latent: Latent) -> Array:
        """Pixels in [-1, 1], float32 [1, 3, height, width]."""
        # A blank page, redrawn a little, may come out blank.
        blank = self.canvas is not None and result_checks.is_flat(self.canvas.picture)
        return self._vae.decode(latent, result_checks.numbers if blank else result_checks.picture)
