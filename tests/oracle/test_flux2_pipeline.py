"""Whole pictures of FLUX.2 klein beside diffusers' pipelines: the same weights, prompts, noise."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from diffusers.loaders.single_file_utils import (  # noqa: E402
    convert_flux2_transformer_checkpoint_to_diffusers,
)

from backends.base import Array  # noqa: E402
from engine.api.request import InputImage  # noqa: E402
from engine.api.values import InputRole  # noqa: E402
from engine.families import Component, identify  # noqa: E402
from engine.families.flux2.architecture import AFTER  # noqa: E402
from engine.text.chat_rows import WITHOUT_THOUGHTS, ChatRows  # noqa: E402
from engine.text.prompt import WeightedText  # noqa: E402
from engine.text.qwen_tokenizer import load_qwen_tokenizer  # noqa: E402
from engine.weights.sources import as_source  # noqa: E402
from tests.checkpoints.arrays import write_arrays  # noqa: E402
from tests.families.flux.files import drawn  # noqa: E402
from tests.families.flux2 import files  # noqa: E402
from tests.oracle.diffusers_pictures import (  # noqa: E402
    check,
    opened,
    our_pixels,
    their_pixels,
)
from tests.oracle.flow_pictures import asked, check_second_pass  # noqa: E402
from tests.oracle.flux2_folder import write_pipeline  # noqa: E402
from tests.pipeline.jobs import psnr  # noqa: E402

backends = pytest.mark.parametrize("backend_name", ["cpu", "intel_openvino"])
PROMPT = "a red horse, (blue house:1.3) by the sea; \u4e00\u53ea\u732b"
# Seven steps do not divide a thousand levels; the sides are not equal.
OURS, THEIRS = asked(steps=7, guidance=1.0, size=(96, 64), prompt=PROMPT)
FEW = asked(steps=4, guidance=1.0, size=(96, 64), prompt=PROMPT)


@pytest.fixture(scope="module")
def klein(tmp_path_factory) -> Path:
    return write_pipeline(tmp_path_factory.mktemp("klein"))


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    return write_pipeline(tmp_path_factory.mktemp("base"), "FLUX.2-klein-base-4B")


def their_picture(folder: Path, **arguments) -> Array:
    return their_pixels(opened(diffusers.Flux2KleinPipeline, folder), **{**THEIRS, **arguments})


def colours(path: Path, size: tuple[int, int], seed: int, role=InputRole.REFERENCE) -> InputImage:
    levels = np.random.default_rng(seed).integers(0, 256, (5, 4, 3), np.uint8)
    Image.fromarray(levels).resize(size, Image.Resampling.BICUBIC).save(path)
    return InputImage(role=role, path=str(path))


@backends
def test_text_to_picture_equals_diffusers(klein: Path, backend_name: str) -> None:
    found = identify(klein)
    assert (found.family, found.variant, found.missing) == ("flux2", "klein", ())
    ours = our_pixels(klein, backend_name, **OURS)
    check(ours, their_picture(klein))
    assert psnr(ours, their_picture(klein, prompt="a cat")) < 45


@pytest.mark.parametrize("steps", [1, 4, 30])
def test_the_times_of_few_and_many_steps_equal_diffusers(klein: Path, steps: int) -> None:
    ours = our_pixels(klein, **{**OURS, "steps": steps})
    check(ours, their_picture(klein, num_inference_steps=steps))


def test_a_prompt_that_is_cut_equals_diffusers(klein: Path) -> None:
    prompt = "a house by the sea, " * 150
    check(our_pixels(klein, **{**OURS, "prompt": prompt}), their_picture(klein, prompt=prompt))


def test_base_with_guidance_equals_diffusers(base: Path) -> None:
    assert identify(base).variant == "klein-base"
    ours = our_pixels(base, **{**OURS, "guidance": 4.0}, negative_prompt="")
    check(ours, their_picture(base, guidance_scale=4.0))
    assert psnr(ours, their_picture(base)) < 45


@pytest.mark.parametrize("text", ["", PROMPT, "a house, " * 300], ids=["empty", "short", "cut"])
def test_tokens_are_those_of_the_pipeline(klein: Path, text: str) -> None:
    pipe = opened(diffusers.Flux2KleinPipeline, klein)
    given = []
    pipe.text_encoder.forward = lambda input_ids, **_: given.append(input_ids)
    with pytest.raises(AttributeError):
        pipe.encode_prompt(text)
    rows = ChatRows(load_qwen_tokenizer(), WITHOUT_THOUGHTS, 512, unescapes=False, cuts=True)
    found = rows.laid_out([WeightedText(text, 1.0)]).ids
    np.testing.assert_array_equal(found, given[0].numpy())
    assert AFTER == (9, 18, 27)


@pytest.mark.parametrize(
    "sizes", [((120, 70),), ((64, 96), (170, 75)), ((1300, 1000),)], ids=["cut", "two", "large"]
)
def test_reference_pictures_equal_diffusers(klein: Path, tmp_path: Path, sizes) -> None:
    references = tuple(colours(tmp_path / f"{i}.png", size, i) for i, size in enumerate(sizes))
    few = {"steps": 3}
    pictures = [Image.open(reference.path) for reference in references]
    expected = their_picture(klein, image=pictures, num_inference_steps=3)
    ours = our_pixels(klein, **{**OURS, **few}, inputs=references)
    check(ours, expected)
    assert psnr(ours, our_pixels(klein, **{**OURS, **few})) < 45


def mask(path: Path, levels: Array) -> InputImage:
    Image.fromarray(levels).save(path)
    return InputImage(role=InputRole.MASK, path=str(path))


def hole() -> Array:
    """Whole cells: of others diffusers takes the mean of the middle, we the first pixel."""
    levels = np.zeros((64, 96), np.uint8)
    levels[16:48, 32:80] = 255
    levels[32:48, 32:48] = 90
    return levels


@pytest.mark.parametrize("strength", [0.3, 0.6, 1.0])
def test_redrawing_equals_diffusers(klein: Path, tmp_path: Path, strength: float) -> None:
    """diffusers' only pipeline that redraws is for inpainting, and sees the picture itself, too."""
    init = colours(tmp_path / "init.png", (96, 64), 3, InputRole.INIT)
    shown = InputImage(role=InputRole.REFERENCE, path=init.path)
    pipe = opened(diffusers.Flux2KleinInpaintPipeline, klein)
    white = Image.new("L", (96, 64), 255)
    arguments = {"image": Image.open(init.path), "mask_image": white, "strength": strength}
    expected = their_pixels(pipe, **THEIRS, **arguments)
    check(our_pixels(klein, **OURS, inputs=(init, shown), strength=strength), expected)


@pytest.mark.parametrize("strength", [0.6, 1.0])
def test_inpainting_equals_diffusers(klein: Path, tmp_path: Path, strength: float) -> None:
    init = colours(tmp_path / "init.png", (96, 64), 3, InputRole.INIT)
    shown = InputImage(role=InputRole.REFERENCE, path=init.path)
    hidden = mask(tmp_path / "mask.png", hole())
    pipe = opened(diffusers.Flux2KleinInpaintPipeline, klein)
    pair = {"image": Image.open(init.path), "mask_image": Image.open(hidden.path)}
    expected = their_pixels(pipe, **THEIRS, **pair, strength=strength)
    made = our_pixels(klein, **OURS, inputs=(init, hidden, shown), strength=strength)
    check(made, expected)


class Redrawing(diffusers.Flux2KleinInpaintPipeline):
    """The pipeline without a mask, and without the picture that it redraws as a reference."""

    def __call__(self, image, **options):
        white = Image.new("L", image.size, 255)
        return super().__call__(image=image, mask_image=white, **options)

    def prepare_image_latents(self, images, *arguments, **options):
        latents, places = super().prepare_image_latents(images, *arguments, **options)
        return latents[:, :0], places[:, :0]


def test_a_second_pass_equals_redrawing_the_enlarged_picture_by_diffusers(klein: Path) -> None:
    first, again = opened(diffusers.Flux2KleinPipeline, klein), opened(Redrawing, klein)
    check_second_pass(first, again, klein, FEW)


def test_keys_of_the_original_layout_become_diffusers(tmp_path: Path) -> None:
    numbers = drawn(files.original(files.SMALL))
    write_arrays(tmp_path / "flux2.safetensors", numbers)
    found = identify(tmp_path / "flux2.safetensors").components[Component.DENOISER].weights
    theirs = convert_flux2_transformer_checkpoint_to_diffusers(
        {name: torch.from_numpy(array) for name, array in numbers.items()}
    )
    scale, shift = theirs.pop("norm_out.linear.weight").chunk(2)
    theirs["norm_out.scale.weight"], theirs["norm_out.shift.weight"] = scale, shift
    assert found.keys() == theirs.keys()
    for name in found:
        np.testing.assert_array_equal(as_source(found[name]).read(), theirs[name].numpy())
