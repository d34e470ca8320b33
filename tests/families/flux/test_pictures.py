"""Pictures by a tiny Flux.1 in ComfyUI's layout: one file with transformer, encoders and VAE."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from backends.base import Precision
from backends.cpu import CpuBackend
from engine.api.features import GuidanceKind, OptionalSetting
from engine.api.request import GuidanceOptions, InputImage
from engine.api.second_passes import LatentUpscaler, SecondPass
from engine.api.values import InputRole, SamplerName, ScheduleName
from engine.families import identify
from engine.memory.plan import WeightPlacement
from tests.checkpoints.arrays import write_arrays
from tests.families import listings
from tests.families.flux import files
from tests.families.flux.files import FluxSizes
from tests.families.listings import ClipSizes, Listing, VaeSizes, prefixed
from tests.pipeline.jobs import RESIDENCY, a_request, run

CLIP, CONTEXT = 64, 40
VAE = VaeSizes(width=32, multipliers=(1, 1, 1, 1), blocks=1, latent=16)


def t5_encoder(width: int, heads: int = 4, head: int = 8, layers: int = 2) -> Listing:
    """T5 v1.1's encoder, small, with the words of all sizes."""
    inner = heads * head
    names: Listing = {"shared.weight": (32128, width), "encoder.final_layer_norm.weight": (width,)}
    for layer in range(layers):
        block = f"encoder.block.{layer}.layer"
        names |= {f"{block}.0.SelfAttention.{part}.weight": (inner, width) for part in "qkv"}
        names[f"{block}.0.SelfAttention.o.weight"] = (width, inner)
        names |= {
            f"{block}.1.DenseReluDense.{part}.weight": (64, width) for part in ("wi_0", "wi_1")
        }
        names[f"{block}.1.DenseReluDense.wo.weight"] = (width, 64)
        names |= {f"{block}.{place}.layer_norm.weight": (width,) for place in (0, 1)}
    bias = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
    return names | {bias: (32, heads)}


def write_checkpoint(path: Path, *, guidance: bool = True, channels: int = 64) -> Path:
    sizes = FluxSizes(64, 32, 256, CONTEXT, CLIP, 1, 1, channels, guidance=guidance)
    vae = {n: s for n, s in listings.ldm_vae(VAE).items() if "quant_conv" not in n}
    clip = listings.clip_text(ClipSizes(width=CLIP, layers=1))
    whole = {
        **prefixed("model.diffusion_model.", files.original(sizes)),
        **prefixed("text_encoders.clip_l.transformer.", clip),
        **prefixed("text_encoders.t5xxl.transformer.", t5_encoder(CONTEXT)),
        **prefixed("vae.", vae),
    }
    write_arrays(path, files.drawn(whole))
    return path


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("flux") / "tiny_flux.safetensors")


def picture(
    path: Path, weights: WeightPlacement = WeightPlacement.MEMORY, /, **changes: object
) -> NDArray[np.uint8]:
    fields: dict[str, object] = {
        "width": 96,
        "height": 64,
        "steps": 2,
        "seed": 7,
        "prompt": "a red house by the sea",
        "sampler": SamplerName.EULER,
        "schedule": ScheduleName.SIMPLE,
        "guidance": 3.5,
    }
    request = a_request(path, **(fields | changes))
    made = run(request, CpuBackend(), (Precision.F32,), residency=RESIDENCY, weights=weights)
    return np.asarray(made.pixels[0])


def test_one_file_holds_all_parts(dev: Path) -> None:
    checkpoint = identify(dev)
    assert (checkpoint.family, checkpoint.variant, checkpoint.missing) == ("flux1", "dev", ())
    assert checkpoint.latent.shift == pytest.approx(0.1159)
    features = checkpoint.architecture.features
    assert features.guidance == (GuidanceKind.EMBEDDED, GuidanceKind.CFG)
    assert (features.negative_prompt, features.size_multiple) == (True, 16)


def test_schnell_takes_no_guidance_and_may_have_a_negative_prompt(tmp_path: Path) -> None:
    checkpoint = identify(write_checkpoint(tmp_path / "s.safetensors", guidance=False))
    features = checkpoint.architecture.features
    assert checkpoint.variant == "schnell"
    assert (checkpoint.hints.steps, checkpoint.hints.guidance) == (4, 1.0)
    assert (features.guidance, features.negative_prompt) == ((GuidanceKind.CFG,), True)


@pytest.mark.parametrize("convention", ["a1111", "comfy", "diffusers", "invoke"])
def test_prompt_guidance_and_seed_change_a_picture(dev: Path, convention: str) -> None:
    first = picture(dev, convention=convention)
    assert first.shape == (64, 96, 3)
    np.testing.assert_array_equal(picture(dev, convention=convention), first)
    for changes in ({"prompt": "a horse"}, {"guidance": 30.0}, {"seed": 8}):
        changed = picture(dev, convention=convention, **changes)
        assert not np.array_equal(changed, first)


def test_a_negative_prompt_acts_by_true_guidance_alone(dev: Path) -> None:
    def made(negative: str, scale: float) -> NDArray[np.uint8]:
        options = GuidanceOptions(true_cfg=scale)
        return picture(dev, negative_prompt=negative, guidance_options=options)

    np.testing.assert_array_equal(made("a blur", 1), made("", 1))
    assert not np.array_equal(made("a blur", 2), made("", 2))
    assert not np.array_equal(made("", 2), made("", 1))


def test_fill_sees_each_pixel_of_a_mask(tmp_path: Path) -> None:
    fill = write_checkpoint(tmp_path / "fill.safetensors", channels=384)
    checkpoint = identify(fill)
    assert (checkpoint.variant, checkpoint.hints.guidance) == ("fill", 30.0)
    drawn = np.random.default_rng(0).integers(0, 256, (64, 96, 3), np.uint8)
    Image.fromarray(drawn).save(tmp_path / "init.png")
    init = InputImage(role=InputRole.INIT, path=str(tmp_path / "init.png"))
    made: list[NDArray[np.uint8]] = []
    for edge in (48, 50):
        levels = np.zeros((64, 96), np.uint8)
        levels[:, :edge] = 255
        Image.fromarray(levels).save(tmp_path / f"{edge}.png")
        mask = InputImage(role=InputRole.MASK, path=str(tmp_path / f"{edge}.png"))
        made.append(picture(fill, inputs=(init, mask), convention="comfy"))
    assert not np.array_equal(made[0], made[1])


@pytest.mark.parametrize("upscaler", [LatentUpscaler.BILINEAR, "lanczos"])
def test_a_second_pass_enlarges_and_redraws(dev: Path, upscaler: str) -> None:
    assert OptionalSetting.SECOND_PASSES in identify(dev).architecture.features.options
    made = [
        picture(dev, second_passes=(SecondPass(scale=1.5, upscaler=upscaler, strength=strength),))
        for strength in (0.3, 0.7)
    ]
    assert made[0].shape == (96, 144, 3)
    assert not np.array_equal(made[0], made[1])


@pytest.mark.parametrize("sampler", [SamplerName.EULER_ANCESTRAL, SamplerName.DPMPP_2M_SDE])
def test_samplers_with_noise_make_a_picture_of_their_own(dev: Path, sampler: SamplerName) -> None:
    made = picture(dev, sampler=sampler, convention="comfy")
    assert made.std() > 5
    assert not np.array_equal(made, picture(dev, convention="comfy"))
