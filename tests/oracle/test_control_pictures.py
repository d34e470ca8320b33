"""Pictures led by ControlNets beside diffusers' pipelines: the same weights, maps and noise."""
# pyright: basic
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from PIL import Image

pytestmark = [
    pytest.mark.oracle,
    # diffusers' schedulers hand tensors to NumPy in a way that NumPy 2.4 deprecates
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from backends.base import Array  # noqa: E402
from engine.api.control import ControlLayer, ControlMode, ControlResize  # noqa: E402
from engine.api.preprocessors import ControlKind  # noqa: E402
from engine.api.request import InputImage  # noqa: E402
from engine.api.values import InputRole  # noqa: E402
from engine.control import adapter_files  # noqa: E402
from engine.control.kinds import UNION_KINDS  # noqa: E402
from tests.oracle.control_modules import randomised, union_module  # noqa: E402
from tests.oracle.diffusers_pictures import (  # noqa: E402
    SIZE,
    TEXTS,
    check,
    euler,
    opened,
    our_pixels,
    their_pixels,
    write_init,
)
from tests.oracle.sdxl_folder import write_pipeline, write_sd2_pipeline  # noqa: E402
from tests.pipeline.jobs import psnr  # noqa: E402
from tests.tiny_checkpoint import SIDE, write_checkpoint  # noqa: E402

MAPS = {"conditioning_embedding_out_channels": (8, 16)}
WRITERS = {
    "sd1": lambda folder: write_checkpoint(folder / "tiny"),
    "sd2": write_sd2_pipeline,
    "sdxl": write_pipeline,
}
PIPELINES = {
    "sd1": diffusers.StableDiffusionControlNetPipeline,
    "sd2": diffusers.StableDiffusionControlNetPipeline,
    "sdxl": diffusers.StableDiffusionXLControlNetPipeline,
}


class Made:
    """A checkpoint of a family, two ControlNets for it, and two maps."""

    def __init__(self, family: str, folder: Path) -> None:
        self.family, self.folder = family, WRITERS[family](folder)
        unet = diffusers.UNet2DConditionModel.from_pretrained(self.folder / "unet")
        self.widths = unet.config.block_out_channels
        self.modules, self.networks, self.maps = [], [], []
        for number in range(2):
            module = diffusers.ControlNetModel.from_unet(unet, **MAPS)
            module = randomised(module, number)
            self.modules.append(module)
            self.networks.append(folder / f"net {number}")
            module.save_pretrained(self.networks[-1])
            self.maps.append(folder / f"map {number}.png")
            levels = np.random.default_rng(number).integers(0, 256, (SIDE, SIDE, 3), np.uint8)
            Image.fromarray(levels).save(self.maps[-1])

    def layer(self, number: int = 0, **changes) -> ControlLayer:
        given = {"image": str(self.maps[number]), "network": str(self.networks[number])}
        return ControlLayer(**{**given, **changes})

    def theirs(self, modules=None, kind=None, tile=None, **arguments) -> Array:
        """A picture of diffusers' pipeline; `tile` is the side of its VAE's tiles in pixels."""
        modules = modules or self.modules[0]
        pipe = opened(
            kind or PIPELINES[self.family],
            self.folder,
            controlnet=modules,
            **({} if self.family == "sdxl" else {"safety_checker": None, "scheduler": euler()}),
        )
        if tile is not None:
            pipe.vae.enable_tiling()
            pipe.vae.tile_sample_min_size = tile
            pipe.vae.tile_latent_min_size = tile // pipe.vae_scale_factor
        return their_pixels(pipe, **{**SIZE, **TEXTS, **arguments})

    def picture(self, number: int = 0) -> Image.Image:
        return Image.open(self.maps[number])


@pytest.fixture(scope="module", params=WRITERS)
def every(request, tmp_path_factory) -> Made:
    return Made(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def sd1(tmp_path_factory) -> Made:
    return Made("sd1", tmp_path_factory.mktemp("sd1"))


def test_a_controlnet_leads_as_in_diffusers(every: Made) -> None:
    plain = our_pixels(every.folder, **TEXTS)
    ours = our_pixels(every.folder, **TEXTS, controls=(every.layer(weight=0.8),))
    expected = every.theirs(image=every.picture(), controlnet_conditioning_scale=0.8)
    check(ours, expected)
    assert psnr(ours, plain) < 40


def test_two_controlnets_lead_at_once_as_in_diffusers(sd1: Made) -> None:
    layers = (sd1.layer(0, weight=0.8), sd1.layer(1, weight=-0.5))
    ours = our_pixels(sd1.folder, "intel_openvino", **TEXTS, controls=layers)
    maps = [sd1.picture(0), sd1.picture(1)]
    expected = sd1.theirs(sd1.modules, image=maps, controlnet_conditioning_scale=[0.8, -0.5])
    check(ours, expected)
    assert psnr(ours, sd1.theirs(image=maps[0], controlnet_conditioning_scale=0.8)) < 40


@pytest.mark.parametrize("ends", [(0.0, 0.5), (0.4, 1.0), (0.2, 0.8)])
def test_a_range_is_diffusers(sd1: Made, ends: tuple[float, float]) -> None:
    ours = our_pixels(sd1.folder, **TEXTS, controls=(sd1.layer(range=ends),))
    span = {"control_guidance_start": ends[0], "control_guidance_end": ends[1]}
    check(ours, sd1.theirs(image=sd1.picture(), **span))
    assert psnr(ours, sd1.theirs(image=sd1.picture())) < 45


def test_a_led_picture_in_tiles_of_the_vae_is_as_near_as_diffusers(sd1: Made) -> None:
    """Tiles are not whole: each normalises by what it sees. Ours lose no more than theirs."""
    sides = {"width": 320, "height": 64}
    wanted = {
        **sides,
        "steps": 2,
        "controls": (sd1.layer(weight=0.8, resize=ControlResize.STRETCH),),
    }
    led = {**sides, "image": sd1.picture(), "num_inference_steps": 2}
    whole = our_pixels(sd1.folder, **TEXTS, **wanted)
    ours = our_pixels(sd1.folder, **TEXTS, **wanted, vae_tile=256)
    expected, theirs = (
        sd1.theirs(**led, controlnet_conditioning_scale=0.8, tile=tile) for tile in (None, 256)
    )
    check(whole, expected)
    lost, least = psnr(ours, expected), psnr(theirs, expected)
    assert 40 <= lost < psnr(whole, expected)
    assert lost >= least - 1


def test_the_mode_control_is_diffusers_guess_mode(sd1: Made) -> None:
    layer = sd1.layer(mode=ControlMode.CONTROL)
    ours = our_pixels(sd1.folder, **TEXTS, controls=(layer,))
    check(ours, sd1.theirs(image=sd1.picture(), guess_mode=True))
    assert psnr(ours, our_pixels(sd1.folder, **TEXTS, controls=(sd1.layer(),))) < 45


def test_a_map_of_another_size_is_resized_as_in_diffusers(sd1: Made, tmp_path: Path) -> None:
    path = tmp_path / "large.png"
    levels = np.random.default_rng(5).integers(0, 256, (90, 150, 3), np.uint8)
    Image.fromarray(levels).save(path)
    layer = sd1.layer(image=str(path), resize=ControlResize.STRETCH)
    check(our_pixels(sd1.folder, **TEXTS, controls=(layer,)), sd1.theirs(image=Image.open(path)))


def test_a_redrawn_picture_is_led_as_in_diffusers(sd1: Made, tmp_path: Path) -> None:
    start = write_init(tmp_path / "init.png")
    ours = our_pixels(
        sd1.folder,
        **TEXTS,
        controls=(sd1.layer(range=(0.0, 0.6)),),
        inputs=(InputImage(role=InputRole.INIT, path=str(tmp_path / "init.png")),),
        strength=0.7,
    )
    expected = sd1.theirs(
        kind=diffusers.StableDiffusionControlNetImg2ImgPipeline,
        image=start,
        control_image=sd1.picture(),
        strength=0.7,
        control_guidance_end=0.6,
        controlnet_conditioning_scale=1.0,
    )
    check(ours, expected)


@pytest.mark.parametrize("kind", [ControlKind.DEPTH, ControlKind.CANNY])
def test_a_union_leads_by_the_kind_of_its_map(tmp_path: Path, kind: ControlKind) -> None:
    made = Made("sdxl", tmp_path)
    union = union_module(8, **MAPS)
    union.save_pretrained(tmp_path / "union")
    layer = made.layer(network=str(tmp_path / "union"), kind=kind, weight=0.7)
    ours = our_pixels(made.folder, **TEXTS, controls=(layer,))
    expected = made.theirs(
        union,
        diffusers.StableDiffusionXLControlNetUnionPipeline,
        control_image=[made.picture()],
        control_mode=[UNION_KINDS[kind]],
        controlnet_conditioning_scale=0.7,
    )
    check(ours, expected)


@pytest.mark.parametrize("weights", [(1.0, 1.0), (0.8, 0.5)])
def test_all_maps_of_a_union_are_seen_at_once_as_in_diffusers(
    tmp_path: Path, weights: tuple[float, float]
) -> None:
    made, kinds = Made("sdxl", tmp_path), (ControlKind.DEPTH, ControlKind.CANNY)
    union = union_module(8, **MAPS)
    union.save_pretrained(tmp_path / "union")
    layers = [
        made.layer(number, network=str(tmp_path / "union"), kind=kind, weight=weight)
        for number, (kind, weight) in enumerate(zip(kinds, weights, strict=True))
    ]
    ours = our_pixels(made.folder, **TEXTS, controls=tuple(layers))
    expected = made.theirs(
        union,
        diffusers.StableDiffusionXLControlNetUnionPipeline,
        control_image=[made.picture(0), made.picture(1)],
        control_mode=[UNION_KINDS[kind] for kind in kinds],
        controlnet_conditioning_scale=list(weights),
    )
    check(ours, expected)
    one_by_one = (layers[0], replace(layers[1], range=(0.0, 0.999)))
    assert psnr(ours, our_pixels(made.folder, **TEXTS, controls=one_by_one)) < 50


def test_an_adapter_leads_as_in_diffusers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The tiny checkpoint's cells are two pixels wide, published ones eight.
    monkeypatch.setattr(adapter_files, "_UNSHUFFLES", {4: "sdxl"})
    made = Made("sdxl", tmp_path)
    torch.manual_seed(0)
    adapter = diffusers.T2IAdapter(
        adapter_type="full_adapter_xl", channels=list(made.widths), downscale_factor=4
    ).eval()
    adapter.save_pretrained(tmp_path / "adapter")
    layer = made.layer(network=str(tmp_path / "adapter"), weight=0.9)
    ours = our_pixels(made.folder, **TEXTS, controls=(layer,))
    pipe = opened(diffusers.StableDiffusionXLAdapterPipeline, made.folder, adapter=adapter)
    given = {"image": made.picture(), "adapter_conditioning_scale": 0.9}
    check(ours, their_pixels(pipe, **SIZE, **TEXTS, **given))
    assert psnr(ours, our_pixels(made.folder, **TEXTS)) < 45


def test_without_guidance_one_prompt_is_led(sd1: Made) -> None:
    ours = our_pixels(sd1.folder, **TEXTS, controls=(sd1.layer(),), guidance=1.0)
    check(ours, sd1.theirs(image=sd1.picture(), guidance_scale=1.0))


def test_an_inpainting_network_is_shown_what_is_kept(sd1: Made, tmp_path: Path) -> None:
    start = write_init(tmp_path / "init.png")
    mask = np.zeros((SIDE, SIDE), np.uint8)
    mask[16:48, 8:40] = 255
    Image.fromarray(mask).save(tmp_path / "mask.png")
    layer = sd1.layer(image=str(tmp_path / "init.png"), kind=ControlKind.INPAINT)
    inputs = (
        InputImage(role=InputRole.INIT, path=str(tmp_path / "init.png")),
        InputImage(role=InputRole.MASK, path=str(tmp_path / "mask.png")),
    )
    ours = our_pixels(sd1.folder, **TEXTS, controls=(layer,), inputs=inputs, strength=1.0)
    shown = start.clone()
    shown[:, :, mask > 0] = -1
    expected = sd1.theirs(
        kind=diffusers.StableDiffusionControlNetInpaintPipeline,
        image=start,
        mask_image=Image.fromarray(mask),
        control_image=shown,
        strength=1.0,
        controlnet_conditioning_scale=1.0,
    )
    check(ours, expected)
