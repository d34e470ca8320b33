"""The passes of a job: each is one denoising of its pictures by one checkpoint."""

from enum import Enum, auto

import msgspec

from engine.api.denoiser_options import Tiling
from engine.api.record import ResolvedRequest
from engine.api.sentences import sentence
from engine.api.values import ConventionName, Phase
from engine.compile.network import Network
from engine.families.architecture import TextPlan, Texts
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.patches import ComponentPatches
from engine.image_prompts.pinning import NO_IMAGE_PROMPTS, PassImagePrompts
from engine.pipeline.denoise.denoising import Denoising
from engine.pipeline.denoise.lora_stretches import NO_LORAS, PassLoras
from engine.pipeline.denoise.segments import (
    BaseSegment,
    Handover,
    RefinerSegment,
    RefinerSplit,
    RunSegment,
    WholeRun,
    split_run,
)
from engine.pipeline.denoise.tiles import Tile, latent_tiles
from engine.pipeline.enlarge.second_runs import SecondRun, followed_clip_skip, second_runs
from engine.pipeline.forecast import Run
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.ranges import invalid


class PassStart(Enum):
    """The latents that a pass begins with."""

    # Seeded noise, added to the job's canvas if it has one.
    NOISE = auto()
    # The latents of the pass before, which hands over in the middle of the run.
    HANDOVER = auto()
    # Noise, added to the enlarged picture of the pass before.
    ENLARGED = auto()


class StretchNetwork(msgspec.Struct, frozen=True, eq=False):
    """The denoiser for a stretch of a run, up to before the evaluation `end`; None: to the end.

    `loras` are the changes that it has; None for none. `writing` runs a reference beside it.
    """

    network: Network
    end: int | None = None
    loras: ComponentPatches | None = None
    writing: Network | None = None


class DenoisingPass(msgspec.Struct, frozen=True, eq=False):
    """One denoising of a picture: its checkpoint, size, strength and first latents.

    `request` has the size, strength and CLIP skip of this pass. `share` is its part of the steps,
    for estimates. Where a base and a refiner share a sampler's run, `split` divides its steps.
    `loras` act on the checkpoint, which has the patches of the run's start. `second` is the second
    pass whose run this one takes, whole or in part; None in the first run. `references` are the
    heights and widths in cells of the reference pictures that the denoiser sees. `writing` is the
    checkpoint whose denoiser runs the reference that self-attentions attend to; None for none.
    """

    checkpoint: IdentifiedCheckpoint
    request: ResolvedRequest
    denoising: Denoising
    begins_with: PassStart = PassStart.NOISE
    share: float = 1.0
    split: RefinerSplit | None = None
    loras: PassLoras = NO_LORAS
    second: SecondRun | None = None
    image_prompts: PassImagePrompts = NO_IMAGE_PROMPTS
    references: tuple[tuple[int, int], ...] = ()
    writing: IdentifiedCheckpoint | None = None

    @property
    def takes_no_step(self) -> bool:
        """True if the refiner's pass takes all steps, and none is left for this pass."""
        skips = self.split is not None and self.split.skips_base
        return skips and self.begins_with is not PassStart.HANDOVER

    @property
    def run(self) -> int:
        """The number of the run that the pass takes a part of: 0, or that of the second pass."""
        return 0 if self.second is None else self.second.number + 1

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """The tiles of the latent that are denoised one by one; a single one is all of it."""
        tile = self.second.wanted.tile if self.second else None
        return latent_tiles(self.cells, tile and tile // self.checkpoint.latent.downscale)

    @property
    def cells(self) -> tuple[int, int]:
        """The height and width of the latent."""
        downscale = self.checkpoint.latent.downscale
        return self.request.height // downscale, self.request.width // downscale

    @property
    def evaluated_size(self) -> tuple[int, int]:
        """The height and width in pixels that the denoiser sees at once: a tile's, or all."""
        cells, downscale = self.tiles[0].size, self.checkpoint.latent.downscale
        return cells[0] * downscale, cells[1] * downscale

    @property
    def cells_at_once(self) -> int:
        """The cells that the denoiser sees at once: a tile's, or all, and reference pictures'."""
        return sum(height * width for height, width in (self.tiles[0].size, *self.references))

    @property
    def begins_run(self) -> bool:
        """True if no pass before takes a part of the same run."""
        return self.begins_with is not PassStart.HANDOVER

    @property
    def drawn_before(self) -> int | None:
        """The evaluations of the first run, from which A1111's prompts count on; None elsewhere."""
        name = self.request.convention.name
        if self.second is None or name is not ConventionName.A1111:
            return None
        return self.second.drawn_before

    @property
    def begins_enlarged(self) -> bool:
        """True if the pass begins with the enlarged picture of the pass before."""
        return self.begins_with is PassStart.ENLARGED

    def texts_of(self, picture: ResolvedRequest) -> Texts:
        """Return the prompts of one of the job's pictures in this pass."""
        own = self.request_of(picture)
        return own.prompt, own.negative_prompt

    def request_of(self, picture: ResolvedRequest) -> ResolvedRequest:
        """Return the request of one of the job's pictures with the settings of this pass.

        Its size is the one that the denoiser sees.
        """
        height, width = self.evaluated_size
        prompt, negative, seed = picture.prompt, picture.negative_prompt, picture.seed
        if self.second is not None:
            own = picture.second_passes[self.second.number]
            prompt = prompt if own.prompt is None else own.prompt
            negative = negative if own.negative_prompt is None else own.negative_prompt
            seed = seed if own.seed is None else own.seed
        return msgspec.structs.replace(
            self.request,
            width=width,
            height=height,
            prompt=prompt,
            negative_prompt=negative,
            seed=seed,
            seed_options=picture.seed_options,
        )

    def segment(self, handover: Handover | None) -> RunSegment:
        """Return the part of a picture's run that this pass takes, continuing from `handover`."""
        if self.split is None:
            return WholeRun(self.denoising)
        if self.begins_with is PassStart.HANDOVER:
            return RefinerSegment(self.split, handover or Handover())
        return BaseSegment(self.split)

    def with_loras(self, loras: PassLoras) -> "DenoisingPass":
        """Return the pass with LoRAs that act on its checkpoint; itself if none acts."""
        checkpoint = self.checkpoint.with_patches(loras.patches)
        if checkpoint is self.checkpoint and len(loras.stretches) == 1:
            return self
        writing = self.writing and self.writing.with_patches(loras.patches)
        return msgspec.structs.replace(self, checkpoint=checkpoint, writing=writing, loras=loras)

    def network(self, text: TextPlan, texts: Texts) -> Network:
        """Return the denoiser for the pass's size and the shape of these prompts' context.

        Equal shapes give the same object.
        """
        return self._network(self.checkpoint, text, texts)

    def writing_network(self, text: TextPlan, texts: Texts) -> Network | None:
        """Return the network that runs the reference, as `network` does; None without one."""
        return self._network(self.writing, text, texts) if self.writing else None

    def networks(self, text: TextPlan, texts: Texts) -> tuple[StretchNetwork, ...]:
        """Return the denoiser for each stretch of the run, as `network` does."""
        first, *later = self.loras.stretches
        found, writing = [self.network(text, texts)], [self.writing_network(text, texts)]
        for stretch in later:
            checkpoint = self.checkpoint.with_patches(stretch.patches)
            found.append(self._network(checkpoint, text, texts))
            twin = self.writing and self.writing.with_patches(stretch.patches)
            writing.append(self._network(twin, text, texts) if twin else None)
        ends = (*(stretch.start for stretch in later), None)
        loras = [checkpoint.patches.get(Component.DENOISER) for checkpoint in (first, *later)]
        return tuple(map(StretchNetwork, found, ends, loras, writing))

    def _network(self, checkpoint: IdentifiedCheckpoint, text: TextPlan, texts: Texts) -> Network:
        contexts, tokens = self._shape(text, texts)
        # Image guidance takes a latent for each context, with its picture or without.
        rows = contexts if self.denoising.terms.asks_without_picture else 1
        model, size = checkpoint.architecture.denoiser, self.evaluated_size
        pictures = self.image_prompts.shapes
        return model.network(
            *size,
            contexts=contexts,
            tokens=tokens,
            rows=rows,
            image_prompts=pictures,
            references=self.references,
        )

    def steps(self, text: TextPlan, texts: Texts) -> Run:
        """Return the denoiser's predictions of one picture in this pass, for estimates."""
        denoising, guided = self.denoising, self.denoising.terms.is_guided
        contexts, _ = text.shape(texts, guided=guided)
        times = denoising.sampling.predictions(denoising.steps, contexts - guided, self.share)
        network, size = self.network(text, texts), self.cells_at_once
        times *= len(self.tiles)
        return Run(Phase.DENOISE, network, times=times, per_picture=True, size=size)

    def _shape(self, text: TextPlan, texts: Texts) -> tuple[int, int]:
        """Return the number of predictions per evaluation, and the tokens in each context."""
        terms = self.denoising.terms
        contexts, tokens = text.shape(texts, guided=terms.is_guided)
        perturbed = (contexts - terms.is_guided) * terms.perturbs
        return contexts + terms.asks_without_picture + perturbed, tokens


def passes_of(
    request: ResolvedRequest, checkpoints: JobCheckpoints, *, redraws: bool, masks: bool
) -> tuple[DenoisingPass, ...]:
    """Return the passes of a request, in order.

    The first run and each second pass is one pass, and the last of them two where there is a
    refiner, as in A1111 by default (its setting "Hires fix: which pass to enable refiner for").
    `redraws`: starts from a picture; `masks`: repaints a part of it. Raises
    EngineError(REQUEST_INVALID).
    """
    later = second_runs(request, checkpoints) if request.second_passes else ()
    if later and masks:
        raise invalid(
            sentence("A picture of which a part is painted has no second passes."),
            sentence("Paint it first, and enlarge the result."),
        )
    if any(map(_cuts_around_edges, later)):
        raise invalid(
            sentence("A picture with seamless edges cannot be redrawn in tiles."),
            sentence("Redraw it whole, or without seamless edges."),
        )
    denoising = Denoising(request, checkpoints.first, redraws=redraws, masks=masks)
    passes = (DenoisingPass(checkpoints.first, request, denoising), *map(_enlarged, later))
    refiner, choice, whole = checkpoints.refiner, request.refiner, passes[-1]
    if refiner is None or choice is None:
        return passes
    refining = Denoising(whole.request, refiner, redraws=whole.denoising.redraws, masks=masks)
    return *passes[:-1], *_shared(whole, choice.switch_at, refiner, refining)


def _enlarged(second: SecondRun) -> DenoisingPass:
    """Return the pass of a second run."""
    denoising = Denoising(second.request, second.checkpoint, redraws=True)
    start = PassStart.ENLARGED
    return DenoisingPass(second.checkpoint, second.request, denoising, start, second=second)


def _cuts_around_edges(second: SecondRun) -> bool:
    """Return True if tiles would take their own edges for those of a seamless picture."""
    tile, own = second.wanted.tile, second.request
    wraps = own.denoiser_options.tiling is not Tiling.NONE
    return wraps and tile is not None and tile < max(own.width, own.height)


def _shared(
    whole: DenoisingPass, share: float, refiner: IdentifiedCheckpoint, refining: Denoising
) -> tuple[DenoisingPass, DenoisingPass]:
    """Return the base's pass, which has this share of the steps of a whole one, and the refiner's.

    `refining` is the refiner's sampling.
    """
    request = whole.request
    base = msgspec.structs.replace(
        whole, share=share, split=split_run(request, whole.denoising, refining)
    )
    skip = followed_clip_skip(request, whole.checkpoint, refiner)
    refined = msgspec.structs.replace(
        base,
        checkpoint=refiner,
        request=msgspec.structs.replace(request, clip_skip=skip),
        denoising=refining,
        begins_with=PassStart.HANDOVER,
        share=1 - share,
    )
    return base, refined
