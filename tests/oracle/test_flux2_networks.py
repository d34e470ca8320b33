"""The transformer and the autoencoder of FLUX.2 beside diffusers'."""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

import msgspec
import numpy as np
import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from engine.graphs.flux import wave_embedding  # noqa: E402
from engine.graphs.flux2 import (  # noqa: E402
    Cells,
    Flux2Config,
    flux2,
    rotations,
    side_by_side,
    text_rotations,
)
from engine.graphs.tiny_vae import TinyVaeConfig, tiny_decoder, tiny_encoder  # noqa: E402
from engine.graphs.vae import VaeConfig, vae_decoder, vae_encoder  # noqa: E402
from tests.oracle.networks import Case, check_all, label, normal, targets  # noqa: E402

every_target = pytest.mark.parametrize("target", list(targets()), ids=label)
TIMESTEP, TOKENS = 731.25, 11
SMALL_VAE = VaeConfig(16, (32, 32, 64), layers=1, patch=2)
NARROW_VAE = msgspec.structs.replace(SMALL_VAE, widths=(32, 64, 128), decoder_widths=(32, 32, 64))
SMALL_TINY_VAE = TinyVaeConfig(16, 8, (1, 2), (2, 1), patch=2, normalises=True)
TAEF2 = TinyVaeConfig(128, 64, (1, 3, 3, 3), (3, 3, 3, 1), patch=2, normalises=True)
Pipeline = diffusers.Flux2KleinPipeline


def small(**changes) -> Flux2Config:
    sizes = {
        "in_channels": 16,
        "out_channels": 16,
        "width": 96,
        "heads": 3,
        "mlp_width": 288,
        "context_width": 40,
        "double_blocks": 2,
        "single_blocks": 2,
    }
    return Flux2Config(**(sizes | changes))


def module_of(config: Flux2Config):
    """diffusers' network with random weights, its norms off their first values."""
    torch.manual_seed(0)
    module = diffusers.Flux2Transformer2DModel(
        in_channels=config.in_channels,
        num_layers=config.double_blocks,
        num_single_layers=config.single_blocks,
        attention_head_dim=config.head_width,
        num_attention_heads=config.heads,
        joint_attention_dim=config.context_width,
        mlp_ratio=config.mlp_width / config.width,
        axes_dims_rope=(config.head_width // 4,) * 4,
        guidance_embeds=False,
    ).eval()
    for name, tensor in module.named_parameters():
        if tensor.ndim == 1:
            tensor.data.add_(0.2 * torch.randn(tensor.shape))
        elif "modulation" in name or "embed" in name:
            tensor.data.mul_(2)
    return module


class Flux2Case(Case):
    """The last modulation holds its halves in one weight at diffusers."""

    def weights(self):
        state = {name: tensor.numpy() for name, tensor in self.module.state_dict().items()}
        halves = np.split(state.pop("norm_out.linear.weight"), 2)
        state |= {
            f"norm_out.{part}.weight": half
            for part, half in zip(("scale", "shift"), halves, strict=True)
        }
        return state


def flux2_case(
    config: Flux2Config, size: Cells, batch: int = 1, references: tuple[Cells, ...] = ()
) -> Case:
    module = module_of(config)
    sample = normal(batch, config.in_channels, *size, seed=1)
    context = normal(2 * batch, TOKENS, config.context_width, seed=2)
    shown = [
        normal(1, config.in_channels, *cells, seed=4 + i) for i, cells in enumerate(references)
    ]
    feeds = {
        "sample": sample,
        "timestep_embedding": wave_embedding(TIMESTEP),
        "context": context,
        **rotations(config, size, references),
        **text_rotations(config, 2 * batch, TOKENS),
    }
    if shown:
        feeds["references"] = side_by_side(shown)

    def call(module):
        x, text = (torch.from_numpy(array).to(module.dtype) for array in (sample, context))
        x = torch.cat([x, x])
        ids, packed = Pipeline._prepare_latent_ids(x), Pipeline._pack_latents(x)
        own = packed.shape[1]
        if shown:
            more = [torch.from_numpy(latent).to(module.dtype) for latent in shown]
            places = Pipeline._prepare_image_ids(more).expand(len(x), -1, -1)
            ids = torch.cat([ids, places], dim=1)
            row = torch.cat([Pipeline._pack_latents(latent) for latent in more], dim=1)
            packed = torch.cat([packed, row.expand(len(x), -1, -1)], dim=1)
        found = module(
            packed,
            text,
            torch.tensor([TIMESTEP / 1000]).expand(len(x)),
            img_ids=ids,
            txt_ids=Pipeline._prepare_text_ids(text),
        ).sample[:, :own]
        return found.transpose(1, 2).reshape(x.shape)

    has_references = bool(references)
    return Flux2Case(lambda g: flux2(g, config, references=has_references), feeds, module, call)


@every_target
def test_a_transformer_of_any_size_equals_diffusers(target) -> None:
    check_all(target, [flux2_case(small(), size) for size in ((4, 6), (7, 3))])


@every_target
def test_a_batch_of_two_latents_has_both_under_each_context(target) -> None:
    flux2_case(small(), (4, 4), batch=2).check(target)


@every_target
@pytest.mark.parametrize("references", [((3, 5),), ((3, 5), (2, 2))], ids=["one", "two"])
def test_reference_pictures_equal_diffusers(target, references: tuple[Cells, ...]) -> None:
    flux2_case(small(), (4, 6), references=references).check(target)


def vae_module(config: VaeConfig = SMALL_VAE):
    """diffusers' autoencoder, its norms and the statistics of latents off their first values."""
    torch.manual_seed(0)
    module = diffusers.AutoencoderKLFlux2(
        block_out_channels=config.widths,
        decoder_block_out_channels=config.decoder_widths,
        down_block_types=("DownEncoderBlock2D",) * 3,
        up_block_types=("UpDecoderBlock2D",) * 3,
        layers_per_block=config.layers,
        latent_channels=config.core_channels,
    ).eval()
    for tensor in module.parameters():
        if tensor.ndim == 1:
            tensor.data.add_(0.2 * torch.randn(tensor.shape))
    module.bn.running_mean.normal_(0, 0.3)
    module.bn.running_var.uniform_(0.3, 3)
    return module


def deviation(module):
    return torch.sqrt(module.bn.running_var + module.config.batch_norm_eps).view(1, -1, 1, 1)


@every_target
@pytest.mark.parametrize("config", [SMALL_VAE, NARROW_VAE], ids=["full", "small"])
@pytest.mark.parametrize("size", [(4, 6), (5, 3)])
def test_the_decoder_of_packed_latents_equals_diffusers(
    target, size: Cells, config: VaeConfig
) -> None:
    latent = normal(1, config.latent_channels, *size, seed=3)

    def call(module):
        x = torch.from_numpy(latent).to(module.dtype)
        x = x * deviation(module) + module.bn.running_mean.view(1, -1, 1, 1)
        return module.decode(Pipeline._unpatchify_latents(x)).sample

    module = vae_module(config)
    Case(lambda g: vae_decoder(g, config), {"latent": latent}, module, call).check(target)


@every_target
@pytest.mark.parametrize("size", [(32, 48), (40, 24)])
def test_the_encoder_of_packed_latents_equals_diffusers(target, size: Cells) -> None:
    image = normal(1, 3, *size, seed=3)

    def call(module):
        found = module.encode(torch.from_numpy(image).to(module.dtype)).latent_dist.mode()
        mean = module.bn.running_mean.view(1, -1, 1, 1)
        return (Pipeline._patchify_latents(found) - mean) / deviation(module)

    Case(lambda g: vae_encoder(g, SMALL_VAE), {"image": image}, vae_module(), call).check(target)


def taef2_module(config: TinyVaeConfig):
    """diffusers' tiny autoencoder with the branch of taesd.py in the blocks at the latent's size.

    There it is `Block(use_midblock_gn=True)`: x + pool(x) is what the block gets.
    """
    torch.manual_seed(0)
    width = config.width
    assert config.encoder_blocks
    assert config.decoder_blocks
    module = diffusers.AutoencoderTiny(
        encoder_block_out_channels=(width,) * len(config.encoder_blocks),
        decoder_block_out_channels=(width,) * len(config.decoder_blocks),
        num_encoder_blocks=config.encoder_blocks,
        num_decoder_blocks=config.decoder_blocks,
        latent_channels=config.core_channels,
    ).eval()
    # The decoder begins with a convolution and an activation, the encoder ends with a convolution.
    first = module.decoder.layers[2 : 2 + config.decoder_blocks[0]]
    last = module.encoder.layers[-1 - config.encoder_blocks[-1] : -1]
    for block in (*first, *last):
        block.pool = torch.nn.Sequential(
            torch.nn.Conv2d(width, 4 * width, 1, bias=False),
            torch.nn.GroupNorm(4, 4 * width),
            torch.nn.ReLU(),
            torch.nn.Conv2d(4 * width, width, 1, bias=False),
        )
        block.register_forward_pre_hook(lambda block, args: (args[0] + block.pool(args[0]),))
    for name, tensor in module.named_parameters():
        if tensor.dim() > 1:
            torch.nn.init.kaiming_normal_(tensor)
        elif "pool" in name:
            tensor.data.add_(0.2 * torch.randn(tensor.shape))
    return module


def taef2_decoder_case(config: TinyVaeConfig, size: Cells) -> Case:
    latent = 2 * normal(2, config.latent_channels, *size)

    def call(module):
        cells = Pipeline._unpatchify_latents(torch.from_numpy(latent).to(module.dtype))
        return module.decode(cells).sample

    emit, module = lambda g: tiny_decoder(g, config), taef2_module(config)
    return Case(emit, {"latent": latent}, module, call)


def taef2_encoder_case(config: TinyVaeConfig, size: Cells) -> Case:
    image = normal(2, 3, size[0] * config.downscale, size[1] * config.downscale)

    def call(module):
        found = module.encode(torch.from_numpy(image).to(module.dtype)).latents
        return Pipeline._patchify_latents(found)

    emit, module = lambda g: tiny_encoder(g, config), taef2_module(config)
    return Case(emit, {"image": image}, module, call)


@every_target
@pytest.mark.parametrize("config", [SMALL_TINY_VAE, TAEF2], ids=["small", "full_size"])
@pytest.mark.parametrize("case", [taef2_decoder_case, taef2_encoder_case])
def test_taef2_equals_taesds_code(target, case, config: TinyVaeConfig) -> None:
    case(config, (5, 3)).check(target)
