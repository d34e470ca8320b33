"""Second passes of A1111 ("hires fix") and ComfyUI (a second KSampler) in plain torch.

After `StableDiffusionProcessingTxt2Img.sample_hr_pass` of `modules/processing.py` with
`setup_img2img_steps` of `modules/sd_samplers_common.py` of A1111 1.10.1, and `LatentUpscaleBy`,
`ImageScaleBy` and `KSampler` of `nodes.py` of ComfyUI.
"""
# pyright: basic, reportMissingImports=false
# torch, SciPy and k-diffusion are absent from the environment that is type-checked.

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from PIL import Image

from tests.oracle.fidelity import a1111, comfy
from tests.oracle.fidelity.a1111_schedules import schedule
from tests.oracle.fidelity.comfy_schedules import Levels
from tests.oracle.fidelity.networks import Networks
from tests.oracle.fidelity.noise import brownian, brownian_source, drawing_from, generator
from tests.oracle.fidelity.picture import Picture
from tests.oracle.k_diffusion import load
from tests.tiny_checkpoint import DOWNSCALE

# A1111's `shared_latent_upscale_modes`.
MODES = {
    "Latent": ("bilinear", False),
    "Latent (antialiased)": ("bilinear", True),
    "Latent (bicubic)": ("bicubic", False),
    "Latent (bicubic antialiased)": ("bicubic", True),
    "Latent (nearest)": ("nearest", False),
    "Latent (nearest-exact)": ("nearest-exact", False),
}
# (networks, noise model, picture) -> the denoiser under guidance.
MakeGuided = Callable[[Any, Networks, Picture], Any]
# Makes a picture larger: (picture, width, height).
Enlarge = Callable[[Image.Image, int, int], Image.Image]


@dataclass(frozen=True)
class Second:
    """A second pass; `size` is width and height in pixels, `enlarged` that before A1111's cut."""

    picture: Picture
    size: tuple[int, int]
    strength: float
    upscaler: str = "Latent"
    enlarged: tuple[int, int] | None = None
    enlarge: Enlarge | None = None


def a1111_latent(networks: Networks, picture: Picture) -> Any:
    """The latent of the first pass."""
    with torch.no_grad(), brownian_source(picture.source):
        noise = a1111.Noise(picture)
        return a1111._k_sample(networks, picture, a1111.network(networks, picture), noise)


def a1111_second(
    before: Networks,
    x: Any,
    networks: Networks,
    second: Second,
    guided: MakeGuided | None = None,
) -> Any:
    """The latent after a second pass over the latent `x`, which `before` decodes."""
    with torch.no_grad(), brownian_source(second.picture.source):
        x = _enlarged(before, x, networks, second)
        return _redrawn(networks, x, second, guided or a1111.Guided)


def _enlarged(before: Networks, x: Any, networks: Networks, second: Second) -> Any:
    width, height = second.enlarged or second.size
    if second.upscaler in MODES:
        mode, antialias = MODES[second.upscaler]
        cells = height // DOWNSCALE, width // DOWNSCALE
        x = torch.nn.functional.interpolate(x, size=cells, mode=mode, antialias=antialias)
    else:
        image = Image.fromarray(before.pixels(x, rounds=False))
        enlarge = second.enlarge or _by_lanczos
        x = networks.latent(np.array(enlarge(image, width, height)))
    cut_x = (width - second.size[0]) // DOWNSCALE
    cut_y = (height - second.size[1]) // DOWNSCALE
    return x[
        :,
        :,
        cut_y // 2 : x.shape[2] - (cut_y + 1) // 2,
        cut_x // 2 : x.shape[3] - (cut_x + 1) // 2,
    ]


def _by_lanczos(image: Image.Image, width: int, height: int) -> Image.Image:
    return image.resize((width, height), resample=Image.Resampling.LANCZOS)


class _Stream:
    """The generator of a second pass, which begins anew at its size."""

    def __init__(self, picture: Picture) -> None:
        self.seed, self._stream = picture.seed, generator(picture.seed, picture.source)

    def randn(self, shape: Any) -> Any:
        """The next noise."""
        return self._stream.randn(shape)


def _redrawn(networks: Networks, x: Any, second: Second, guided: MakeGuided) -> Any:
    picture = second.picture
    steps, taken = int(picture.steps / min(second.strength, 0.999)), picture.steps - 1
    noise = _Stream(picture)
    first = noise.randn(x.shape[1:])[None]
    model = a1111.network(networks, picture)
    function, own, traits = a1111.K_SAMPLERS[picture.sampler]
    wrapper: Any = load("external").CompVisDenoiser(model)
    more = "discard" in traits
    sigmas = schedule(picture.schedule or own, steps + more, wrapper, picture)
    if more:
        sigmas = torch.cat([sigmas[:-2], sigmas[-1:]])
    visited = sigmas[steps - taken - 1 :]
    x = x + first * visited[0]
    run = a1111._function(picture.sampler, function)
    redrawing = replace(picture, strength=second.strength)
    arguments = a1111._arguments(run, redrawing, visited, wrapper)
    if "brownian" in traits:
        arguments["noise_sampler"] = brownian(x, sigmas, [noise.seed])
    with drawing_from(noise):
        return run(guided(wrapper, networks, picture), x, disable=True, **arguments)


def comfy_latent(networks: Networks, picture: Picture, x: Any, strength: float) -> Any:
    """The latent after a KSampler over `x` [1, 4, H, W], which may be empty."""
    with torch.no_grad(), brownian_source("cpu"):
        levels = Levels()
        sigmas = comfy._sigmas(replace(picture, strength=strength), levels)
        noise, first = generator(picture.seed, "cpu").randn(x.shape), sigmas[0]
        highest = float(levels.sigmas[-1])
        full = abs(highest - float(first)) <= 1e-5 * highest
        x = x + noise * (torch.sqrt(1.0 + first**2.0) if full else first)
        guided = comfy.Guided(networks, picture, levels)
        return _comfy_sample(guided, x, sigmas, picture)


def _comfy_sample(guided: Any, x: Any, sigmas: Any, picture: Picture) -> Any:
    run = getattr(load("sampling"), f"sample_{comfy.FROM_K[picture.sampler]}")
    options: dict[str, Any] = {}
    if picture.sampler.endswith("ancestral"):
        stream = generator(picture.seed, picture.source)
        options["noise_sampler"] = lambda _sigma, _lower: stream.randn(x.shape)
    return run(guided, x, sigmas, disable=True, **options)


def comfy_bislerp(samples: Any, size: tuple[int, int]) -> Any:
    """Latents [B, C, H, W] turned to a height and width (`bislerp` of `comfy/utils.py`)."""
    for axis, length in ((3, size[1]), (2, size[0])):
        first, second, share = _between(samples.shape[axis], length)
        near, far = (
            samples.index_select(axis, places).movedim(1, -1) for places in (first, second)
        )
        shape = [1, 1, 1, 1]
        shape[axis - 1] = length
        samples = _turned(near, far, share.reshape(shape)).movedim(-1, 1)
    return samples


def _between(before: int, after: int) -> tuple[Any, Any, Any]:
    """The two cells beside each new one, and how far it is from the first."""

    def spread(places: Any) -> Any:
        whole = places.to(torch.float32)[None, None, None]
        made = torch.nn.functional.interpolate(whole, size=(1, after), mode="bilinear")
        return made[0, 0, 0]

    places = torch.arange(before)
    first, second = spread(places), spread((places + 1).clamp(max=before - 1))
    return first.to(torch.int64), second.to(torch.int64), first - first.floor()


def _turned(near: Any, far: Any, share: Any) -> Any:
    """Spherical interpolation of vectors along the last axis, with lengths between theirs."""
    lengths = [torch.norm(vector, dim=-1, keepdim=True) for vector in (near, far)]
    units = [
        torch.where(length == 0, torch.zeros_like(vector), vector / length)
        for vector, length in zip((near, far), lengths, strict=True)
    ]
    cosine = (units[0] * units[1]).sum(-1, keepdim=True)
    angle = torch.acos(cosine)
    weights = [torch.sin(part * angle) / torch.sin(angle) for part in (1 - share, share)]
    made = weights[0] * units[0] + weights[1] * units[1]
    made = made * (lengths[0] * (1 - share) + lengths[1] * share)
    made = torch.where(cosine > 1 - 1e-5, near, made)
    return torch.where(cosine < 1e-5 - 1, near * (1 - share) + far * share, made)
