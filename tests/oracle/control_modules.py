"""Small ControlNets of diffusers' with random weights, also where a new one has zeros."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

import diffusers
import torch

from tests.oracle.sdxl_folder import NARROW, PROJECTED, WAVES, WIDE

_SDXL = {
    "block_out_channels": (32, 64),
    "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D"),
    "attention_head_dim": (2, 4),
    "transformer_layers_per_block": (1, 2),
    "norm_num_groups": 16,
    "use_linear_projection": True,
    "addition_embed_type": "text_time",
    "addition_time_embed_dim": WAVES,
    "projection_class_embeddings_input_dim": PROJECTED + 6 * WAVES,
    "cross_attention_dim": NARROW + WIDE,
}
_SD1 = {
    "block_out_channels": (32, 64, 96),
    "down_block_types": ("CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"),
    "attention_head_dim": 4,
    "norm_num_groups": 16,
    "cross_attention_dim": 24,
}
_MAPS = {"conditioning_embedding_out_channels": (8, 16, 24, 32)}
KINDS = {
    "SD 1": _SD1,
    "SD 1, BGR": _SD1 | {"controlnet_conditioning_channel_order": "bgr"},
    "SD 1, pooled": _SD1 | {"global_pool_conditions": True},
    "SD 2": _SD1 | {"use_linear_projection": True, "attention_head_dim": (2, 4, 6)},
    "SDXL": _SDXL,
    "SDXL mid": _SDXL
    | {
        "block_out_channels": (32, 64, 96),
        "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
        "transformer_layers_per_block": (0, 0, 1),
        "attention_head_dim": (2, 4, 6),
    },
    "SDXL small": _SDXL
    | {"down_block_types": ("DownBlock2D",) * 2, "mid_block_type": "UNetMidBlock2D"},
}
# The number of kinds of a union, and of the one called "promax".
UNIONS = (6, 8)


def control_net_module(kind: str, **changes):
    """A ControlNetModel of this kind."""
    return randomised(diffusers.ControlNetModel(**{**_MAPS, **KINDS[kind], **changes}))


def union_module(kinds: int, **changes):
    """A ControlNetUnionModel of so many kinds of maps."""
    sizes = {"num_control_type": kinds, "num_trans_channel": 32, "num_proj_channel": 32}
    return randomised(diffusers.ControlNetUnionModel(**{**_MAPS, **_SDXL, **sizes, **changes}))


def randomised(module, seed: int = 0):
    """The module with numbers in its layers that begin with zeros, and in torch's lone vectors."""
    torch.manual_seed(seed)
    for name, tensor in module.named_parameters():
        if not tensor.any() or name == "task_embedding":
            width = tensor[0].numel() if tensor.dim() > 1 else 100
            tensor.data.normal_(0, width**-0.5)
    return module.eval()
