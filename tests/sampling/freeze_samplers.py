"""Makes frozen/k_diffusion.npz and frozen/restart.npz. In the oracle environment, run

    python -m tests.sampling.freeze_samplers CHECKOUT_OF_A1111

k_diffusion.npz: k-diffusion on `toy.mixture_denoise`, in float64 and rounded: by name in
`references.REFERENCES` the x after each step, or where noise is churned in after the last alone,
and by "name/intervals" what noise samplers were asked for. restart.npz: A1111's
modules/sd_samplers_extra.py of https://github.com/AUTOMATIC1111/stable-diffusion-webui, 1.10.1 (as
in commit 5347a0d3261e467f6861ea9407016579e5cc6113 of chirag127/stable-diffusion-webui, which
differs in its layout alone): by case the levels, the denoised picture of each step and the last x.
All values of latents are those at `KEPT`.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from engine.api.values import ScheduleName
from engine.sampling.schedules import NoiseSchedule, sigmas_for
from tests.oracle.k_diffusion import load
from tests.oracle.reference import a1111_surroundings, trajectory
from tests.sampling.references import REFERENCES
from tests.sampling.toy import DRAWS, KEPT, SHAPE, draws, mixture_denoise

FOLDER = Path(__file__).parent / "frozen"
STEPS = 8
TRAINING = NoiseSchedule.scaled_linear()
NORMAL = {
    steps: sigmas_for(ScheduleName.NORMAL, steps, TRAINING) for steps in (12, 20, 33, 36, 47, 60)
}
# Whole schedules, the end of one that redraws a picture, and one that is below all repetition.
RESTARTS = {
    **{str(steps): sigmas for steps, sigmas in NORMAL.items()},
    "end": NORMAL[60][-27:],
    "low": np.append(np.linspace(0.09, 0.03, 24, dtype=np.float32), np.float32(0)),
}


def main() -> None:
    """Write both files."""
    np.savez_compressed(FOLDER / "k_diffusion.npz", **frozen_samplers())
    np.savez_compressed(FOLDER / "restart.npz", **frozen_restarts(Path(sys.argv[1])))


def frozen_samplers() -> dict[str, Any]:
    """The inputs that all samplers share, and the trajectory of each."""
    generator = torch.Generator().manual_seed(7)
    sigmas = sigmas_for(ScheduleName.KARRAS, STEPS, TRAINING)
    x = torch.randn(SHAPE, generator=generator).numpy() * sigmas[0]
    arrays = {"sigmas": sigmas, "x": x}
    for name, reference in REFERENCES.items():
        inputs = (torch.from_numpy(array).double() for array in (x, sigmas, draws(DRAWS)))
        result = trajectory(reference, *inputs)
        arrays[name] = result.x[KEPT].astype(np.float32)
        arrays[f"{name}/intervals"] = result.intervals.astype(np.float32)
    return arrays


def frozen_restarts(checkout: Path) -> dict[str, Any]:
    """Runs of A1111's sampler, from x of ones times the first level."""
    sampling = load("sampling")
    source = checkout / "modules" / "sd_samplers_extra.py"
    spec = importlib.util.spec_from_file_location("sd_samplers_extra", source)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    arrays = {}
    for case, sigmas in RESTARTS.items():
        seen = []
        with a1111_surroundings(sampling, iter(torch.from_numpy(draws(DRAWS)))):
            last = module.restart_sampler(
                lambda x, sigma: mixture_denoise(x, sigma[:, None, None, None], torch.tanh),
                torch.ones(SHAPE) * float(sigmas[0]),
                torch.from_numpy(sigmas),
                callback=seen.append,
                disable=True,
                s_noise=1.01,
            )
        arrays[f"{case}/sigmas"] = sigmas
        arrays[f"{case}/levels"] = np.array([float(state["sigma_hat"]) for state in seen])
        arrays[f"{case}/denoised"] = torch.stack([state["denoised"] for state in seen])[KEPT]
        arrays[f"{case}/last"] = last[KEPT]
    return {key: np.asarray(value, np.float32) for key, value in arrays.items()}


if __name__ == "__main__":
    main()
