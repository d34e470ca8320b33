"""ControlNets of Flux.1 beside diffusers': networks, and whole pictures by its pipelines."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pytestmark = [
    pytest.mark.oracle,
    # diffusers' ControlNet imports its own module by an old name.
    pytest.mark.filterwarnings("ignore:.*FluxPosEmbed:FutureWarning"),
]
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from diffusers.pipelines.flux.pipeline_flux import calculate_shift  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

from backends.base import DType  # noqa: E402
from engine.api.control import ControlLayer  # noqa: E402
from engine.api.preprocessors import ControlKind  # noqa: E402
from engine.api.request import GuidanceOptions, InputImage  # noqa: E402
from engine.api.values import InputRole  # noqa: E402
from engine.control.reading import read_control_network  # noqa: E402
from engine.control.residuals import residual_inputs  # noqa: E402
from engine.graphs import flux_control as graphs  # noqa: E402
from engine.graphs.flux import wave_embedding  # noqa: E402
from engine.graphs.flux_positions import rotations  # noqa: E402
from engine.weights.sources import as_source  # noqa: E402
from tests.backends.samples import relative_error  # noqa: E402
from tests.oracle.diffusers_pictures import (  # noqa: E402
    SEED,
    check,
    opened,
    our_pixels,
    their_pixels,
    write_init,
)
from tests.oracle.flow_pictures import (  # noqa: E402
    asked,
    check_two_networks,
    write_map,
    write_mask,
)
from tests.oracle.flux_folder import CONTEXT, write_pipeline  # noqa: E402
from tests.oracle.networks import float32_targets, label, normal, run  # noqa: E402
from tests.oracle.sdxl_folder import NARROW  # noqa: E402
from tests.pipeline.jobs import psnr  # noqa: E402

FLOAT32 = float32_targets()
OURS, THEIRS = asked(steps=5, guidance=3.5)
# By name: the kinds of a union, the double and single blocks, and the channels of XLabs' maps.
LED = {
    "union": {"num_mode": 5, "num_layers": 2, "num_single_layers": 1},
    "canny": {"num_layers": 1, "num_single_layers": 0},
    "xlabs-depth": {
        "num_layers": 2,
        "num_single_layers": 0,
        "conditioning_embedding_channels": 16,
        "patch_size": 2,
    },
}
# alimama's, whose embedding of maps diffusers' class lacks.
PAINTING = "inpainting"
FORMS = {**LED, PAINTING: {"num_layers": 2, "num_single_layers": 0}}


def widen(module) -> None:
    """Give a network four numbers more of a map: the mask of a token's cells."""
    before = module.controlnet_x_embedder
    module.controlnet_x_embedder = torch.nn.Linear(before.in_features + 4, before.out_features)


def loaded(folder: Path):
    """The network of a folder."""
    if folder.name != PAINTING:
        return diffusers.FluxControlNetModel.from_pretrained(folder).eval()
    config = diffusers.FluxControlNetModel.load_config(folder)
    module = diffusers.FluxControlNetModel.from_config(config)
    widen(module)
    module.load_state_dict(load_file(folder / "diffusion_pytorch_model.safetensors"))
    return module.eval()


def network(folder: Path, name: str) -> Path:
    """A ControlNet of random weights that show, as a folder of diffusers."""
    torch.manual_seed(sum(map(ord, name)))
    module = diffusers.FluxControlNetModel(
        **{"in_channels": 64, **FORMS[name]},
        attention_head_dim=32,
        num_attention_heads=2,
        joint_attention_dim=CONTEXT,
        pooled_projection_dim=NARROW,
        guidance_embeds=True,
        axes_dims_rope=[4, 14, 14],
    ).eval()
    if name == PAINTING:
        widen(module)
    for tensor in module.parameters():
        wide = tensor.ndim > 1
        tensor.data = torch.randn(tensor.shape) * (0.5 / tensor[0].numel() ** 0.5 if wide else 0.1)
        if not wide and tensor.numel() == 32:
            tensor.data += 1
    module.save_pretrained(folder / name)
    return folder / name


@pytest.fixture(scope="module")
def dev(tmp_path_factory) -> Path:
    return write_pipeline(tmp_path_factory.mktemp("dev"))


@pytest.fixture(scope="module")
def nets(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("nets")
    return {name: network(folder, name) for name in FORMS}


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> Path:
    return write_map(tmp_path_factory.mktemp("map") / "map.png")


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("target", FLOAT32, ids=label)
def test_a_network_equals_diffusers(nets: dict[str, Path], name: str, target) -> None:
    found = read_control_network(nets[name])
    config = found.sizes
    assert isinstance(config, graphs.FluxControlConfig)
    weights = {key: as_source(weight).read_as(DType.F32) for key, weight in found.weights.items()}
    cells, channels = (6, 8), 16
    shown = channels + found.sees_mask
    sample, latent = normal(1, channels, *cells, seed=1), normal(1, shown, *cells, seed=2)
    context, pooled = normal(2, 7, CONTEXT, seed=3), normal(2, NARROW, seed=4)
    pixels = np.random.default_rng(5).random((1, 3, 48, 64), np.float32)
    if config.embeds_pixels:
        embedded = run(target, lambda g: graphs.map_tokens(g, config), weights, {"map": pixels})
        latent = embedded["map_embedding"]
    count = config.double_blocks + config.single_blocks
    feeds = {
        "sample": sample,
        "context": context,
        "pooled": pooled,
        "timestep_embedding": wave_embedding(731.25),
        "guidance_embedding": wave_embedding(3500),
        "map_embedding": latent,
        "residual_mask.1": np.ones((1, 1, 3, 4), np.float32),
        **rotations(config, cells),
        **residual_inputs((0, 1), np.ones((2, count), np.float32)),
    }
    if config.modes:
        feeds["kind"] = np.eye(config.modes, dtype=np.float32)[2:3]
    made = run(target, lambda g: graphs.flux_control(g, config), weights, feeds)
    module = loaded(nets[name])
    pack = diffusers.FluxPipeline._pack_latents
    twice = [torch.from_numpy(np.repeat(array, 2, axis=0)) for array in (sample, latent)]
    packed, cond = (pack(tensor, *tensor.shape) for tensor in twice)
    if config.embeds_pixels:
        cond = torch.from_numpy(np.repeat(2 * pixels - 1, 2, axis=0))
    with torch.no_grad():
        theirs = module(
            hidden_states=packed,
            controlnet_cond=cond,
            controlnet_mode=torch.tensor([[2], [2]]) if config.modes else None,
            encoder_hidden_states=torch.from_numpy(context),
            pooled_projections=torch.from_numpy(pooled),
            timestep=torch.tensor([0.73125] * 2),
            guidance=torch.tensor([3.5] * 2),
            img_ids=diffusers.FluxPipeline._prepare_latent_image_ids(2, 3, 4, "cpu", torch.float32),
            txt_ids=torch.zeros(7, 3),
            return_dict=False,
        )
    expected = [*theirs[0], *(theirs[1] or ())]
    assert len(expected) == count
    for number, residual in enumerate(expected):
        ours = made[f"{config.form.name}.{number}"].reshape(residual.shape)
        assert relative_error(ours, residual.numpy()) < 1e-5


def pipeline(kind, dev: Path, net: Path):
    return opened(kind, dev, controlnet=loaded(net))


@pytest.mark.parametrize("name", LED)
def test_a_picture_equals_diffusers(
    dev: Path, nets: dict[str, Path], shown: Path, name: str
) -> None:
    pipe = pipeline(diffusers.FluxControlNetPipeline, dev, nets[name])
    given = {"control_image": Image.open(shown), "controlnet_conditioning_scale": 0.7}
    kind = ControlKind.DEPTH if name == "union" else None
    if kind:
        given["control_mode"] = 2
    expected = their_pixels(pipe, **THEIRS, **given, control_guidance_end=0.8)
    layer = ControlLayer(
        image=str(shown), network=str(nets[name]), weight=0.7, range=(0, 0.8), kind=kind
    )
    ours = our_pixels(dev, **OURS, controls=(layer,))
    check(ours, expected)
    assert psnr(ours, our_pixels(dev, **OURS)) < 45


def test_true_guidance_with_a_network_equals_diffusers(
    dev: Path, nets: dict[str, Path], shown: Path
) -> None:
    pipe = pipeline(diffusers.FluxControlNetPipeline, dev, nets["canny"])
    given = {"control_image": Image.open(shown), "true_cfg_scale": 2.5, "negative_prompt": "a blur"}
    expected = their_pixels(pipe, **THEIRS, **given)
    layer = ControlLayer(image=str(shown), network=str(nets["canny"]))
    options = GuidanceOptions(true_cfg=2.5)
    given = {**OURS, "controls": (layer,), "negative_prompt": "a blur"}
    check(our_pixels(dev, **given, guidance_options=options), expected)


def test_redrawing_with_a_network_equals_diffusers(
    dev: Path, nets: dict[str, Path], shown: Path, tmp_path: Path
) -> None:
    pixels = write_init(tmp_path / "init.png")
    pipe = pipeline(diffusers.FluxControlNetImg2ImgPipeline, dev, nets["canny"])
    given = {"image": pixels, "control_image": Image.open(shown), "strength": 0.6}
    expected = their_pixels(pipe, **THEIRS, **given, controlnet_conditioning_scale=1.0)
    layer = ControlLayer(image=str(shown), network=str(nets["canny"]))
    init = InputImage(role=InputRole.INIT, path=str(tmp_path / "init.png"))
    check(our_pixels(dev, **OURS, controls=(layer,), inputs=(init,), strength=0.6), expected)


def kept_of(pipe, shown: Path, mask: Path):
    """The map of alimama's network: the latent of a picture that is black where it is painted, and
    1 in the cells that are kept.

    As `prepare_image_with_mask` of `pipeline_flux_controlnet_inpaint.py`, which draws the latent
    from no seed: here it is the mean.
    """
    picture = pipe.image_processor.preprocess(Image.open(shown))
    paints = torch.from_numpy(np.array(Image.open(mask)) > 127)[None, None]
    latent = pipe.vae.encode(picture.masked_fill(paints, -1)).latent_dist.mode()
    latent = (latent - pipe.vae.config.shift_factor) * pipe.vae.config.scaling_factor
    keeps = 1 - torch.nn.functional.interpolate(paints.float(), size=latent.shape[2:])
    both = torch.cat([latent, keeps], dim=1)
    return pipe._pack_latents(both, *both.shape)


@torch.no_grad()
def alimamas_pixels(pipe, net, kept, scale: float, true_guidance: float):
    """A picture by the loop of that pipeline, whose network sees both prompts."""
    count, (width, height) = THEIRS["num_inference_steps"], (THEIRS["width"], THEIRS["height"])
    prompts = [pipe.encode_prompt(text, text) for text in (THEIRS["prompt"], "a blur")]
    generator = torch.Generator("cpu").manual_seed(SEED)
    drawn = pipe.prepare_latents(1, 16, height, width, torch.float32, "cpu", generator)
    latents, places = drawn
    stated = pipe.scheduler.config
    ends = stated.base_image_seq_len, stated.max_image_seq_len
    shift = calculate_shift(latents.shape[1], *ends, stated.base_shift, stated.max_shift)
    pipe.scheduler.set_timesteps(sigmas=np.linspace(1, 1 / count, count), mu=shift)
    for t in pipe.scheduler.timesteps:
        predicted = []
        for embedded, pooled, ids in prompts:
            seen = {
                "hidden_states": latents,
                "timestep": t[None] / 1000,
                "guidance": torch.tensor([THEIRS["guidance_scale"]]),
                "pooled_projections": pooled,
                "encoder_hidden_states": embedded,
                "txt_ids": ids,
                "img_ids": places,
                "return_dict": False,
            }
            double, single = net(**seen, controlnet_cond=kept, conditioning_scale=scale)
            led = {"controlnet_block_samples": double, "controlnet_single_block_samples": single}
            predicted.append(pipe.transformer(**seen, **led)[0])
        wanted, other = predicted
        noise = other + true_guidance * (wanted - other)
        latents = pipe.scheduler.step(noise, t, latents, return_dict=False)[0]
    latents = pipe._unpack_latents(latents, height, width, pipe.vae_scale_factor)
    latents = latents / pipe.vae.config.scaling_factor + pipe.vae.config.shift_factor
    made = pipe.vae.decode(latents, return_dict=False)[0]
    return np.rint(pipe.image_processor.postprocess(made, output_type="np")[0] * 255)


@pytest.mark.parametrize("true_guidance", [1.0, 2.5])
def test_a_painted_picture_equals_alimamas(
    dev: Path, nets: dict[str, Path], shown: Path, tmp_path: Path, true_guidance: float
) -> None:
    mask = write_mask(tmp_path / "mask.png")
    pipe = opened(diffusers.FluxPipeline, dev)
    with torch.no_grad():
        kept = kept_of(pipe, shown, mask)
    expected = alimamas_pixels(pipe, loaded(nets[PAINTING]), kept, 0.9, true_guidance)
    layer = ControlLayer(image=str(shown), network=str(nets[PAINTING]), mask=str(mask), weight=0.9)
    options = GuidanceOptions(true_cfg=true_guidance)
    asked_for = {**OURS, "negative_prompt": "a blur", "guidance_options": options}
    ours = our_pixels(dev, **asked_for, controls=(layer,))
    check(ours, expected.astype(np.uint8))
    assert psnr(ours, our_pixels(dev, **asked_for)) < 45


def test_two_networks_lead_a_picture_and_its_second_pass(
    dev: Path, nets: dict[str, Path], shown: Path, tmp_path: Path
) -> None:
    mask = str(write_mask(tmp_path / "mask.png"))
    given = ("canny", None, None), ("union", ControlKind.TILE, None), (PAINTING, None, mask)
    layers = [
        ControlLayer(image=str(shown), network=str(nets[name]), kind=kind, mask=area)
        for name, kind, area in given
    ]
    check_two_networks(dev, OURS, (layers[0], layers[1]))
    check_two_networks(dev, OURS, (layers[0], layers[2]))
