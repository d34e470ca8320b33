"""ControlNets of SD 3 and 3.5 beside diffusers': networks, and whole pictures by its pipeline."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from diffusers.image_processor import VaeImageProcessor  # noqa: E402
from diffusers.models.autoencoders.vae import DiagonalGaussianDistribution  # noqa: E402

from backends.base import DType  # noqa: E402
from engine.api.control import ControlLayer  # noqa: E402
from engine.control.network import Sd3NetSizes  # noqa: E402
from engine.control.reading import read_control_network  # noqa: E402
from engine.control.residuals import residual_inputs  # noqa: E402
from engine.graphs.control_residuals import JointForm  # noqa: E402
from engine.graphs.flux import wave_embedding  # noqa: E402
from engine.graphs.sd3_control import sd3_control  # noqa: E402
from engine.weights.sources import as_source  # noqa: E402
from tests.backends.samples import relative_error  # noqa: E402
from tests.oracle.diffusers_pictures import check, opened, our_pixels, their_pixels  # noqa: E402
from tests.oracle.flow_pictures import (  # noqa: E402
    TEXTS,
    asked,
    check_two_networks,
    write_map,
    write_mask,
)
from tests.oracle.networks import float32_targets, label, normal, run  # noqa: E402
from tests.oracle.sd3_folder import CONTEXT, transformer, write_pipeline  # noqa: E402
from tests.oracle.sdxl_folder import PROJECTED  # noqa: E402
from tests.pipeline.jobs import psnr  # noqa: E402

FLOAT32 = float32_targets()
OURS, THEIRS = asked(steps=5, guidance=3.0, size=(96, 64), **TEXTS)
PLACES = 24
SIZES = {
    "num_layers": 2,
    "attention_head_dim": 32,
    "num_attention_heads": 2,
    "joint_attention_dim": CONTEXT,
    "caption_projection_dim": 64,
    "pooled_projection_dim": 2 * PROJECTED,
    "pos_embed_max_size": PLACES,
    "sample_size": 16,
}
LARGE = {"joint_attention_dim": None, "use_pos_embed": False}
# By name: InstantX' network, one with the blocks of SD 3.5 medium, and Stability AI's for large.
LED = {
    "tile": {},
    "dual": {"dual_attention_layers": (0,), "qk_norm": "rms_norm"},
    "sd3.5-large-blur": {**LARGE, "force_zeros_for_pooled_projection": False},
    "sd3.5-large-canny": {**LARGE, "force_zeros_for_pooled_projection": False},
}
# alimama's for inpainting has a channel of a mask among those of its map.
PAINTING = "sd3-inpainting"
FORMS = {**LED, PAINTING: {"extra_conditioning_channels": 1}}


class EdgesProcessor(VaeImageProcessor):
    """The processor of edges for SD 3.5, of the pull request that added its ControlNets (10020)."""

    def __init__(self) -> None:
        super().__init__(do_normalize=False)

    def preprocess(self, image, **options):
        return super().preprocess(image, **options) * 255 * 0.5 + 0.5

    def postprocess(self, image, do_denormalize=None, **options):
        return super().postprocess(image, do_denormalize=[True] * image.shape[0], **options)


def network(folder: Path, name: str) -> Path:
    """A ControlNet of random weights that show, as a folder of diffusers."""
    torch.manual_seed(sum(map(ord, name)))
    module = diffusers.SD3ControlNetModel(**{**SIZES, **FORMS[name]}).eval()
    for key, tensor in module.named_parameters():
        wide = tensor.ndim > 1
        tensor.data = torch.randn(tensor.shape) * (0.7 / tensor[0].numel() ** 0.5 if wide else 0.1)
        if ".norm_" in key:
            tensor.data += 1
    if module.pos_embed is not None:
        places = module.pos_embed.pos_embed
        places.add_(0.3 * torch.randn(places.shape))
    module.save_pretrained(folder / name)
    return folder / name


@pytest.fixture(scope="module")
def medium(tmp_path_factory) -> Path:
    return write_pipeline(tmp_path_factory.mktemp("medium"))


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    return write_pipeline(tmp_path_factory.mktemp("large"), "3.5-large")


@pytest.fixture(scope="module")
def nets(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("nets")
    return {name: network(folder, name) for name in FORMS}


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> Path:
    return write_map(tmp_path_factory.mktemp("map") / "map.png", width=96)


@pytest.fixture
def means(monkeypatch: pytest.MonkeyPatch) -> None:
    """diffusers draws the latent of a map from no seed: the mean is what can be made again."""
    monkeypatch.setattr(DiagonalGaussianDistribution, "sample", lambda self, *_: self.mode())


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("target", FLOAT32, ids=label)
def test_a_network_equals_diffusers(nets: dict[str, Path], name: str, target) -> None:
    found = read_control_network(nets[name])
    assert isinstance(found.sizes, Sd3NetSizes)
    config, form = found.sizes.config, JointForm(2, 0)
    of_model = transformer(num_layers=1, **{k: v for k, v in SIZES.items() if k != "num_layers"})
    module = diffusers.SD3ControlNetModel.from_pretrained(nets[name]).eval()
    weights = {key: as_source(weight).read_as(DType.F32) for key, weight in found.weights.items()}
    embedded = module.pos_embed
    if config.borrows_tokens:
        embedded = module.pos_embed = of_model.pos_embed
        own = of_model.pos_embed.proj.named_parameters()
        weights |= {f"pos_embed.proj.{key}": parameter.detach().numpy() for key, parameter in own}
    cells = 6, 8
    sample, latent = normal(1, 16, *cells, seed=1), normal(1, 16 + found.sees_mask, *cells, seed=2)
    context, pooled = normal(2, 7, CONTEXT, seed=3), normal(2, 2 * PROJECTED, seed=4)
    table = embedded.pos_embed.reshape(PLACES, PLACES, 64)[10:13, 10:14]
    feeds = {
        "sample": sample,
        "pooled": pooled,
        "timestep_embedding": wave_embedding(731.25),
        "map_embedding": latent,
        "places": table.reshape(12, 64).numpy(),
        "residual_mask.1": np.ones((1, 1, 3, 4), np.float32),
        **residual_inputs((0, 1), np.ones((2, 2), np.float32)),
    }
    feeds |= {"context": context} if config.joint else {}
    made = run(target, lambda g: sd3_control(g, config, form), weights, feeds)
    seen, cond = (torch.from_numpy(np.repeat(array, 2, axis=0)) for array in (sample, latent))
    text = torch.from_numpy(pooled)
    with torch.no_grad():
        (expected,) = module(
            hidden_states=seen,
            controlnet_cond=cond,
            encoder_hidden_states=torch.from_numpy(context) if config.joint else None,
            pooled_projections=torch.zeros_like(text) if config.ignores_pooled else text,
            timestep=torch.tensor([731.25] * 2),
            return_dict=False,
        )
    for number, residual in enumerate(expected):
        ours = made[f"{form.name}.{number}"].reshape(residual.shape)
        assert relative_error(ours, residual.numpy()) < 1e-5


@pytest.mark.usefixtures("means")
@pytest.mark.parametrize("name", LED)
def test_a_picture_equals_diffusers(
    medium: Path, large: Path, nets: dict[str, Path], shown: Path, name: str
) -> None:
    folder = large if name.startswith("sd3.5-large") else medium
    module = diffusers.SD3ControlNetModel.from_pretrained(nets[name])
    pipe = opened(diffusers.StableDiffusion3ControlNetPipeline, folder, controlnet=module)
    if name.endswith("canny"):
        pipe.image_processor = EdgesProcessor()
    given = {"control_image": Image.open(shown), "controlnet_conditioning_scale": 0.7}
    expected = their_pixels(pipe, **THEIRS, **given, control_guidance_end=0.8)
    layer = ControlLayer(image=str(shown), network=str(nets[name]), weight=0.7, range=(0, 0.8))
    ours = our_pixels(folder, **OURS, controls=(layer,))
    check(ours, expected)
    assert psnr(ours, our_pixels(folder, **OURS)) < 45


@pytest.mark.usefixtures("means")
def test_a_painted_picture_equals_diffusers(
    medium: Path, nets: dict[str, Path], shown: Path, tmp_path: Path
) -> None:
    module = diffusers.SD3ControlNetModel.from_pretrained(nets[PAINTING])
    pipe = opened(diffusers.StableDiffusion3ControlNetInpaintingPipeline, medium, controlnet=module)
    mask = write_mask(tmp_path / "mask.png", width=96)
    given = {"control_image": Image.open(shown), "control_mask": Image.open(mask)}
    given |= {"controlnet_conditioning_scale": 0.9, "control_guidance_end": 0.8}
    expected = their_pixels(pipe, **THEIRS, **given)
    layer = ControlLayer(
        image=str(shown), network=str(nets[PAINTING]), mask=str(mask), weight=0.9, range=(0, 0.8)
    )
    ours = our_pixels(medium, **OURS, controls=(layer,))
    check(ours, expected)
    assert psnr(ours, our_pixels(medium, **OURS)) < 45


def test_two_networks_lead_a_picture_and_its_second_pass(
    medium: Path, nets: dict[str, Path], shown: Path, tmp_path: Path
) -> None:
    mask = str(write_mask(tmp_path / "mask.png", width=96))
    layers = tuple(
        ControlLayer(image=str(shown), network=str(nets[name]), mask=area)
        for name, area in (("tile", None), (PAINTING, mask))
    )
    check_two_networks(medium, OURS, layers)
