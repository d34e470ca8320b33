"""Makes the frozen arrays beside it from torch and k-diffusion. In the oracle environment, run

    python -m tests.sampling.freeze

noise.npz: `torch.randn` of torch 2.13, by "seed/shape/shape/...", in the order drawn.
schedules.npz: k-diffusion's and A1111's definitions in torch, by "name/steps", and the training
sigmas. samplers.npz: k-diffusion's x after each step on `toy.mixture_denoise`, by sampler.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

from pathlib import Path
from typing import Any

import numpy as np
import torch

from tests.oracle.reference import REFERENCE_SAMPLERS, reference_schedules, trajectory
from tests.sampling.toy import SHAPE

FOLDER = Path(__file__).parent / "frozen"
STEPS = 8
SEEDS = (0, 42, 2**32 + 42, 2**64 - 1)
# Both ways of drawing in turn: the second value of a small draw's last pair waits for the next.
SHAPES = ((3,), (16,), (2,), (17,), (31,), (15,), (5, 7))


def main() -> None:
    """Write all three files."""
    np.savez_compressed(FOLDER / "noise.npz", **frozen_noise())
    np.savez_compressed(FOLDER / "schedules.npz", **reference_schedules((1, 2, 7, 20)))
    np.savez_compressed(FOLDER / "samplers.npz", **frozen_samplers())


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


def frozen_samplers() -> dict[str, Any]:
    """The inputs that all samplers share, and the trajectory of each."""
    generator = torch.Generator().manual_seed(7)
    sigmas = torch.from_numpy(reference_schedules((STEPS,))[f"karras/{STEPS}"])
    x = torch.randn(SHAPE, generator=generator) * sigmas[0]
    noise = torch.randn((STEPS, *SHAPE), generator=generator)
    arrays = {"sigmas": sigmas.numpy(), "x": x.numpy(), "noise": noise.numpy()}
    for name in REFERENCE_SAMPLERS:
        arrays[name] = trajectory(name, x, sigmas, noise)
    return arrays


if __name__ == "__main__":
    main()
