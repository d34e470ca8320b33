"""Image prompts and ControlNets with all else that a picture may have, beside diffusers."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from PIL import Image

pytestmark = [
    pytest.mark.oracle,
    # diffusers' schedulers hand tensors to NumPy in a way that NumPy 2.4 deprecates
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The configuration file of this scheduler:FutureWarning"),
    # k-diffusion copies tensors by torch.tensor
    pytest.mark.filterwarnings("ignore:To copy construct from a tensor:UserWarning"),
]
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")
pytest.importorskip("transformers")

from backends.base import Array  # noqa: E402
from engine.api.control import ControlLayer  # noqa: E402
from engine.api.conventions import CONVENTIONS, ImagePrompting  # noqa: E402
from engine.api.denoiser_options import DenoiserOptions, FreeUVersion, Tiling  # noqa: E402
from engine.api.lora import LoraChoice  # noqa: E402
from engine.api.request import GuidanceOptions, InputImage, RefinerChoice  # noqa: E402
from engine.api.second_passes import SecondPass  # noqa: E402
from engine.api.values import ConventionName, InputRole, SamplerName, ScheduleName  # noqa: E402
from engine.checkpoints.files import read_index  # noqa: E402
from engine.families import identify  # noqa: E402
from engine.lora.folder import LoraLookup  # noqa: E402
from engine.pipeline.loras import JobLoras  # noqa: E402
from tests.oracle.control_modules import randomised  # noqa: E402
from tests.oracle.diffusers_pictures import (  # noqa: E402
    BETAS,
    GUIDANCE,
    SEED,
    SIZE,
    STEPS,
    TEXTS,
    THEIRS,
    check,
    opened,
    our_pixels,
    their_pixels,
    write_init,
)
from tests.oracle.fidelity import a1111  # noqa: E402
from tests.oracle.fidelity.networks import Networks  # noqa: E402
from tests.oracle.fidelity.picture import Picture, plain  # noqa: E402
from tests.oracle.sdxl_folder import write_pipeline, write_refiner  # noqa: E402
from tests.oracle.test_attention_pictures import attend_more  # noqa: E402
from tests.oracle.test_changed_networks import wrapping  # noqa: E402
from tests.oracle.test_image_prompt_pictures import Peer  # noqa: E402
from tests.oracle.test_lora_pictures import write_lora  # noqa: E402
from tests.pipeline.jobs import psnr  # noqa: E402
from tests.thinned import each_with_one_in_turn  # noqa: E402
from tests.tiny_checkpoint import SIDE, write_checkpoint  # noqa: E402

KIND = "plus"
FREE_U = {"b1": 1.4, "b2": 1.6, "s1": 0.9, "s2": 0.2}


class Led(Peer):
    """A checkpoint with image prompts, and a ControlNet for it with its map."""

    def __init__(self, folder: Path, checkpoint: Path) -> None:
        super().__init__(folder, checkpoint)
        maps = {"conditioning_embedding_out_channels": (8, 16)}
        module = diffusers.ControlNetModel.from_unet(self.pipe.unet, **maps)
        self.module, self.network = randomised(module), folder / "net"
        self.module.save_pretrained(self.network)
        levels = np.random.default_rng(1).integers(0, 256, (SIDE, SIDE, 3), np.uint8)
        Image.fromarray(levels).save(folder / "map.png")
        self.layer = ControlLayer(
            image=str(folder / "map.png"), network=str(self.network), weight=0.8
        )
        write_init(folder / "init.png")
        mask = np.zeros((SIDE, SIDE), np.uint8)
        mask[16:48, 8:40] = 255
        Image.fromarray(mask).save(folder / "mask.png")

    def opened(self, name: str) -> Image.Image:
        return Image.open(self.folder / name)

    def input(self, role: InputRole, name: str) -> InputImage:
        return InputImage(role=role, path=str(self.folder / name))

    def of_kind(self, kind: Any, **parts) -> Any:
        """A pipeline of this kind with the same parts, and the image prompt's adapter."""
        self.pipe.load_ip_adapter(
            str(self.folder),
            subfolder="",
            weight_name=self.adapters[KIND].name,
            image_encoder_folder=None,
        )
        self.pipe.set_ip_adapter_scale(0.8)
        unchecked = {} if "XL" in kind.__name__ else {"requires_safety_checker": False}
        pipe = kind(**self.pipe.components, **unchecked, **parts)
        pipe.set_progress_bar_config(disable=True)
        return pipe

    def picture(self, pipe: Any, **given) -> Array:
        shown = Image.open(self.pictures[0])
        return their_pixels(pipe, ip_adapter_image=shown, **{**TEXTS, **given})

    def check(self, theirs: Array, **changes) -> None:
        """Hold our picture to theirs; without the image prompt it is another."""
        ours = self.ours(self.prompt(KIND, weight=0.8), **changes)
        check(ours, theirs)
        assert psnr(ours, self.ours(**changes)) < 45


@pytest.fixture(scope="module")
def sd1(tmp_path_factory) -> Led:
    checkpoint = write_checkpoint(tmp_path_factory.mktemp("sd1") / "tiny", change=attend_more)
    return Led(tmp_path_factory.mktemp("prompts"), checkpoint)


@pytest.fixture(scope="module")
def sdxl(tmp_path_factory) -> Led:
    checkpoint = write_pipeline(tmp_path_factory.mktemp("sdxl"))
    return Led(tmp_path_factory.mktemp("prompts"), checkpoint)


def test_a_redrawn_picture_with_an_image_prompt_equals_diffusers(sd1: Led) -> None:
    pipe = sd1.of_kind(diffusers.StableDiffusionImg2ImgPipeline)
    theirs = sd1.picture(pipe, image=write_init(sd1.folder / "init.png"), strength=0.7)
    sd1.check(theirs, inputs=(sd1.input(InputRole.INIT, "init.png"),), strength=0.7)


def test_an_inpainted_picture_with_an_image_prompt_equals_diffusers(sd1: Led) -> None:
    pipe = sd1.of_kind(diffusers.StableDiffusionInpaintPipeline)
    given = {"image": sd1.opened("init.png"), "mask_image": sd1.opened("mask.png")}
    theirs = sd1.picture(pipe, **given, **SIZE, strength=0.8)
    roles = {InputRole.INIT: "init.png", InputRole.MASK: "mask.png"}
    inputs = tuple(sd1.input(*item) for item in roles.items())
    sd1.check(theirs, inputs=inputs, strength=0.8)


def test_a_led_picture_with_an_image_prompt_equals_diffusers(sd1: Led) -> None:
    pipe = sd1.of_kind(diffusers.StableDiffusionControlNetPipeline, controlnet=sd1.module)
    given = {"image": sd1.opened("map.png"), "controlnet_conditioning_scale": 0.8}
    sd1.check(sd1.picture(pipe, **SIZE, **given), controls=(sd1.layer,))


def test_perturbed_attention_of_a_led_picture_equals_diffusers(sd1: Led) -> None:
    pipe = sd1.of_kind(diffusers.StableDiffusionControlNetPAGPipeline, controlnet=sd1.module)
    given = {"image": sd1.opened("map.png"), "controlnet_conditioning_scale": 0.8}
    theirs = sd1.picture(pipe, **SIZE, **given, pag_scale=3.0)
    options = GuidanceOptions(pag_scale=3.0)
    sd1.check(theirs, controls=(sd1.layer,), guidance_options=options)
    pipe = sd1.of_kind(diffusers.StableDiffusionPAGPipeline)
    sd1.check(sd1.picture(pipe, **SIZE, pag_scale=3.0), guidance_options=options)


def test_perturbed_attention_of_a_led_sdxl_picture_equals_diffusers(sdxl: Led) -> None:
    pipe = sdxl.of_kind(diffusers.StableDiffusionXLControlNetPAGPipeline, controlnet=sdxl.module)
    given = {"image": sdxl.opened("map.png"), "controlnet_conditioning_scale": 0.8}
    theirs = sdxl.picture(pipe, **SIZE, **given, pag_scale=3.0)
    options = GuidanceOptions(pag_scale=3.0)
    sdxl.check(theirs, controls=(sdxl.layer,), guidance_options=options)


def test_self_attention_guidance_with_an_image_prompt_equals_diffusers(sd1: Led) -> None:
    """Under guidance diffusers' pipeline hands the UNet one row of tokens for two of queries."""
    pipe = sd1.of_kind(diffusers.StableDiffusionSAGPipeline)
    pipe.scheduler = diffusers.DDIMScheduler(
        timestep_spacing="trailing", clip_sample=False, set_alpha_to_one=False, **BETAS
    )
    sd1.check(
        sd1.picture(pipe, **SIZE, guidance_scale=1.0, sag_scale=0.75),
        guidance=1.0,
        guidance_options=GuidanceOptions(sag_scale=0.75, sag_blur=1.0),
        sampler=SamplerName.DDIM,
        schedule=ScheduleName.SGM_UNIFORM,
    )


def test_free_u_of_a_led_picture_equals_diffusers(sd1: Led) -> None:
    pipe = sd1.of_kind(diffusers.StableDiffusionControlNetPipeline, controlnet=sd1.module)
    pipe.enable_freeu(**FREE_U)
    given = {"image": sd1.opened("map.png"), "controlnet_conditioning_scale": 0.8}
    theirs = sd1.picture(pipe, **SIZE, **given)
    pipe.disable_freeu()
    factors: dict[str, Any] = {f"freeu_{name}": value for name, value in FREE_U.items()}
    options = DenoiserOptions(freeu=FreeUVersion.V1, **factors)
    sd1.check(theirs, controls=(sd1.layer,), denoiser_options=options)


def test_a_led_seamless_picture_equals_diffusers_with_circular_padding(tmp_path: Path) -> None:
    """The tools pad the UNet and the VAE so, and no ControlNet."""
    led = Led(tmp_path, write_checkpoint(tmp_path / "tiny"))
    pipe = led.of_kind(diffusers.StableDiffusionControlNetPipeline, controlnet=led.module)
    for module in (pipe.unet, pipe.vae):
        wrapping(module, (True, True))
    given = {"image": led.opened("map.png"), "controlnet_conditioning_scale": 0.8}
    options = DenoiserOptions(tiling=Tiling.BOTH)
    led.check(led.picture(pipe, **SIZE, **given), controls=(led.layer,), denoiser_options=options)


def test_image_prompts_and_loras_act_together_as_in_diffusers(tmp_path: Path) -> None:
    led = Led(tmp_path, write_checkpoint(tmp_path / "tiny"))
    file = write_lora(tmp_path / "lora.safetensors", led.checkpoint, 4, 1)
    pipe = led.of_kind(diffusers.StableDiffusionPipeline)
    pipe.load_lora_weights(tmp_path, weight_name=file.name, adapter_name="lora")
    pipe.set_adapters(["lora"], [0.8])
    read = JobLoras(identify(led.checkpoint), LoraLookup(()), read_index)
    choice = LoraChoice(file=str(file), strength=0.8)
    led.check(led.picture(pipe, **SIZE), loras=(choice,), read_loras=read)


LED_TWICE = {
    "sd1": (
        diffusers.StableDiffusionControlNetPipeline,
        diffusers.StableDiffusionControlNetImg2ImgPipeline,
    ),
    "sdxl": (
        diffusers.StableDiffusionXLControlNetPipeline,
        diffusers.StableDiffusionXLControlNetImg2ImgPipeline,
    ),
}


@pytest.mark.parametrize(
    ("family", "upscaler"),
    each_with_one_in_turn(list(LED_TWICE), ["Latent", "lanczos"], pytest.mark.slow),
)
def test_two_passes_with_an_image_prompt_and_a_controlnet_equal_diffusers(
    request: pytest.FixtureRequest, family: str, upscaler: str
) -> None:
    """The map is fitted to the size of each pass."""
    led: Led = request.getfixturevalue(family)
    first, again = (led.of_kind(kind, controlnet=led.module) for kind in LED_TWICE[family])
    asked = {**TEXTS, **THEIRS, "ip_adapter_image": Image.open(led.pictures[0])}
    asked |= {"controlnet_conditioning_scale": 0.8}

    def drawn(pipe: Any, **given: Any) -> Any:
        return pipe(**asked | given, generator=torch.Generator().manual_seed(SEED)).images

    small, large = SIZE, {name: 2 * side for name, side in SIZE.items()}
    shown = {"image": led.opened("map.png")}
    if upscaler == "Latent":
        latent = drawn(first, **small, **shown, output_type="latent")
        image = torch.nn.functional.interpolate(latent, scale_factor=2, mode="bilinear")
    else:
        made = drawn(first, **small, **shown, output_type="pil")[0]
        image = made.resize((2 * SIDE, 2 * SIDE), Image.Resampling.LANCZOS)
    given = {"image": image, "control_image": led.opened("map.png"), "strength": 0.6}
    theirs = drawn(again, **large, **given)[0]
    wanted = SecondPass(upscaler=upscaler, strength=0.6)
    led.check(
        np.rint(theirs * 255).astype(np.uint8), controls=(led.layer,), second_passes=(wanted,)
    )


class Prompted(Networks):
    """The networks in torch with an image prompt; the last of all contexts is the negative one."""

    def __init__(self, led: Led) -> None:
        super().__init__(led.checkpoint)
        pipe = led.of_kind(diffusers.StableDiffusionPipeline)
        given = Image.open(led.pictures[0]), None, "cpu", 1, True
        with torch.no_grad():
            (both,) = pipe.prepare_ip_adapter_image_embeds(*given)
        self.unet, (self.without, self.shown) = pipe.unet, both

    def predict(self, x: Any, timestep: Any, context: Any, seen: Any = None) -> Any:
        rows = torch.stack([*[self.shown] * (len(x) - 1), self.without])
        told = {"image_embeds": [rows]}
        return self.unet(x, timestep, context, added_cond_kwargs=told).sample


def test_prompts_joined_by_and_see_the_image_prompt(sd1: Led) -> None:
    text, (horse, house) = (
        "a red horse :1.2 AND blue house :0.7",
        map(plain, ("a red horse", "blue house")),
    )
    parts = (
        replace(horse[0], weight=1.2),
        replace(house[0], weight=0.7),
    )
    picture = Picture("Euler", prompt=text, positive_parts=parts, steps=STEPS, guidance=GUIDANCE)
    convention = msgspec.structs.replace(
        CONVENTIONS[ConventionName.A1111], image_prompting=ImagePrompting.DIFFUSERS
    )
    theirs = a1111.render(Prompted(sd1), picture)
    asked = {"prompt": text, "negative_prompt": picture.negative, "convention": convention}
    ours = our_pixels(sd1.checkpoint, image_prompts=(sd1.prompt(KIND, weight=0.8),), **asked)
    check(ours, theirs)
    assert psnr(ours, our_pixels(sd1.checkpoint, **asked)) < 45


def test_an_image_prompt_does_not_act_on_a_refiner(tmp_path: Path) -> None:
    """diffusers' pipeline of the refiner is not given it."""
    led = Led(tmp_path, write_pipeline(tmp_path))
    base = led.of_kind(diffusers.StableDiffusionXLPipeline)
    second = write_refiner(tmp_path)
    refiner = opened(diffusers.StableDiffusionXLImg2ImgPipeline, second, vae=base.vae)
    generator = torch.Generator("cpu").manual_seed(SEED)
    given = {**THEIRS, **TEXTS, **SIZE, "output_type": "latent", "generator": generator}
    shown = Image.open(led.pictures[0])
    latents = base(**given, denoising_end=0.5, ip_adapter_image=shown).images
    rest = {"generator": generator, "image": latents, "denoising_start": 0.5}
    choice = RefinerChoice(checkpoint=str(second), switch_at=0.5)
    led.check(their_pixels(refiner, **rest, **TEXTS), refiner=choice)
