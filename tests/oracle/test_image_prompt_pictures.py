"""Whole pictures with image prompts beside diffusers' `load_ip_adapter`."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import pytest
from PIL import Image

pytestmark = [
    pytest.mark.oracle,
    # diffusers' schedulers hand tensors to NumPy in a way that NumPy 2.4 deprecates
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The configuration file of this scheduler:FutureWarning"),
]
pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")
pytest.importorskip("transformers")
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil  # noqa: E402

from backends.base import Array  # noqa: E402
from engine.api.image_prompts import AdapterBlocks, ImagePrompt  # noqa: E402
from tests.image_prompts.files import KINDS, SIDE, write_mask, write_picture  # noqa: E402
from tests.oracle.diffusers_pictures import (  # noqa: E402
    SIZE,
    STEPS,
    TEXTS,
    check,
    euler,
    opened,
    our_pixels,
    their_pixels,
)
from tests.oracle.image_prompt_files import (  # noqa: E402
    adapter_state,
    vision_model,
    write_adapter,
)
from tests.oracle.sdxl_folder import unet_module, write_pipeline  # noqa: E402
from tests.pipeline.jobs import psnr  # noqa: E402
from tests.tiny_checkpoint import write_checkpoint  # noqa: E402

# Diffusers' dictionaries for InstantStyle, of SDXL.
STYLE = {"up": {"block_0": [0.0, 1.0, 0.0]}}
COMPOSITION = {"down": {"block_2": [0.0, 1.0]}}
BLOCKS = {
    AdapterBlocks.STYLE: STYLE,
    AdapterBlocks.COMPOSITION: COMPOSITION,
    AdapterBlocks.STYLE_AND_COMPOSITION: STYLE | COMPOSITION,
}


class Peer:
    """Diffusers' pipeline of a checkpoint, and files for image prompts."""

    def __init__(self, folder: Path, checkpoint: Path) -> None:
        self.checkpoint, self.folder = checkpoint, folder
        vision_model().save_pretrained(folder / "image_encoder")
        processor = CLIPImageProcessorPil(size=SIDE, crop_size=SIDE)
        self.pipe = opened(
            diffusers.DiffusionPipeline,
            checkpoint,
            image_encoder=vision_model(),
            feature_extractor=processor,
        )
        self.pipe.scheduler = euler()
        self.plain = their_pixels(self.pipe, **SIZE, **TEXTS)
        self.adapters = {
            kind: write_adapter(
                folder / f"{kind}{suffix}", adapter_state(self.pipe.unet, kind, seed)
            )
            for seed, (kind, suffix) in enumerate(
                zip(KINDS, (".bin", ".safetensors", ".bin"), strict=True)
            )
        }
        self.pictures = [write_picture(folder / f"{seed}.png", seed) for seed in (1, 2)]

    def theirs(self, kinds, scales, **changes) -> Array:
        """Their picture with image prompts of these kinds of adapters."""
        names = [self.adapters[kind].name for kind in kinds]
        folders = [str(self.folder)] * len(names)
        self.pipe.load_ip_adapter(
            folders, subfolder="", weight_name=names, image_encoder_folder=None
        )
        self.pipe.set_ip_adapter_scale(scales)
        shown = [Image.open(self.pictures[place]) for place in range(len(names))]
        return their_pixels(self.pipe, ip_adapter_image=shown, **SIZE, **TEXTS, **changes)

    def ours(self, *prompts: ImagePrompt, backend: str = "cpu", **changes) -> Array:
        return our_pixels(self.checkpoint, backend, image_prompts=prompts, **TEXTS, **changes)

    def prompt(self, kind: str, place: int = 0, **changes) -> ImagePrompt:
        return ImagePrompt(
            image=str(self.pictures[place]), adapter=str(self.adapters[kind]), **changes
        )


def _sdxl(folder: Path) -> Path:
    """An SDXL pipeline with as many blocks as SDXL's, so that its blocks have SDXL's numbers."""
    unet = unet_module(
        block_out_channels=(32, 32, 64),
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
        attention_head_dim=(2, 2, 4),
        transformer_layers_per_block=(1, 1, 2),
    )
    return write_pipeline(folder, unet)


@pytest.fixture(scope="module", params=["sd1", "sdxl"])
def peer(request, tmp_path_factory) -> Peer:
    folder = tmp_path_factory.mktemp(request.param)
    checkpoint = _sdxl(folder) if request.param == "sdxl" else write_checkpoint(folder / "tiny")
    return Peer(tmp_path_factory.mktemp("prompts"), checkpoint)


@pytest.fixture(scope="module")
def sdxl(tmp_path_factory) -> Peer:
    folder = tmp_path_factory.mktemp("sdxl")
    return Peer(tmp_path_factory.mktemp("prompts"), _sdxl(folder))


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_with_an_adapter_of_each_kind_equals_diffusers(peer: Peer, kind: str) -> None:
    expected = peer.theirs([kind], [0.8])
    assert psnr(expected, peer.plain) < 35
    check(peer.ours(peer.prompt(kind, weight=0.8)), expected)


def test_openvinos_picture_with_an_image_prompt_equals_diffusers(peer: Peer) -> None:
    expected = peer.theirs(["plus"], [0.8])
    check(peer.ours(peer.prompt("plus", weight=0.8), backend="intel_openvino"), expected)


def test_a_picture_with_two_image_prompts_equals_diffusers(peer: Peer) -> None:
    expected = peer.theirs(["standard", "plus"], [0.7, -0.5])
    ours = peer.ours(peer.prompt("standard", weight=0.7), peer.prompt("plus", 1, weight=-0.5))
    check(ours, expected)


def test_a_picture_with_masked_image_prompts_equals_diffusers(peer: Peer, tmp_path: Path) -> None:
    masks = [write_mask(tmp_path / f"{left}.png", left=left) for left in (True, False)]
    processor = diffusers.image_processor.IPAdapterMaskProcessor()
    prepared = [
        processor.preprocess([Image.open(path)], height=SIZE["height"], width=SIZE["width"])
        for path in masks
    ]
    given = {"ip_adapter_masks": [mask.reshape(1, 1, *mask.shape[-2:]) for mask in prepared]}
    expected = peer.theirs(["standard", "full"], [0.9, 0.9], cross_attention_kwargs=given)
    prompts = [
        peer.prompt(kind, place, weight=0.9, mask=str(masks[place]))
        for place, kind in enumerate(("standard", "full"))
    ]
    check(peer.ours(*prompts), expected)
    unmasked = peer.theirs(["standard", "full"], [0.9, 0.9])
    assert psnr(expected, unmasked) < 35


@pytest.mark.parametrize("part", [(0.0, 0.5), (0.5, 1.0)])
def test_a_picture_with_an_image_prompt_for_a_part_of_the_steps_equals_diffusers(
    peer: Peer, part: tuple[float, float]
) -> None:
    first, end = (round(share * STEPS) for share in part)

    def after(pipe, step, _timestep, kept):
        pipe.set_ip_adapter_scale(1.0 if first <= step + 1 < end else 0.0)
        return kept

    expected = peer.theirs(["plus"], [float(first == 0)], callback_on_step_end=after)
    check(peer.ours(peer.prompt("plus", range=part)), expected)


@pytest.mark.parametrize("blocks", BLOCKS)
def test_a_picture_with_block_weights_equals_diffusers_instant_style(
    sdxl: Peer, blocks: AdapterBlocks
) -> None:
    expected = sdxl.theirs(["plus"], [BLOCKS[blocks]])
    assert psnr(expected, sdxl.theirs(["plus"], [1.0])) < 40
    check(sdxl.ours(sdxl.prompt("plus", blocks=blocks)), expected)


def test_a_picture_without_guidance_equals_diffusers(peer: Peer) -> None:
    expected = peer.theirs(["standard"], [1.0], guidance_scale=1.0)
    check(peer.ours(peer.prompt("standard"), guidance=1.0), expected)
