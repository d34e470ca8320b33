"""A1111 in plain torch around k-diffusion: noise, levels, guidance, samplers.

After `rng.py`, `sd_schedulers.py`, `sd_samplers_kdiffusion.py` and `sd_samplers_common.py` of
https://github.com/AUTOMATIC1111/stable-diffusion-webui/tree/v1.10.1/modules
"""
# pyright: basic, reportMissingImports=false
# torch, SciPy and k-diffusion are absent from the environment that is type-checked.

from collections.abc import Callable
from functools import partial
from inspect import signature
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from tests.oracle.fidelity import a1111_samplers, timestep_samplers
from tests.oracle.fidelity.a1111_schedules import schedule
from tests.oracle.fidelity.a1111_text import TextEncoder, stacked
from tests.oracle.fidelity.networks import SHAPE, Networks, alphas_cumprod, init_picture
from tests.oracle.fidelity.noise import (
    brownian,
    brownian_source,
    drawing_from,
    generator,
    pasted,
    slerp,
)
from tests.oracle.fidelity.picture import Picture
from tests.oracle.k_diffusion import load

# The sampler's label: k-diffusion's function, A1111's own choice of schedule, and what else it is.
K_SAMPLERS: dict[str, tuple[str, str, frozenset[str]]] = {
    "DPM++ 2M": ("dpmpp_2m", "Karras", frozenset()),
    "DPM++ SDE": ("dpmpp_sde", "Karras", frozenset({"brownian"})),
    "DPM++ 2M SDE": ("dpmpp_2m_sde", "Exponential", frozenset({"brownian"})),
    "DPM++ 2M SDE Heun": ("dpmpp_2m_sde", "Exponential", frozenset({"brownian", "heun"})),
    "DPM++ 2S a": ("dpmpp_2s_ancestral", "Karras", frozenset()),
    "DPM++ 3M SDE": ("dpmpp_3m_sde", "Exponential", frozenset({"brownian", "discard"})),
    "Euler a": ("euler_ancestral", "Uniform", frozenset()),
    "Euler": ("euler", "Uniform", frozenset()),
    "LMS": ("lms", "Uniform", frozenset()),
    "Heun": ("heun", "Uniform", frozenset()),
    "DPM2": ("dpm_2", "Karras", frozenset({"discard"})),
    "DPM2 a": ("dpm_2_ancestral", "Karras", frozenset({"discard"})),
    "DPM fast": ("dpm_fast", "Uniform", frozenset()),
    "DPM adaptive": ("dpm_adaptive", "Uniform", frozenset()),
    "Restart": ("", "Karras", frozenset()),
    "LCM": ("", "Uniform", frozenset()),
}
TIMESTEP_SAMPLERS = ("DDIM", "DDIM CFG++", "PLMS", "UniPC")
SAMPLERS = (*K_SAMPLERS, *TIMESTEP_SAMPLERS)


class Noise:
    """The noise of one picture of a batch (A1111 `ImageRNG`)."""

    def __init__(self, picture: Picture) -> None:
        turned = picture.variation_strength != 0
        self.seed = picture.seed + (0 if turned else picture.batch_index)
        self.picture = picture
        self._stream = generator(self.seed, picture.source)

    def first(self) -> Any:
        """The noise [1, 4, H, W] that the picture starts from."""
        picture = self.picture
        # By 8 whatever the VAE does.
        size = picture.resize_from
        shape = SHAPE if size is None else (4, size[1] // 8, size[0] // 8)
        fresh = partial(generator, source=picture.source)
        noise = self._stream.randn(SHAPE) if shape == SHAPE else fresh(self.seed).randn(shape)
        if picture.variation_strength != 0:
            other = (picture.variation_seed or 0) + picture.batch_index
            noise = slerp(picture.variation_strength, noise, fresh(other).randn(shape))
        if shape != SHAPE:
            noise = pasted(noise, self._stream.randn(SHAPE))
        if picture.eta_seed_delta:
            self._stream = fresh(self.seed + picture.eta_seed_delta)
        return noise[None]

    def randn(self, shape: Any) -> Any:
        """Draw the noise that the sampler adds next."""
        return self._stream.randn(shape)


class Guided(torch.nn.Module):
    """The denoiser under guidance, counting its evaluations (A1111 `CFGDenoiser`)."""

    def __init__(self, inner: Any, networks: Networks, picture: Picture) -> None:
        super().__init__()
        self.inner, self.picture, self.evaluation = inner, picture, 0
        encoder = TextEncoder(networks, picture)
        self.positives = [encoder.scheduled(part) for part in picture.parts()]
        self.negative = encoder.scheduled(picture.uncond())
        self.empty = encoder.empty()
        self.scale, self.unguided = picture.guidance, None

    def forward(self, x: Any, sigma: Any, **_: Any) -> Any:
        """The guided result for x [1, 4, H, W] at a level or timestep [1]."""
        tensor = stacked([text.at(self.evaluation) for text in self.positives])
        uncond = self.negative.at(self.evaluation)[None]
        if self.picture.pads_chunks:
            tensor, uncond = self._padded(tensor, uncond)
        self.evaluation += 1
        count = len(tensor)
        if tensor.shape[1] == uncond.shape[1]:
            both = torch.cat([tensor, uncond])
            out = self.inner(x.repeat(count + 1, 1, 1, 1), sigma.repeat(count + 1), cond=both)
            conds, unguided = out[:count], out[count:]
        else:
            conds = self.inner(x.repeat(count, 1, 1, 1), sigma.repeat(count), cond=tensor)
            unguided = self.inner(x, sigma, cond=uncond)
        self.unguided = unguided.clone()
        start, end = self.picture.guided
        share = (self.evaluation - 1) / self.picture.steps
        if self.picture.guided != (0.0, 1.0) and not start <= share <= end:
            return conds[:1]
        result = unguided.clone()
        for text, cond in zip(self.positives, conds, strict=True):
            result += (cond - unguided) * (text.weight * self.scale)
        return result

    def _padded(self, tensor: Any, uncond: Any) -> tuple[Any, Any]:
        missing = (tensor.shape[1] - uncond.shape[1]) // len(self.empty)
        if missing > 0:
            uncond = torch.cat([uncond, self.empty.repeat(missing, 1)[None]], dim=1)
        elif missing < 0:
            more = self.empty.repeat(-missing, 1)[None].repeat(len(tensor), 1, 1)
            tensor = torch.cat([tensor, more], dim=1)
        return tensor, uncond


def network(networks: Networks, picture: Picture) -> Any:
    """The network as k-diffusion's wrappers call it."""
    products = alphas_cumprod()
    if picture.zero_terminal_snr:
        products = zero_terminal(products)
    return SimpleNamespace(
        apply_model=lambda x, t, cond: networks.predict(x, t, cond), alphas_cumprod=products
    )


def zero_terminal(products: Any) -> Any:
    """Lin et al. (2023), algorithm 1, on the products; the last is A1111's and ComfyUI's."""
    roots = products.sqrt()
    first, last = roots[0].clone(), roots[-1].clone()
    rescaled = ((roots - last) * (first / (first - last))) ** 2
    rescaled[-1] = 4.8973451890853435e-08
    return rescaled


def render(networks: Networks, picture: Picture) -> np.ndarray:
    """The picture, uint8 [H, W, 3]."""
    with torch.no_grad(), brownian_source(picture.source):
        noise = Noise(picture)
        model = network(networks, picture)
        sample = timestep_samplers.sample if picture.sampler in TIMESTEP_SAMPLERS else _k_sample
        return networks.pixels(sample(networks, picture, model, noise), rounds=False)


def _k_sample(networks: Networks, picture: Picture, model: Any, noise: Noise) -> Any:
    function, own, traits = K_SAMPLERS[picture.sampler]
    external = load("external")
    kind = "CompVisDenoiser" if picture.prediction == "epsilon" else "CompVisVDenoiser"
    wrapper: Any = getattr(external, kind)(model)
    if picture.sampler == "LCM":
        wrapper = a1111_samplers.LcmDenoiser(model)
    more = "discard" in traits or picture.discards_next_to_last
    steps = picture.steps + (1 if more else 0)
    sigmas = schedule(picture.schedule or own, steps, wrapper, picture)
    if more:
        sigmas = torch.cat([sigmas[:-2], sigmas[-1:]])
    first = noise.first()
    visited = sigmas
    if picture.strength is None:
        x = first * (sigmas[0] ** 2 + picture.widens_first_noise) ** 0.5
    else:
        steps_taken = int(min(picture.strength, 0.999) * picture.steps)
        visited = sigmas[picture.steps - steps_taken - 1 :]
        x = networks.latent(init_picture()) + first * visited[0]
    guided = Guided(wrapper, networks, picture)
    run = _function(picture.sampler, function)
    arguments = _arguments(run, picture, visited, wrapper)
    if "brownian" in traits:
        arguments["noise_sampler"] = brownian(x, sigmas, [noise.seed])
    if "heun" in traits:
        arguments["solver_type"] = "heun"
    with drawing_from(noise):
        return run(guided, x, disable=True, **arguments)


def _function(label: str, name: str) -> Callable[..., Any]:
    own = {"Restart": a1111_samplers.restart, "LCM": a1111_samplers.lcm}
    return own[label] if label in own else getattr(load("sampling"), f"sample_{name}")


def _arguments(run: Any, picture: Picture, sigmas: Any, wrapper: Any) -> dict[str, Any]:
    """The arguments that A1111 passes to a sampler, by the names of its parameters."""
    redrawn = picture.strength is not None
    churn = {
        "s_churn": picture.churn,
        "s_tmin": picture.churn_from,
        "s_tmax": picture.churn_to,
        "s_noise": picture.noise_scale,
    }
    offered = {
        "sigmas": sigmas,
        "n": len(sigmas) - 1 if redrawn else picture.steps,
        "sigma_min": sigmas[-2] if redrawn else wrapper.sigmas[0].item(),
        "sigma_max": sigmas[0] if redrawn else wrapper.sigmas[-1].item(),
        "eta": 1.0 if picture.eta is None else picture.eta,
    }
    offered |= {name: value for name, value in churn.items() if value is not None}
    parameters = signature(run).parameters
    return {name: value for name, value in offered.items() if name in parameters}
