"""Pictures by Flux.1 Canny and Depth beside diffusers' pipelines: same weights, prompts, noise."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import pytest
from PIL import Image

pytestmark = pytest.mark.oracle
pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from engine.api.control import ControlLayer  # noqa: E402
from engine.api.request import GuidanceOptions, InputImage  # noqa: E402
from engine.api.second_passes import SecondPass  # noqa: E402
from engine.api.values import InputRole  # noqa: E402
from engine.families import identify  # noqa: E402
from tests.oracle.diffusers_pictures import (  # noqa: E402
    check,
    opened,
    our_pixels,
    their_pixels,
    write_init,
)
from tests.oracle.flow_pictures import asked, pair, write_map, write_masked  # noqa: E402
from tests.oracle.flux_folder import write_pipeline  # noqa: E402
from tests.pipeline.jobs import psnr  # noqa: E402

OURS, THEIRS = asked(steps=5, guidance=10.0)


@pytest.fixture(scope="module")
def depth(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("depth")
    return write_pipeline(folder, diffusers.FluxControlPipeline, in_channels=128)


@pytest.fixture(scope="module")
def layer(tmp_path_factory) -> ControlLayer:
    """A map of soft greys, which is followed as it is."""
    path = write_map(tmp_path_factory.mktemp("map") / "map.png", is_grey=True)
    return ControlLayer(image=str(path))


def test_a_picture_by_a_map_equals_diffusers(depth: Path, layer: ControlLayer, tmp_path) -> None:
    assert identify(depth).architecture.features.follows_map
    pipe = opened(diffusers.FluxControlPipeline, depth)
    expected = their_pixels(pipe, **THEIRS, control_image=Image.open(layer.image))
    ours = our_pixels(depth, **OURS, controls=(layer,))
    check(ours, expected)
    Image.new("RGB", (64, 64)).save(tmp_path / "black.png")
    black = ControlLayer(image=str(tmp_path / "black.png"))
    assert psnr(ours, our_pixels(depth, **OURS, controls=(black,))) < 45


@pytest.mark.parametrize("strength", [0.6, 1.0])
def test_redrawing_by_a_map_equals_diffusers(
    depth: Path, layer: ControlLayer, tmp_path: Path, strength: float
) -> None:
    pixels = write_init(tmp_path / "init.png")
    pipe = opened(diffusers.FluxControlImg2ImgPipeline, depth)
    control = Image.open(layer.image)
    expected = their_pixels(pipe, **THEIRS, image=pixels, control_image=control, strength=strength)
    init = InputImage(role=InputRole.INIT, path=str(tmp_path / "init.png"))
    made = our_pixels(depth, **OURS, controls=(layer,), inputs=(init,), strength=strength)
    check(made, expected)


def test_a_second_pass_follows_the_map_at_its_size(depth: Path, layer: ControlLayer) -> None:
    first, again = (
        opened(kind, depth)
        for kind in (diffusers.FluxControlPipeline, diffusers.FluxControlImg2ImgPipeline)
    )
    control = Image.open(layer.image)
    made = Image.fromarray(their_pixels(first, **THEIRS, control_image=control))
    size = {"width": 96, "height": 96}
    enlarged = made.resize((96, 96), Image.Resampling.LANCZOS)
    given = {**THEIRS, **size, "image": enlarged, "strength": 0.6}
    expected = their_pixels(again, **given, control_image=control)
    wanted = SecondPass(scale=1.5, upscaler="lanczos", strength=0.6)
    check(our_pixels(depth, **OURS, controls=(layer,), second_passes=(wanted,)), expected)


@pytest.mark.parametrize("strength", [0.6, 1.0])
def test_inpainting_by_a_map_equals_diffusers(
    depth: Path, layer: ControlLayer, tmp_path: Path, strength: float
) -> None:
    inputs = write_masked(tmp_path)
    pipe = opened(diffusers.FluxControlInpaintPipeline, depth)
    given = {**pair(inputs), "control_image": Image.open(layer.image), "strength": strength}
    expected = their_pixels(pipe, **THEIRS, **given)
    made = our_pixels(depth, **OURS, controls=(layer,), inputs=inputs, strength=strength)
    check(made, expected)


def guided(pipe, scale: float, negative: str):
    """The pipeline with true guidance, by the equation of `FluxControlNetPipeline`."""
    states, pooled, _ = pipe.encode_prompt(negative, None)
    unwanted = {"encoder_hidden_states": states, "pooled_projections": pooled}
    forward = pipe.transformer.forward

    def predict(**given):
        wanted, other = (forward(**{**given, **text})[0] for text in ({}, unwanted))
        return (other + scale * (wanted - other),)

    pipe.transformer.forward = predict
    return pipe


def test_true_guidance_with_a_map_equals_diffusers(depth: Path, layer: ControlLayer) -> None:
    pipe = guided(opened(diffusers.FluxControlPipeline, depth), 2.5, "a blur")
    expected = their_pixels(pipe, **THEIRS, control_image=Image.open(layer.image))
    options = GuidanceOptions(true_cfg=2.5)
    given = {**OURS, "controls": (layer,), "negative_prompt": "a blur"}
    made = our_pixels(depth, **given, guidance_options=options)
    check(made, expected)
    assert psnr(made, our_pixels(depth, **given)) < 45
