"""The whole pipeline in brief: encodes, denoises, decodes and checks a job's pictures."""

from collections.abc import Iterator, Mapping

import msgspec
import numpy as np
from numpy.typing import NDArray

from backends.base import Array
from engine import result_checks
from engine.api.control import ControlReport
from engine.api.lora import LoraReport
from engine.api.record import ResolvedRequest
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo, PredictionType
from engine.embeddings.embedding import Embedding
from engine.families.architecture import Conditioning, Texts
from engine.image_prompts.encoding import EncodedImagePrompt
from engine.pipeline.batch import BatchPicture
from engine.pipeline.canvas.pictures import as_pixels
from engine.pipeline.control.running import ControlPass
from engine.pipeline.denoise.denoiser_run import DenoiserRun, Probed
from engine.pipeline.denoise.denoising import EncodedCanvas
from engine.pipeline.denoise.pass_progress import counted_reporters
from engine.pipeline.denoise.pinning import PromptedPicture
from engine.pipeline.denoise.segments import Handover
from engine.pipeline.enlarge.enlarging import Enlarging
from engine.pipeline.picture_plan import PicturePlan
from engine.pipeline.place import Placement
from engine.pipeline.read_job import PictureGroup, texts_in
from engine.pipeline.stages import Reporter, Stages
from engine.pipeline.vae.autoencoding import Autoencoder
from engine.pipeline.vae.networks import VaeNetworks
from engine.sampling.types import Latent

# The encoded prompts of a group of pictures, for each pass.
Prompts = tuple[Mapping[Texts, Conditioning], ...]


class Picture(msgspec.Struct, frozen=True):
    """A finished picture, uint8 [height, width, 3], and the request that makes it.

    `warnings` are the job's warnings so far, for features of the request that had no effect.
    `loras` tells of each LoRA how much of it was applied.
    `embeddings` are those that its prompts used, by the names they were called. `prediction` is the
    type that a probe of the denoiser found; None if the checkpoint states it.
    """

    request: ResolvedRequest
    pixels: NDArray[np.uint8]
    warnings: tuple[ErrorInfo, ...] = ()
    loras: tuple[LoraReport, ...] = ()
    embeddings: Mapping[str, Embedding] = msgspec.field(default_factory=dict[str, Embedding])
    # The control layers, those that were left out included.
    controls: tuple[ControlReport, ...] = ()
    prediction: PredictionType | None = None


class DenoisedLatent(msgspec.Struct, frozen=True, eq=False):
    """The latent of the picture at a place in the batch, and what its record tells of its making.

    `controls` and `prediction` are those of a `Picture`.
    """

    place: int
    latent: Latent
    controls: tuple[ControlReport, ...]
    prediction: PredictionType | None


class PendingLatent(msgspec.Struct, eq=False):
    """The last denoised latent, kept so that a failed decoding does not repeat its denoising.

    If decoding fails on one device, the next device decodes the same latent.
    """

    kept: DenoisedLatent | None = None

    def of(self, place: int) -> DenoisedLatent | None:
        """Return the latent of the picture at this place in the batch; None if it is not kept."""
        return self.kept if self.kept is not None and self.kept.place == place else None

    def forget(self) -> None:
        """Drop the kept latent, because it may be damaged."""
        self.kept = None


class Generation:
    """One run of a job through its stages; `pending` is the latent left by an earlier run."""

    def __init__(
        self,
        plan: PicturePlan,
        stages: Stages,
        reporter: Reporter,
        pending: PendingLatent | None = None,
    ) -> None:
        self._plan, self._read, self._stages = plan, plan.read, stages
        self._reporter = reporter
        self._pending = pending or PendingLatent()
        # What denoisers of the job were found to predict.
        self.probed: Probed = {}
        self._denoisers = [
            DenoiserRun(pass_, stages, counted, self.probed, control, attended)
            for pass_, counted, control, attended in zip(
                plan.read.passes,
                counted_reporters(plan.read.passes, reporter),
                plan.controls,
                plan.attended,
                strict=True,
            )
        ]
        self._vaes = [self._autoencoder(networks) for networks in plan.vaes]
        self._enlarging = Enlarging(plan.enlargements, stages, reporter)
        self._canvas: EncodedCanvas | None = None
        self._image_prompts: tuple[EncodedImagePrompt, ...] = ()
        self._references: tuple[Latent, ...] = ()

    def pictures(self, places: range | None = None) -> Iterator[Picture]:
        """Yield the pictures at `places` (None: all), each once it is decoded and checked."""
        places = range(self._read.job.count) if places is None else places
        asked_for: dict[ErrorInfo, None] = {}
        for group in self._read.groups(places):
            asked_for |= dict.fromkeys(group.warnings)
            prompts: Prompts | None = None
            for picture in group.pictures:
                denoised = self._pending.of(picture.place)
                if denoised is None:
                    prompts = prompts or self._encode(group, len(places))
                    latent = self._denoise(picture, group, prompts)
                    denoised = self._pending.kept = DenoisedLatent(
                        picture.place, latent, self._control_reports, self._denoisers[0].found
                    )
                pixels = self._decode(denoised.latent)
                left_out = self._read.controls.warnings + self._read.job.image_prompts.warnings
                warnings = (*asked_for, *left_out, *self._read.foreign_syntax, *self._shortages)
                placed = picture.request_on(self._placement, group.loras.mode)
                yield Picture(
                    request=placed,
                    pixels=pixels,
                    warnings=warnings,
                    loras=group.loras.reports,
                    embeddings=group.embeddings(picture),
                    controls=denoised.controls,
                    prediction=denoised.prediction,
                )

    def _encode(self, group: PictureGroup, pictures: int) -> Prompts:
        """Encode the canvas if that was not done, then the group's prompts for each pass."""
        texts = dict.fromkeys(group.texts)
        recalled = {text: self._stages.recalled(text.encode) for text in texts}
        encoded = {text: found for text, found in recalled.items() if found is not None}
        needed = {id(network) for text in texts if text not in encoded for network in text.networks}
        if self._canvas is None:
            every = (network for text in encoded for network in text.networks)
            unneeded = [network for network in every if id(network) not in needed]
            self._stages.announce(self._plan.runs, pictures, unneeded)
            self._references = self._encode_references()
            self._canvas = self._read.to_encode.encode(self._vaes[0])
            self._encode_attended()
            for control in self._controls:
                control.embed(self._stages, self._autoencoder(control.vae))
            self._image_prompts = self._read.job.image_prompts.encode(self._stages)
        if needed:
            # Text encoders leave the processor half idle: load the denoiser meanwhile.
            first = group.passes[0].network(group.texts[0], group.pictures[0].texts)
            self._stages.prepare(first)
        encoded |= {text: text.encode(self._stages) for text in texts if text not in encoded}
        return tuple(encoded[text] for text in group.texts)

    def _encode_references(self) -> tuple[Latent, ...]:
        """Return the latents of the reference pictures."""
        pictures, found = self._read.references.pictures, list[Latent]()
        for networks, picture in zip(self._plan.references, pictures, strict=True):
            encoded = self._autoencoder(networks).encode([picture])
            found += [latent.mean for latent in encoded]
        return tuple(found)

    def _encode_attended(self) -> None:
        """Encode what passes see at their own size: references of attention, and maps."""
        for own_map in self._plan.own_maps:
            if own_map is not None:
                own_map.encode(self._autoencoder(own_map.vae), self._stages.cancel)
        for reference in self._plan.attended:
            if reference is not None:
                reference.encode(self._autoencoder(reference.vae))

    def _autoencoder(self, networks: VaeNetworks) -> Autoencoder:
        return Autoencoder(networks, self._stages, self._reporter)

    def _denoise(self, picture: BatchPicture, group: PictureGroup, prompts: Prompts) -> Latent:
        """Take one picture through the passes, and return the latent to decode."""
        assert self._canvas is not None, "the canvas is encoded before the first prompts"
        canvas, handover, latent = self._canvas, Handover(), None
        maps = self._plan.own_maps
        passes = zip(group.passes, self._denoisers, group.texts, prompts, maps, strict=True)
        for pass_, denoiser, text, conditioning, own_map in passes:
            if pass_.second is not None and pass_.begins_enlarged and latent is not None:
                vae = self._vaes[pass_.second.number]
                canvas, handover = self._enlarging.canvas(pass_.second, latent, vae), Handover()
            elif latent is not None:
                continue  # no step is left for the refiner
            if pass_.takes_no_step:
                latent = None
                continue
            own = pass_.request_of(picture.request)
            texts = texts_in(pass_, picture)
            prompted = PromptedPicture(
                own,
                conditioning[texts],
                pass_.loras,
                pass_.image_prompts,
                self._image_prompts,
                self._references if pass_.references else (),
            )
            seen = own_map.beside(canvas) if own_map else canvas
            result = denoiser.run(pass_.networks(text, texts), prompted, seen, handover)
            latent = result.latent if result.handover is None else None
            handover = result.handover or Handover()
        assert latent is not None, "the last pass hands nothing over"
        return latent

    def _decode(self, latent: Latent) -> NDArray[np.uint8]:
        """Decode a latent to pixels, and lay the kept part of the canvas over them."""
        canvas, convention = self._read.canvas, self._read.job.request.convention
        # A uniform start picture may rightly give a uniform result.
        blank = canvas is not None and result_checks.is_flat(canvas.picture)
        problem = result_checks.numbers if blank else result_checks.picture
        image: Array = self._vaes[-1].decode(latent, problem)
        pixels = as_pixels(image, rounds=convention.rounds_pixels)[0]
        overlay = canvas.overlay if canvas else None
        return overlay.over(pixels) if overlay else pixels

    @property
    def _controls(self) -> list[ControlPass]:
        """The control layers of the passes that have some."""
        return [control for control in self._plan.controls if control is not None]

    @property
    def _control_reports(self) -> tuple[ControlReport, ...]:
        read = self._read.controls
        acting = self._controls[0].reports(read.acting) if self._controls else ()
        followed = next(filter(None, self._plan.own_maps), None)
        own = (followed.report,) if followed else ()
        return (*acting, *own, *read.reports_of_references, *read.left_out)

    @property
    def _placement(self) -> Placement:
        """The placement of the job, with VAE tiles if decoding has fallen back to them."""
        placement = self._plan.placement
        if self._vaes[-1].ran_out_of_memory:
            cell = self._read.passes[-1].checkpoint.latent.downscale
            placement = placement.with_tiles(cell)
        return placement

    @property
    def _shortages(self) -> tuple[ErrorInfo, ...]:
        """The remarks on what was done otherwise than planned, as memory ran out."""
        pool, found = self._stages.pool, list[ErrorInfo]()
        if pool.streams_unplanned:
            found.append(_streamed_to(pool.compiler.device.name))
        if self._vaes[-1].ran_out_of_memory:
            found.append(_DECODED_IN_TILES)
        return tuple(found)


_DECODED_IN_TILES = ErrorInfo(
    ErrorCode.OUT_OF_MEMORY,
    sentence("There was not enough memory to decode the picture whole; it was done in tiles."),
    sentence("Tones may differ a little from the whole picture's. A smaller one needs none."),
)


def _streamed_to(device: str) -> ErrorInfo:
    """Return the remark that parts of a model were streamed to a device, as memory ran out."""
    return ErrorInfo(
        ErrorCode.OUT_OF_MEMORY,
        sentence(
            "{device} ran out of memory, so parts of the model were copied there at each step, "
            "which takes longer.",
            device=device,
        ),
        sentence(
            "The picture is the same. With other programs closed, or a smaller size, there may be "
            "room for all of the model."
        ),
    )
