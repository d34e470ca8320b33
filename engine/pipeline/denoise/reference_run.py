"""The run of a reference picture beside a denoiser, whose self-attentions attend to it."""

from collections.abc import Callable, Mapping
from hashlib import sha256

import msgspec
import numpy as np

from backends.base import Array, Feed
from engine.families.network_changes import ATTENDS_ALONE, kept_by
from engine.pipeline.control.reference import ReferencePass
from engine.pipeline.denoise.pinning import DenoiserPins, Rows
from engine.pipeline.stages import Stages
from engine.sampling.noise.torch_cpu import TorchCpuGenerator
from engine.sampling.types import Latent

# Returns latents as the denoiser sees them with this noise at a level.
Noised = Callable[[Latent, Latent, float], Latent]
_SEED_BYTES = 4


class Asked(msgspec.Struct, frozen=True, eq=False):
    """An evaluation: the inputs of the prompts, the rows, its number, and its noise level.

    `timestep` are the inputs that tell the denoiser the timestep.
    """

    inputs: Mapping[str, Array]
    rows: Rows
    evaluation: int
    level: float
    timestep: Mapping[str, Array]


class ReferenceRun(msgspec.Struct, frozen=True, eq=False):
    """The reference of a pass, loaded: what the denoiser's self-attentions keep of it.

    `pins` are those of the network that writes; `masks`: the denoiser is shown a mask and a picture
    beside the latents, which are an empty one and the reference.
    """

    own: ReferencePass
    pins: DenoiserPins
    stages: Stages
    noised: Noised
    masks: bool = False

    def kept(self, asked: Asked, tile: int) -> dict[str, Feed]:
        """Return inputs of the denoiser that reads, for the tile of this number.

        Each row's share of attention to itself alone is 1 where the reference does not act; for the
        prompt's prediction 0, and for the negative prompt's the style fidelity.
        """
        if not self.own.acts(asked.evaluation, asked.level):
            return {ATTENDS_ALONE: np.ones((len(asked.rows.places), 1, 1), np.float32)}
        shares = np.asarray(asked.rows.negatives, np.float32) * np.float32(self.own.fidelity)
        written = self.stages.call_on_device(self.pins.session, self._given(asked, tile))
        return {ATTENDS_ALONE: shares[:, None, None], **kept_by(written)}

    def _given(self, asked: Asked, tile: int) -> dict[str, Feed]:
        """Pin and return what the network that writes is given."""
        self.pins.pin_strengths(asked.evaluation)
        self.pins.pin(asked.inputs, asked.rows, asked.evaluation, asked.level)
        self.pins.pin_tile(tile)
        latent = self.own.encoded
        request = self.pins.picture.request
        place = request.seed_options.batch_index
        noise = reference_noise(latent.shape, request.seed, place, asked.evaluation)
        sample = self.noised(latent, noise, asked.level)
        if self.masks:
            sample = np.concatenate([sample, np.zeros_like(latent[:, :1]), latent], axis=1)
        return {"sample": sample, **asked.timestep}


def reference_noise(shape: tuple[int, ...], seed: int, batch_index: int, evaluation: int) -> Latent:
    """Return the noise of the reference at an evaluation, the same for all prompts.

    sd-webui-controlnet draws it anew from a generator that nobody seeds. Here it follows from the
    picture's seed, its place in the batch and the evaluation, so that it can be made again.
    """
    digits = sha256(repr((seed, batch_index, evaluation)).encode()).digest()[:_SEED_BYTES]
    return TorchCpuGenerator(int.from_bytes(digits)).randn(shape)
