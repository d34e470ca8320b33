"""Whole pictures with LoRAs beside diffusers' `load_lora_weights` and `set_adapters`."""
# pyright: basic
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import numpy as np
import pytest

pytestmark = [
    pytest.mark.oracle,
    # diffusers' schedulers hand tensors to NumPy in a way that NumPy 2.4 deprecates
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Already found a `peft_config` attribute:UserWarning"),
    pytest.mark.filterwarnings("ignore:The configuration file of this scheduler:FutureWarning"),
]
pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")
pytest.importorskip("peft")

from backends.base import Array  # noqa: E402
from engine.api.lora import LoraChoice, LoraMode  # noqa: E402
from engine.checkpoints.files import read_index  # noqa: E402
from engine.families import Component, identify  # noqa: E402
from engine.lora.folder import LoraLookup  # noqa: E402
from engine.pipeline.loras import JobLoras  # noqa: E402
from tests.checkpoints.arrays import write_arrays  # noqa: E402
from tests.oracle.diffusers_pictures import (  # noqa: E402
    SIZE,
    TEXTS,
    check,
    euler,
    opened,
    our_pixels,
    their_pixels,
)
from tests.oracle.sdxl_folder import write_pipeline  # noqa: E402
from tests.pipeline.jobs import psnr  # noqa: E402
from tests.thinned import each_with_one_in_turn  # noqa: E402
from tests.tiny_checkpoint import write_checkpoint  # noqa: E402

PREFIXES = {
    Component.DENOISER: "unet",
    Component.TEXT_ENCODER: "text_encoder",
    Component.TEXT_ENCODER_2: "text_encoder_2",
}
# Layers that trainers choose: attention, feed-forward, and the convolutions of residual blocks.
CHOSEN = (
    *("to_q", "to_k", "to_v", "to_out.0", "proj_in", "proj_out", "ff.net.0.proj", "ff.net.2"),
    *("conv1", "conv2", "conv_shortcut", "time_emb_proj"),
    *("q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2"),
)
# Two LoRAs at once: a usual strength, one above 1, and negative ones.
STRENGTHS = {"usual": (0.8, 0.6), "above_1": (1.6, 0.4), "negative": (0.7, -1.2)}


class Peer:
    """Diffusers' pipeline of a checkpoint, which knows two LoRAs, and its pictures."""

    def __init__(self, folder: Path, checkpoint: Path) -> None:
        self.checkpoint = checkpoint
        self.loras = [
            write_lora(folder / f"{seed}.safetensors", checkpoint, rank, seed)
            for seed, rank in ((1, 4), (2, 7))
        ]
        self._pipe = opened(diffusers.DiffusionPipeline, checkpoint)
        self._pipe.scheduler = euler()
        self.plain = self._picture()
        for path in self.loras:
            self._pipe.load_lora_weights(folder, weight_name=path.name, adapter_name=path.stem)
        self._pictures: dict[tuple[float, float], Array] = {}

    def _picture(self) -> Array:
        return their_pixels(self._pipe, **SIZE, **TEXTS)

    def picture(self, strengths: tuple[float, float]) -> Array:
        """The picture with both LoRAs, made once."""
        if strengths not in self._pictures:
            names = [path.stem for path in self.loras]
            self._pipe.set_adapters(names, adapter_weights=list(strengths))
            self._pictures[strengths] = self._picture()
        return self._pictures[strengths]


@pytest.fixture(scope="module")
def peer(request, tmp_path_factory) -> Peer:
    folder = tmp_path_factory.mktemp(request.param)
    sdxl = request.param == "sdxl"
    checkpoint = write_pipeline(folder) if sdxl else write_checkpoint(folder / "tiny")
    return Peer(tmp_path_factory.mktemp("loras"), checkpoint)


def write_lora(path: Path, checkpoint: Path, rank: int, seed: int) -> Path:
    """Write a LoRA as diffusers saves it, of all components."""
    random, arrays = np.random.default_rng(seed), {}
    for component, source in identify(checkpoint).components.items():
        for name, weight in source.weights.items():
            layer = name.removesuffix(".weight")
            if component not in PREFIXES or layer == name or not layer.endswith(CHOSEN):
                continue
            out, *inner = weight.shape
            up = random.standard_normal((out, rank, *[1] * (len(inner) - 1)))
            down = random.standard_normal((rank, *inner)) * 0.3
            arrays[f"{PREFIXES[component]}.{layer}.lora_B.weight"] = up
            arrays[f"{PREFIXES[component]}.{layer}.lora_A.weight"] = down / np.sqrt(
                rank * np.prod(inner)
            )
    write_arrays(path, arrays)
    return path


def our_picture(peer: Peer, strengths: tuple[float, float], mode: LoraMode, backend: str) -> Array:
    choices = tuple(
        LoraChoice(file=str(path), strength=strength)
        for path, strength in zip(peer.loras, strengths, strict=True)
    )
    read = JobLoras(identify(peer.checkpoint), LoraLookup(()), read_index)
    changes = {"lora_mode": mode, "loras": choices, **TEXTS}
    return our_pixels(peer.checkpoint, backend, read_loras=read, **changes)


@pytest.mark.parametrize("mode", [LoraMode.MERGE, LoraMode.SIDE])
@pytest.mark.parametrize(
    ("peer", "name"),
    each_with_one_in_turn(["sd1", "sdxl"], list(STRENGTHS), pytest.mark.slow),
    indirect=["peer"],
)
def test_pictures_with_two_loras_equal_diffusers(peer: Peer, name: str, mode: LoraMode) -> None:
    strengths = STRENGTHS[name]
    expected = peer.picture(strengths)
    assert psnr(expected, peer.plain) < 30
    check(our_picture(peer, strengths, mode, "cpu"), expected)


@pytest.mark.parametrize(
    ("peer", "mode"),
    each_with_one_in_turn(["sd1", "sdxl"], [LoraMode.MERGE, LoraMode.SIDE], pytest.mark.slow),
    indirect=["peer"],
)
def test_openvinos_picture_with_two_loras_equals_diffusers(peer: Peer, mode: LoraMode) -> None:
    strengths = STRENGTHS["usual"]
    check(our_picture(peer, strengths, mode, "intel_openvino"), peer.picture(strengths))
