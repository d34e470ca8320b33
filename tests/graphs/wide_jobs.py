"""Encoders, and denoisers with networks that run before them, as wide as published.

They have few blocks and random weights, as those of `tests.graphs.wide_networks`. Encoders whose
size is always the same are not among them: what their run takes is not seen beside their weights.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from backends.base import Array
from engine.graphs.control_net import ControlNetConfig, control_net
from engine.graphs.control_residuals import JointForm
from engine.graphs.flux import FluxConfig, flux
from engine.graphs.flux_control import FluxControlConfig, flux_control
from engine.graphs.qwen3 import Qwen3Config, place_inputs, qwen3_encoder
from engine.graphs.reference_attention import ReferenceForm
from engine.graphs.sd3 import sd3
from engine.graphs.sd3_control import Sd3ControlConfig, sd3_control
from engine.graphs.t5 import T5Config, position_buckets, t5_encoder
from engine.graphs.unet import UNetConfig, unet
from engine.graphs.unet_changes import NetworkChanges
from engine.graphs.unet_encoder import EncoderConfig
from tests.graphs.networks import Emit, wanted
from tests.graphs.wide_networks import DENOISERS, FLUX, NETWORKS, SD1, SD3_LARGE, SDXL, WideNetwork

_WORDS = 512
_T5 = T5Config(_WORDS, width=4096, heads=64, head_width=64, mlp_width=10240, layers=2)
_QWEN3 = Qwen3Config(
    _WORDS, width=2560, heads=32, key_heads=8, head_width=128, mlp_width=9728, layers=3
)


def _words(sizes: Mapping[str, int]) -> dict[str, Array]:
    shape = sizes["batch"], sizes["tokens"]
    return {"tokens": np.arange(np.prod(shape)).reshape(shape) % _WORDS}


def _t5_words(sizes: Mapping[str, int]) -> dict[str, Array]:
    return _words(sizes) | {"buckets": position_buckets(sizes["tokens"])}


def _qwen3_words(sizes: Mapping[str, int]) -> dict[str, Array]:
    return _words(sizes) | place_inputs(_QWEN3, sizes["tokens"])


def _rows(sizes: Mapping[str, int]) -> dict[str, Array]:
    return {"row_contexts": np.arange(sizes["rows"])}


def encoder_of(config: UNetConfig) -> EncoderConfig:
    """The sizes of a UNet's way down and middle, which its ControlNets have."""
    same = (
        "in_channels",
        "context_width",
        "down",
        "mid",
        "linear_projection",
        "added_width",
        "norm_groups",
    )
    fields: dict[str, Any] = {name: getattr(config, name) for name in same}
    return EncoderConfig(**fields)


def _flux_control() -> FluxControlConfig:
    fields: dict[str, Any] = {name: getattr(FLUX, name) for name in FluxConfig.__struct_fields__}
    fields |= {"double_blocks": 2, "single_blocks": 0}
    return FluxControlConfig(**fields)


def _sd3_control() -> Sd3ControlConfig:
    fields: dict[str, Any] = {
        name: getattr(SD3_LARGE, name) for name in SD3_LARGE.__struct_fields__
    }
    fields |= {"joint": False, "ignores_pooled": False, "borrows_tokens": True, "places": 0}
    return Sd3ControlConfig(**fields)


def _led(name: str, control: Emit, denoiser: Emit | None = None) -> WideNetwork:
    """A denoiser behind a control network."""
    own = DENOISERS[name]
    before = replace(own, emit=control, fed=_rows)
    return replace(own, before=(before,), emit=denoiser or own.emit)


def _referring(name: str, config: UNetConfig) -> WideNetwork:
    """A UNet of which all self-attentions attend to a reference, behind its writing twin."""
    own, end = DENOISERS[name], ".attn1.to_q.weight"
    layers = tuple(
        weight.removesuffix(".to_q.weight") for weight in wanted(own.emit) if end in weight
    )
    writes, reads = (
        partial(
            unet,
            config=config,
            halves_evenly=True,
            changes=NetworkChanges(reference=ReferenceForm(layers, writes=is_writer)),
        )
        for is_writer in (True, False)
    )
    return replace(own, emit=reads, before=(replace(own, emit=writes),))


_FLUX_CONTROL, _SD3_CONTROL = _flux_control(), _sd3_control()
_JOINT = JointForm(_SD3_CONTROL.blocks, 0, to_last=True)

ENCODERS: Mapping[str, WideNetwork] = {
    "T5": WideNetwork(partial(t5_encoder, config=_T5), tokens=512, fed=_t5_words),
    "Qwen3 4B": WideNetwork(
        partial(qwen3_encoder, config=_QWEN3, after=(1, 2, 3)), tokens=512, fed=_qwen3_words
    ),
}
STEPS: Mapping[str, WideNetwork] = {
    "SD 1 with a ControlNet": _led(
        "SD 1", partial(control_net, config=ControlNetConfig(encoder_of(SD1)))
    ),
    "SDXL with a ControlNet": _led(
        "SDXL", partial(control_net, config=ControlNetConfig(encoder_of(SDXL)))
    ),
    "SD 3.5 large with a ControlNet": _led(
        "SD 3.5 large",
        partial(sd3_control, config=_SD3_CONTROL, form=_JOINT),
        partial(sd3, config=SD3_LARGE, residuals=(_JOINT,)),
    ),
    "Flux.1 with a ControlNet": _led(
        "Flux.1",
        partial(flux_control, config=_FLUX_CONTROL),
        partial(flux, config=FLUX, residuals=(_FLUX_CONTROL.form,)),
    ),
    "SD 1 with a reference": _referring("SD 1", SD1),
}
WIDE: Mapping[str, Mapping[str, WideNetwork]] = {**NETWORKS, "encoder": ENCODERS, "step": STEPS}
