"""Pictures shown to CLIP, masks at the levels of a denoiser, and strengths of blocks."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.api.conventions import ImagePrompting
from engine.api.image_prompts import AdapterBlocks
from engine.graphs.image_prompts import AttendingLayer
from engine.graphs.unet import attending_layers
from engine.image_prompts.encoding import EncodedImagePrompt
from engine.image_prompts.masks import level_masks
from engine.image_prompts.pictures import clip_pixels, no_pixels
from engine.image_prompts.strengths import has_blocks, layer_strengths, turns_away
from engine.image_prompts.turning import TurnedLayers
from tests.graphs.networks import sd15_unet

MEAN = np.array([0.48145466, 0.4578275, 0.40821073])
DEVIATION = np.array([0.26862954, 0.26130258, 0.27577711])
WHITE = (1 - MEAN) / DEVIATION
# The names in ComfyUI's nodes: see `freeze_weights`.
WEIGHT_TYPES = {
    "linear": AdapterBlocks.ALL,
    "ease in": AdapterBlocks.EASE_IN,
    "ease out": AdapterBlocks.EASE_OUT,
    "ease in-out": AdapterBlocks.EASE_IN_OUT,
    "reverse in-out": AdapterBlocks.REVERSE_IN_OUT,
    "weak input": AdapterBlocks.WEAK_INPUT,
    "weak middle": AdapterBlocks.WEAK_MIDDLE,
    "weak output": AdapterBlocks.WEAK_OUTPUT,
    "strong middle": AdapterBlocks.STRONG_MIDDLE,
    "style transfer": AdapterBlocks.STYLE,
    "composition": AdapterBlocks.COMPOSITION,
    "strong style transfer": AdapterBlocks.STRONG_STYLE,
    "style and composition": AdapterBlocks.STYLE_AND_COMPOSITION,
    "style transfer precise": AdapterBlocks.STYLE_PRECISE,
    "composition precise": AdapterBlocks.COMPOSITION_PRECISE,
}
SDXL = tuple(AttendingLayer(f"layer_{i}", 64, 0, i // 2) for i in range(22))


@pytest.mark.parametrize("size", [(71, 50), (1, 1), (28, 28), (50, 3000), (3000, 50)])
@pytest.mark.parametrize("rule", ImagePrompting)
def test_a_white_picture_of_any_size_is_shown_white(
    rule: ImagePrompting, size: tuple[int, int]
) -> None:
    shown = clip_pixels(Image.new("RGB", size, "white"), 28, rule)
    assert shown.shape == (1, 3, 28, 28)
    assert shown.dtype == np.float32
    assert np.allclose(shown, WHITE.reshape(1, 3, 1, 1), atol=1e-5)


@pytest.mark.parametrize("rule", ImagePrompting)
def test_the_middle_of_a_wide_picture_is_shown_but_by_a1111(rule: ImagePrompting) -> None:
    pixels = np.zeros((28, 84, 3), np.uint8)
    pixels[:, 28:56] = 255
    shown = clip_pixels(Image.fromarray(pixels), 28, rule)
    share = ((shown[0] * DEVIATION[:, None, None]) + MEAN[:, None, None]).mean()
    assert share == pytest.approx(1 / 3 if rule is ImagePrompting.A1111 else 1, abs=0.02)


def test_no_picture_is_zeros_and_black_in_comfyui() -> None:
    assert not no_pixels(28, ImagePrompting.DIFFUSERS).any()
    assert not no_pixels(28, ImagePrompting.A1111).any()
    black = no_pixels(28, ImagePrompting.COMFY)
    assert np.allclose(black[0, :, 0, 0], -MEAN / DEVIATION, atol=1e-6)


@pytest.mark.parametrize("rule", ImagePrompting)
def test_a_mask_has_the_cells_of_each_level(rule: ImagePrompting) -> None:
    mask = Image.new("L", (30, 20), 255)
    found = level_masks(mask, (72, 64), (8, 9), (0, 1, 3), rule)
    assert {level: level_mask.shape for level, level_mask in found.items()} == {
        0: (1, 72, 1),
        1: (1, 20, 1),
        3: (1, 2, 1),
    }
    assert all(np.allclose(level_mask, 1) for level_mask in found.values())


def test_diffusers_masks_are_black_and_white_and_others_grey() -> None:
    grey = Image.new("L", (64, 64), 100)
    assert not level_masks(grey, (64, 64), (8, 8), (0,), ImagePrompting.DIFFUSERS)[0].any()
    linear = level_masks(grey, (64, 64), (8, 8), (0,), ImagePrompting.COMFY)[0]
    assert np.allclose(linear, 100 / 255)


def test_blocks_of_sd_1_are_those_of_comfyuis_nodes() -> None:
    layers = attending_layers(sd15_unet())
    style = layer_strengths(AdapterBlocks.STYLE, layers)
    composition = layer_strengths(AdapterBlocks.COMPOSITION, layers)
    by_name = dict(zip((layer.name for layer in layers), style, strict=True))
    assert by_name["down_blocks.2.attentions.0.transformer_blocks.0.attn2"] == 0
    assert by_name["mid_block.attentions.0.transformer_blocks.0.attn2"] == 0
    assert by_name["down_blocks.0.attentions.0.transformer_blocks.0.attn2"] == 1
    assert sorted(composition)[-2:] == [0.25, 1]
    both = layer_strengths(AdapterBlocks.STYLE_AND_COMPOSITION, layers)
    assert np.array_equal(both, style + composition)
    assert layer_strengths(AdapterBlocks.ALL, layers).all()


def test_blocks_of_sdxl_are_those_of_instant_style() -> None:
    style = layer_strengths(AdapterBlocks.STYLE, SDXL)
    composition = layer_strengths(AdapterBlocks.COMPOSITION, SDXL)
    assert np.flatnonzero(style).tolist() == [12, 13]
    assert np.flatnonzero(composition).tolist() == [6, 7]
    assert not has_blocks(AdapterBlocks.STYLE, SDXL[:4])
    assert has_blocks(AdapterBlocks.EASE_IN, SDXL[:4])


@pytest.mark.parametrize("family", ["sd1", "sdxl"])
def test_weights_are_those_of_comfyuis_nodes(family: str) -> None:
    before, after = {"sd1": (6, 9), "sdxl": (4, 6)}[family]
    parts = ["down"] * before + ["mid"] + ["up"] * after
    layers = [AttendingLayer(f"{part}_blocks", 64, 0, i) for i, part in enumerate(parts)]
    with np.load(Path(__file__).parent / "frozen" / "weights.npz") as file:
        theirs = {kind: file[f"{family}/{kind}"] for kind in WEIGHT_TYPES}
        negative = {kind: file[f"negative/{family}/{kind}"] for kind in WEIGHT_TYPES}
        assert len(file) == 4 * len(WEIGHT_TYPES)
    assert len(set(WEIGHT_TYPES.values())) == len(AdapterBlocks)
    for kind, expected in theirs.items():
        ours = np.float32(0.8) * layer_strengths(WEIGHT_TYPES[kind], layers)
        turned = turns_away(WEIGHT_TYPES[kind], layers)
        np.testing.assert_allclose(ours * ~turned, expected, rtol=1e-6, err_msg=kind)
        np.testing.assert_allclose(ours * turned, negative[kind], rtol=1e-6, err_msg=kind)


def test_layers_that_turn_away_show_the_picture_to_the_negative_prompt() -> None:
    random = np.random.default_rng(0)
    made = {width: random.random((2, 2, 3, width), np.float32) for width in (4, 8)}
    layers = TurnedLayers(np.array([True, False, False, True]), (4, 8, 4, 8))
    found = layers.turned(EncodedImagePrompt(made, made))
    for arrays in (found.keys, found.values):
        for width, turned, stays in ((4, 0, 1), (8, 1, 0)):
            assert not arrays[width][turned, 0].any()
            np.testing.assert_array_equal(arrays[width][turned, 1], made[width][turned, 0])
            np.testing.assert_array_equal(arrays[width][stays], made[width][stays])
