"""Makes a ControlNet of SD 1.5's sizes with random weights, in float32."""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

import sys
from pathlib import Path

import diffusers
import torch


def make(folder: Path) -> None:
    """Write the network as a diffusers folder, with numbers where a new one has zeros."""
    torch.manual_seed(0)
    network = diffusers.ControlNetModel(cross_attention_dim=768)
    for name, tensor in network.named_parameters():
        if not tensor.any() and name.endswith("weight"):
            tensor.data.normal_(0, tensor[0].numel() ** -0.5)
    network.save_pretrained(folder)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
