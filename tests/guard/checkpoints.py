"""The checkpoints of the guard: each family and variant, in the layouts and types that files have.

Small networks of random weights, a few megabytes each; most of that is the words of CLIP's own
tokenizer, which a single file needs.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from app.paths import starter_checkpoint
from tests.families import listings
from tests.families.listings import (
    PRUNED_SDXL,
    SMALL_SDXL,
    SMALL_UNET,
    SMALL_VAE,
    UNET,
    ClipSizes,
    Listing,
    UNetSizes,
    VaeSizes,
    prefixed,
)
from tests.guard import leading
from tests.guard.folders import write_folder, write_sdxl_folder
from tests.guard.torch_zip import write_torch_zip
from tests.guard.weights import Array, Arrays, drawn, write_safetensors
from tests.unstated_checkpoint import PREDICTS_V, write_unstated

Write = Callable[[Path], object]

STARTER = "starter"
_CLIP = ClipSizes(width=64, layers=2)
_BIG_CLIP = ClipSizes(width=96, layers=3)
_SD2 = replace(SMALL_UNET, linear=True)
# Of the downscale that a denoiser by itself is taken to have.
_VAE_8 = VaeSizes(width=32, multipliers=(1, 1, 1, 2), blocks=1)
_REFINER = replace(SMALL_SDXL, context=_BIG_CLIP.width, added=_BIG_CLIP.width + 5 * 16)
_GUIDANCE = {f"{UNET}time_embed.cond_proj.weight": (SMALL_SDXL.width, 256)}
_V = {"modelspec.prediction_type": "v"}
_NOISE = {"modelspec.prediction_type": "epsilon"}
_PLAYGROUND = {
    "edm_mean": np.array([[[[-0.2]], [[0.3]], [[-0.1]], [[0.15]]]], np.float32),
    "edm_std": np.array([[[[1.2]], [[0.9]], [[1.1]], [[0.8]]]], np.float32),
}
_COSXL = {
    "edm_vpred.sigma_max": np.array([120], np.float32),
    "edm_vpred.sigma_min": np.array([0.002], np.float32),
}
_ZERO_SNR = {"v_pred": np.zeros(0, np.float32), "ztsnr": np.zeros(0, np.float32)}

_F32, _F16 = np.dtype(np.float32), np.dtype(np.float16)
_BF16 = np.dtype(ml_dtypes.bfloat16)
_E4M3, _E5M2 = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)


def sd1(unet: UNetSizes = SMALL_UNET) -> Listing:
    """Stable Diffusion 1."""
    return listings.original(unet, SMALL_VAE, _CLIP)


def sd2(unet: UNetSizes = _SD2) -> Listing:
    """Stable Diffusion 2: the layer before the last of OpenCLIP, and linear projections."""
    return (
        prefixed(UNET, listings.ldm_unet(unet))
        | prefixed(listings.VAE, listings.ldm_vae(SMALL_VAE))
        | prefixed("cond_stage_model.model.", listings.open_clip(_CLIP))
    )


def sdxl(unet: UNetSizes = SMALL_SDXL) -> Listing:
    """SDXL."""
    return listings.sdxl(unet, SMALL_VAE, _CLIP, _BIG_CLIP)


def refiner() -> Listing:
    """The SDXL refiner."""
    return (
        prefixed(UNET, listings.ldm_unet(_REFINER))
        | prefixed(listings.VAE, listings.ldm_vae(SMALL_VAE))
        | prefixed("conditioner.embedders.0.model.", listings.open_clip(_BIG_CLIP))
    )


def write_file(
    path: Path,
    listing: Listing,
    *,
    seed: int = 0,
    dtype: np.dtype[Any] = _F32,
    metadata: Mapping[str, str] | None = None,
    beside: Mapping[str, Array] | None = None,
) -> None:
    """A single file of one type, but for the words, which are float16 at most."""
    arrays = {n: _stored(n, a, dtype) for n, a in drawn(listing, seed).items()}
    write_safetensors(path, {**arrays, **(beside or {})}, metadata)


def _stored(name: str, array: Array, dtype: np.dtype[Any] = _F32) -> Array:
    words = "token_embedding" in name and dtype == _F32
    return array.astype(_F16 if words else dtype)


def _write_scaled(path: Path, scale_name: str, seed: int) -> None:
    """Scaled fp8 as ComfyUI has it: linear layers of the UNet fill fp8's range."""
    arrays: Arrays = {}
    for name, array in drawn(sd1(), seed).items():
        if not (name.startswith(UNET) and name.endswith(".weight") and array.ndim == 2):
            arrays[name] = array.astype(np.float16)
            continue
        scale = np.float32(np.abs(array).max() / 400)
        layer = name.removesuffix(".weight")
        arrays |= {name: (array / scale).astype(_E4M3), f"{layer}.{scale_name}": np.array([scale])}
        if scale_name == "weight_scale":
            note = json.dumps({"format": "float8_e4m3fn"}).encode()
            arrays[f"{layer}.comfy_quant"] = np.frombuffer(note, np.uint8)
    if scale_name == "scale_weight":
        arrays[f"{UNET}scaled_fp8"] = np.zeros(2, _E4M3)
    write_safetensors(path, arrays)


def _write_part(path: Path, prefix: str, listing: Listing, seed: int) -> None:
    """One part of a checkpoint by itself."""
    part = {name: array for name, array in drawn(listing, seed).items() if name.startswith(prefix)}
    write_safetensors(path, {n: _stored(n, a) for n, a in part.items()})


def _write_torch(path: Path) -> None:
    write_torch_zip(path, {n: _stored(n, a) for n, a in drawn(sd1(), 0).items()})


def _tiny_vae() -> Listing:
    """TAESD of two levels, a block each, as diffusers' `AutoencoderTiny` has it."""
    width = 8
    names: Listing = {}

    def block(name: str) -> Listing:
        convolutions = (listings.affine(f"{name}.conv.{i}", width, width, 3, 3) for i in (0, 2, 4))
        return {key: shape for convolution in convolutions for key, shape in convolution.items()}

    names |= listings.affine("encoder.layers.0", width, 3, 3, 3) | block("encoder.layers.1")
    names |= {"encoder.layers.2.weight": (width, width, 3, 3)} | block("encoder.layers.3")
    names |= listings.affine("encoder.layers.4", 4, width, 3, 3)
    names |= listings.affine("decoder.layers.0", width, 4, 3, 3) | block("decoder.layers.2")
    names |= {"decoder.layers.4.weight": (width, width, 3, 3)} | block("decoder.layers.5")
    return names | listings.affine("decoder.layers.6", 3, width, 3, 3)


def _write_tiny(path: Path) -> None:
    """Write the tiny checkpoint, whose colours are those of a picture: around a half."""
    arrays, last = drawn(_tiny_vae(), 9), "decoder.layers.6"
    arrays[f"{last}.weight"] *= np.float32(0.15)
    arrays[f"{last}.bias"] += np.float32(0.5)
    write_safetensors(path, arrays)


def _with(sizes: UNetSizes, channels: int) -> UNetSizes:
    return replace(sizes, in_channels=channels)


def _pruned(name: str) -> Listing:
    small = replace(PRUNED_SDXL[name], width=32, context=SMALL_SDXL.context, added=SMALL_SDXL.added)
    return sdxl(small)


def _file(listing: Callable[[], Listing], **options: Any) -> Write:
    return lambda path: write_file(path, listing(), **options)


_FILES: Mapping[str, Write] = {
    "sd1.safetensors": _file(sd1),
    "sd1-other.safetensors": _file(sd1, seed=5),
    "sd1-f16.safetensors": _file(sd1, dtype=_F16),
    "sd1-bf16.safetensors": _file(sd1, dtype=_BF16),
    "sd1-e4m3.safetensors": _file(sd1, dtype=_E4M3),
    "sd1-e5m2.safetensors": _file(sd1, dtype=_E5M2),
    "sd1-scaled.safetensors": partial(_write_scaled, scale_name="scale_weight", seed=0),
    "sd1-quant.safetensors": partial(_write_scaled, scale_name="weight_scale", seed=5),
    "sd1.ckpt": _write_torch,
    "sd1-v.safetensors": _file(sd1, metadata=_V),
    "sd1-inpainting.safetensors": _file(lambda: sd1(_with(SMALL_UNET, 9))),
    "sd1-edit.safetensors": _file(lambda: sd1(_with(SMALL_UNET, 8))),
    "sd2.safetensors": _file(sd2, metadata=_NOISE),
    "sd2-v.safetensors": _file(sd2, metadata=_V),
    "sd2-unstated.safetensors": partial(write_unstated, gain=PREDICTS_V),
    "sd2-inpainting.safetensors": _file(lambda: sd2(_with(_SD2, 9)), metadata=_NOISE),
    "sd2-edit.safetensors": _file(lambda: sd2(_with(_SD2, 8)), metadata=_NOISE),
    "sdxl.safetensors": _file(sdxl, metadata=_NOISE),
    "sdxl-f16.safetensors": _file(sdxl, metadata=_NOISE, dtype=_F16),
    "sdxl-v-ztsnr.safetensors": _file(sdxl, beside=_ZERO_SNR),
    "sdxl-inpainting.safetensors": _file(lambda: sdxl(_with(SMALL_SDXL, 9)), metadata=_NOISE),
    "sdxl-edit.safetensors": _file(lambda: sdxl(_with(SMALL_SDXL, 8)), metadata=_NOISE),
    "ssd-1b.safetensors": _file(lambda: _pruned("SSD-1B"), metadata=_NOISE),
    "vega.safetensors": _file(lambda: _pruned("Segmind Vega"), metadata=_NOISE),
    "koala-700m.safetensors": _file(lambda: _pruned("KOALA-700M"), metadata=_NOISE),
    "koala-1b.safetensors": _file(lambda: _pruned("KOALA-1B"), metadata=_NOISE),
    "told-guidance.safetensors": _file(lambda: sdxl() | _GUIDANCE, metadata=_NOISE),
    "playground.safetensors": _file(sdxl, beside=_PLAYGROUND),
    "cosxl.safetensors": _file(sdxl, beside=_COSXL),
    "cosxl-edit.safetensors": _file(lambda: sdxl(_with(SMALL_SDXL, 8)), beside=_COSXL),
    "sd_xl_turbo_1.0.safetensors": _file(sdxl, metadata=_NOISE),
    "sdxl_lightning_1step_x0.safetensors": _file(sdxl),
    "refiner.safetensors": _file(refiner, metadata=_NOISE),
    "vae.safetensors": partial(_write_part, prefix=listings.VAE, listing=sd1(), seed=9),
    "vae-8.safetensors": _file(lambda: prefixed(listings.VAE, listings.ldm_vae(_VAE_8))),
    "unet.safetensors": partial(_write_part, prefix=UNET, listing=sd1(), seed=9),
    "clip.safetensors": partial(_write_part, prefix=listings.CLIP, listing=sd1(), seed=9),
    "taesd.safetensors": _write_tiny,
    "folder": write_folder,
    "folder-v-ztsnr": partial(
        write_folder, prediction_type="v_prediction", rescale_betas_zero_snr=True
    ),
    "folder-lcm": partial(write_folder, _class_name="LCMScheduler"),
    "sdxl-folder": write_sdxl_folder,
    "control.safetensors": leading.write_control_net,
    "adapter.safetensors": leading.write_adapter,
    "vision": leading.write_encoder,
    "folder-inpainting": partial(write_folder, in_channels=9),
}


def write(name: str, folder: Path) -> Path:
    """The checkpoint of that name, written into the folder where it is not there yet."""
    if name == STARTER:
        return starter_checkpoint()
    path = folder / name
    if not path.exists():
        _FILES[name](path)
    return path
