"""Pictures by transformers as the engine and diffusers' pipelines are asked for them."""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from engine.api.control import ControlLayer
from engine.api.request import InputImage
from engine.api.second_passes import SecondPass
from engine.api.values import InputRole, ScheduleName
from tests.oracle.diffusers_pictures import SIZE, check, our_pixels, their_pixels, write_init
from tests.pipeline.jobs import psnr
from tests.tiny_checkpoint import SIDE

PROMPT = "a red horse, blue house by the sea"
TEXTS = {"prompt": PROMPT, "negative_prompt": "a blur"}


def asked(
    steps: int, guidance: float, size: tuple[int, int] = (64, 64), **texts: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Fields of a request, and arguments of a call, for the same picture; `size`: width, height."""
    both = {"width": size[0], "height": size[1], **(texts or {"prompt": PROMPT})}
    ours = {**both, "steps": steps, "guidance": guidance, "schedule": ScheduleName.SIMPLE}
    return ours, {**both, "num_inference_steps": steps, "guidance_scale": guidance}


def write_map(path: Path, width: int = 64, *, is_grey: bool = False) -> Path:
    """Write a map of soft colours or greys, 64 pixels high, which is followed as it is."""
    shape = (8, width // 8) if is_grey else (8, width // 8, 3)
    levels = np.random.default_rng(3).integers(0, 256, shape, np.uint8)
    soft = Image.fromarray(levels).resize((width, 64), Image.Resampling.BICUBIC)
    soft.convert("RGB").save(path)
    return path


def write_masked(folder: Path) -> tuple[InputImage, InputImage]:
    """Write a picture of soft colours, and a mask with a hole whose edges lie anywhere."""
    write_init(folder / "init.png")
    levels = np.zeros((SIDE, SIDE), np.uint8)
    levels[13:41, 21:55] = 255
    levels[20:24, 30:33] = 90
    Image.fromarray(levels).save(folder / "mask.png")
    return (
        InputImage(role=InputRole.INIT, path=str(folder / "init.png")),
        InputImage(role=InputRole.MASK, path=str(folder / "mask.png")),
    )


def pair(inputs: tuple[InputImage, InputImage]) -> dict[str, Image.Image]:
    """A picture and its mask as diffusers takes them."""
    return {"image": Image.open(inputs[0].path), "mask_image": Image.open(inputs[1].path)}


def check_inpainting(pipe, folder: Path, inputs, asked_of, strength: float) -> None:
    """Hold the masked part of `write_masked` to diffusers'; `asked_of` is what `asked` returned."""
    ours, theirs = ({**arguments, **SIZE, "strength": strength} for arguments in asked_of)
    expected = their_pixels(pipe, **theirs, **pair(inputs))
    made = our_pixels(folder, **ours, inputs=inputs)
    check(made, expected)
    assert psnr(made, our_pixels(folder, **ours, inputs=inputs[:1])) < 40


def write_mask(path: Path, width: int = 64) -> Path:
    """Write a mask, 64 pixels high, of a part whose edges lie within cells of the latent."""
    levels = np.zeros((64, width), np.uint8)
    levels[13:45, 19 : width - 14] = 255
    Image.fromarray(levels).save(path)
    return path


def check_redrawing(pipe, folder: Path, init: Path, asked_of, strength: float) -> None:
    """Hold a redrawn picture to diffusers'; `asked_of` is what `asked` returned."""
    ours, theirs = ({**arguments, **SIZE, "strength": strength} for arguments in asked_of)
    expected = their_pixels(pipe, **theirs, image=write_init(init))
    inputs = (InputImage(role=InputRole.INIT, path=str(init)),)
    check(our_pixels(folder, **ours, inputs=inputs), expected)


def check_two_networks(folder: Path, ours: dict[str, Any], layers: tuple[ControlLayer, ...]):
    """Check that each of two networks changes a picture with a second pass."""
    again = SecondPass(scale=1.5, upscaler="lanczos", strength=0.6)
    wanted = {**ours, "second_passes": (again,)}
    made = [our_pixels(folder, **wanted, controls=layers[:n]) for n in (0, 1, 2)]
    assert made[0].shape == (ours["height"] * 3 // 2, ours["width"] * 3 // 2, 3)
    assert psnr(made[0], made[1]) < 45
    assert psnr(made[1], made[2]) < 45


def check_second_pass(first, again, folder: Path, asked_of) -> None:
    """Hold a second pass to diffusers' pipelines: a picture of `first`, enlarged, by `again`."""
    ours, theirs = asked_of
    size = {side: theirs[side] * 3 // 2 for side in ("width", "height")}
    enlarged = Image.fromarray(their_pixels(first, **theirs)).resize(
        (size["width"], size["height"]), Image.Resampling.LANCZOS
    )
    given = {**theirs, **size, "image": enlarged, "strength": 0.6}
    expected = their_pixels(again, **given)
    wanted = SecondPass(scale=1.5, upscaler="lanczos", strength=0.6)
    check(our_pixels(folder, **ours, second_passes=(wanted,)), expected)
    assert psnr(expected, np.asarray(enlarged)) < 40
