"""ComfyUI's KSampler in plain torch: levels, noise, prompts, guidance, samplers.

After `comfy/samplers.py`, `comfy/model_sampling.py`, `comfy/sd1_clip.py` and `comfy/sample.py` of
https://github.com/comfyanonymous/ComfyUI, run on a processor.
"""
# pyright: basic, reportMissingImports=false
# torch, SciPy and k-diffusion are absent from the environment that is type-checked.

from collections.abc import Callable
from math import lcm as least_common_multiple
from typing import Any

import numpy as np
import torch

from tests.oracle.fidelity import comfy_samplers
from tests.oracle.fidelity.comfy_schedules import Levels, schedule
from tests.oracle.fidelity.networks import SHAPE, Networks, init_picture
from tests.oracle.fidelity.noise import brownian, brownian_source, generator
from tests.oracle.fidelity.picture import Part, Picture
from tests.oracle.k_diffusion import load

_LENGTH, _WORD = 77, 8
# Those of ComfyUI's that k-diffusion has, too, by its name.
FROM_K = {
    "euler": "euler",
    "euler_ancestral": "euler_ancestral",
    "heun": "heun",
    "dpm_2": "dpm_2",
    "dpm_2_ancestral": "dpm_2_ancestral",
    "dpm_fast": "dpm_fast",
    "dpm_adaptive": "dpm_adaptive",
    "dpmpp_2s_ancestral": "dpmpp_2s_ancestral",
    "dpmpp_sde": "dpmpp_sde",
    "dpmpp_2m": "dpmpp_2m",
    "dpmpp_2m_sde": "dpmpp_2m_sde",
    "dpmpp_2m_sde_heun": "dpmpp_2m_sde",
    "dpmpp_3m_sde": "dpmpp_3m_sde",
    "ddim": "euler",
}
OWN = (
    "lms",
    "ddpm",
    "lcm",
    "deis",
    "res_multistep",
    "euler_cfg_pp",
    "euler_ancestral_cfg_pp",
    "uni_pc",
    "uni_pc_bh2",
)
SAMPLERS = (*FROM_K, *OWN)
_BROWNIAN = {"dpmpp_sde", "dpmpp_2m_sde", "dpmpp_2m_sde_heun", "dpmpp_3m_sde"}
_DISCARDING = {"dpm_2", "dpm_2_ancestral", "uni_pc", "uni_pc_bh2"}


class Guided(torch.nn.Module):
    """The denoiser under guidance: (x, sigma [1]) to a picture."""

    def __init__(self, networks: Networks, picture: Picture, levels: Levels) -> None:
        super().__init__()
        self.networks, self.picture, self.levels = networks, picture, levels
        positive = encoded(networks, picture.parts()[0], picture.clip_skip)
        negative = encoded(networks, picture.uncond(), picture.clip_skip)
        length = least_common_multiple(positive.shape[1], negative.shape[1])
        both = [text.repeat(1, length // text.shape[1], 1) for text in (positive, negative)]
        self.context = torch.cat(both)
        self.unguided: Any = None

    def forward(self, x: Any, sigma: Any, **_: Any) -> Any:
        """The guided picture; the one without the prompt is kept in `unguided`."""
        level = sigma.reshape(-1, 1, 1, 1)[:1]
        scale = (level**2 + 1.0) ** 0.5
        timestep = self.levels.timestep(level.reshape(1)).repeat(2)
        out = self.networks.predict((x / scale).repeat(2, 1, 1, 1), timestep.float(), self.context)
        if self.picture.prediction == "epsilon":
            pictures = x - out * level
        else:
            pictures = x / (level**2 + 1) - out * level / scale
        cond, self.unguided = pictures.chunk(2)
        if self.picture.rescale:
            return self._rescaled(x, level, cond)
        return self.unguided + (cond - self.unguided) * self.picture.guidance

    def _rescaled(self, x: Any, level: Any, cond: Any) -> Any:
        """ComfyUI's RescaleCFG: Lin et al. (2023), section 3.4, on the velocity."""
        kept = x / (level**2 + 1.0)
        scale = (level**2 + 1.0) ** 0.5 / level
        with_prompt, without = ((kept - picture) * scale for picture in (cond, self.unguided))
        guided = without + self.picture.guidance * (with_prompt - without)
        ratio = with_prompt.std(dim=(1, 2, 3), keepdim=True) / guided.std(
            dim=(1, 2, 3), keepdim=True
        )
        share = self.picture.rescale
        return kept - (share * guided * ratio + (1.0 - share) * guided) / scale


def encoded(networks: Networks, part: Part, clip_skip: int) -> Any:
    """The context of a prompt [1, T, width]; weights start from the empty prompt's."""
    end, start = networks.tokenizer.eos_token_id, networks.tokenizer.bos_token_id
    rows: list[list[tuple[int, float]]] = [[(start, 1.0)]]
    for text, weight in part.stages[0][1]:
        group = [(token, weight) for token in networks.tokens(text or "")]
        large = len(group) >= _WORD
        while group:
            room = _LENGTH - 1 - len(rows[-1])
            if len(group) <= room:
                rows[-1] += group
                break
            if large:
                rows[-1], group = [*rows[-1], *group[:room]], group[room:]
            rows[-1] += [(end, 1.0)] * (_LENGTH - len(rows[-1]))
            rows.append([(start, 1.0)])
    rows[-1] += [(end, 1.0)] * (_LENGTH - len(rows[-1]))
    ids = [[token for token, _ in row] for row in rows]
    output = networks.encode([*ids, [start, *[end] * (_LENGTH - 1)]], clip_skip)
    weights = torch.tensor([[weight for _, weight in row] for row in rows])[..., None]
    empty = output[-1:]
    return (empty + (output[:-1] - empty) * weights).reshape(1, -1, output.shape[-1])


def _noise(picture: Picture) -> Any:
    """The last picture's of a batch that is drawn at once."""
    return generator(picture.seed, "cpu").randn((picture.batch_index + 1, *SHAPE))[-1:]


def _sigmas(picture: Picture, levels: Levels) -> Any:
    discards = picture.sampler in _DISCARDING

    def made(steps: int) -> Any:
        sigmas = schedule(picture.schedule, steps + discards, levels)
        return torch.cat([sigmas[:-2], sigmas[-1:]]) if discards else sigmas

    if picture.strength is None:
        return made(picture.steps)
    return made(int(picture.steps / picture.strength))[-picture.steps - 1 :]


def render(networks: Networks, picture: Picture) -> np.ndarray:
    """The picture, uint8 [H, W, 3]."""
    # The paths of those whose names end in "_gpu" are drawn where the network runs.
    paths = picture.source if picture.sampler.endswith("_gpu") else "cpu"
    with torch.no_grad(), brownian_source(paths):
        levels = Levels(zero_terminal=picture.zero_terminal_snr)
        sigmas = _sigmas(picture, levels)
        noise, first = _noise(picture), sigmas[0]
        highest = float(levels.sigmas[-1])
        full = abs(highest - float(first)) <= 1e-5 * highest or float(first) > highest
        x = noise * (torch.sqrt(1.0 + first**2.0) if full else first)
        if picture.strength is not None:
            x = x + networks.latent(init_picture())
        guided = Guided(networks, picture, levels)
        return networks.pixels(_sample(guided, x, sigmas, picture), rounds=False)


def _sample(guided: Guided, x: Any, sigmas: Any, picture: Picture) -> Any:
    # Ancestral samplers begin a generator of their own with the same seed.
    stream = generator(picture.seed, picture.source)
    batch = picture.batch_index + 1, *SHAPE

    def noise_of(sigma: Any, lower: Any) -> Any:
        return stream.randn(batch)[-1:]

    given = {"eta": picture.eta, "s_noise": picture.noise_scale}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    name = picture.sampler.removesuffix("_gpu")
    if name not in FROM_K:
        own: Callable[..., Any] = getattr(comfy_samplers, name)
        return own(guided, x, sigmas, noise_of, **options)
    run = getattr(load("sampling"), f"sample_{FROM_K[name]}")
    if name in _BROWNIAN:
        path = brownian(x.expand(batch), sigmas, picture.seed)

        def noise_of(sigma: Any, lower: Any) -> Any:
            return path(sigma, lower)[-1:]

    if name == "dpmpp_2m_sde_heun":
        options["solver_type"] = "heun"
    if name.endswith(("ancestral", "sde", "sde_heun")):
        options["noise_sampler"] = noise_of
    if name in ("dpm_fast", "dpm_adaptive"):
        lowest = sigmas[-1] if sigmas[-1] > 0 else sigmas[-2]
        count = (len(sigmas) - 1,) if name == "dpm_fast" else ()
        options["noise_sampler"] = noise_of
        return run(guided, x, lowest, sigmas[0], *count, disable=True, **options)
    return run(guided, x, sigmas, disable=True, **options)
