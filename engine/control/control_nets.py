"""ControlNets for a checkpoint: their networks, and a union's inputs."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from backends.base import Array
from engine.api.preprocessors import ControlKind
from engine.checkpoints.index import combined_digest
from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.control.control_model import ControlModel, map_dimensions
from engine.control.fitting import (
    borrowed_branches,
    fitted_config,
    require_family,
    whole_weights,
)
from engine.control.kinds import UNION_KINDS
from engine.control.network import BorrowedSizes, ControlNetwork
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.patches import ComponentPatches
from engine.families.shared.component_network import picture_dimensions
from engine.families.shared.unet.denoiser import context_dimensions, row_dimensions
from engine.graphs.control_net import (
    ControlNetConfig,
    control_net,
    kinds_embedding,
    map_embedding,
    map_inputs,
)
from engine.text.chunks import CHUNK_LENGTH
from engine.weights.side_branches import SideBranches
from engine.weights.weight_set import WeightSet

_MAX_MAPS = 8
# The contexts of a prompt and its negative prompt.
_GUIDED = 2


@dataclass(frozen=True, slots=True, eq=False)
class ControlNetModel(ControlModel):
    """The networks of a ControlNet for one checkpoint."""

    config: ControlNetConfig
    _branches: SideBranches | None = None

    @classmethod
    def fitted(cls, network: ControlNetwork, checkpoint: IdentifiedCheckpoint) -> "ControlNetModel":
        """Return the model of a network that leads a checkpoint.

        Raises EngineError(CHECKPOINT_MISMATCH) for a checkpoint of another family or other sizes.
        """
        require_family(network, checkpoint)
        weights = whole_weights(network, checkpoint)
        config = fitted_config(network, weights, checkpoint)
        if not isinstance(network.sizes, BorrowedSizes):
            return cls(network, checkpoint, WeightSet(network.digest, weights), config)
        loras = checkpoint.patches.get(Component.DENOISER)
        digests = network.digest, checkpoint.digest, *([loras.content] if loras else [])
        borrowed = weights.keys() - network.weights.keys()
        return cls(
            network,
            checkpoint,
            WeightSet(combined_digest(*digests), weights),
            config,
            borrowed_branches(borrowed, checkpoint),
        )

    @property
    def outputs(self) -> int:
        """The number of the outputs control.0 to control.N, one more than the skip connections."""
        return len(self.config.widths)

    @property
    def in_channels(self) -> int:
        """The number of the sample's channels: the latent's, without any concatenated ones."""
        return self.config.encoder.in_channels

    def embedding(self, height: int, width: int, *, maps: int = 1) -> Network:
        """Return the network that embeds maps, for a picture size in pixels.

        Its input `map` is float32 [maps, 3, height, width] in [0, 1], RGB; its output
        `map_embedding` is an input of `denoising`. Several maps are one embedding in a union, whose
        other inputs are those of `map_inputs`.
        """
        config = self.config
        dimensions = map_dimensions(height, width) | {"maps": offered(1, maps, _MAX_MAPS)}
        made = self.network_of("control_embedding", lambda g: map_embedding(g, config), dimensions)
        return self.kept((height, width, maps), made)

    def denoising(
        self,
        height: int,
        width: int,
        *,
        contexts: int = _GUIDED,
        tokens: int = CHUNK_LENGTH,
        rows: int = 1,
    ) -> Network:
        """Return the network of a step for a picture size in pixels; see `DenoiserModel.network`.

        Its inputs are those of the denoiser (`sample` without concatenated channels),
        `map_embedding` [1, ...], those of `step_inputs` and those of `ResidualWriter`; its outputs
        control.0 to control.N, float32 [rows, channels, ...].
        """
        config = self.config
        dimensions = picture_dimensions(self.checkpoint, height, width, self.cell, rows)
        dimensions |= context_dimensions(contexts, tokens) | row_dimensions(contexts)
        made = msgspec.structs.replace(
            self.network_of("control", lambda g: control_net(g, config), dimensions),
            branches=self._branches,
        )
        return self.kept((height, width, contexts, tokens, rows), made)

    def with_loras(self, loras: ComponentPatches | None) -> "ControlNetModel":
        """Return the model for the checkpoint whose denoiser LoRAs change so.

        It is itself, for LoRAs change no ControlNet, unless it borrows the denoiser's weights.
        """
        borrows = isinstance(self.network.sizes, BorrowedSizes)
        if loras is None or not (borrows and loras.acts):
            return self
        patched = self.checkpoint.with_patches({Component.DENOISER: loras})
        return ControlNetModel.fitted(self.network, patched)

    def map_inputs(
        self, kinds: Sequence[ControlKind], weights: Sequence[float]
    ) -> dict[str, Array]:
        """Return the inputs of `embedding` that tell a union the kind of each map.

        None for other networks. With several maps, `weights` act here; the weight of a single map
        is that of the outputs. Raises EngineError(REQUEST_INVALID) for a kind that the network was
        not trained on.
        """
        union = self.config.union
        return map_inputs(union, self._numbers(kinds), weights) if union else {}

    def step_inputs(self, kinds: Sequence[ControlKind]) -> dict[str, Array]:
        """Return the input of `denoising` that tells a union the kinds of its maps.

        None for other networks. Raises EngineError as `map_inputs`.
        """
        union = self.config.union
        if union is None:
            return {}
        return {"kinds_embedding": kinds_embedding(union, self._numbers(kinds))}

    def _numbers(self, kinds: Sequence[ControlKind]) -> list[int]:
        return [self.network.number_of(kind, UNION_KINDS) for kind in kinds]
