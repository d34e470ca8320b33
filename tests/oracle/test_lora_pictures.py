"""Whole pictures with LoRAs beside diffusers' `load_lora_weights` and `set_adapters`."""
# pyright: basic
# torch, diffusers and transformers are absent from the environment that is type-checked.

import logging
from collections.abc import Sequence
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
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")
pytest.importorskip("peft")

from backends.base import Precision  # noqa: E402
from backends.registry import find  # noqa: E402
from engine.api.lora import LoraChoice, LoraMode  # noqa: E402
from engine.api.values import SamplerName, ScheduleName  # noqa: E402
from engine.checkpoints.files import read_index  # noqa: E402
from engine.families import Component, identify  # noqa: E402
from engine.lora.folder import LoraLookup  # noqa: E402
from engine.pipeline.loras import JobLoras  # noqa: E402
from tests.checkpoints.arrays import write_arrays  # noqa: E402
from tests.oracle.sdxl_folder import write_pipeline  # noqa: E402
from tests.pipeline.jobs import a_request, psnr, run  # noqa: E402
from tests.tiny_checkpoint import SIDE, write_checkpoint  # noqa: E402

LOG = logging.getLogger(__name__)
STEPS, SEED, GUIDANCE = 6, 7, 6.0
TEXTS = {"prompt": "a red horse, blue house", "negative_prompt": "a blur"}
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


@pytest.fixture(scope="module", params=["sd1", "sdxl"])
def checkpoint(request, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    return write_pipeline(folder) if request.param == "sdxl" else write_checkpoint(folder / "tiny")


@pytest.fixture(scope="module")
def loras(checkpoint: Path, tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("loras")
    return [
        write_lora(folder / f"{seed}.safetensors", checkpoint, rank, seed)
        for seed, rank in ((1, 4), (2, 7))
    ]


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


def their_picture(folder: Path, loras: Sequence[Path], strengths: Sequence[float]) -> np.ndarray:
    pipe = diffusers.DiffusionPipeline.from_pretrained(folder)
    betas = {"beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear"}
    pipe.scheduler = diffusers.EulerDiscreteScheduler(
        num_train_timesteps=1000, steps_offset=1, timestep_spacing="linspace", **betas
    )
    pipe.set_progress_bar_config(disable=True)
    for number, path in enumerate(loras):
        pipe.load_lora_weights(path.parent, weight_name=path.name, adapter_name=f"lora{number}")
    if loras:
        names = [f"lora{number}" for number in range(len(loras))]
        pipe.set_adapters(names, adapter_weights=list(strengths))
    images = pipe(
        **TEXTS,
        width=SIDE,
        height=SIDE,
        num_inference_steps=STEPS,
        guidance_scale=GUIDANCE,
        generator=torch.Generator("cpu").manual_seed(SEED),
        output_type="np",
    ).images
    return np.rint(images[0] * 255).astype(np.uint8)


def our_picture(
    folder: Path,
    loras: Sequence[Path],
    strengths: Sequence[float],
    mode: LoraMode,
    backend_name: str = "cpu",
) -> np.ndarray:
    found = find(backend_name)
    assert found
    request = a_request(
        folder,
        **TEXTS,
        width=SIDE,
        height=SIDE,
        steps=STEPS,
        seed=SEED,
        guidance=GUIDANCE,
        sampler=SamplerName.EULER,
        schedule=ScheduleName.NORMAL,
        lora_mode=mode,
        loras=tuple(
            LoraChoice(file=str(path), strength=strength)
            for path, strength in zip(loras, strengths, strict=True)
        ),
    )
    read_loras = JobLoras(identify(folder), LoraLookup(()), read_index)
    result = run(request, found.create(), (Precision.F32,), read_loras=read_loras)
    assert not result.warnings
    return result.pixels[0]


@pytest.mark.parametrize("strengths", STRENGTHS.values(), ids=STRENGTHS)
def test_pictures_with_two_loras_equal_diffusers(
    checkpoint: Path, loras: list[Path], strengths: tuple[float, float]
) -> None:
    expected = their_picture(checkpoint, loras, strengths)
    assert psnr(expected, their_picture(checkpoint, [], [])) < 30
    for mode in (LoraMode.MERGE, LoraMode.SIDE):
        measured = psnr(our_picture(checkpoint, loras, strengths, mode), expected)
        LOG.info("PSNR %.1f dB, %s", measured, mode)
        assert measured >= 50


@pytest.mark.parametrize("mode", [LoraMode.MERGE, LoraMode.SIDE])
def test_openvinos_picture_with_two_loras_equals_diffusers(
    checkpoint: Path, loras: list[Path], mode: LoraMode
) -> None:
    strengths = STRENGTHS["usual"]
    expected = their_picture(checkpoint, loras, strengths)
    found = our_picture(checkpoint, loras, strengths, mode, "intel_openvino")
    assert psnr(found, expected) >= 50
