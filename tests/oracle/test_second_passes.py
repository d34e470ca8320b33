"""Pictures that are enlarged and redrawn beside A1111, ComfyUI and diffusers."""
# pyright: basic
# torch, diffusers and transformers are absent from the environment that is type-checked.

import logging
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

pytestmark = [
    pytest.mark.oracle,
    # k-diffusion copies tensors by torch.tensor
    pytest.mark.filterwarnings("ignore:To copy construct from a tensor:UserWarning"),
    # torchsde rounds the ends of a path
    pytest.mark.filterwarnings("ignore:Should have:UserWarning"),
    # diffusers would rather have other steps of DDIM, which is not used
    pytest.mark.filterwarnings("ignore:The configuration file of this scheduler:FutureWarning"),
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]
torch = pytest.importorskip("torch")
for module in ("diffusers", "transformers", "scipy"):
    pytest.importorskip(module)

from backends.base import Precision  # noqa: E402
from backends.cpu import CpuBackend  # noqa: E402
from engine.api.request import RefinerChoice  # noqa: E402
from engine.api.second_passes import Resampling, SecondPass  # noqa: E402
from engine.api.values import ConventionName, SamplerName, ScheduleName  # noqa: E402
from engine.metadata.readers.comfy_second_passes import PICTURE_METHODS  # noqa: E402
from engine.pipeline.enlarge.enlarging import resized_by_comfy  # noqa: E402
from engine.upscalers.interpolation import Interpolation, interpolated  # noqa: E402
from engine.upscalers.reading import read_upscaler  # noqa: E402
from engine.upscalers.running import running  # noqa: E402
from tests.oracle.diffusers_pictures import BETAS  # noqa: E402
from tests.oracle.fidelity.names import A1111_SAMPLERS, COMFY_SAMPLERS  # noqa: E402
from tests.oracle.fidelity.networks import SHAPE, Networks  # noqa: E402
from tests.oracle.fidelity.picture import (  # noqa: E402
    GUIDANCE,
    NEGATIVE,
    PROMPT,
    SEED,
    Picture,
)
from tests.oracle.fidelity.second_passes import (  # noqa: E402
    MODES,
    Second,
    a1111_latent,
    a1111_second,
    comfy_bislerp,
    comfy_latent,
)
from tests.oracle.spandrel_networks import loaded  # noqa: E402
from tests.oracle.test_refined_tools import Refined  # noqa: E402
from tests.pipeline.jobs import RESIDENCY, a_request, psnr, run  # noqa: E402
from tests.thinned import each_with_one_in_turn  # noqa: E402
from tests.tiny_checkpoint import DOWNSCALE, SIDE, write_checkpoint  # noqa: E402
from tests.upscalers.small import arrays_of, file_of, setting  # noqa: E402

LOG = logging.getLogger(__name__)
LIMIT = 50
STEPS = 4
# The scale of second pictures: at twice the size each step takes four times as long.
SCALE = 1.5
# ComfyUI's names of the methods for pictures by ours.
COMFYS_METHODS = {ours.value: theirs for theirs, ours in PICTURE_METHODS.items()}
LARGER = int(SCALE * SIDE)


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> tuple[Path, Path]:
    """Two checkpoints of one latent space, with unlike weights and one VAE."""
    folder = tmp_path_factory.mktemp("second")
    base, other = write_checkpoint(folder / "base"), write_checkpoint(folder / "other", seed=5)
    vae = "vae/diffusion_pytorch_model.safetensors"
    (other / vae).write_bytes((base / vae).read_bytes())
    return base, other


@pytest.fixture(scope="module")
def networks(folders) -> tuple[Networks, Networks]:
    return Networks(folders[0]), Networks(folders[1])


def ours(folders, convention, sampler: str, *seconds: SecondPass, **changes) -> np.ndarray:
    request = a_request(
        folders[0],
        prompt=PROMPT,
        negative_prompt=NEGATIVE,
        steps=STEPS,
        seed=SEED,
        guidance=GUIDANCE,
        sampler=SamplerName(sampler),
        convention=convention,
        second_passes=seconds,
        **changes,
    )
    return run(request, CpuBackend(), (Precision.F32,), residency=RESIDENCY).pixels[0]


def check(made: np.ndarray, expected: np.ndarray) -> None:
    measured = psnr(made, expected)
    LOG.info("PSNR %.1f dB", measured)
    assert made.shape == expected.shape
    assert made.std() > 10
    assert measured >= LIMIT


def pixels(networks: Networks, latent: Any) -> np.ndarray:
    with torch.no_grad():
        return networks.pixels(latent, rounds=False)


@pytest.mark.parametrize("size", [(26, 34), (20, 31), (13, 40), (7, 9)])
@pytest.mark.parametrize(
    ("mode", "torchs", "antialias"),
    [
        (Interpolation.NEAREST, "nearest", False),
        (Interpolation.NEAREST_EXACT, "nearest-exact", False),
        (Interpolation.BILINEAR, "bilinear", False),
        (Interpolation.BILINEAR_ANTIALIASED, "bilinear", True),
        (Interpolation.BICUBIC, "bicubic", False),
        (Interpolation.BICUBIC_ANTIALIASED, "bicubic", True),
        (Interpolation.AREA, "area", False),
    ],
)
def test_latents_are_interpolated_as_by_torch(mode, torchs: str, antialias: bool, size) -> None:
    latent = np.random.default_rng(0).standard_normal((1, 4, 13, 17)).astype(np.float32)
    options = {"antialias": True} if antialias else {}
    expected = torch.nn.functional.interpolate(
        torch.from_numpy(latent), size=size, mode=torchs, **options
    ).numpy()
    np.testing.assert_allclose(interpolated(latent, size, mode), expected, atol=1e-5)


@pytest.mark.parametrize("upscaler", MODES)
def test_latents_are_enlarged_and_redrawn_as_by_a1111(folders, networks, upscaler: str) -> None:
    picture, strength = Picture("Euler a", steps=STEPS), 0.6
    second = Second(picture, (LARGER, LARGER), strength, upscaler)
    base = networks[0]
    expected = a1111_second(base, a1111_latent(base, picture), base, second)
    wanted = SecondPass(scale=SCALE, upscaler=upscaler, strength=strength)
    check(ours(folders, ConventionName.A1111, "euler_a", wanted), pixels(base, expected))


@pytest.mark.parametrize(
    ("sampler", "upscaler"),
    each_with_one_in_turn(
        ["DPM++ 2M", "DPM++ SDE", "DPM2 a", "Heun"], ["Latent", "lanczos"], pytest.mark.slow
    ),
)
def test_second_passes_have_steps_samplers_and_sizes_as_in_a1111(
    folders, networks, sampler: str, upscaler: str
) -> None:
    """Six steps of another sampler."""
    first, base = Picture("Euler", steps=STEPS), networks[0]
    own = replace(first, sampler=sampler, steps=6)
    second = Second(own, (LARGER, LARGER), 0.45, upscaler)
    expected = a1111_second(base, a1111_latent(base, first), base, second)
    name = SamplerName(A1111_SAMPLERS[sampler])
    schedule = ScheduleName.EXPONENTIAL if "SDE" in sampler else ScheduleName.KARRAS
    schedule = {"Heun": ScheduleName.NORMAL, "DPM++ SDE": ScheduleName.KARRAS}.get(
        sampler, schedule
    )
    wanted = SecondPass(
        scale=SCALE, upscaler=upscaler, strength=0.45, steps=6, sampler=name, schedule=schedule
    )
    made = ours(folders, ConventionName.A1111, "euler", wanted, schedule=ScheduleName.NORMAL)
    check(made, pixels(base, expected))


@pytest.mark.parametrize(
    ("wide", "upscaler"),
    each_with_one_in_turn([True, False], ["Latent (bicubic)", "lanczos"], pytest.mark.slow),
)
def test_pictures_of_another_shape_are_cut_as_by_a1111(
    folders, networks, upscaler: str, wide: bool
) -> None:
    picture, base = Picture("Euler", steps=STEPS), networks[0]
    size = (120, 98) if wide else (98, 120)
    second = Second(picture, size, 0.5, upscaler, enlarged=(120, 120))
    expected = a1111_second(base, a1111_latent(base, picture), base, second)
    wanted = SecondPass(width=size[0], height=size[1], upscaler=upscaler, strength=0.5)
    check(ours(folders, ConventionName.A1111, "euler", wanted), pixels(base, expected))


def test_prompts_and_checkpoint_of_a_second_pass_act_as_in_a1111(folders, networks) -> None:
    picture, (base, other) = Picture("Euler", steps=STEPS), networks
    own = replace(picture, prompt="a house", negative="red")
    second = Second(own, (LARGER, LARGER), 0.7, "lanczos")
    expected = a1111_second(base, a1111_latent(base, picture), other, second)
    wanted = SecondPass(
        scale=SCALE,
        upscaler="lanczos",
        strength=0.7,
        prompt="a house",
        negative_prompt="red",
        checkpoint=str(folders[1]),
    )
    made = ours(folders, ConventionName.A1111, "euler", wanted)
    check(made, pixels(other, expected))
    same = SecondPass(scale=SCALE, upscaler="lanczos", strength=0.7)
    assert psnr(ours(folders, ConventionName.A1111, "euler", same), made) < LIMIT - 15


def test_a_refiner_takes_over_in_the_second_pass_as_in_a1111(folders, networks) -> None:
    picture, (base, other), at = Picture("Euler", steps=STEPS), networks, 0.6
    guided = partial(_refining, other, at)
    second = Second(picture, (LARGER, LARGER), 0.75)
    expected = a1111_second(base, a1111_latent(base, picture), base, second, guided)
    refiner = RefinerChoice(checkpoint=str(folders[1]), switch_at=at)
    asked = partial(ours, folders, ConventionName.A1111, "euler")
    wanted = SecondPass(scale=SCALE, strength=0.75)
    made = asked(wanted, refiner=refiner)
    check(made, pixels(base, expected))
    assert psnr(asked(wanted), made) < LIMIT - 10


def _refining(refiner: Networks, at: float, *given: Any) -> Refined:
    return Refined(*given, refiner=refiner, at=at, evaluations=None)


def test_two_second_passes_follow_each_other(folders, networks) -> None:
    """A1111 has one; a chain of them is the same loop again."""
    picture, base = Picture("Euler a", steps=STEPS), networks[0]
    first = Second(picture, (80, 80), 0.6, "Latent (antialiased)")
    second = Second(picture, (120, 120), 0.4, "lanczos")
    latent = a1111_second(base, a1111_latent(base, picture), base, first)
    expected = a1111_second(base, latent, base, second)
    wanted = (
        SecondPass(scale=1.25, upscaler="Latent (antialiased)", strength=0.6),
        SecondPass(scale=1.5, upscaler="lanczos", strength=0.4),
    )
    check(ours(folders, ConventionName.A1111, "euler_a", *wanted), pixels(base, expected))


COMPACT = "Real-ESRGAN Compact"


def a1111_upscaled(image: Image.Image, tile: int) -> Image.Image:
    """The picture twice as large as A1111's `upscale_with_model` makes it: backwards in colour."""
    model = loaded(
        {name: torch.from_numpy(array) for name, array in arrays_of(COMPACT).items()}
    ).model

    def whole(part: Image.Image) -> Image.Image:
        planes = np.ascontiguousarray(np.asarray(part)[:, :, ::-1].transpose(2, 0, 1)) / 255
        with torch.no_grad():
            made = model(torch.from_numpy(planes).float()[None])[0].clamp(0, 1).numpy()
        return Image.fromarray((255 * made).round().astype(np.uint8).transpose(1, 2, 0)[:, :, ::-1])

    return in_grid(image, tile, whole) if tile else whole(image)


def in_grid(image: Image.Image, tile: int, enlarge: Any, overlap: int = 8) -> Image.Image:
    """`split_grid` and `combine_grid` of A1111's `modules/images.py`, for twice the size."""
    width, height = image.size

    def starts(side: int) -> list[int]:
        count = -(-(side - overlap) // (tile - overlap))
        return [min(int(i * (side - tile) / (count - 1)), side - tile) for i in range(count)]

    ramp = (np.arange(2 * overlap, dtype=np.float32) * 255 / (2 * overlap)).astype(np.uint8)
    whole, seam = Image.new("RGB", (2 * width, 2 * height)), 2 * overlap
    for y in starts(height):
        row = Image.new("RGB", (2 * width, 2 * tile))
        for x in starts(width):
            made = enlarge(image.crop((x, y, x + tile, y + tile)))
            mask = Image.fromarray(np.tile(ramp, (2 * tile, 1))) if x else None
            row.paste(made.crop((0, 0, seam, 2 * tile)), (2 * x, 0), mask)
            row.paste(made.crop((seam, 0, 2 * tile, 2 * tile)), (2 * x + seam, 0))
        mask = Image.fromarray(np.tile(ramp[:, None], (1, 2 * width))) if y else None
        whole.paste(row.crop((0, 0, 2 * width, seam)), (0, 2 * y), mask)
        whole.paste(row.crop((0, seam, 2 * width, 2 * tile)), (0, 2 * y + seam))
    return whole


def test_an_upscalers_file_enlarges_the_picture_as_in_a1111(folders, networks, tmp_path) -> None:
    """Enlarged to twice its size, and brought to one and a half times by Lanczos."""
    picture, base, size = Picture("Euler", steps=STEPS), networks[0], (LARGER, LARGER)

    def enlarge(image: Image.Image, width: int, height: int) -> Image.Image:
        made = a1111_upscaled(image, 0)
        return made.resize((width, height), resample=Image.Resampling.LANCZOS)

    second = Second(picture, size, 0.5, COMPACT, enlarge=enlarge)
    expected = a1111_second(base, a1111_latent(base, picture), base, second)
    wanted = SecondPass(upscaler=str(file_of(tmp_path, COMPACT)), strength=0.5, scale=SCALE)
    made = ours(folders, ConventionName.A1111, "euler", wanted)
    check(made, pixels(base, expected))
    diffusers_ours = ours(folders, ConventionName.DIFFUSERS, "euler", wanted)
    assert psnr(diffusers_ours, made) < LIMIT


def test_a_picture_without_seams_is_a1111s_in_its_tiles(tmp_path) -> None:
    """Tiles of 192 pixels that overlap by 8, A1111's settings unless changed."""
    small = np.random.default_rng(0).integers(0, 256, (40, 50, 3), np.uint8)
    image = Image.fromarray(small).resize((500, 400), Image.Resampling.BICUBIC)
    with running(read_upscaler(file_of(tmp_path, COMPACT)), setting(tmp_path)) as run:
        planes = np.asarray(image)[:, :, ::-1].transpose(2, 0, 1) / np.float32(255)
        made = np.clip(run.enlarge(np.ascontiguousarray(planes, np.float32)), 0, 1)
    levels = np.rint(255 * made).astype(np.uint8).transpose(1, 2, 0)[:, :, ::-1]
    check(levels, np.asarray(a1111_upscaled(image, 192)))


@pytest.mark.parametrize("size", [(26, 34), (20, 31), (13, 40), (7, 9)])
def test_latents_are_turned_as_by_comfyui(size: tuple[int, int]) -> None:
    latent = np.random.default_rng(0).standard_normal((2, 4, 13, 17)).astype(np.float32)
    latent[0, :, 3, 4] = 0
    latent[0, :, 5] = latent[0, :, 4]
    latent[1, :, 5] = -latent[1, :, 4]
    expected = comfy_bislerp(torch.from_numpy(latent), size).numpy()
    found = interpolated(latent, size, Interpolation.BISLERP)
    np.testing.assert_allclose(found, expected, atol=2e-5)
    plain = interpolated(latent, size, Interpolation.BILINEAR)
    assert np.abs(found - plain).max() > 0.1


def comfy_upscale(samples: Any, width: int, height: int, method: str) -> Any:
    """`common_upscale` and `lanczos` of ComfyUI's `comfy/utils.py`."""
    if method != "lanczos":
        return torch.nn.functional.interpolate(samples, size=(height, width), mode=method)
    levels = [
        Image.fromarray(np.clip(255.0 * image.numpy(), 0, 255).astype(np.uint8))
        for image in samples.movedim(1, -1)
    ]
    resized = [image.resize((width, height), resample=Image.Resampling.LANCZOS) for image in levels]
    arrays = [np.array(image).astype(np.float32) / 255.0 for image in resized]
    return torch.stack([torch.from_numpy(array).movedim(-1, 0) for array in arrays])


@pytest.mark.parametrize("size", [(36, 30), (17, 31), (50, 13), (9, 7)])
@pytest.mark.parametrize("method", COMFYS_METHODS)
def test_pictures_are_resized_as_by_comfyui(method: str, size: tuple[int, int]) -> None:
    planes = np.random.default_rng(0).random((3, 20, 24), np.float32)
    expected = comfy_upscale(torch.from_numpy(planes)[None], *size, COMFYS_METHODS[method])
    found = resized_by_comfy(planes, size, Resampling(method))
    np.testing.assert_allclose(found, expected[0].numpy(), atol=2e-6)


@pytest.mark.parametrize(
    ("sampler", "upscaler"),
    each_with_one_in_turn(
        ["euler", "euler_ancestral", "dpmpp_2m"],
        ["Latent (nearest-exact)", "Latent (bislerp)", *COMFYS_METHODS],
        pytest.mark.slow,
    ),
)
def test_a_second_sampler_draws_as_in_comfyui(folders, networks, sampler: str, upscaler) -> None:
    """`LatentUpscaleBy` or `ImageScaleBy`, and a KSampler with a seed of its own."""
    picture, base = Picture(sampler, "karras", steps=STEPS, source="cuda"), networks[0]
    latent = comfy_latent(base, picture, torch.zeros((1, *SHAPE)), 1.0)
    cells = LARGER // DOWNSCALE, LARGER // DOWNSCALE
    if upscaler == "Latent (bislerp)":
        large = comfy_bislerp(latent, cells)
    elif upscaler in MODES:
        large = torch.nn.functional.interpolate(latent, cells, mode=MODES[upscaler][0])
    else:
        large = _scaled_picture(base, latent, upscaler)
    own = replace(picture, seed=SEED + 100, steps=5)
    expected = comfy_latent(base, own, large, 0.55)
    wanted = SecondPass(scale=SCALE, upscaler=upscaler, strength=0.55, steps=5, seed=SEED + 100)
    ours_name = COMFY_SAMPLERS[sampler]
    made = ours(folders, ConventionName.COMFY, ours_name, wanted, schedule=ScheduleName.KARRAS)
    check(made, pixels(base, expected))


def _scaled_picture(networks: Networks, latent: Any, method: str) -> Any:
    """The latent of a larger picture: ComfyUI keeps numbers, not levels."""
    with torch.no_grad():
        scale = networks.vae.config.scaling_factor
        image = (networks.vae.decode(latent / scale).sample / 2 + 0.5).clamp(0, 1)
        large = comfy_upscale(image, LARGER, LARGER, COMFYS_METHODS[method])
        return networks.vae.encode(large * 2 - 1).latent_dist.mode() * scale


def test_img2img_of_latents_and_pictures_of_diffusers_is_a_second_pass(folders) -> None:
    from diffusers import (  # pyright: ignore[reportMissingImports]
        EulerDiscreteScheduler,
        StableDiffusionImg2ImgPipeline,
        StableDiffusionPipeline,
    )

    first = StableDiffusionPipeline.from_pretrained(folders[0])
    first.scheduler = EulerDiscreteScheduler(
        num_train_timesteps=1000, timestep_spacing="linspace", steps_offset=1, **BETAS
    )
    again = StableDiffusionImg2ImgPipeline(**first.components, requires_safety_checker=False)
    asked = {
        "prompt": PROMPT,
        "negative_prompt": NEGATIVE,
        "num_inference_steps": STEPS,
        "guidance_scale": GUIDANCE,
    }

    def seeded() -> Any:
        return torch.Generator().manual_seed(SEED)

    for upscaler in ("Latent", "lanczos"):
        latent = first(
            **asked, width=SIDE, height=SIDE, generator=seeded(), output_type="latent"
        ).images
        if upscaler == "Latent":
            image = torch.nn.functional.interpolate(
                latent, (LARGER // DOWNSCALE, LARGER // DOWNSCALE), mode="bilinear"
            )
        else:
            made = first(**asked, width=SIDE, height=SIDE, generator=seeded()).images[0]
            image = made.resize((LARGER, LARGER), Image.Resampling.LANCZOS)
        redrawn = again(**asked, image=image, strength=0.6, generator=seeded()).images[0]
        wanted = SecondPass(scale=SCALE, upscaler=upscaler, strength=0.6)
        check(ours(folders, ConventionName.DIFFUSERS, "euler", wanted), np.asarray(redrawn))
