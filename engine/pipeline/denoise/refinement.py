"""The refiner of a job: its prompts, its network, and its part of each picture's run."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from engine.api.record import ResolvedRequest
from engine.compile.compiler import Network
from engine.families.base import IdentifiedCheckpoint
from engine.families.shared.clip.joint_conditioning import JointConditioning
from engine.pipeline.denoise.denoiser_run import DenoiserRun
from engine.pipeline.denoise.denoising import Denoising, EncodedCanvas
from engine.pipeline.denoise.handover import legs
from engine.pipeline.forecast import Run
from engine.pipeline.networks import text_layers
from engine.pipeline.prompts.encoding import Plans, PromptEncoding, Texts, texts_of
from engine.pipeline.stages import Reporter, Stages
from engine.sampling.types import Latent
from engine.text.tokenizers import tokenizer_of


@dataclass(frozen=True, slots=True)
class BaseRun:
    """What a job's own checkpoint does for one picture."""

    denoiser: DenoiserRun
    network: Network
    prompt: JointConditioning

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
        tokenizer = tokenizer_of(refiner.tokenizer)
        read = msgspec.structs.replace(request, clip_skip=_clip_skip(request, checkpoint, refiner))
        self._prompts = PromptEncoding(read, refiner, tokenizer, stages)
        self._denoiser = DenoiserRun(request, refiner, refining, stages, reporter)

    def plan(self, requests: Sequence[ResolvedRequest]) -> Plans:
        """What its text encoders are to encode. Raises EngineError(REQUEST_INVALID)."""
        return self._prompts.plan(requests)

    def encode(self, plans: Plans) -> dict[Texts, JointConditioning]:
        """Each pair of prompts through its text encoders."""
        return self._prompts.encode(plans)

    def runs(self, plans: Plans, request: ResolvedRequest, cells: int) -> tuple[Run, ...]:
        """What it will do, for estimates: its texts, and its share of the steps."""
        assert self._request.refiner is not None, "there is a refiner"
        share = 1 - self._request.refiner.switch_at
        steps = self._denoiser.forecast(plans[texts_of(request)], cells, share)
        return (*self._prompts.runs(plans), steps)

    def run(
        self,
        base: BaseRun,
        request: ResolvedRequest,
        plans: Plans,
        prompts: dict[Texts, JointConditioning],
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
        network = self._denoiser.network(plans[texts])
        return self._denoiser.run(network, request, prompts[texts], canvas, second)


def _clip_skip(
    request: ResolvedRequest, checkpoint: IdentifiedCheckpoint, refiner: IdentifiedCheckpoint
) -> int:
    """As it was chosen; where that is the checkpoint's own, the refiner's own."""
    own = request.clip_skip == checkpoint.text.clip_skip
    skip = refiner.text.clip_skip if own else request.clip_skip
    return min(skip, text_layers(refiner))
