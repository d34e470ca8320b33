"""Networks of SD 2 and SDXL, and the flow families' VAEs, once at full size beside diffusers.

Each has one file of random weights, which both read.
The file is float32, so that diffusers and we map it: its 0.3 to 10 GB are page cache, not memory.
"""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

import gc
import logging
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.oracle, pytest.mark.slow, pytest.mark.timeout(3600)]
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")
transformers = pytest.importorskip("transformers")

from diffusers.loaders import single_file_utils  # noqa: E402

from backends.base import Array, DType, Precision  # noqa: E402
from backends.cpu import CpuBackend  # noqa: E402
from engine.api.request import ComponentFiles  # noqa: E402
from engine.cancel import CancelToken  # noqa: E402
from engine.compile.compiler import Compiler  # noqa: E402
from engine.compile.network import Network  # noqa: E402
from engine.families import Component, IdentifiedCheckpoint, identify, supply  # noqa: E402
from engine.families.shared.clip.text_encoding import clip_text_of  # noqa: E402
from engine.graphs.unet import UNetConfig, size_embedding, timestep_embedding  # noqa: E402
from engine.graphs.vae import VaeConfig  # noqa: E402
from engine.memory.plan import WeightPlacement  # noqa: E402
from engine.weights.working_copies import WorkingCopies  # noqa: E402
from tests.backends.samples import relative_error  # noqa: E402
from tests.checkpoints.files import header, write_sparse  # noqa: E402
from tests.families import listings  # noqa: E402
from tests.families.flux import files as flux  # noqa: E402
from tests.families.flux2 import files as flux2  # noqa: E402
from tests.families.listings import REFINER, SD2, SDXL, UNET, VAE, Listing, prefixed  # noqa: E402
from tests.families.sd3 import files as sd3  # noqa: E402
from tests.families.test_layouts import OPEN_CLIP, REFINER_TEXT  # noqa: E402
from tests.families.zimage import files as zimage  # noqa: E402
from tests.oracle import published  # noqa: E402
from tests.oracle.networks import normal  # noqa: E402
from tests.oracle.published import Published, write_configs  # noqa: E402

LOG = logging.getLogger(__name__)
TOLERANCE = 1e-5
SIDE = 256
TIME = 731.25
WAVES = 256
END, START = 49407, 49406


def write_random(path: Path, listing: Listing) -> Path:
    """Weights as a network is initialised, one at a time; embeddings as large as trained ones'."""
    random = np.random.default_rng(0)
    raw, _ = header(listing, DType.F32)
    with path.open("wb") as file:
        file.write(len(raw).to_bytes(8, "little") + raw)
        for name, shape in listing.items():
            file.write(_drawn(random, name, shape).tobytes())
    return path


def _drawn(random: np.random.Generator, name: str, shape: tuple[int, ...]) -> Array:
    drawn = random.standard_normal(shape, np.float32)
    if "embedding" in name:
        return drawn * np.float32(0.3)
    if len(shape) > 1:
        return drawn / np.float32(np.sqrt(np.prod(shape[1:])))
    is_bias = name.endswith("bias")
    return drawn * np.float32(0.1) + np.float32(not is_bias)


def run_ours(folder: Path, network: Network, feeds: dict[str, Array]) -> dict[str, Array]:
    backend = CpuBackend()
    compiler = Compiler(backend, backend.probe()[0], WorkingCopies(folder / "cache"))
    placement, token = WeightPlacement.MEMORY, CancelToken()
    with closing(compiler.load(network, Precision.F32, placement, _ignore, token)) as session:
        return session.run(feeds)


def _ignore(done: int, total: int) -> None:
    """Nobody watches."""


def check(ours: Array, theirs: Array) -> None:
    error = relative_error(ours, theirs)
    LOG.info("relative error %.1e", error)
    assert ours.shape == theirs.shape
    assert error <= TOLERANCE


def computed(module, call: Callable[[Any], Any]) -> Any:
    with torch.no_grad():
        return call(module)


def from_single_file(kind, path: Path, config: Path, part: str):
    options = {"torch_dtype": torch.float32, "local_files_only": True}
    return kind.from_single_file(str(path), config=str(config), subfolder=part, **options).eval()


@pytest.fixture(autouse=True)
def _nothing_is_left(tmp_path: Path) -> Iterator[None]:
    """pytest keeps folders for a while, and these files are large."""
    yield
    gc.collect()
    shutil.rmtree(tmp_path)


UNETS: dict[str, tuple[listings.UNetSizes, Published, int]] = {
    "SD 2": (SD2, published.SD2, 0),
    "SDXL": (SDXL, published.SDXL, 6),
    "refiner": (REFINER, published.REFINER, 5),
}


@pytest.mark.parametrize("name", UNETS)
def test_a_full_size_unet_equals_diffusers(tmp_path: Path, name: str) -> None:
    sizes, model, told = UNETS[name]
    path = write_random(tmp_path / "unet.safetensors", prefixed(UNET, listings.ldm_unet(sizes)))
    checkpoint = identify(path)
    unet = checkpoint.components[Component.DENOISER].config
    assert isinstance(unet, UNetConfig)
    sample, context = normal(1, 4, SIDE // 8, SIDE // 8), normal(2, 77, sizes.context, seed=1)
    feeds = {
        "sample": sample,
        "timestep_embedding": timestep_embedding(unet, TIME),
        "context": context,
    }
    more = {}
    if told:
        numbers = tuple(float(100 * n) for n in range(told))
        pooled = normal(2, sizes.added - told * WAVES, seed=2)
        feeds["added"] = np.concatenate([pooled, [size_embedding(numbers, WAVES)] * 2], axis=1)
        feeds["added"] = feeds["added"].astype(np.float32)
        ids = torch.tensor([numbers] * 2)
        more["added_cond_kwargs"] = {"text_embeds": torch.from_numpy(pooled), "time_ids": ids}

    def call(module):
        both = torch.from_numpy(np.concatenate([sample, sample]))
        return module(both, torch.tensor([TIME]), torch.from_numpy(context), **more).sample

    config = write_configs(tmp_path / "config", model)
    module = from_single_file(diffusers.UNet2DConditionModel, path, config, "unet")
    expected = computed(module, call).numpy()
    del module
    network = checkpoint.architecture.denoiser.network(SIDE, SIDE)
    check(next(iter(run_ours(tmp_path, network, feeds).values())), expected)


def with_part(folder: Path, whole: Listing, component: Component, path: Path):
    """A checkpoint of nothing but holes, and this part."""
    checkpoint = identify(write_sparse(folder / "whole.safetensors", whole))
    return supply(checkpoint, ComponentFiles(**{component.value: str(path)}))


@pytest.mark.parametrize("coder", ["decoder", "encoder"])
def test_a_full_size_vae_equals_diffusers(tmp_path: Path, coder: str) -> None:
    path = write_random(tmp_path / "vae.safetensors", prefixed(VAE, listings.ldm_vae()))
    config = write_configs(tmp_path / "config", published.SDXL)
    module = from_single_file(diffusers.AutoencoderKL, path, config, "vae")
    checkpoint = with_part(tmp_path, listings.sdxl(), Component.VAE, path)
    if coder == "decoder":
        latent = normal(1, 4, SIDE // 8, SIDE // 8)
        expected = computed(module, lambda m: m.decode(torch.from_numpy(latent)).sample)
        network, feeds = checkpoint.architecture.autoencoder.decoder(SIDE, SIDE), {"latent": latent}
    else:
        image = normal(1, 3, SIDE, SIDE)
        given = torch.from_numpy(image)
        expected = computed(module, lambda m: m.encode(given).latent_dist.parameters)
        network, feeds = checkpoint.architecture.autoencoder.encoder(SIDE, SIDE), {"image": image}
    check(next(iter(run_ours(tmp_path, network, feeds).values())), expected.numpy())


# --- the VAEs of the flow families ---

FLOW_SIDE = 128
SIXTEEN = listings.VaeSizes(latent=16)
WIDTHS, NARROW = (128, 256, 512, 512), (96, 192, 384, 384)
MODELS = {"Flux.1": flux.original, "SD 3": sd3.original, "Z-Image": zimage.original}
BLOCKS = {
    "down_block_types": ("DownEncoderBlock2D",) * 4,
    "up_block_types": ("UpDecoderBlock2D",) * 4,
}


def check_coder(
    folder: Path, checkpoint: IdentifiedCheckpoint, coder: str, theirs: Callable[[Any], Any]
) -> None:
    """Compare one side of a checkpoint's VAE with what theirs makes of the same array."""
    vae, latent = checkpoint.architecture.autoencoder, checkpoint.latent
    if coder == "decoder":
        cells = FLOW_SIDE // latent.downscale
        network, name = vae.decoder(FLOW_SIDE, FLOW_SIDE), "latent"
        given = normal(1, latent.channels, cells, cells)
    else:
        network, name = vae.encoder(FLOW_SIDE, FLOW_SIDE), "image"
        given = normal(1, 3, FLOW_SIDE, FLOW_SIDE)
    with torch.no_grad():
        expected = theirs(torch.from_numpy(given)).numpy()
    check(next(iter(run_ours(folder, network, {name: given}).values())), expected)


@pytest.mark.parametrize("coder", ["decoder", "encoder"])
def test_a_full_size_vae_of_16_channels_equals_diffusers(tmp_path: Path, coder: str) -> None:
    path = write_random(tmp_path / "ae.safetensors", listings.flow_vae(SIXTEEN))
    config = tmp_path / "config"
    diffusers.AutoencoderKL(
        **published.SDXL.vae | {"latent_channels": 16},
        use_quant_conv=False,
        use_post_quant_conv=False,
    ).save_config(config / "vae")
    module = from_single_file(diffusers.AutoencoderKL, path, config, "vae")
    call = {
        "decoder": lambda x: module.decode(x).sample,
        "encoder": lambda x: module.encode(x).latent_dist.parameters,
    }
    checkpoint = with_part(tmp_path, flux.original(), Component.VAE, path)
    check_coder(tmp_path, checkpoint, coder, call[coder])


def test_families_of_16_channels_read_one_vae(tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "ae.safetensors", listings.flow_vae(SIXTEEN))
    for whole in MODELS.values():
        checkpoint = with_part(tmp_path, whole(), Component.VAE, path)
        config = checkpoint.components[Component.VAE].config
        assert config == VaeConfig(16, WIDTHS, 2, quant_convolutions=False)


def flux2_module(path: Path, decoder_widths: tuple[int, ...] | None):
    """diffusers' FLUX.2 VAE with a file's weights, whose names its converter knows but for two."""
    stored = single_file_utils.load_single_file_checkpoint(str(path), local_files_only=True)
    renamed = {
        name.replace("encoder.quant_conv", "quant_conv").replace(
            "decoder.post_quant_conv", "post_quant_conv"
        ): tensor
        for name, tensor in stored.items()
    }
    module = diffusers.AutoencoderKLFlux2(
        block_out_channels=WIDTHS, decoder_block_out_channels=decoder_widths, **BLOCKS
    ).eval()
    weights = single_file_utils.convert_ldm_vae_checkpoint(renamed, module.config)
    statistics = {name: tensor for name, tensor in stored.items() if name.startswith("bn.")}
    module.load_state_dict(weights | statistics)
    return module


@pytest.mark.parametrize("coder", ["decoder", "encoder"])
@pytest.mark.parametrize("narrow", [None, NARROW], ids=["full", "small_decoder"])
def test_flux2s_full_size_vae_equals_diffusers(
    tmp_path: Path, coder: str, narrow: tuple[int, ...] | None
) -> None:
    listing = flux2.narrow_vae() if narrow else flux2.vae()
    del listing["bn.num_batches_tracked"]
    path = write_random(tmp_path / "flux2-vae.safetensors", listing)
    module = flux2_module(path, narrow)
    mean = module.bn.running_mean.view(1, -1, 1, 1)
    deviation = torch.sqrt(module.bn.running_var + module.config.batch_norm_eps).view(1, -1, 1, 1)
    pipeline = diffusers.Flux2KleinPipeline
    call = {
        "decoder": lambda x: (
            module.decode(pipeline._unpatchify_latents(x * deviation + mean)).sample
        ),
        "encoder": lambda x: (
            (pipeline._patchify_latents(module.encode(x).latent_dist.mode()) - mean) / deviation
        ),
    }
    checkpoint = with_part(tmp_path, flux2.original(), Component.VAE, path)
    check_coder(tmp_path, checkpoint, coder, call[coder])


# --- text encoders ---


def _tokens() -> tuple[np.ndarray, Array]:
    """Two texts filled up with token 0, and where each ends."""
    tokens = np.random.default_rng(0).integers(1, START, (2, 77))
    ends = (9, 76)
    for row, end in enumerate(ends):
        tokens[row, 0], tokens[row, end], tokens[row, end + 1 :] = START, END, 0
    return tokens, np.eye(77, dtype=np.float32)[list(ends)]


def their_text(kind, path: Path, config: Path, part: str):
    weights = single_file_utils.load_single_file_checkpoint(str(path), local_files_only=True)
    return single_file_utils.create_diffusers_clip_model_from_ldm(
        kind, weights, subfolder=part, config=str(config), torch_dtype=torch.float32
    )


def our_text(
    folder: Path, checkpoint: IdentifiedCheckpoint, component: Component, skip: int
) -> dict[str, Array]:
    tokens, ends = _tokens()
    network = clip_text_of(checkpoint).network(component, skip)
    feeds: dict[str, Array] = {"tokens": tokens}
    if component is Component.TEXT_ENCODER_2:
        feeds["end"] = ends
    return run_ours(folder, network, feeds)


def test_openclip_h_equals_transformers(tmp_path: Path) -> None:
    big = listings.open_clip(listings.ClipSizes(width=1024, layers=24))
    path = write_random(tmp_path / "clip_h.safetensors", prefixed(OPEN_CLIP, big))
    config = write_configs(tmp_path / "config", published.SD2)
    module = their_text(transformers.CLIPTextModel, path, config, "text_encoder")
    tokens = torch.from_numpy(_tokens()[0])
    expected = computed(module, lambda m: m(tokens).last_hidden_state).numpy()
    checkpoint = with_part(tmp_path, listings.sd2(), Component.TEXT_ENCODER, path)
    found = our_text(
        tmp_path, checkpoint, Component.TEXT_ENCODER, checkpoint.architecture.features.clip_skip
    )
    check(found["last_hidden_state"], expected)


def test_openclip_bigg_equals_transformers(tmp_path: Path) -> None:
    path = write_random(
        tmp_path / "clip_g.safetensors", prefixed(REFINER_TEXT, listings.open_clip())
    )
    config = write_configs(tmp_path / "config", published.REFINER)
    kind = transformers.CLIPTextModelWithProjection
    module = their_text(kind, path, config, "text_encoder_2")
    tokens = torch.from_numpy(_tokens()[0])
    found = computed(module, lambda m: m(tokens, output_hidden_states=True))
    hidden, pooled = found.hidden_states[-2].numpy(), found.text_embeds.numpy()
    part = Component.TEXT_ENCODER_2
    checkpoint = with_part(tmp_path, listings.sdxl_refiner(), part, path)
    ours = our_text(tmp_path, checkpoint, part, checkpoint.architecture.features.clip_skip)
    check(ours["last_hidden_state"], hidden)
    check(ours["pooled"], pooled)
