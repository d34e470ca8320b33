"""Masked pictures of Flux.1 beside diffusers' pipelines: the same weights, prompts and noise."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from engine.api.masks import MaskedContent, MaskOptions  # noqa: E402
from engine.api.request import InputImage  # noqa: E402
from engine.families import identify  # noqa: E402
from tests.oracle.diffusers_pictures import (  # noqa: E402
    check,
    opened,
    our_pixels,
    their_pixels,
)
from tests.oracle.flow_pictures import asked, check_inpainting, pair, write_masked  # noqa: E402
from tests.oracle.flux_folder import write_pipeline  # noqa: E402
from tests.pipeline.jobs import psnr  # noqa: E402

OURS, THEIRS = asked(steps=7, guidance=3.5)


@pytest.fixture(scope="module")
def dev(tmp_path_factory) -> Path:
    return write_pipeline(tmp_path_factory.mktemp("dev"))


@pytest.fixture(scope="module")
def inputs(tmp_path_factory) -> tuple[InputImage, InputImage]:
    return write_masked(tmp_path_factory.mktemp("pictures"))


@pytest.mark.parametrize("strength", [0.6, 1.0])
def test_inpainting_by_dev_equals_diffusers(dev: Path, inputs, strength: float) -> None:
    pipe = opened(diffusers.FluxInpaintPipeline, dev)
    check_inpainting(pipe, dev, inputs, (OURS, THEIRS), strength)


def test_inpainting_by_schnell_equals_diffusers(inputs, tmp_path: Path) -> None:
    schnell = write_pipeline(tmp_path, takes_guidance=False)
    pipe = opened(diffusers.FluxInpaintPipeline, schnell)
    given = {"strength": 0.8, "max_sequence_length": 256}
    expected = their_pixels(pipe, **THEIRS, **pair(inputs), **given)
    changed = {**OURS, "guidance": 1.0}
    check(our_pixels(schnell, **changed, inputs=inputs, strength=0.8), expected)


def test_inpainting_only_the_masked_part_equals_diffusers(dev: Path, inputs) -> None:
    pipe = opened(diffusers.FluxInpaintPipeline, dev)
    arguments = {**pair(inputs), "strength": 0.8, "padding_mask_crop": 6, "output_type": "pil"}
    expected = np.asarray(
        pipe(**THEIRS, **arguments, generator=torch.Generator("cpu").manual_seed(7)).images[0]
    )
    options = MaskOptions(only_masked=True, padding=6)
    made = our_pixels(dev, **OURS, inputs=inputs, mask_options=options, strength=0.8)
    check(made, expected)
    assert psnr(made, our_pixels(dev, **OURS, inputs=inputs, strength=0.8)) < 40


@pytest.mark.parametrize("content", list(MaskedContent))
def test_each_content_of_the_masked_part_changes_the_picture(
    dev: Path, inputs, content: MaskedContent
) -> None:
    options = MaskOptions(content=content)
    made = our_pixels(dev, **OURS, inputs=inputs, mask_options=options, strength=0.6)
    original = our_pixels(dev, **OURS, inputs=inputs, strength=0.6)
    assert np.array_equal(made, original) == (content is MaskedContent.ORIGINAL)


@pytest.fixture(scope="module")
def fill(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("fill")
    return write_pipeline(folder, diffusers.FluxFillPipeline, in_channels=384)


@pytest.mark.parametrize("strength", [0.6, 1.0])
def test_filling_equals_diffusers(fill: Path, inputs, strength: float) -> None:
    assert identify(fill).variant == "fill"
    pipe = opened(diffusers.FluxFillPipeline, fill)
    check_inpainting(pipe, fill, inputs, (OURS, THEIRS), strength)


def test_filling_starts_from_noise_with_a_guidance_of_30(fill: Path, inputs) -> None:
    changes = {name: value for name, value in OURS.items() if name != "guidance"}
    made = our_pixels(fill, **changes, guidance=None, inputs=inputs)
    given = {**OURS, "guidance": 30.0}
    assert np.array_equal(made, our_pixels(fill, **given, inputs=inputs, strength=1.0))
