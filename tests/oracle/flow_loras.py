"""LoRAs of transformers in two dialects, and pictures with them by the engine and by diffusers."""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

from pathlib import Path
from typing import Any

import numpy as np

from backends.base import Array
from engine.api.lora import LoraChoice, LoraMode
from engine.checkpoints.files import read_index
from engine.families import identify
from engine.lora.folder import LoraLookup
from engine.pipeline.loras import JobLoras
from tests.oracle.diffusers_pictures import check, our_pixels, their_pixels
from tests.pipeline.jobs import psnr

RANK, STRENGTH = 4, 0.8

# The factors `up` and `down` of a layer's change.
Pair = tuple[Array, Array]


def drawn(random: np.random.Generator, shape: tuple[int, ...]) -> Pair:
    """The factors of a change to a matrix that shows."""
    out, into = shape
    up, down = random.standard_normal((out, RANK)), random.standard_normal((RANK, into))
    return up.astype(np.float32), (down * 0.3 / np.sqrt(RANK * into)).astype(np.float32)


def peft(changes: dict[str, Pair], prefix: str = "transformer.") -> dict[str, Array]:
    """A file as diffusers saves it."""
    arrays = {}
    for layer, (up, down) in changes.items():
        arrays[f"{prefix}{layer}.lora_B.weight"] = up
        arrays[f"{prefix}{layer}.lora_A.weight"] = down
    return arrays


def kohya(changes: dict[str, Pair]) -> dict[str, Array]:
    """A file of kohya's, with alpha."""
    arrays = {}
    for layer, (up, down) in changes.items():
        name = f"lora_unet_{layer.replace('.', '_')}"
        arrays |= {f"{name}.lora_up.weight": up, f"{name}.lora_down.weight": down}
        arrays[f"{name}.alpha"] = np.float32(RANK / 2)
    return arrays


def load(pipe, lora: Path) -> None:
    """Give diffusers' pipeline a LoRA."""
    pipe.load_lora_weights(lora.parent, weight_name=lora.name, adapter_name="one")
    pipe.set_adapters(["one"], adapter_weights=[STRENGTH])


def our_picture(
    folder: Path, lora: Path, mode: LoraMode, backend_name: str = "cpu", **ours
) -> Array:
    """The engine's picture with a LoRA."""
    choice = LoraChoice(file=str(lora), strength=STRENGTH)
    read = JobLoras(identify(folder), LoraLookup(()), read_index)
    given = {"read_loras": read, "loras": (choice,), "lora_mode": mode}
    return our_pixels(folder, backend_name, **given, **ours)


def check_lora(
    pipe, folder: Path, lora: Path, ours: dict[str, Any], theirs: dict[str, Any]
) -> None:
    """Hold pictures with a LoRA, merged and beside, to diffusers', which it changes."""
    plain = their_pixels(pipe, **theirs)
    load(pipe, lora)
    expected = their_pixels(pipe, **theirs)
    assert psnr(expected, plain) < 40
    for mode in (LoraMode.MERGE, LoraMode.SIDE):
        check(our_picture(folder, lora, mode, **ours), expected)
