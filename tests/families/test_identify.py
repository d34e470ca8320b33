"""Sound checkpoints: what each is, that each weight has one name, and how fast that is found."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.base import DType
from engine.api.features import OptionalSetting
from engine.api.values import ErrorCode, PredictionType
from engine.checkpoints.safetensors import read_index
from engine.errors import EngineError
from engine.families import Component, IdentifiedCheckpoint, identify
from engine.families.shared.clip.text_encoding import clip_text_of
from engine.families.shared.clip.text_use import TextUse
from engine.graphs.clip_text import Activation, ClipTextConfig, Projection
from engine.graphs.unet import UNetBlock, UNetConfig
from engine.graphs.vae import VaeConfig
from engine.weights.sources import as_source
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.families.listings import CLIP, UNET, VAE, Listing, UNetSizes, VaeSizes
from tests.families.test_recognition import FAMILY_FILES, SD1_FILES

SMALL_VAE, SMALL_CLIP = listings.SMALL_VAE, listings.SMALL_CLIP
SMALL = listings.original(listings.SMALL_UNET, listings.SMALL_VAE, listings.SMALL_CLIP)


def text_use(checkpoint: IdentifiedCheckpoint) -> TextUse:
    return clip_text_of(checkpoint).use


def unet_of(checkpoint: IdentifiedCheckpoint) -> UNetConfig:
    config = checkpoint.components[Component.DENOISER].config
    assert isinstance(config, UNetConfig)
    return config


def failure(path: Path) -> EngineError:
    with pytest.raises(EngineError) as caught:
        identify(path)
    return caught.value


@pytest.mark.parametrize("layout", SD1_FILES)
@pytest.mark.parametrize("dtype", [DType.F16, DType.F32, DType.BF16])
def test_each_tensor_has_one_name_or_is_counted(tmp_path: Path, layout: str, dtype: DType) -> None:
    names = SD1_FILES[layout]
    path = write_sparse(tmp_path / "x.safetensors", names, dtype)
    checkpoint = identify(path)
    weights = [
        part
        for source in checkpoint.components.values()
        for weight in source.weights.values()
        for part in as_source(weight).parts()
    ]
    stored = {tensor.offset for tensor in read_index(path).tensors.values()}
    assert len({tensor.offset for tensor in weights}) == len(weights)
    assert {tensor.offset for tensor in weights} <= stored
    assert len(weights) + checkpoint.ignored_keys == len(names)
    assert {tensor.dtype for tensor in weights} == {dtype}


def test_sd15_is_identified_with_its_latents_and_size(tmp_path: Path) -> None:
    checkpoint = identify(write_sparse(tmp_path / "sd15.safetensors", listings.original()))
    assert (checkpoint.family, checkpoint.variant) == ("sd1", "base")
    assert checkpoint.prediction is PredictionType.EPSILON
    assert checkpoint.latent.channels == 4
    assert checkpoint.latent.downscale == 8
    assert checkpoint.latent.scale == 0.18215
    assert checkpoint.default_size == 512
    assert checkpoint.missing == ()
    assert checkpoint.ignored_keys == 0
    assert checkpoint.tokenizer is None
    assert tuple(map(str, checkpoint.evidence)) == (
        "CLIP text encoder, 12 layers 768 wide",
        "UNet of widths 320-640-1280-1280 with convolutional projections, "
        "4 channels in, context 768 wide",
        "VAE of widths 128-256-512-512, 4 latent channels",
        "SD 1.x, noise prediction because nothing says otherwise",
    )


def test_configurations_of_sd15_are_read_off_its_shapes(tmp_path: Path) -> None:
    components = identify(write_sparse(tmp_path / "x.safetensors", listings.original())).components
    assert components[Component.TEXT_ENCODER].config == ClipTextConfig(49408, 768, 3072, 12, 12)
    assert components[Component.VAE].config == VaeConfig(4, (128, 256, 512, 512), 2)
    assert components[Component.DENOISER].config == UNetConfig(
        in_channels=4,
        out_channels=4,
        context_width=768,
        down=(
            UNetBlock(320, (1, 1), 8, True),
            UNetBlock(640, (1, 1), 8, True),
            UNetBlock(1280, (1, 1), 8, True),
            UNetBlock(1280, (0, 0), 8, False),
        ),
        mid=UNetBlock(1280, (1,), 8, False),
        up=(
            UNetBlock(1280, (0, 0, 0), 8, True),
            UNetBlock(1280, (1, 1, 1), 8, True),
            UNetBlock(640, (1, 1, 1), 8, True),
            UNetBlock(320, (1, 1, 1), 8, False),
        ),
    )


@pytest.mark.parametrize(
    ("layout", "variant", "missing"),
    [
        ("inpainting", "inpainting", ()),
        ("instruct-pix2pix", "instruct-pix2pix", ()),
        ("bare UNet", "base", (Component.TEXT_ENCODER, Component.VAE)),
        ("prefixed UNet", "base", (Component.TEXT_ENCODER, Component.VAE)),
        ("without VAE", "base", (Component.VAE,)),
        ("without text", "base", (Component.TEXT_ENCODER,)),
        ("small", "base", ()),
    ],
)
def test_variants_and_missing_parts_are_told_of_each_layout(
    tmp_path: Path, layout: str, variant: str, missing: tuple[Component, ...]
) -> None:
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", SD1_FILES[layout]))
    assert (checkpoint.variant, checkpoint.missing) == (variant, missing)


def test_leftovers_are_counted(tmp_path: Path) -> None:
    names = SD1_FILES["with leftovers"]
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", names))
    assert checkpoint.ignored_keys == len(names) - len(listings.original())


def test_any_depth_and_width_is_read_off_the_shapes(tmp_path: Path) -> None:
    sizes = UNetSizes(width=64, multipliers=(1, 2), blocks=3, depths=(2, 0), context=768)
    names = {UNET + name: shape for name, shape in listings.ldm_unet(sizes).items()}
    config = unet_of(identify(write_sparse(tmp_path / "x.safetensors", names)))
    assert config.down == (
        UNetBlock(64, (2, 2, 2), 8, True),
        UNetBlock(128, (0, 0, 0), 8, False),
    )
    assert [block.depths for block in config.up] == [(0,) * 4, (2,) * 4]


def test_the_vaes_convolutions_become_linear(tmp_path: Path) -> None:
    vae = identify(write_sparse(tmp_path / "x.safetensors", SMALL)).components[Component.VAE]
    assert vae.weights["encoder.mid_block.attentions.0.to_q.weight"].shape == (64, 64)
    assert vae.weights["quant_conv.weight"].shape == (8, 8, 1, 1)


def test_the_two_text_layouts_have_one_set_of_names(tmp_path: Path) -> None:
    first = identify(write_sparse(tmp_path / "a.safetensors", SD1_FILES["original"]))
    second = identify(write_sparse(tmp_path / "b.safetensors", SD1_FILES["without text_model"]))
    text = Component.TEXT_ENCODER
    assert first.components[text].weights.keys() == second.components[text].weights.keys()


# --- other families ---


def test_sd2_is_read_before_its_last_layer(tmp_path: Path) -> None:
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", listings.sd2()))
    assert text_use(checkpoint) == TextUse(2, True, zero_padded=frozenset({Component.TEXT_ENCODER}))
    text = checkpoint.components[Component.TEXT_ENCODER].config
    assert isinstance(text, ClipTextConfig)
    assert (text.heads, text.activation, text.layers) == (16, Activation.GELU, 24)
    assert [block.heads for block in unet_of(checkpoint).down] == [5, 10, 20, 20]
    # Hugging Face's layout has left the last layer out.
    cut = listings.open_clip(listings.ClipSizes(width=1024, layers=23))
    names = listings.sd2() | listings.prefixed("cond_stage_model.model.", cut)
    last = "cond_stage_model.model.transformer.resblocks.23."
    names = {name: shape for name, shape in names.items() if not name.startswith(last)}
    assert text_use(identify(write_sparse(tmp_path / "y.safetensors", names))).clip_skip == 1


def test_sdxl_is_identified_with_its_text_encoders_and_features(tmp_path: Path) -> None:
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", listings.sdxl()))
    assert text_use(checkpoint).clip_skip == 2
    assert text_use(checkpoint).final_norm is False
    assert text_use(checkpoint).zero_padded == {Component.TEXT_ENCODER_2}
    features = checkpoint.architecture.features
    assert OptionalSetting.SIZES in features.options
    assert {OptionalSetting.CONTROLS, OptionalSetting.IMAGE_PROMPTS} <= {*features.options}
    assert checkpoint.default_size == 1024
    assert checkpoint.latent.scale == 0.13025
    unet = unet_of(checkpoint)
    assert unet.added_width == 1280 + 6 * 256
    assert [block.depths for block in unet.down] == [(0, 0), (2, 2), (10, 10)]
    big = checkpoint.components[Component.TEXT_ENCODER_2].config
    assert isinstance(big, ClipTextConfig)
    assert (big.heads, big.projection, big.projected_width) == (20, Projection.MATRIX, 1280)


@pytest.mark.parametrize("layout", FAMILY_FILES)
def test_each_weight_of_another_family_has_one_name(tmp_path: Path, layout: str) -> None:
    names = FAMILY_FILES[layout][2]
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", names))
    weights = [t for source in checkpoint.components.values() for t in source.weights.values()]
    places = {part.offset for weight in weights for part in as_source(weight).parts()}
    assert len(places) == len(weights)
    # A fused projection is three weights, with an MLP four, and Flux.1's last modulation two; that
    # of single blocks of FLUX.2 is one.
    halves = int(checkpoint.family in ("flux1", "flux2"))
    with_mlp = 0 if checkpoint.family == "flux2" else 3
    more = {"in_proj_": 2, ".qkv.": 2, ".linear1.": with_mlp, ".adaLN_modulation.": halves}
    fused = sum(count for name in names for part, count in more.items() if part in name)
    if checkpoint.family == "sd3":
        # Two modulations without gates are two weights each; the text's last queries are left out.
        unread = ("context_block.attn.qkv.", "context_block.attn.ln_q.")
        last = [name for name in names if "joint_blocks.23." in name]
        fused += 4 - sum(part in name for name in last for part in unread)
    assert len(weights) + checkpoint.ignored_keys == len(names) + fused


# --- unsound ones ---


@pytest.mark.parametrize(
    "start",
    [
        "input_blocks.4.",
        "input_blocks.5.",
        "middle_block.2.",
        "output_blocks.0.",
        "output_blocks.5.",
        "out.2.",
        "input_blocks.0.",
    ],
)
def test_a_unet_without_a_block_is_named_by_a_key(tmp_path: Path, start: str) -> None:
    names = {name: shape for name, shape in SMALL.items() if not name.startswith(UNET + start)}
    error = failure(write_sparse(tmp_path / "x.safetensors", names))
    assert error.code is ErrorCode.CHECKPOINT_CORRUPT
    assert "it lacks '" in error.message


@pytest.mark.parametrize(
    ("key", "says"),
    [
        (f"{UNET}input_blocks.1.0.fuser.weight", "'input_blocks.1.0.fuser.weight'"),
        (f"{VAE}decoder.post_filter.weight", "'decoder.post_filter.weight'"),
        (f"{CLIP}text_model.encoder.layers.0.gate.weight", "gate"),
    ],
)
def test_a_part_that_would_be_dropped_is_an_error(tmp_path: Path, key: str, says: str) -> None:
    error = failure(write_sparse(tmp_path / "x.safetensors", {**SMALL, key: (4, 4)}))
    assert error.code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY
    assert says in error.message


def test_sizes_that_the_family_is_not_told(tmp_path: Path) -> None:
    told = listings.original(replace(listings.SMALL_UNET, added=96), SMALL_VAE, SMALL_CLIP)
    error = failure(write_sparse(tmp_path / "x.safetensors", told))
    assert error.code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY
    assert "adds 96 numbers to the time, as no SD 1.x UNet does" in error.message


def test_a_weight_stored_twice(tmp_path: Path) -> None:
    twice = f"unet.{next(iter(listings.ldm_unet(listings.SMALL_UNET)))}"
    error = failure(write_sparse(tmp_path / "x.safetensors", {**SMALL, twice: (4, 4)}))
    assert error.code is ErrorCode.CHECKPOINT_CORRUPT
    assert "twice" in error.message


@pytest.mark.parametrize("dtype", [DType.I8, DType.U8, DType.U16, DType.I64, DType.BOOL])
def test_a_number_format_we_do_not_run(tmp_path: Path, dtype: DType) -> None:
    types = {name: dtype if name.startswith(UNET) else DType.F16 for name in SMALL}
    error = failure(write_sparse(tmp_path / "x.safetensors", SMALL, types))
    assert error.code is ErrorCode.CHECKPOINT_UNREADABLE
    assert error.message == f"The denoiser (UNet) of x.safetensors is stored as {dtype}."
    # Nobody computes with positions, whatever type they have.
    positions = f"{CLIP}text_model.embeddings.position_ids"
    names, types = SMALL | {positions: (1, 77)}, dict.fromkeys(SMALL, DType.F16)
    path = write_sparse(tmp_path / "y.safetensors", names, types | {positions: dtype})
    assert identify(path).ignored_keys == 1


def test_a_text_encoder_of_another_width(tmp_path: Path) -> None:
    names = listings.original(clip=listings.ClipSizes(width=1024))
    error = failure(write_sparse(tmp_path / "x.safetensors", names))
    assert error.code is ErrorCode.CHECKPOINT_MISMATCH
    assert (
        "text encoder does not fit: it is 1024 wide, the UNet needs one 768 wide" in error.message
    )


def test_a_vae_of_another_family(tmp_path: Path) -> None:
    error = failure(
        write_sparse(tmp_path / "x.safetensors", listings.original(vae=VaeSizes(latent=16)))
    )
    assert error.code is ErrorCode.CHECKPOINT_MISMATCH
    assert "16 latent channels" in error.message


def test_an_odd_number_of_channels(tmp_path: Path) -> None:
    names = listings.original(UNetSizes(in_channels=7))
    error = failure(write_sparse(tmp_path / "x.safetensors", names))
    assert "takes 7 channels" in error.message


@given(st.data())
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_mutilation_escapes_as_anything_but_a_sentence(
    tmp_path: Path, data: st.DataObject
) -> None:
    keys = sorted(SMALL)
    dropped = set(data.draw(st.lists(st.sampled_from(keys), max_size=40)))
    start = data.draw(st.sampled_from(["", UNET + "input_blocks", UNET + "output_blocks.1", VAE]))
    names: Listing = {
        name: shape
        for name, shape in SMALL.items()
        if name not in dropped and not (start and name.startswith(start))
    }
    shapes = st.lists(st.integers(0, 9), max_size=5).map(tuple)
    names |= data.draw(st.dictionaries(st.sampled_from(keys), shapes, max_size=8))
    with suppress(EngineError):
        identify(write_sparse(tmp_path / "x.safetensors", names))
