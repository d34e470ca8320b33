"""What ours is compared with: k-diffusion, and A1111's schedules in its terms."""
# pyright: basic, reportMissingImports=false
# torch, SciPy and k-diffusion are absent from the environment that is type-checked.

from collections.abc import Sequence
from inspect import signature
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from scipy import stats

from tests.oracle.k_diffusion import load
from tests.sampling.toy import mixture_denoise

# Our name, k-diffusion's function and the options that differ from its defaults.
REFERENCE_SAMPLERS = {
    "euler": ("sample_euler", {}),
    "euler_a": ("sample_euler_ancestral", {}),
    "heun": ("sample_heun", {}),
    "dpmpp_2m": ("sample_dpmpp_2m", {}),
    "dpmpp_2m_sde": ("sample_dpmpp_2m_sde", {}),
    "dpmpp_2m_sde/heun": ("sample_dpmpp_2m_sde", {"solver_type": "heun"}),
    "dpmpp_2m_sde/half": ("sample_dpmpp_2m_sde", {"eta": 0.5, "s_noise": 1.01}),
    "euler_a/half": ("sample_euler_ancestral", {"eta": 0.5, "s_noise": 1.01}),
}


def alphas_cumprod() -> torch.Tensor:
    """The products as `LatentDiffusion.register_schedule` of CompVis computes and stores them."""
    betas = torch.linspace(0.00085**0.5, 0.012**0.5, 1000, dtype=torch.float64) ** 2
    return torch.tensor(np.cumprod(1.0 - betas.numpy(), axis=0), dtype=torch.float32)


def denoiser(apply_model, kind: str = "CompVisDenoiser") -> torch.nn.Module:
    """k-diffusion's wrapper around a network of this signature: (x, timestep, cond)."""
    network = SimpleNamespace(apply_model=apply_model, alphas_cumprod=alphas_cumprod())
    return getattr(load("external"), kind)(network)


def reference_schedules(step_counts: Sequence[int]) -> dict[str, Any]:
    """Each schedule at each number of steps, by "name/steps", and the training sigmas."""
    wrapper = denoiser(None)
    low, high = wrapper.sigmas[0], wrapper.sigmas[-1]
    ends = wrapper.sigma_to_t(high[None])[0], wrapper.sigma_to_t(low[None])[0]
    arrays = {"training": wrapper.sigmas.numpy()}
    for n in step_counts:
        arrays[f"normal/{n}"] = wrapper.t_to_sigma(torch.linspace(*ends, n)).numpy()
        arrays[f"sgm_uniform/{n}"] = wrapper.t_to_sigma(torch.linspace(*ends, n + 1)[:-1]).numpy()
        karras = load("sampling").get_sigmas_karras(n, low.item(), high.item())
        arrays[f"karras/{n}"] = karras[:-1].numpy()
        places = [999 - int(i * 1000 / n) for i in range(n)]
        arrays[f"simple/{n}"] = wrapper.sigmas[places].numpy()
        quantiles = stats.beta.ppf(1 - np.linspace(0, 1, n), 0.6, 0.6)
        arrays[f"beta/{n}"] = np.float32(low.item() + quantiles * (high.item() - low.item()))
    with_zero = {key: np.append(value, np.float32(0)) for key, value in arrays.items()}
    return with_zero | {"training": arrays["training"]}


def trajectory(name: str, x: torch.Tensor, sigmas: torch.Tensor, noise: torch.Tensor) -> np.ndarray:
    """x after each step of k-diffusion's sampler on `mixture_denoise`: [steps, *x.shape].

    `noise` holds one draw per step.
    """
    function_name, options = REFERENCE_SAMPLERS[name]
    function = getattr(load("sampling"), function_name)
    if "noise_sampler" in signature(function).parameters:
        draws = iter(noise)
        options = options | {"noise_sampler": lambda sigma, sigma_next: next(draws)}

    def model(x, sigma):
        return mixture_denoise(x, sigma[:, None, None, None], torch.tanh)

    seen = []
    last = function(
        model, x, sigmas, callback=lambda state: seen.append(state["x"]), disable=True, **options
    )
    return torch.stack([*seen[1:], last]).numpy()
