"""The passes of a job: each is one denoising of its pictures by one checkpoint."""

from dataclasses import dataclass, replace
from enum import Enum, auto

import msgspec

from engine.api.record import ResolvedRequest
from engine.api.values import Phase
from engine.compile.network import Network
from engine.families.architecture import TextPlan, Texts
from engine.families.base import IdentifiedCheckpoint
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
from engine.pipeline.forecast import Run
from engine.sampling.samplers import SAMPLERS


class PassStart(Enum):
    """The latents that a pass begins with."""

    # Seeded noise, added to the job's canvas if it has one.
    NOISE = auto()
    # The latents of the pass before, which hands over in the middle of the run.
    HANDOVER = auto()


@dataclass(frozen=True, slots=True, eq=False)
class StretchNetwork:
    """The denoiser for a stretch of a run, up to before the evaluation `end`; None: to the end."""

    network: Network
    end: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class DenoisingPass:
    """One denoising of a picture: its checkpoint, size, strength and first latents.

    `request` has the size, strength and CLIP skip of this pass. `share` is its part of the steps,
    for estimates. Where a base and a refiner share a sampler's run, `split` divides its steps.
    `loras` act on the checkpoint, which has the patches of the run's start.
    """

    checkpoint: IdentifiedCheckpoint
    request: ResolvedRequest
    denoising: Denoising
    begins_with: PassStart = PassStart.NOISE
    share: float = 1.0
    split: RefinerSplit | None = None
    loras: PassLoras = NO_LORAS

    @property
    def takes_no_step(self) -> bool:
        """True if the refiner's pass takes all steps, and none is left for this pass."""
        skips = self.split is not None and self.split.skips_base
        return skips and self.begins_with is PassStart.NOISE

    def request_of(self, picture: ResolvedRequest) -> ResolvedRequest:
        """Return the request of one of the job's pictures with the settings of this pass."""
        own = self.request
        return msgspec.structs.replace(
            picture,
            width=own.width,
            height=own.height,
            strength=own.strength,
            clip_skip=own.clip_skip,
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
        return replace(self, checkpoint=checkpoint, loras=loras)

    def network(self, text: TextPlan, texts: Texts) -> Network:
        """Return the denoiser for the pass's size and the shape of these prompts' context.

        Equal shapes give the same object.
        """
        return self._network(self.checkpoint, text, texts)

    def networks(self, text: TextPlan, texts: Texts) -> tuple[StretchNetwork, ...]:
        """Return the denoiser for each stretch of the run, as `network` does."""
        later = self.loras.stretches[1:]
        found = [self.network(text, texts)]
        for stretch in later:
            checkpoint = self.checkpoint.with_patches(stretch.patches)
            found.append(self._network(checkpoint, text, texts))
        ends = (*(stretch.start for stretch in later), None)
        return tuple(map(StretchNetwork, found, ends))

    def _network(self, checkpoint: IdentifiedCheckpoint, text: TextPlan, texts: Texts) -> Network:
        contexts, tokens = self._shape(text, texts)
        # Image guidance takes a latent for each context, with its picture or without.
        rows = contexts if self.denoising.asks_without_picture else 1
        model, own = checkpoint.architecture.denoiser, self.request
        return model.network(own.height, own.width, contexts=contexts, tokens=tokens, rows=rows)

    def steps(self, text: TextPlan, texts: Texts, cells: int) -> Run:
        """Return the denoiser evaluations of one picture in this pass, for estimates."""
        evaluations = self.denoising.steps * SAMPLERS[self.request.sampler].evaluations
        times = max(round(self.share * evaluations), 1) * self._shape(text, texts)[0]
        network = self.network(text, texts)
        return Run(Phase.DENOISE, network, times=times, each=True, size=cells)

    def _shape(self, text: TextPlan, texts: Texts) -> tuple[int, int]:
        """Return the number of predictions per evaluation, and the tokens in each context."""
        contexts, tokens = text.shape(texts, guided=self.denoising.is_guided)
        return contexts + self.denoising.asks_without_picture, tokens


def passes_of(
    request: ResolvedRequest, checkpoint: IdentifiedCheckpoint, *, redraws: bool, masks: bool
) -> tuple[DenoisingPass, ...]:
    """Return the passes of a request, in order: one, or two where there is a refiner.

    `redraws`: starts from a picture; `masks`: repaints a part of it. Raises
    EngineError(REQUEST_INVALID).
    """
    denoising = Denoising(request, checkpoint, redraws=redraws, masks=masks)
    refiner = checkpoint.refiner
    if refiner is None or request.refiner is None:
        return (DenoisingPass(checkpoint, request, denoising),)
    refining = Denoising(request, refiner, redraws=redraws, masks=masks)
    split, share = split_run(request, denoising, refining), request.refiner.switch_at
    skip = _refiner_clip_skip(request, checkpoint, refiner)
    own = msgspec.structs.replace(request, clip_skip=skip)
    base = DenoisingPass(checkpoint, request, denoising, share=share, split=split)
    return (
        base,
        DenoisingPass(refiner, own, refining, PassStart.HANDOVER, share=1 - share, split=split),
    )


def _refiner_clip_skip(
    request: ResolvedRequest, checkpoint: IdentifiedCheckpoint, refiner: IdentifiedCheckpoint
) -> int:
    """Return the CLIP skip for the refiner: the chosen one, or the refiner's own default.

    The default applies where the request has the base checkpoint's default.
    """
    features = refiner.architecture.features
    own = request.clip_skip == checkpoint.architecture.features.clip_skip
    skip = features.clip_skip if own else request.clip_skip
    return min(skip, max(features.deepest_clip_skip, 1))
