"""Whole pictures of Flux.1 beside diffusers' pipelines: the same weights, prompts and noise."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import pytest

pytestmark = pytest.mark.oracle
pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from backends.base import Array  # noqa: E402
from engine.api.request import GuidanceOptions, InputImage  # noqa: E402
from engine.api.values import InputRole  # noqa: E402
from engine.families import identify  # noqa: E402
from tests.oracle.diffusers_pictures import (  # noqa: E402
    check,
    opened,
    our_pixels,
    their_pixels,
    write_init,
)
from tests.oracle.flow_pictures import asked, check_redrawing, check_second_pass  # noqa: E402
from tests.oracle.flux_folder import write_pipeline  # noqa: E402
from tests.pipeline.jobs import psnr  # noqa: E402

backends = pytest.mark.parametrize("backend_name", ["cpu", "intel_openvino"])
# Seven steps do not divide a thousand levels; the sides are not equal.
OURS, THEIRS = asked(steps=7, guidance=3.5, size=(96, 64))


@pytest.fixture(scope="module")
def dev(tmp_path_factory) -> Path:
    return write_pipeline(tmp_path_factory.mktemp("dev"))


@pytest.fixture(scope="module")
def schnell(tmp_path_factory) -> Path:
    return write_pipeline(tmp_path_factory.mktemp("schnell"), takes_guidance=False)


def their_picture(folder: Path, **arguments) -> Array:
    return their_pixels(opened(diffusers.FluxPipeline, folder), **{**THEIRS, **arguments})


@backends
def test_text_to_picture_by_dev_equals_diffusers(dev: Path, backend_name: str) -> None:
    assert identify(dev).variant == "dev"
    ours = our_pixels(dev, backend_name, **OURS)
    check(ours, their_picture(dev))
    assert psnr(ours, their_picture(dev, guidance_scale=1.0)) < 45
    assert psnr(ours, their_picture(dev, prompt="a cat")) < 45


@backends
def test_text_to_picture_by_schnell_equals_diffusers(schnell: Path, backend_name: str) -> None:
    assert identify(schnell).variant == "schnell"
    ours = our_pixels(schnell, backend_name, **{**OURS, "steps": 4, "guidance": 1.0})
    expected = their_picture(schnell, num_inference_steps=4, max_sequence_length=256)
    check(ours, expected)


def test_schnell_with_guidance_equals_diffusers_true_guidance(schnell: Path) -> None:
    negative = "a blur"
    ours = our_pixels(schnell, **{**OURS, "guidance": 3.0}, negative_prompt=negative)
    expected = their_picture(
        schnell, true_cfg_scale=3.0, negative_prompt=negative, max_sequence_length=256
    )
    check(ours, expected)


def test_dev_with_true_guidance_equals_diffusers(dev: Path) -> None:
    negative = "a blur"
    options = GuidanceOptions(true_cfg=2.5)
    ours = our_pixels(dev, **OURS, guidance_options=options, negative_prompt=negative)
    check(ours, their_picture(dev, true_cfg_scale=2.5, negative_prompt=negative))
    assert psnr(ours, our_pixels(dev, **OURS)) < 45


@pytest.mark.parametrize("strength", [0.3, 0.6, 1.0])
def test_redrawing_by_dev_equals_diffusers(dev: Path, tmp_path: Path, strength: float) -> None:
    pipe = opened(diffusers.FluxImg2ImgPipeline, dev)
    check_redrawing(pipe, dev, tmp_path / "init.png", (OURS, THEIRS), strength)


def test_redrawing_by_schnell_equals_diffusers(schnell: Path, tmp_path: Path) -> None:
    pixels = write_init(tmp_path / "init.png")
    pipe = opened(diffusers.FluxImg2ImgPipeline, schnell)
    size = {"width": 64, "height": 64}
    arguments = {"strength": 0.6, "max_sequence_length": 256}
    expected = their_pixels(pipe, **{**THEIRS, **size}, image=pixels, **arguments)
    init = InputImage(role=InputRole.INIT, path=str(tmp_path / "init.png"))
    changes = {**OURS, **size, "guidance": 1.0}
    check(our_pixels(schnell, **changes, inputs=(init,), strength=0.6), expected)


def test_a_second_pass_equals_redrawing_the_enlarged_picture_by_diffusers(dev: Path) -> None:
    first, again = opened(diffusers.FluxPipeline, dev), opened(diffusers.FluxImg2ImgPipeline, dev)
    check_second_pass(first, again, dev, (OURS, THEIRS))
