"""ControlNets of Flux.1 for a checkpoint: their networks, and the inputs of a union."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backends.base import Array
from engine.api.control_rules import ControlRules
from engine.api.preprocessors import ControlKind
from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.control.control_model import map_dimensions
from engine.control.fitting import require_family
from engine.control.kinds import FLUX_UNION_KINDS
from engine.control.network import ControlNetwork
from engine.control.token_nets import TokenNet, other_transformer
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.shared.component_network import Dimensions, config_of
from engine.families.shared.flow.denoiser import LEAST_TOKENS, MOST_PATCHES, MOST_TOKENS
from engine.graphs.control_residuals import TokenResidualForm
from engine.graphs.flux import PATCH, FluxConfig
from engine.graphs.flux_control import FluxControlConfig, flux_control, map_tokens
from engine.graphs.flux_positions import rotations
from engine.graphs.operators import GraphBuilder
from engine.weights.weight_set import WeightSet


@dataclass(frozen=True, slots=True, eq=False)
class FluxNetModel(TokenNet):
    """The networks of a ControlNet of Flux.1 for one checkpoint.

    The VAE encodes its maps, unless the network embeds pixels itself. Networks for inpainting run
    as in ComfyUI and in alimama's own pipeline (`pipeline_flux_controlnet_inpaint.py`).
    """

    config: FluxControlConfig

    @classmethod
    def fitted(
        cls, network: ControlNetwork, config: FluxControlConfig, checkpoint: IdentifiedCheckpoint
    ) -> "FluxNetModel":
        """Return the model of a network that leads a checkpoint.

        Raises EngineError(CHECKPOINT_MISMATCH) for a checkpoint of another family or other sizes.
        """
        require_family(network, checkpoint)
        own = config_of(checkpoint, Component.DENOISER, FluxConfig)
        if _sizes(config) != _sizes(own) or (config.takes_guidance and not own.takes_guidance):
            raise other_transformer(network, checkpoint)
        if not config.embeds_pixels:
            checkpoint.architecture.autoencoder.require_encoder()
        return cls(network, checkpoint, WeightSet(network.digest, network.weights), config)

    @property
    def residuals(self) -> TokenResidualForm:
        """The form of the residuals, for which the denoiser has inputs."""
        return self.config.form

    def emit(self, g: GraphBuilder) -> None:
        """Emit the network of a step; see `flux_control`."""
        flux_control(g, self.config)

    def token_dimensions(self, cells: tuple[int, int], tokens: int) -> Dimensions:
        """Return the dimensions of tokens, for a latent of `cells` and texts of `tokens`."""
        patches = (cells[0] // PATCH) * (cells[1] // PATCH)
        return {
            "tokens": offered(LEAST_TOKENS, tokens, MOST_TOKENS),
            "patches": offered(1, patches, MOST_PATCHES),
        }

    def shown(self, maps: Array, kinds: Sequence[ControlKind]) -> dict[str, Array]:
        """Return maps in [0, 1] as inputs of `embedding`."""
        return {"map": maps} if self.config.embeds_pixels else TokenNet.shown(self, maps, kinds)

    def embedding(self, height: int, width: int, *, maps: int = 1) -> Network | None:
        """Return the network that embeds a map's pixels; None where the VAE encodes the map."""
        if not self.config.embeds_pixels:
            return None
        config = self.config
        dimensions = map_dimensions(height, width) | {"maps": offered(1, maps, 1)}
        made = self.network_of("control_embedding", lambda g: map_tokens(g, config), dimensions)
        return self.kept((height, width, maps), made)

    @property
    def draws_latent(self) -> bool:
        """True: diffusers draws the latent of a map, if it has a deviation.

        For inpainting alimama's pipeline draws it from no seed, so that the mean is as good.
        """
        return not self.config.sees_mask

    def size_inputs(self, height: int, width: int) -> dict[str, Array]:
        """Return the turns of the tokens of what the denoiser sees, of a size in pixels."""
        return rotations(self.config, (height // self.cell, width // self.cell))

    def step_inputs(self, kinds: Sequence[ControlKind]) -> dict[str, Array]:
        """Return the input that tells a union the kind of its map.

        Raises EngineError(REQUEST_INVALID) for a kind that the network was not trained on.
        """
        modes = self.config.modes
        if not modes or not kinds:
            return {}
        number = self.network.number_of(kinds[0], FLUX_UNION_KINDS)
        return {"kind": np.eye(modes, dtype=np.float32)[number : number + 1]}

    def sees_prompt_alone(self, rules: ControlRules) -> bool:
        """Tell whether the network sees the prompt alone, also for the negative one's residuals.

        A network for inpainting sees both, as in all its pipelines.
        """
        return rules.flux_follows_prompt_alone and not self.config.sees_mask


def _sizes(config: FluxConfig) -> tuple[object, ...]:
    """Return what a ControlNet and its transformer have in common."""
    inner = config.width, config.heads, config.context_width, config.pooled_width, config.axes
    return *inner, config.out_channels
