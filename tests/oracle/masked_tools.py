"""Masked and edited pictures as A1111 and ComfyUI make them, in plain torch and Pillow.

After `StableDiffusionProcessingImg2Img` of `modules/processing.py`, `modules/masking.py` and
`modules/sd_samplers_cfg_denoiser.py` of AUTOMATIC1111's stable-diffusion-webui 1.10.1, and
`KSamplerX0Inpaint` of `comfy/samplers.py`, `InpaintModelConditioning` of `nodes.py`,
`InstructPixToPixConditioning` and `DualCFGGuider` of ComfyUI.
"""
# pyright: basic, reportMissingImports=false
# torch and k-diffusion are absent from the environment that is type-checked.

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageFilter, ImageOps

from tests.oracle.fidelity import a1111, comfy, timestep_samplers
from tests.oracle.fidelity.a1111_schedules import schedule as a1111_levels
from tests.oracle.fidelity.comfy_schedules import Levels
from tests.oracle.fidelity.comfy_schedules import schedule as comfy_levels
from tests.oracle.fidelity.networks import CELLS, SHAPE, Networks, alphas_cumprod
from tests.oracle.fidelity.noise import drawing_from, generator
from tests.oracle.fidelity.picture import Picture
from tests.oracle.k_diffusion import load
from tests.tiny_checkpoint import DOWNSCALE, SIDE

LANCZOS = Image.Resampling.LANCZOS


@dataclass(frozen=True)
class Masked:
    """A request with a mask, in the tool's words."""

    init: Path
    mask: Path | None
    sampler: str
    schedule: str = ""
    strength: float = 0.75
    blur: int = 4
    inverted: bool = False
    content: str = "original"
    padding: int | None = None
    image_guidance: float | None = None

    @property
    def picture(self) -> Picture:
        return Picture(self.sampler, self.schedule, strength=self.strength)


class SeeingMore(Networks):
    """Networks whose UNet sees further channels [n, D, H, W] beside the latents."""

    beside: Any = None

    def predict(self, x: Any, timestep: Any, context: Any, seen: Any = None) -> Any:
        if self.beside is not None:
            rows = len(x) // len(self.beside)
            x = torch.cat([x, self.beside.repeat(rows, 1, 1, 1)], dim=1)
        return super().predict(x, timestep, context, seen)

    def moments(self, pixels: np.ndarray) -> Any:
        """The mean of what the VAE says of float [H, W, 3] in [-1, 1]."""
        image = torch.from_numpy(pixels.astype(np.float32)).permute(2, 0, 1)[None]
        return self.vae.encode(image).latent_dist.mode()

    def scaled(self, pixels: np.ndarray) -> Any:
        return self.moments(pixels) * self.vae.config.scaling_factor


def as_floats(image: Image.Image) -> np.ndarray:
    return np.asarray(image, np.float32) / 127.5 - 1


# A1111


@dataclass
class Prepared:
    """The results of `init`: the picture to encode, the mask in its size, the overlay."""

    picture: Image.Image
    mask: Image.Image | None
    overlay: Image.Image | None
    box: tuple[int, int, int, int] | None


def prepare(job: Masked) -> Prepared:
    image = Image.open(job.init).convert("RGB")
    if job.mask is None:
        return Prepared(image.resize((SIDE, SIDE), LANCZOS), None, None, None)
    mask = Image.open(job.mask).convert("L")
    if job.inverted:
        mask = ImageOps.invert(mask)
    if job.blur:
        mask = gaussian(gaussian(mask, job.blur, 3), job.blur, 2)
    box = None
    if job.padding is None:
        mask = mask.resize((SIDE, SIDE), LANCZOS)
        image = image.resize((SIDE, SIDE), LANCZOS)
        doubled = np.clip(np.array(mask).astype(np.float32) * 2, 0, 255).astype(np.uint8)
        for_overlay = Image.fromarray(doubled)
    else:
        for_overlay = mask
        box = region(mask, job.padding)
    masked = Image.new("RGBa", image.size)
    masked.paste(image.convert("RGBA").convert("RGBa"), mask=ImageOps.invert(for_overlay))
    if box is not None:
        mask, image = squeezed(mask.crop(box)), squeezed(image.crop(box))
    if job.content != "original":
        image = fill(image, mask)
    return Prepared(image, mask, masked.convert("RGBA"), box)


def gaussian(mask: Image.Image, deviation: int, axis: int) -> Image.Image:
    """`cv2.GaussianBlur` along one axis, with a kernel of 2 * int(2.5 * deviation + 0.5) + 1."""
    reach = int(2.5 * deviation + 0.5)
    kernel = torch.exp(
        -(torch.arange(-reach, reach + 1, dtype=torch.float64) ** 2) / (2 * deviation**2)
    )
    kernel = kernel / kernel.sum()
    pixels = torch.from_numpy(np.array(mask)).double()[None, None]
    pad = (reach, reach, 0, 0) if axis == 3 else (0, 0, reach, reach)
    padded = torch.nn.functional.pad(pixels, pad, mode="reflect")
    shape = (1, 1, 1, -1) if axis == 3 else (1, 1, -1, 1)
    blurred = torch.nn.functional.conv2d(padded, kernel.reshape(shape))
    return Image.fromarray(blurred[0, 0].round().to(torch.uint8).numpy())


def region(mask: Image.Image, pad: int) -> tuple[int, int, int, int]:
    """`get_crop_region_v2` and `expand_crop_region`, for a square."""
    rows, columns = np.nonzero(np.array(mask))
    x1, y1 = max(columns.min() - pad, 0), max(rows.min() - pad, 0)
    x2 = min(columns.max() + 1 + pad, mask.width)
    y2 = min(rows.max() + 1 + pad, mask.height)
    missing = abs((x2 - x1) - (y2 - y1))
    before, after = missing // 2, missing - missing // 2
    if x2 - x1 > y2 - y1:
        y1, y2 = y1 - before, y2 + after
        shift = max(y2 - mask.height, 0)
        y1, y2 = y1 - shift, y2 - shift
        shift = max(-y1, 0)
        y1, y2 = y1 + shift, min(y2 + shift, mask.height)
    else:
        x1, x2 = x1 - before, x2 + after
        shift = max(x2 - mask.width, 0)
        x1, x2 = x1 - shift, x2 - shift
        shift = max(-x1, 0)
        x1, x2 = x1 + shift, min(x2 + shift, mask.width)
    return int(x1), int(y1), int(x2), int(y2)


def squeezed(image: Image.Image) -> Image.Image:
    """`images.resize_image` of a square."""
    assert image.width == image.height
    return image.resize((SIDE, SIDE), LANCZOS)


def fill(image: Image.Image, mask: Image.Image) -> Image.Image:
    result = Image.new("RGBA", image.size)
    masked = Image.new("RGBa", image.size)
    masked.paste(image.convert("RGBA").convert("RGBa"), mask=ImageOps.invert(mask))
    for radius, repeats in [(256, 1), (64, 1), (16, 2), (4, 4), (2, 2), (0, 1)]:
        blurred = masked.filter(ImageFilter.GaussianBlur(radius)).convert("RGBA")
        for _ in range(repeats):
            result.alpha_composite(blurred)
    return result.convert("RGB")


class A1111Guided(a1111.Guided):
    """`CFGDenoiser.forward` with what a mask and a picture to be edited do in it."""

    mask: Any = None
    init: Any = None
    before = False
    image_guidance: float | None = None

    def forward(self, x: Any, sigma: Any, **_: Any) -> Any:
        if self.mask is not None and self.before:
            x = self._blend(x)
        out = self._edited(x, sigma) if self.image_guidance else super().forward(x, sigma)
        if self.mask is not None and not self.before:
            out = self._blend(out)
        return out

    def _blend(self, current: Any) -> Any:
        return current * self.mask + self.init * (1 - self.mask)

    def _edited(self, x: Any, sigma: Any) -> Any:
        tensor = a1111.stacked([text.at(self.evaluation) for text in self.positives])
        uncond = self.negative.at(self.evaluation)[None]
        self.evaluation += 1
        context = torch.cat([tensor, uncond, uncond])
        out = self.inner(x.repeat(3, 1, 1, 1), sigma.repeat(3), cond=context)
        text, image, nothing = out.chunk(3)
        return nothing + self.scale * (text - image) + self.image_guidance * (image - nothing)


def render_a1111(networks: SeeingMore, job: Masked) -> np.ndarray:
    """The picture, uint8 [H, W, 3]."""
    prepared, picture = prepare(job), job.picture
    with torch.no_grad():
        noise = a1111.Noise(picture)
        latent = networks.scaled(as_floats(prepared.picture))
        mask = None
        if prepared.mask is not None:
            small = prepared.mask.convert("RGB").resize((CELLS, CELLS))
            mask = torch.from_numpy(np.around(np.asarray(small, np.float32)[..., 0] / 255))
            mask = mask[None, None]
            if job.content == "latent noise":
                latent = latent * (1 - mask) + generator(picture.seed, "cpu").randn(SHAPE) * mask
            elif job.content == "latent nothing":
                latent = latent * (1 - mask)
        networks.beside = beside_a1111(networks, job, prepared)
        samples = sample_a1111(networks, job, latent, mask, noise)
        if mask is not None:
            samples = samples * mask + latent * (1 - mask)
        made = networks.pixels(samples, rounds=False)
    return laid_over(made, prepared)


def beside_a1111(networks: SeeingMore, job: Masked, prepared: Prepared) -> Any:
    pixels, channels = as_floats(prepared.picture), networks.unet.config.in_channels
    if channels == 8:
        image = networks.moments(pixels)
        return torch.cat([image, image, torch.zeros_like(image)])
    if channels == 4:
        return None
    mask = torch.ones(SIDE, SIDE)
    if prepared.mask is not None:
        mask = torch.round(torch.from_numpy(np.array(prepared.mask, np.float32) / 255))
    hidden = networks.scaled(pixels * (1 - mask.numpy()[..., None]))
    cells = torch.nn.functional.interpolate(mask[None, None], size=(CELLS, CELLS))
    return torch.cat([cells, hidden], dim=1)


def sample_a1111(networks: Any, job: Masked, latent: Any, mask: Any, noise: Any) -> Any:
    picture = job.picture
    taken = int(min(job.strength, 0.999) * picture.steps)
    first, model = noise.first(), a1111.network(networks, picture)

    def guided_by(inner: Any) -> A1111Guided:
        guided = A1111Guided(inner, networks, picture)
        guided.mask, guided.init, guided.image_guidance = mask, latent, job.image_guidance
        return guided

    if job.sampler == "DDIM":
        products = alphas_cumprod()
        steps = torch.clip(torch.tensor(range(0, 1000, 1000 // picture.steps)) + 1, 0, 999)
        product = products[steps[taken]]
        x = latent * product.sqrt() + first * (1 - product).sqrt()
        guided = guided_by(model.apply_model)
        guided.before = True
        return timestep_samplers._ddim(guided, x, products, steps[:taken], picture, noise)
    wrapper = load("external").CompVisDenoiser(model)
    sigmas = a1111_levels(job.schedule, picture.steps, wrapper, picture)
    sigmas = sigmas[picture.steps - taken - 1 :]
    x = latent + first * sigmas[0]
    run = getattr(load("sampling"), f"sample_{a1111.K_SAMPLERS[job.sampler][0]}")
    with drawing_from(noise):
        return run(guided_by(wrapper), x, sigmas, disable=True)


def laid_over(made: np.ndarray, prepared: Prepared) -> np.ndarray:
    if prepared.overlay is None:
        return made
    image = Image.fromarray(made)
    if prepared.box is not None:
        x1, y1, x2, y2 = prepared.box
        base = Image.new("RGBA", prepared.overlay.size)
        base.paste(image.resize((x2 - x1, y2 - y1), LANCZOS), (x1, y1))
        image = base
    image = image.convert("RGBA")
    image.alpha_composite(prepared.overlay)
    return np.asarray(image.convert("RGB"))


# ComfyUI


class Inpainted(torch.nn.Module):
    """`KSamplerX0Inpaint`."""

    def __init__(self, inner: Any, mask: Any, latent: Any, noise: Any) -> None:
        super().__init__()
        self.inner, self.mask, self.latent, self.noise = inner, mask, latent, noise

    def forward(self, x: Any, sigma: Any, **_: Any) -> Any:
        kept = 1.0 - self.mask
        level = sigma.reshape(-1, 1, 1, 1)
        x = x * self.mask + (self.noise * level + self.latent) * kept
        return self.inner(x, sigma) * self.mask + self.latent * kept


class DualGuided(comfy.Guided):
    """`Guider_DualCFG`: with the picture and the prompt, with the picture, and without both."""

    image_guidance = 1.5

    def forward(self, x: Any, sigma: Any, **_: Any) -> Any:
        level = sigma.reshape(-1, 1, 1, 1)[:1]
        timestep = self.levels.timestep(level.reshape(1)).repeat(3)
        context = torch.cat([self.context, self.context[1:]])
        scaled = (x / (level**2 + 1.0) ** 0.5).repeat(3, 1, 1, 1)
        out = self.networks.predict(scaled, timestep.float(), context)
        positive, middle, negative = (x - out * level).chunk(3)
        guided = negative + self.image_guidance * (middle - negative)
        return guided + (positive - middle) * self.picture.guidance


def render_comfy(networks: SeeingMore, job: Masked) -> np.ndarray:
    """The picture, uint8 [H, W, 3]; the picture and the mask have its size."""
    # The noise of its steps is drawn as on NVIDIA cards.
    picture, levels = replace(job.picture, source="cuda"), Levels()
    steps = int(picture.steps / job.strength)
    pixels = as_floats(Image.open(job.init).convert("RGB"))
    mask = None
    if job.mask is not None:
        mask = torch.from_numpy(np.array(Image.open(job.mask), np.float32) / 255)[None, None]
    with torch.no_grad():
        sigmas = comfy_levels(job.schedule, steps, levels)[-picture.steps - 1 :]
        noise = generator(picture.seed, "cpu").randn((1, *SHAPE))
        edits = networks.unet.config.in_channels == 8
        latent = torch.zeros_like(noise) if edits else networks.scaled(pixels)
        networks.beside = beside_comfy(networks, pixels, mask)
        full = float(sigmas[0]) >= float(levels.sigmas[-1]) * (1 - 1e-5)
        x = latent + noise * (torch.sqrt(1.0 + sigmas[0] ** 2.0) if full else sigmas[0])
        guided = (DualGuided if edits else comfy.Guided)(networks, picture, levels)
        model: Any = guided
        if mask is not None:
            small = torch.nn.functional.interpolate(mask, size=(CELLS, CELLS), mode="bilinear")
            model = Inpainted(guided, small, latent, noise)
        return networks.pixels(comfy._sample(model, x, sigmas, picture), rounds=False)


def beside_comfy(networks: SeeingMore, pixels: np.ndarray, mask: Any) -> Any:
    channels = networks.unet.config.in_channels
    if channels == 8:
        image = networks.moments(pixels)
        return torch.cat([image, image, torch.zeros_like(image)])
    if channels == 4 or mask is None:
        return None
    hidden = networks.scaled(pixels * (1.0 - mask[0, 0].round().numpy()[..., None]))
    small = torch.nn.functional.interpolate(mask, size=(CELLS, CELLS), mode="bilinear").round()
    return torch.cat([small, hidden], dim=1)


assert SIDE == CELLS * DOWNSCALE
