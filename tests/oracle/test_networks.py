"""Each network beside diffusers' or transformers', on every backend, precision and element type."""
# pyright: basic
# torch, diffusers and transformers are absent from the environment that is type-checked.

import msgspec
import numpy as np
import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")
transformers = pytest.importorskip("transformers")

from engine.graphs.clip_text import Activation, ClipTextConfig, clip_text  # noqa: E402
from engine.graphs.tiny_vae import TinyVaeConfig, tiny_decoder, tiny_encoder  # noqa: E402
from engine.graphs.unet import UNetConfig, timestep_embedding, unet  # noqa: E402
from engine.graphs.vae import VaeConfig, vae_decoder, vae_encoder  # noqa: E402
from tests.graphs.networks import sd15_unet, small_unet  # noqa: E402
from tests.oracle.networks import (  # noqa: E402
    Case,
    check_all,
    label,
    normal,
    targets,
)

every_target = pytest.mark.parametrize("target", list(targets()), ids=label)


def clip_case(activation: Activation, clip_skip: int, config: ClipTextConfig) -> Case:
    torch.manual_seed(0)
    module = transformers.CLIPTextModel(
        transformers.CLIPTextConfig(
            vocab_size=config.vocabulary,
            hidden_size=config.width,
            intermediate_size=config.mlp_width,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            max_position_embeddings=config.positions,
            hidden_act=activation.value,
            # ids of this vocabulary; only the pooled output, unused here, looks for them
            bos_token_id=None,
            eos_token_id=config.vocabulary - 1,
            pad_token_id=None,
        )
    ).eval()
    # transformers starts with embeddings of 0.02, which no trained encoder has
    for name, tensor in module.named_parameters():
        if "embedding" in name:
            tensor.data.normal_(0, 0.3)
    tokens = np.random.default_rng(0).integers(0, config.vocabulary, (2, config.positions))

    def call(module):
        output = module(torch.from_numpy(tokens), output_hidden_states=True)
        if clip_skip == 1:
            return output.last_hidden_state
        inner = getattr(module, "text_model", module)
        return inner.final_layer_norm(output.hidden_states[-clip_skip])

    return Case(
        lambda g: clip_text(g, config, clip_skip), {"tokens": tokens}, module, call, "text_model."
    )


@every_target
@pytest.mark.parametrize("clip_skip", [1, 2])
@pytest.mark.parametrize("activation", Activation)
def test_a_text_encoder_equals_transformers(target, activation: Activation, clip_skip: int) -> None:
    config = ClipTextConfig(100, 48, 96, layers=3, heads=4, activation=activation)
    clip_case(activation, clip_skip, config).check(target)


def unet_case(
    config: UNetConfig, size: tuple[int, int], timestep: float = 731.25, batch: int = 2
) -> Case:
    torch.manual_seed(0)
    crossing = [any(block.depths) for block in config.down]
    assert config.mid is not None
    depth = config.mid.depths[0]
    module = diffusers.UNet2DConditionModel(
        in_channels=config.in_channels,
        out_channels=config.out_channels,
        cross_attention_dim=config.context_width,
        block_out_channels=[block.width for block in config.down],
        layers_per_block=len(config.down[0].depths),
        attention_head_dim=[block.heads for block in config.down],
        norm_num_groups=config.norm_groups,
        use_linear_projection=config.linear_projection,
        transformer_layers_per_block=depth,
        down_block_types=["CrossAttnDownBlock2D" if c else "DownBlock2D" for c in crossing],
        up_block_types=["CrossAttnUpBlock2D" if c else "UpBlock2D" for c in crossing[::-1]],
    ).eval()
    sample = normal(batch, config.in_channels, *size, seed=1)
    context = normal(batch, 77, config.context_width, seed=2)

    def call(module):
        given = (torch.from_numpy(array).to(module.dtype) for array in (sample, context))
        x, text = given
        return module(x, torch.tensor([timestep]), text).sample

    feeds = {
        "sample": sample,
        "timestep_embedding": timestep_embedding(config, timestep),
        "context": context,
    }
    return Case(lambda g: unet(g, config), feeds, module, call)


@every_target
@pytest.mark.parametrize(
    "config",
    [
        small_unet(),
        small_unet(in_channels=9),
        small_unet(layers=2),
        small_unet(linear=True, depth=2),
    ],
    ids=["sd1", "nine_channels", "two_layers", "linear_projection"],
)
def test_a_unet_of_any_size_equals_diffusers(target, config: UNetConfig) -> None:
    check_all(target, [unet_case(config, size) for size in ((16, 16), (17, 23))])


@every_target
def test_a_unet_at_any_timestep_equals_diffusers(target) -> None:
    timesteps = (999.0, 998.5, 20.3, 0.0)
    check_all(target, [unet_case(small_unet(), (8, 8), timestep) for timestep in timesteps])


def vae_module(config: VaeConfig):
    torch.manual_seed(0)
    levels = len(config.widths)
    return diffusers.AutoencoderKL(
        block_out_channels=config.widths,
        down_block_types=["DownEncoderBlock2D"] * levels,
        up_block_types=["UpDecoderBlock2D"] * levels,
        layers_per_block=config.layers,
        latent_channels=config.latent_channels,
        norm_num_groups=config.norm_groups,
    ).eval()


def decoder_case(config: VaeConfig, size: tuple[int, int]) -> Case:
    latent = normal(1, config.latent_channels, *size)

    def call(module):
        return module.decode(torch.from_numpy(latent).to(module.dtype)).sample

    return Case(lambda g: vae_decoder(g, config), {"latent": latent}, vae_module(config), call)


def encoder_case(config: VaeConfig, size: tuple[int, int]) -> Case:
    image = normal(1, 3, size[0] * config.downscale, size[1] * config.downscale)

    def call(module):
        image_ = torch.from_numpy(image).to(module.dtype)
        return module.encode(image_).latent_dist.parameters

    return Case(lambda g: vae_encoder(g, config), {"image": image}, vae_module(config), call)


SMALL_VAES = [VaeConfig(4, (32, 64, 64, 64), 1, 16), VaeConfig(4, (16, 32), 2, 8)]


@every_target
@pytest.mark.parametrize("config", SMALL_VAES, ids=["four_levels", "two_layers"])
@pytest.mark.parametrize("size", [(8, 8), (7, 9)], ids=str)
@pytest.mark.parametrize("case", [decoder_case, encoder_case])
def test_a_vae_equals_diffusers(target, case, config: VaeConfig, size: tuple[int, int]) -> None:
    case(config, size).check(target)


def tiny_vae_module(config: TinyVaeConfig):
    torch.manual_seed(0)
    assert config.encoder_blocks
    assert config.decoder_blocks
    module = diffusers.AutoencoderTiny(
        encoder_block_out_channels=(config.width,) * len(config.encoder_blocks),
        decoder_block_out_channels=(config.width,) * len(config.decoder_blocks),
        num_encoder_blocks=config.encoder_blocks,
        num_decoder_blocks=config.decoder_blocks,
        latent_channels=config.latent_channels,
    ).eval()
    # torch starts with so little that hardly anything of the input would be left at the end
    for tensor in module.parameters():
        if tensor.dim() > 1:
            torch.nn.init.kaiming_normal_(tensor)
    return module


def tiny_decoder_case(config: TinyVaeConfig, size: tuple[int, int]) -> Case:
    latent = 2 * normal(2, config.latent_channels, *size)

    def call(module):
        return module.decode(torch.from_numpy(latent).to(module.dtype)).sample

    return Case(
        lambda g: tiny_decoder(g, config), {"latent": latent}, tiny_vae_module(config), call
    )


def tiny_encoder_case(config: TinyVaeConfig, size: tuple[int, int]) -> Case:
    image = normal(2, 3, size[0] * config.downscale, size[1] * config.downscale)

    def call(module):
        return module.encode(torch.from_numpy(image).to(module.dtype)).latents

    return Case(lambda g: tiny_encoder(g, config), {"image": image}, tiny_vae_module(config), call)


SMALL_TINY_VAE = TinyVaeConfig(4, 8, (1, 2), (2, 1))
TAESD = TinyVaeConfig(4, 64, (1, 3, 3, 3), (3, 3, 3, 1))
# TAEF1 and TAESD3.
SIXTEEN_CHANNELS = msgspec.structs.replace(TAESD, latent_channels=16)


@every_target
@pytest.mark.parametrize(
    "config", [SMALL_TINY_VAE, TAESD, SIXTEEN_CHANNELS], ids=["small", "taesd", "taef1_taesd3"]
)
@pytest.mark.parametrize("case", [tiny_decoder_case, tiny_encoder_case])
def test_a_tiny_vae_equals_diffusers(target, case, config: TinyVaeConfig) -> None:
    case(config, (9, 6)).check(target)


# --- full size ---


@pytest.mark.slow
@every_target
def test_sd15s_unet_equals_diffusers(target) -> None:
    unet_case(sd15_unet(), (32, 32), batch=1).check(target)


@pytest.mark.slow
@every_target
@pytest.mark.parametrize("case", [decoder_case, encoder_case])
def test_sd15s_vae_equals_diffusers(target, case) -> None:
    case(VaeConfig(4, (128, 256, 512, 512), 2), (32, 32)).check(target)


@pytest.mark.slow
@every_target
def test_sd15s_text_encoder_equals_transformers(target) -> None:
    config = ClipTextConfig(49408, 768, 3072, layers=12, heads=12)
    clip_case(Activation.QUICK_GELU, 1, config).check(target)
