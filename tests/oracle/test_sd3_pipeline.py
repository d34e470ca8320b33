"""Whole pictures of SD 3 and 3.5 beside diffusers' pipelines: the same weights, prompts, noise."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from diffusers.loaders.single_file_utils import (  # noqa: E402
    convert_sd3_transformer_checkpoint_to_diffusers,
)

from backends.base import Array  # noqa: E402
from engine.api.masks import MaskOptions  # noqa: E402
from engine.api.request import InputImage  # noqa: E402
from engine.families import Component, identify  # noqa: E402
from engine.weights.sources import as_source  # noqa: E402
from tests.checkpoints.arrays import write_arrays  # noqa: E402
from tests.families.flux.files import drawn  # noqa: E402
from tests.families.sd3 import files  # noqa: E402
from tests.oracle.diffusers_pictures import (  # noqa: E402
    check,
    opened,
    our_pixels,
    their_pixels,
)
from tests.oracle.flow_pictures import (  # noqa: E402
    TEXTS,
    asked,
    check_inpainting,
    check_redrawing,
    check_second_pass,
    pair,
    write_masked,
)
from tests.oracle.sd3_folder import write_pipeline  # noqa: E402
from tests.pipeline.jobs import psnr  # noqa: E402

_OWN: Mapping[str, None] = {}
backends = pytest.mark.parametrize("backend_name", ["cpu", "intel_openvino"])
# Seven steps do not divide a thousand levels; the sides are not equal.
OURS, THEIRS = asked(steps=7, guidance=3.0, size=(96, 64), **TEXTS)
FEW = asked(steps=4, guidance=3.0, size=(96, 64), **TEXTS)


@pytest.fixture(scope="module")
def medium(tmp_path_factory) -> Path:
    return write_pipeline(tmp_path_factory.mktemp("medium"))


@pytest.fixture(scope="module")
def dual(tmp_path_factory) -> Path:
    return write_pipeline(tmp_path_factory.mktemp("dual"), "3.5-medium")


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    return write_pipeline(tmp_path_factory.mktemp("large"), "3.5-large")


@pytest.fixture(scope="module")
def without_t5(tmp_path_factory) -> Path:
    return write_pipeline(tmp_path_factory.mktemp("without"), with_t5=False)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory) -> tuple[InputImage, InputImage]:
    return write_masked(tmp_path_factory.mktemp("pictures"))


def their_picture(folder: Path, parts: Mapping[str, None] = _OWN, **arguments) -> Array:
    pipe = opened(diffusers.StableDiffusion3Pipeline, folder, **parts)
    return their_pixels(pipe, **{**THEIRS, **arguments})


def inpainting(folder: Path):
    """diffusers' pipeline, which forgets the shift of the latents where it decodes them."""
    pipe = opened(diffusers.StableDiffusion3InpaintPipeline, folder)
    decode, shift = pipe.vae.decode, pipe.vae.config.shift_factor
    pipe.vae.decode = lambda latents, **options: decode(latents + shift, **options)
    return pipe


@backends
def test_text_to_picture_by_sd_3_equals_diffusers(medium: Path, backend_name: str) -> None:
    found = identify(medium)
    assert (found.family, found.variant, found.missing) == ("sd3", "medium", ())
    ours = our_pixels(medium, backend_name, **OURS)
    check(ours, their_picture(medium))
    assert psnr(ours, their_picture(medium, guidance_scale=1.0)) < 45
    assert psnr(ours, their_picture(medium, prompt="a cat")) < 45
    assert psnr(ours, their_picture(medium, prompt_3="a cat", negative_prompt_3="")) < 45


def test_text_to_picture_by_sd_3_5_medium_equals_diffusers(dual: Path) -> None:
    assert identify(dual).variant == "3.5-medium"
    check(our_pixels(dual, **OURS), their_picture(dual))


def test_text_to_picture_by_sd_3_5_large_equals_diffusers(large: Path) -> None:
    assert identify(large).variant == "3.5-large"
    check(our_pixels(large, **OURS), their_picture(large))


def test_without_t5_zeros_stand_in_for_it_as_in_diffusers(without_t5: Path) -> None:
    assert identify(without_t5).missing == ()
    ours = our_pixels(without_t5, **OURS)
    parts = {"text_encoder_3": None, "tokenizer_3": None}
    check(ours, their_picture(without_t5, parts))
    assert psnr(ours, their_picture(without_t5, parts, prompt="a cat")) < 45


def test_without_guidance_no_negative_prompt_acts(medium: Path) -> None:
    ours = our_pixels(medium, **{**OURS, "guidance": 1.0})
    check(ours, their_picture(medium, guidance_scale=1.0))


def test_clip_skip_equals_diffusers(medium: Path) -> None:
    ours = our_pixels(medium, **{**OURS, "guidance": 1.0}, clip_skip=3)
    check(ours, their_picture(medium, guidance_scale=1.0, clip_skip=1))
    assert psnr(ours, their_picture(medium, guidance_scale=1.0)) < 45


@pytest.mark.parametrize(
    ("variant", "strength"),
    [("medium", 0.3), ("medium", 0.6), ("dual", 0.6), ("large", 0.6)],
)
def test_redrawing_equals_diffusers(
    request: pytest.FixtureRequest, tmp_path: Path, variant: str, strength: float
) -> None:
    folder = request.getfixturevalue(variant)
    pipe = opened(diffusers.StableDiffusion3Img2ImgPipeline, folder)
    check_redrawing(pipe, folder, tmp_path / "init.png", (OURS, THEIRS), strength)


@pytest.mark.parametrize(("variant", "strength"), [("dual", 0.6), ("dual", 1.0), ("large", 0.6)])
def test_inpainting_equals_diffusers(
    request: pytest.FixtureRequest, inputs, variant: str, strength: float
) -> None:
    folder = request.getfixturevalue(variant)
    check_inpainting(inpainting(folder), folder, inputs, (OURS, THEIRS), strength)


@pytest.mark.parametrize("variant", ["medium", "large"])
def test_a_second_pass_equals_redrawing_the_enlarged_picture_by_diffusers(
    request: pytest.FixtureRequest, variant: str
) -> None:
    folder = request.getfixturevalue(variant)
    first = opened(diffusers.StableDiffusion3Pipeline, folder)
    again = opened(diffusers.StableDiffusion3Img2ImgPipeline, folder)
    check_second_pass(first, again, folder, FEW)


def test_inpainting_only_the_masked_part_equals_diffusers(medium: Path, inputs) -> None:
    pipe = inpainting(medium)
    size = {"width": 64, "height": 64}
    arguments = {**pair(inputs), "strength": 0.8, "padding_mask_crop": 6, "output_type": "pil"}
    generator = torch.Generator("cpu").manual_seed(7)
    expected = np.asarray(pipe(**{**THEIRS, **size}, **arguments, generator=generator).images[0])
    options = MaskOptions(only_masked=True, padding=6)
    made = our_pixels(medium, **{**OURS, **size}, inputs=inputs, mask_options=options, strength=0.8)
    check(made, expected)


@pytest.mark.parametrize("sizes", [files.SMALL, files.SMALL_35], ids=["medium", "3.5 medium"])
def test_keys_of_the_original_layout_become_diffusers(
    tmp_path: Path, sizes: files.Sd3Sizes
) -> None:
    numbers = drawn(files.original(sizes))
    write_arrays(tmp_path / "sd3.safetensors", numbers)
    found = identify(tmp_path / "sd3.safetensors").components[Component.DENOISER].weights
    theirs = convert_sd3_transformer_checkpoint_to_diffusers(
        {name: torch.from_numpy(array) for name, array in numbers.items()}
    )
    last = f"transformer_blocks.{sizes.blocks - 1}"
    for name in ("norm_out", f"{last}.norm1_context"):
        for part in ("weight", "bias"):
            scale, shift = theirs.pop(f"{name}.linear.{part}").chunk(2)
            theirs[f"{name}.scale.{part}"], theirs[f"{name}.shift.{part}"] = scale, shift
    unread = {f"{last}.attn.{parameter}" for parameter in ("add_q_proj.weight", "add_q_proj.bias")}
    unread |= {f"{last}.attn.norm_added_q.weight"} if sizes.normalised else set()
    assert found.keys() == theirs.keys() - unread
    for name in found:
        np.testing.assert_array_equal(as_source(found[name]).read(), theirs[name].numpy())
