"""Makes the frozen arrays beside it from torch and k-diffusion. In the oracle environment, run

    python -m tests.sampling.freeze

noise.npz: `torch.randn` of torch 2.13, by "seed/shape/shape/...", in the order drawn.
schedules.npz: k-diffusion's and A1111's definitions in torch, by "name/steps", and the training
sigmas. The samplers have freeze_samplers.py.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

from pathlib import Path
from typing import Any

import numpy as np
import torch

from tests.oracle.reference import reference_schedules

FOLDER = Path(__file__).parent / "frozen"
SEEDS = (0, 42, 2**32 + 42, 2**64 - 1)
# Both ways of drawing in turn: the second value of a small draw's last pair waits for the next.
SHAPES = ((3,), (16,), (2,), (17,), (31,), (15,), (5, 7))


def main() -> None:
    """Write both files."""
    np.savez_compressed(FOLDER / "noise.npz", **frozen_noise())
    np.savez_compressed(FOLDER / "schedules.npz", **reference_schedules((1, 2, 7, 20)))


def frozen_noise() -> dict[str, Any]:
    """Several draws per seed, flattened and joined, and the start of a latent's."""
    arrays = {}
    for seed in SEEDS:
        generator = torch.Generator().manual_seed(seed)
        draws = [torch.randn(shape, generator=generator).numpy().ravel() for shape in SHAPES]
        arrays[f"draws/{seed}"] = np.concatenate(draws)
        generator.manual_seed(seed)
        arrays[f"latent/{seed}"] = torch.randn((4, 64, 64), generator=generator).numpy()[:, ::8, 5]
    return arrays


if __name__ == "__main__":
    main()
