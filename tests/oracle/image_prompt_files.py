"""A tiny vision encoder by transformers, and adapters for UNets of diffusers."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import torch
import transformers

from tests.checkpoints.arrays import write_arrays
from tests.image_prompts.files import CLIP, adapter_arrays, flat


def vision_model(activation: str = "gelu"):
    """A CLIP vision model of three layers, with embeddings as large as trained ones'."""
    torch.manual_seed(0)
    module = transformers.CLIPVisionModelWithProjection(
        transformers.CLIPVisionConfig(
            hidden_size=CLIP.width,
            intermediate_size=CLIP.mlp_width,
            num_hidden_layers=CLIP.layers,
            num_attention_heads=CLIP.heads,
            projection_dim=CLIP.projected_width,
            image_size=CLIP.side,
            patch_size=CLIP.patch,
            hidden_act=activation,
        )
    ).eval()
    for name, tensor in module.named_parameters():
        if "embedding" in name:
            tensor.data.normal_(0, 0.3)
        elif tensor.dim() > 1:
            tensor.data.normal_(0, tensor[0].numel() ** -0.5)
    return module


def adapter_state(unet, kind: str, seed: int = 0) -> dict[str, dict[str, torch.Tensor]]:
    """The two dictionaries of an adapter's file for a UNet of diffusers."""
    layers = (
        unet.get_submodule(name.removesuffix(".processor"))
        for name in unet.attn_processors
        if name.endswith("attn2.processor")
    )
    widths = [layer.to_q.out_features for layer in layers]
    arrays = adapter_arrays(kind, widths, unet.config.cross_attention_dim, seed)
    return {
        part: {name: torch.from_numpy(array) for name, array in found.items()}
        for part, found in arrays.items()
    }


def write_adapter(path: Path, state: dict[str, dict[str, torch.Tensor]]) -> Path:
    """Write an adapter as IP-Adapter's authors do, by the path's suffix."""
    if path.suffix == ".bin":
        torch.save(state, path)
        return path
    arrays = {part: {k: v.numpy() for k, v in found.items()} for part, found in state.items()}
    write_arrays(path, flat(arrays))
    return path
