"""ControlNets of Stable Diffusion 3 and 3.5 for a checkpoint: their networks, and tools' rules.

InstantX' see latents of maps without the shift of their format, in all tools. alimama's for
inpainting see it with the shift in their own pipeline, which is diffusers'
(`pipeline_stable_diffusion_3_controlnet_inpainting.py`), and without in ComfyUI
(`load_controlnet_mmdit`). Stability AI's networks for SD 3.5 large differ by tool: sd3.5
(`sd3_infer.py`), ComfyUI (`load_controlnet_sd35` and `dit_embedder.py`) and diffusers
(`pipeline_stable_diffusion_3_controlnet.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from backends.base import Array
from engine.api.preprocessors import ControlKind
from engine.api.values import ConventionName
from engine.checkpoints.index import combined_digest
from engine.control.fitting import require_family
from engine.control.network import ControlNetwork, Sd3NetSizes
from engine.control.token_nets import TokenNet, other_transformer
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.latents import EncodedImage
from engine.families.sd3.denoiser import shown_places, token_dimensions
from engine.families.shared.component_network import Dimensions, config_of
from engine.graphs.control_residuals import JointForm
from engine.graphs.operators import GraphBuilder
from engine.graphs.sd3 import PATCH, Sd3Config
from engine.graphs.sd3_control import Sd3ControlConfig, sd3_control
from engine.weights.sources import Weight
from engine.weights.weight_set import WeightSet

BORROWED = "pos_embed.proj.weight", "pos_embed.proj.bias"
# ComfyUI's places for SD 3.5: the shorter side of a picture goes from 0 to 15.
_MIDDLE, _BASE = 7.5, 10_000


@dataclass(frozen=True, slots=True, eq=False)
class Sd3NetModel(TokenNet):
    """The networks of a ControlNet of SD 3 or 3.5 for one checkpoint, as a tool runs it."""

    sizes: Sd3NetSizes
    tool: ConventionName

    @classmethod
    def fitted(
        cls,
        network: ControlNetwork,
        sizes: Sd3NetSizes,
        checkpoint: IdentifiedCheckpoint,
        tool: ConventionName,
    ) -> "Sd3NetModel":
        """Return the model of a network that leads a checkpoint.

        Raises EngineError(CHECKPOINT_MISMATCH) for a checkpoint of another family or other sizes.
        """
        require_family(network, checkpoint)
        own, config = config_of(checkpoint, Component.DENOISER, Sd3Config), sizes.config
        same = _sizes(own, joint=config.joint) == _sizes(config, joint=config.joint)
        if not same or config.blocks > own.blocks:
            raise other_transformer(network, checkpoint)
        checkpoint.architecture.autoencoder.require_encoder()
        weights, digest = dict[str, Weight](network.weights), network.digest
        if config.borrows_tokens:
            theirs = checkpoint.components[Component.DENOISER].weights
            weights |= {name: theirs[name] for name in BORROWED}
            digest = combined_digest(digest, checkpoint.digest)
        return cls(network, checkpoint, WeightSet(digest, weights), sizes, tool)

    @property
    def config(self) -> Sd3ControlConfig:
        """The network's sizes."""
        return self.sizes.config

    @property
    def residuals(self) -> JointForm:
        """The form of the residuals; diffusers adds none after the last block."""
        to_last = not self.config.joint and self.tool is not ConventionName.DIFFUSERS
        return JointForm(self.config.blocks, 0, to_last=to_last)

    def emit(self, g: GraphBuilder) -> None:
        """Emit the network of a step; see `sd3_control`."""
        sd3_control(g, self.config, self.residuals)

    def token_dimensions(self, cells: tuple[int, int], tokens: int) -> Dimensions:
        """Return the dimensions of tokens, for a latent of `cells` and texts of `tokens`."""
        dimensions = token_dimensions(cells, tokens)
        if self.config.joint:
            return dimensions
        return {name: dimension for name, dimension in dimensions.items() if name != "tokens"}

    def shown(self, maps: Array, kinds: Sequence[ControlKind]) -> dict[str, Array]:
        """Return maps in [0, 1] as the network's kind has them encoded.

        For SD 3.5, edges leave the range of pictures, in ComfyUI twice as far, and near things are
        dark in maps of depth. diffusers takes those as they are given.
        """
        if self.config.joint:
            return TokenNet.shown(self, maps, kinds)
        kind = self.sizes.kind or next(iter(kinds), None)
        if kind is ControlKind.CANNY:
            levels, is_comfy = maps * np.float32(255), self.tool is ConventionName.COMFY
            return {"image": levels if is_comfy else levels / 2 + np.float32(0.5)}
        if kind is ControlKind.DEPTH and self.tool is not ConventionName.DIFFUSERS:
            maps = 1 - maps
        return TokenNet.shown(self, maps, kinds)

    def encoded(self, latent: EncodedImage) -> EncodedImage:
        """Return the latent of a map, without the format's shift for a joint network.

        Networks for inpainting see it without the shift in ComfyUI alone.
        """
        shifted = self.config.sees_mask and self.tool is not ConventionName.COMFY
        if shifted or not self.config.ignores_pooled:
            return latent
        form = msgspec.structs.replace(self.checkpoint.latent, shift=0.0)
        return msgspec.structs.replace(latent, mean=form.scaled(latent.unscaled))

    def size_inputs(self, height: int, width: int) -> dict[str, Array]:
        """Return the places of tokens of what the denoiser sees, of a size in pixels.

        Raises EngineError(REQUEST_INVALID) for a picture that is too large.
        """
        config, side = self.config, PATCH * self.cell
        if not config.borrows_tokens:
            stored = self.network.weights["pos_embed.pos_embed"]
            return shown_places(stored, config, (height, width), side)
        if self.tool is ConventionName.COMFY:
            return {"places": comfy_places(height // side, width // side, config.width)}
        return self.checkpoint.architecture.denoiser.size_inputs(height, width)


def comfy_places(rows: int, columns: int, width: int) -> Array:
    """Return ComfyUI's places for networks of SD 3.5, float32 [rows * columns, width].

    Half of the numbers are for the column, half for the row; sines before cosines
    (`get_2d_sincos_pos_embed_torch`).
    """
    shorter = min(rows, columns)
    reaches = (_MIDDLE * count / shorter for count in (rows, columns))
    ends = ((_MIDDLE - reach, _MIDDLE + reach) for reach in reaches)
    down, across = (
        np.linspace(*end, count) for end, count in zip(ends, (rows, columns), strict=True)
    )
    waves = _BASE ** -(np.arange(width // 4) / (width // 4))
    both = np.meshgrid(down, across, indexing="ij")[::-1]
    angles = [positions.reshape(-1, 1) * waves for positions in both]
    parts = [turned(angle) for angle in angles for turned in (np.sin, np.cos)]
    return np.concatenate(parts, axis=1).astype(np.float32)


def _sizes(config: Sd3Config, *, joint: bool) -> tuple[int, ...]:
    """Return what a ControlNet and its transformer have in common."""
    text = (config.context_width,) if joint else ()
    return config.width, config.channels, config.pooled_width, *text
