"""The refiner of a job: its prompts, its network, and its part of each picture's run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from engine.api.record import ResolvedRequest
from engine.api.values import Phase
from engine.compile.compiler import Network
from engine.families.architecture import Conditioning, TextPlan, Texts, texts_of
from engine.families.base import IdentifiedCheckpoint
from engine.pipeline.denoise.denoiser_run import DenoiserRun
from engine.pipeline.denoise.denoising import Denoising, EncodedCanvas
from engine.pipeline.denoise.handover import legs
from engine.pipeline.forecast import Run
from engine.pipeline.stages import Reporter, Stages
from engine.sampling.types import Latent


@dataclass(frozen=True, slots=True)
class BaseRun:
    """What a job's own checkpoint does for one picture."""

    denoiser: DenoiserRun
    network: Network
    prompt: Conditioning

    def all_of(self, request: ResolvedRequest, canvas: EncodedCanvas) -> Latent:
        """The whole run of a picture."""
        return self.denoiser.run(self.network, request, self.prompt, canvas)


class Refinement:
    """Finishes pictures of a job in the hands of the checkpoint's refiner."""

    def __init__(
        self,
        request: ResolvedRequest,
        checkpoint: IdentifiedCheckpoint,
        refiner: IdentifiedCheckpoint,
        base: Denoising,
        refining: Denoising,
        stages: Stages,
        reporter: Reporter,
    ) -> None:
        self._request, self._base, self._refining = request, base, refining
        self._stages, self._text = stages, refiner.architecture.text
        self._skip = _clip_skip(request, checkpoint, refiner)
        self._denoiser = DenoiserRun(request, refiner, refining, stages, reporter)

    def read(self, requests: Sequence[ResolvedRequest]) -> TextPlan:
        """The prompts of these pictures. Raises EngineError(REQUEST_INVALID)."""
        own = [msgspec.structs.replace(request, clip_skip=self._skip) for request in requests]
        return self._text.read(own)

    def encode(self, plan: TextPlan) -> Mapping[Texts, Conditioning]:
        """Each pair of prompts through its text encoders."""
        return plan.encode(self._stages)

    def runs(self, plan: TextPlan, request: ResolvedRequest, cells: int) -> tuple[Run, ...]:
        """What it will do, for estimates: its texts, and its share of the steps."""
        assert self._request.refiner is not None, "there is a refiner"
        share = 1 - self._request.refiner.switch_at
        steps = self._denoiser.forecast(plan, texts_of(request), cells, share)
        return (*(Run(Phase.ENCODE, network) for network in plan.networks), steps)

    def run(
        self,
        base: BaseRun,
        request: ResolvedRequest,
        plan: TextPlan,
        prompts: Mapping[Texts, Conditioning],
        canvas: EncodedCanvas,
    ) -> Latent:
        """One picture's run, first in the base's hands, then in the refiner's."""
        first, second = legs(self._request, self._base, self._refining)
        latent: Latent | None = None
        if first.end != 0:
            latent = base.denoiser.run(base.network, request, base.prompt, canvas, first)
        if latent is not None and not first.hands_over:
            return latent
        texts = texts_of(request)
        network = self._denoiser.network(plan, texts)
        return self._denoiser.run(network, request, prompts[texts], canvas, second)


def _clip_skip(
    request: ResolvedRequest, checkpoint: IdentifiedCheckpoint, refiner: IdentifiedCheckpoint
) -> int:
    """As it was chosen; where that is the checkpoint's own, the refiner's own."""
    theirs = refiner.architecture.features
    own = request.clip_skip == checkpoint.architecture.features.clip_skip
    skip = theirs.clip_skip if own else request.clip_skip
    return min(skip, max(theirs.deepest_clip_skip, 1))
