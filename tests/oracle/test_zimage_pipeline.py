"""Whole pictures of Z-Image beside diffusers' pipelines: the same weights, prompts and noise."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import pytest

pytestmark = pytest.mark.oracle
pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from backends.base import Array  # noqa: E402
from engine.families import identify  # noqa: E402
from tests.oracle.diffusers_pictures import (  # noqa: E402
    check,
    opened,
    our_pixels,
    their_pixels,
)
from tests.oracle.flow_pictures import (  # noqa: E402
    asked,
    check_inpainting,
    check_redrawing,
    check_second_pass,
    write_masked,
)
from tests.oracle.zimage_folder import write_pipeline  # noqa: E402
from tests.pipeline.jobs import psnr  # noqa: E402

backends = pytest.mark.parametrize("backend_name", ["cpu", "intel_openvino"])
PROMPT = "a red horse, (blue house:1.3) by the sea; \u4e00\u53ea\u732b"
# Seven steps do not divide a thousand levels; the sides are not equal.
OURS, THEIRS = asked(steps=7, guidance=1.0, size=(96, 64), prompt=PROMPT)
# diffusers counts guidance from 0.
THEIRS["guidance_scale"] = 0.0
FEW = asked(steps=4, guidance=1.0, size=(96, 64), prompt=PROMPT)
FEW[1]["guidance_scale"] = 0.0
GUIDED = asked(steps=4, guidance=5.0, prompt=PROMPT, negative_prompt="a blur")
GUIDED[1]["guidance_scale"] = 4.0


@pytest.fixture(scope="module")
def turbo(tmp_path_factory) -> Path:
    return write_pipeline(tmp_path_factory.mktemp("turbo"))


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    return write_pipeline(tmp_path_factory.mktemp("base"), "Z-Image")


def their_picture(folder: Path, **arguments) -> Array:
    return their_pixels(opened(diffusers.ZImagePipeline, folder), **{**THEIRS, **arguments})


@backends
def test_text_to_picture_by_turbo_equals_diffusers(turbo: Path, backend_name: str) -> None:
    assert identify(turbo).variant == "turbo"
    ours = our_pixels(turbo, backend_name, **OURS)
    check(ours, their_picture(turbo))
    assert psnr(ours, their_picture(turbo, prompt="a cat")) < 45


@pytest.mark.parametrize("negative", ["", "a blur " * 40])
def test_base_with_a_negative_prompt_equals_diffusers(base: Path, negative: str) -> None:
    assert identify(base).variant == "base"
    ours = our_pixels(base, **{**OURS, "guidance": 5.0}, negative_prompt=negative)
    expected = their_picture(base, guidance_scale=4.0, negative_prompt=negative)
    check(ours, expected)
    assert psnr(ours, their_picture(base)) < 45


@pytest.mark.parametrize("strength", [0.3, 0.6, 1.0])
def test_redrawing_equals_diffusers(turbo: Path, tmp_path: Path, strength: float) -> None:
    pipe = opened(diffusers.ZImageImg2ImgPipeline, turbo)
    check_redrawing(pipe, turbo, tmp_path / "init.png", (OURS, THEIRS), strength)


def test_redrawing_by_base_equals_diffusers(base: Path, tmp_path: Path) -> None:
    pipe = opened(diffusers.ZImageImg2ImgPipeline, base)
    check_redrawing(pipe, base, tmp_path / "init.png", GUIDED, 0.6)


@pytest.mark.parametrize("strength", [0.6, 1.0])
def test_inpainting_by_turbo_equals_diffusers(turbo: Path, tmp_path: Path, strength: float) -> None:
    pipe = opened(diffusers.ZImageInpaintPipeline, turbo)
    check_inpainting(pipe, turbo, write_masked(tmp_path), FEW, strength)


def test_inpainting_by_base_equals_diffusers(base: Path, tmp_path: Path) -> None:
    pipe = opened(diffusers.ZImageInpaintPipeline, base)
    check_inpainting(pipe, base, write_masked(tmp_path), GUIDED, 0.6)


def test_a_second_pass_equals_redrawing_the_enlarged_picture_by_diffusers(turbo: Path) -> None:
    first = opened(diffusers.ZImagePipeline, turbo)
    again = opened(diffusers.ZImageImg2ImgPipeline, turbo)
    check_second_pass(first, again, turbo, FEW)
