"""A checkpoint in torch whose UNet is led by ControlNets and T2I-Adapters at each evaluation.

With it the loops of A1111 and ComfyUI in `tests.oracle.fidelity` make led pictures: as in
sd-webui-controlnet and ComfyUI, residuals of all networks are added for each context.
"""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from diffusers import ControlNetModel, T2IAdapter, UNet2DConditionModel
from numpy.typing import NDArray
from PIL import Image

from engine.api.control import ControlResize
from engine.api.control_rules import MapResampling
from engine.pipeline.control.fitting import fitted_map
from engine.pipeline.denoise.tiles import latent_tiles
from tests.oracle.control_modules import randomised
from tests.oracle.fidelity.networks import Networks
from tests.tiny_checkpoint import DOWNSCALE, write_checkpoint

MAPS = {"conditioning_embedding_out_channels": (8, 16)}
# A UNet whose levels with attention come first, as those of SD 1 do: to diffusers, an adapter's
# image is added before the halving only there.
_SD1S = {
    "block_out_channels": (32, 64, 96),
    "layers_per_block": 1,
    "down_block_types": ("CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"),
    "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"),
    "attention_head_dim": 4,
    "norm_num_groups": 16,
    "sample_size": 32,
}


@dataclass(frozen=True)
class Lead:
    """A network of diffusers', the levels of its map [height, width, 3], and its weight."""

    module: Any
    levels: NDArray[np.uint8]
    weight: float = 1.0


class LedNetworks(Networks):
    """A checkpoint led by networks; `longest` is the side of a tile in cells, None without tiles.

    `resampling` is the tool's rule for maps of another size. `in_use` chooses the UNet and what
    leads it by the number of an evaluation.
    """

    def __init__(
        self,
        folder: Path,
        leads: Sequence[Lead] = (),
        resampling: MapResampling = MapResampling.BY_CONTENT,
    ) -> None:
        super().__init__(folder)
        self.resampling = resampling
        self.longest: int | None = None
        self.in_use: Callable[[int], tuple[Any, Sequence[Lead]]] = lambda _: (self.unet, leads)
        self.evaluation = 0

    def predict(self, x: Any, timestep: Any, context: Any, seen: Any = None) -> Any:
        """The UNet's output with residuals; in tiles, the mean of theirs by the tiles' weights."""
        used, self.evaluation = self.in_use(self.evaluation), self.evaluation + 1
        whole = torch.zeros_like(x)
        for tile in latent_tiles(tuple(x.shape[2:]), self.longest):
            part = ..., tile.rows, tile.columns
            led = self._led(used, x[part], timestep, context, (x.shape[2:], part))
            whole[part] += led * torch.from_numpy(tile.weights)
        return whole

    def _led(self, used: Any, x: Any, timestep: Any, context: Any, of: tuple[Any, Any]) -> Any:
        (unet, leads), (cells, part), down, mid, inner = used, of, None, None, None
        for lead in leads:
            image = self._map(lead, cells)
            if isinstance(lead.module, T2IAdapter):
                images = [lead.weight * feature for feature in lead.module(image)]
                inner = images if inner is None else list(map(torch.add, inner, images))
                continue
            found, last = _controlled(lead, x, timestep, context, image, part)
            down = found if down is None else list(map(torch.add, down, found))
            mid = last if mid is None else mid + last
        return unet(
            x,
            timestep,
            encoder_hidden_states=context,
            down_block_additional_residuals=down,
            mid_block_additional_residual=mid,
            down_intrablock_additional_residuals=inner,
        ).sample

    def _map(self, lead: Lead, cells: Sequence[int]) -> Any:
        size = int(cells[1]) * DOWNSCALE, int(cells[0]) * DOWNSCALE
        levels = fitted_map(lead.levels, size, ControlResize.CROP, self.resampling)
        return torch.from_numpy(levels.astype(np.float32) / 255).permute(2, 0, 1)[None]


def _controlled(lead: Lead, x: Any, timestep: Any, context: Any, image: Any, part: Any) -> Any:
    """The residuals of a ControlNet, which sees a part of the whole map's embedding."""
    embed = lead.module.controlnet_cond_embedding
    embedded = embed(image)[part]
    handle = embed.register_forward_hook(lambda *_: embedded)
    try:
        cropped = image[:, :, : x.shape[2] * DOWNSCALE, : x.shape[3] * DOWNSCALE]
        given = x, timestep, context, cropped
        found, last = lead.module(*given, conditioning_scale=lead.weight, return_dict=False)
    finally:
        handle.remove()
    return list(found), last


class Leading:
    """A tiny SD 1 checkpoint, two ControlNets and a T2I-Adapter for it, and maps."""

    def __init__(self, folder: Path) -> None:
        self.checkpoint = write_checkpoint(folder / "tiny")
        stated = UNet2DConditionModel.load_config(self.checkpoint / "unet")
        torch.manual_seed(0)
        context = stated["cross_attention_dim"]
        unet = UNet2DConditionModel(**_SD1S, cross_attention_dim=context).eval()
        unet.save_pretrained(self.checkpoint / "unet")
        self.modules = [
            randomised(ControlNetModel.from_unet(unet, **MAPS), seed) for seed in range(2)
        ]
        widths = list(_SD1S["block_out_channels"])
        torch.manual_seed(3)
        adapter = T2IAdapter(adapter_type="full_adapter", channels=widths, downscale_factor=2)
        self.modules.append(adapter.eval())
        self.files, self.maps, self.levels = [], [], []
        for number, module in enumerate(self.modules):
            self.files.append(folder / f"net {number}")
            module.save_pretrained(self.files[-1])
            small = np.random.default_rng(number).integers(0, 256, (8, 8, 3), np.uint8)
            picture = Image.fromarray(small).resize((64, 64), Image.Resampling.BICUBIC)
            self.levels.append(np.asarray(picture))
            self.maps.append(folder / f"map {number}.png")
            picture.save(self.maps[-1])

    def leads(self, *weights: float) -> list[Lead]:
        """The networks in torch, as many as there are weights; one of weight 0 is left out."""
        layers = zip(self.modules, self.levels, weights, strict=False)
        return [Lead(*parts) for parts in layers if parts[2]]
