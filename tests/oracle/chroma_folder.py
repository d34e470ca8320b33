"""A whole Chroma pipeline of some megabytes, built and saved by diffusers."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import diffusers
import torch

from tests.oracle import flux_folder


def write_pipeline(folder: Path) -> Path:
    """The whole pipeline, whose levels are not shifted."""
    torch.manual_seed(0)
    pipe = diffusers.ChromaPipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(shift=1.0),
        vae=flux_folder._vae(),
        text_encoder=flux_folder._t5(),
        tokenizer=flux_folder._pieces(),
        transformer=transformer(
            in_channels=64,
            attention_head_dim=32,
            joint_attention_dim=flux_folder.CONTEXT,
            axes_dims_rope=(4, 14, 14),
        ),
    )
    pipe.save_pretrained(folder / "chroma")
    return folder / "chroma"


def transformer(**sizes):
    """A small transformer, its norms and biases off their first values."""
    small = {
        "num_layers": 2,
        "num_single_layers": 2,
        "num_attention_heads": 2,
        "approximator_num_channels": 16,
        "approximator_hidden_dim": 48,
        "approximator_layers": 2,
    }
    torch.manual_seed(0)
    module = diffusers.ChromaTransformer2DModel(**(small | sizes)).eval()
    for name, tensor in module.named_parameters():
        if tensor.ndim == 1:
            tensor.data.add_(0.1 * torch.randn(tensor.shape))
        elif "embedder" in name or "distilled" in name:
            tensor.data.mul_(3)  # so that prompt and timestep show
    return module
