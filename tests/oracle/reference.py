"""The reference samplers: k-diffusion, and A1111's schedules in its terms."""
# pyright: basic, reportMissingImports=false
# torch, SciPy and k-diffusion are absent from the environment that is type-checked.

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy import stats

from tests.oracle.k_diffusion import load
from tests.sampling.references import Reference
from tests.sampling.toy import mixture_denoise


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


class Trajectory(NamedTuple):
    """A sampler's steps: see `trajectory`."""

    x: np.ndarray
    denoised: np.ndarray
    intervals: np.ndarray


def trajectory(
    reference: Reference, x: torch.Tensor, sigmas: torch.Tensor, noise: torch.Tensor
) -> Trajectory:
    """Run k-diffusion's sampler on `mixture_denoise` in x's dtype; `noise` is drawn in order.

    Returns x after each step, or after the last alone where noise is churned in before k-diffusion
    shows it; the denoised picture of each step; and the intervals (sigma, sigma_next) that a noise
    sampler was asked for. DPM fast and adaptive, which take no schedule, get its ends and its
    number of steps, as ComfyUI hands them over.
    """
    sampling = load("sampling")
    function = getattr(sampling, reference.theirs)
    parameters = signature(function).parameters
    draws = iter(noise)
    intervals, seen = [], []

    def noise_sampler(sigma, sigma_next):
        intervals.append((float(sigma), float(sigma_next)))
        return next(draws)

    offered = {
        "noise_sampler": noise_sampler,
        "sigmas": sigmas,
        "sigma_min": sigmas[sigmas > 0][-1].item(),
        "sigma_max": sigmas[0].item(),
        "n": len(sigmas) - 1,
    }
    with a1111_surroundings(sampling, draws), default_dtype(x.dtype):
        last = function(
            lambda x, sigma: mixture_denoise(x, sigma[:, None, None, None], torch.tanh),
            x,
            callback=seen.append,
            disable=True,
            **{key: value for key, value in offered.items() if key in parameters},
            **reference.options,
        )
    states = [state["x"] for state in seen]
    # All but DPM adaptive show x before each step.
    after = states if "rtol" in parameters else [*states[1:], last]
    return Trajectory(
        torch.stack([last] if "s_churn" in reference.options else after).numpy(),
        torch.stack([state["denoised"] for state in seen]).numpy(),
        np.array(intervals).reshape(-1, 2),
    )


@contextmanager
def a1111_surroundings(sampling: Any, draws: Iterator[torch.Tensor]) -> Iterator[None]:
    """Let k-diffusion find what it finds in A1111.

    Its own `torch.randn_like` draws from the picture's generator there (TorchHijack). And NumPy 1
    integrates the weights of LMS in float64, which NumPy 2 does in float32, losing three digits.
    """
    weight = sampling.linear_multistep_coeff
    names = {name: getattr(torch, name) for name in dir(torch)}
    sampling.torch = SimpleNamespace(**names | {"randn_like": lambda x: next(draws)})
    sampling.linear_multistep_coeff = lambda order, t, i, j: weight(order, np.float64(t), i, j)
    try:
        yield
    finally:
        sampling.torch, sampling.linear_multistep_coeff = torch, weight


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """Let torch make numbers of this type; DPM fast and adaptive make some on their own."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
