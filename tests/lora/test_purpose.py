"""A file's purpose is told in words, and a file for another family is refused."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
import pytest

from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families import IdentifiedCheckpoint, identify
from engine.families.architecture import Architecture
from engine.families.lora_purpose import fit_lora, purpose_of
from engine.families.registry import FAMILIES
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.lora.files import Shapes, lora_file, low_rank

CHECKPOINTS = {
    "sd1": listings.original(),
    "sd2": listings.sd2(),
    "sdxl": listings.sdxl(),
    "sdxl_refiner": listings.sdxl_refiner(),
}
_ATTENTION = "lora_unet_down_blocks_1_attentions_0_transformer_blocks_0_attn2_to_k"
_SECOND = "lora_unet_down_blocks_1_attentions_0_transformer_blocks_1_attn1_to_q"
_FIRST = "lora_unet_down_blocks_0_attentions_1_transformer_blocks_0_attn1_to_q"
_TEXT = "lora_te_text_model_encoder_layers_3_self_attn_q_proj"


@dataclass(frozen=True)
class Case:
    """A file's keys, and the families that it may be for."""

    keys: Shapes
    words: str
    families: tuple[str, ...] = ()
    metadata: dict[str, str] = field(default_factory=dict[str, str])


def conv(layer: str, out: int, into: int, side: int = 1) -> dict[str, tuple[int, ...]]:
    return {
        f"{layer}.lora_up.weight": (out, 4, 1, 1),
        f"{layer}.lora_down.weight": (4, into, side, side),
    }


def by_row(layer: str, out: int, into: int) -> dict[str, tuple[int, ...]]:
    return {f"{layer}.lora_A.weight": (4, into), f"{layer}.lora_B.weight": (out, 4)}


OURS = {
    "context of SD 1": Case(low_rank(_ATTENTION, 640, 768), "a LoRA for SD 1.x", ("sd1",)),
    "context of SD 2": Case(low_rank(_ATTENTION, 640, 1024), "a LoRA for SD 2.x", ("sd2",)),
    "context of SDXL": Case(low_rank(_ATTENTION, 640, 2048), "a LoRA for SDXL", ("sdxl",)),
    "context of the refiner": Case(
        low_rank(_ATTENTION, 768, 1280), "a LoRA for SDXL refiner", ("sdxl_refiner",)
    ),
    "context in Kronecker factors": Case(
        {f"{_ATTENTION}.lokr_w1": (8, 16), f"{_ATTENTION}.lokr_w2": (80, 128)},
        "a LoRA for SDXL",
        ("sdxl",),
    ),
    "context under the original name": Case(
        low_rank("lora_unet_input_blocks_4_1_transformer_blocks_0_attn2_to_v", 640, 2048),
        "a LoRA for SDXL",
        ("sdxl",),
    ),
    "context in diffusers' names": Case(
        by_row("unet.mid_block.attentions.0.transformer_blocks.0.attn2.to_v", 1280, 768),
        "a LoRA for SD 1.x",
        ("sd1",),
    ),
    "several blocks in a row": Case(
        low_rank(_SECOND, 640, 640), "a LoRA for SDXL or SDXL refiner", ("sdxl", "sdxl_refiner")
    ),
    "more blocks in a row than the refiner's": Case(
        low_rank(_SECOND.replace("blocks_1_attn1", "blocks_9_attn1"), 640, 640),
        "a LoRA for SDXL",
        ("sdxl",),
    ),
    "attention at the first level": Case(
        low_rank(_FIRST, 320, 320), "a LoRA for SD 1.x or SD 2.x", ("sd1", "sd2")
    ),
    "projections by convolution": Case(
        low_rank(_FIRST, 320, 320) | conv("lora_unet_down_blocks_0_attentions_0_proj_in", 320, 320),
        "a LoRA for SD 1.x",
        ("sd1",),
    ),
    "a text encoder of SD 2": Case(low_rank(_TEXT, 1024, 1024), "a LoRA for SD 2.x", ("sd2",)),
    "CLIP ViT-L alone, which four families have": Case(
        low_rank(_TEXT.replace("te_", "te1_"), 768, 768) | {"emb_params": (4, 768)},
        "a LoRA for SD 1.x, SDXL, Flux.1 or SD 3.x",
        ("sd1", "sdxl", "flux1", "sd3"),
    ),
    "two text encoders": Case(
        low_rank(_TEXT.replace("te_", "te1_"), 768, 768)
        | low_rank(_TEXT.replace("te_", "te2_"), 1280, 1280),
        "a LoRA for SDXL or SD 3.x",
        ("sdxl", "sd3"),
    ),
    "two text encoders and a UNet": Case(
        low_rank(_TEXT.replace("te_", "te1_"), 768, 768)
        | low_rank(_TEXT.replace("te_", "te2_"), 1280, 1280)
        | low_rank("lora_unet_mid_block_attentions_0_proj_in", 1280, 1280),
        "a LoRA for SDXL",
        ("sdxl",),
    ),
    "T5 alone or with CLIP": Case(
        low_rank("lora_te3_encoder_block_0_layer_0_SelfAttention_q", 4096, 4096)
        | low_rank(_TEXT.replace("te_", "te1_"), 768, 768),
        "a LoRA for a T5 text encoder",
        ("flux1", "chroma", "sd3"),
    ),
    "modulations of Flux.1": Case(
        low_rank("lora_unet_double_blocks_3_img_mod_lin", 18432, 3072),
        "a LoRA for Flux.1",
        ("flux1", "chroma"),
    ),
    "metadata": Case(
        low_rank("lora_unet_mid_block_attentions_0_proj_out", 1280, 1280),
        "a LoRA for SDXL",
        ("sdxl",),
        {"ss_base_model_version": "sdxl_base_v1-0"},
    ),
}
# A layer in kohya's dialect or in PEFT's, its outputs and inputs, and the families that have it.
KOHYA = {
    "lora_unet_double_blocks_3_img_attn_qkv": (9216, 3072, "Flux.1, Chroma or Flux.2"),
    "lora_unet_double_blocks_8_img_attn_qkv": (9216, 3072, "Flux.1 or Chroma"),
    "lora_unet_double_blocks_3_img_mod_lin": (18432, 3072, "Flux.1"),
    "lora_unet_double_blocks_3_img_mlp_0": (12288, 3072, "Flux.1 or Chroma"),
    "lora_unet_double_blocks_3_txt_mlp_0": (18432, 3072, "Flux.2"),
    "lora_unet_single_blocks_3_linear1": (27648, 3072, "Flux.2"),
    "lora_unet_single_blocks_3_linear2": (3072, 15360, "Flux.1 or Chroma"),
    "lora_unet_double_blocks_3_img_attn_proj": (6144, 6144, "Flux.2"),
    "lora_unet_distilled_guidance_layer_in_proj": (5120, 64, "Chroma"),
    "lora_unet_joint_blocks_1_x_block_attn_qkv": (4608, 1536, "SD 3"),
    "lora_unet_layers_3_attention_qkv": (6912, 2304, "Lumina 2"),
    "lora_unet_blocks_0_cross_attn_k_proj": (2048, 1024, "Anima or Cosmos"),
    "lora_unet_blocks_0_attn_gate": (6144, 6144, "Krea 2"),
    "transformer_blocks.0.attn.to_k": (
        3072,
        3072,
        "Flux.1, Chroma, Flux.2, Qwen-Image or HunyuanVideo",
    ),
    "lora_unet_double_blocks_3_img_mlp_fc1": (12288, 3072, "HunyuanVideo"),
    "lora_prior_unet_down_blocks_0_3_attention_to_q": (1536, 1536, "Stable Cascade"),
}
PEFT = {
    "transformer.single_transformer_blocks.3.proj_mlp": (12288, 3072, "Flux.1 or Chroma"),
    "transformer.single_transformer_blocks.3.norm.linear": (9216, 3072, "Flux.1"),
    "transformer.transformer_blocks.18.attn.to_out.0": (
        3072,
        3072,
        "Flux.1, Chroma, Qwen-Image or HunyuanVideo",
    ),
    "transformer.transformer_blocks.3.ff.linear_in": (18432, 3072, "Flux.2"),
    "transformer.transformer_blocks.3.attn.to_q": (1536, 1536, "SD 3"),
    "transformer.single_transformer_blocks.3.attn.to_qkv_mlp_proj": (9, 6144, "Flux.2"),
    "transformer.transformer_blocks.3.attn.add_k_proj": (1536, 1536, "SD 3"),
    "transformer.transformer_blocks.3.img_mlp.net.2": (3072, 12288, "Qwen-Image"),
    "diffusion_model.layers.3.attention.to_q": (3840, 3840, "Z-Image"),
    "diffusion_model.layers.3.attention.out": (3840, 3840, "Z-Image"),
    "diffusion_model.layers.3.attention.qkv": (3840, 2304, "Lumina 2"),
    "diffusion_model.layers.3.feed_forward.w1": (9216, 2304, "Lumina 2"),
    "diffusion_model.blocks.3.self_attn.q": (5120, 5120, "Wan"),
    "transformer.blocks.3.attn2.to_v": (5120, 5120, "Wan"),
    "transformer.transformer_blocks.3.attn1.to_q": (2048, 2048, "LTX"),
    "transformer.transformer_blocks.4.attn1.to_q": (1152, 1152, "PixArt"),
}
XLABS = {"double_blocks.3.processor.qkv_lora1.down.weight": (4, 3072)}
XLABS_SINGLE = {"single_blocks.3.processor.qkv_lora.up.weight": (9216, 16)}
# The picture that controls is more channels of the input.
CONTROL = by_row("double_blocks.0.img_attn.qkv", 9216, 3072) | by_row("img_in", 3072, 128)
_MIDDLE = "controlnet.mid_block.attentions.0.transformer_blocks.0.attn2.to_k"
OTHERS = [
    (XLABS, "Flux.1"),
    (XLABS_SINGLE, "Flux.1"),
    (CONTROL, "Flux.1 with a map beside the latent (Canny or Depth)"),
    (by_row(_MIDDLE, 1280, 768), "a ControlNet"),
    *((low_rank(layer, out, into), title) for layer, (out, into, title) in KOHYA.items()),
    *((by_row(layer, out, into), title) for layer, (out, into, title) in PEFT.items()),
]


@pytest.mark.parametrize("name", OURS)
def test_purpose_shows_in_keys_and_metadata(name: str, tmp_path: Path) -> None:
    case = OURS[name]
    purpose = purpose_of(lora_file(tmp_path / "x.safetensors", case.keys, case.metadata))
    assert (purpose.words, purpose.families) == (case.words, case.families)
    assert purpose.certain == (not case.metadata)
    for family in FAMILIES:
        excluded = family.name not in case.families and purpose.certain
        assert purpose.excludes(family.name) == excluded


@pytest.mark.parametrize(("keys", "title"), OTHERS, ids=[next(iter(keys)) for keys, _ in OTHERS])
def test_loras_for_other_families_are_named(keys: Shapes, title: str, tmp_path: Path) -> None:
    purpose = purpose_of(lora_file(tmp_path / "x.safetensors", keys))
    assert purpose.words == f"a LoRA for {title}"
    assert purpose.excludes("sd1")


@pytest.mark.parametrize("made_for", CHECKPOINTS)
@pytest.mark.parametrize("asked", CHECKPOINTS)
def test_lora_fits_checkpoints_of_its_family_alone(
    made_for: str, asked: str, tmp_path: Path
) -> None:
    keys = OURS[f"context of {_TITLES[made_for]}"].keys
    file = lora_file(tmp_path / "lora.safetensors", keys)
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", CHECKPOINTS[asked]))
    if made_for == asked:
        assert fit_lora(file, checkpoint).unused == ()
        return
    with pytest.raises(EngineError) as caught:
        fit_lora(file, checkpoint)
    assert caught.value.code is ErrorCode.LORA_MISMATCH
    assert f"lora.safetensors is {purpose_of(file).words}, not for" in caught.value.message


_TITLES = {"sd1": "SD 1", "sd2": "SD 2", "sdxl": "SDXL", "sdxl_refiner": "the refiner"}


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (listings.sdxl(), "a checkpoint of SDXL"),
        ({"string_to_param.*": (4, 768)}, "a textual inversion embedding"),
        ({"768.0.linear.0.weight": (1536, 768)}, "a hypernetwork"),
        (
            {"lora_controlnet": (0,), "input_blocks.0.0.up": (4, 4)},
            "a control-LoRA, which is a ControlNet",
        ),
        (
            {
                "input_hint_block.0.weight": (16, 3, 3, 3),
                "input_blocks.1.0.in_layers.2.down": (128, 320, 3, 3),
                "input_blocks.1.0.in_layers.2.up": (320, 128, 1, 1),
            },
            "a control-LoRA, which is a ControlNet",
        ),
        ({"params_ema.body.0.rdb1.conv1.weight": (1, 1, 1, 1)}, "an upscaler"),
        ({"x": (1,)}, "a file of weights that this version does not know"),
    ],
)
def test_files_that_are_no_lora_are_named(keys: Shapes, words: str, tmp_path: Path) -> None:
    file = lora_file(tmp_path / "lora.safetensors", keys)
    purpose = purpose_of(file)
    assert (purpose.words, purpose.is_lora) == (words, False)
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", CHECKPOINTS["sd1"]))
    with pytest.raises(EngineError, match=f"{words}, not a LoRA"):
        fit_lora(file, checkpoint)


def test_hypernetwork_is_refused_with_the_reason(tmp_path: Path) -> None:
    keys = {"768.0.linear.0.weight": (1536, 768)}
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", CHECKPOINTS["sd1"]))
    with pytest.raises(EngineError) as caught:
        fit_lora(lora_file(tmp_path / "h.safetensors", keys), checkpoint)
    assert "LoRAs have replaced them" in caught.value.hint


def test_file_none_of_whose_layers_is_in_the_checkpoint_is_refused(tmp_path: Path) -> None:
    file = lora_file(tmp_path / "lora.safetensors", low_rank("lora_unet_nowhere", 8, 8))
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", CHECKPOINTS["sd1"]))
    with pytest.raises(EngineError, match="a LoRA for an unknown kind of model") as caught:
        fit_lora(file, checkpoint)
    assert "lora_unet_nowhere.lora_up.weight" in caught.value.detail


def test_keys_that_are_not_applied_are_named(tmp_path: Path) -> None:
    keys = low_rank(_ATTENTION, 640, 768) | low_rank("lora_unet_nowhere", 8, 8) | {"y.odd": (1,)}
    # Too many input channels, a bias of another size, and a second name for a layer.
    keys |= conv("lora_unet_conv_in", 320, 9, 3)
    keys |= {"lora_unet_conv_out.diff": (4, 320, 3, 3), "lora_unet_conv_out.diff_b": (3,)}
    keys |= low_rank("lora_unet_input_blocks_4_1_transformer_blocks_0_attn2_to_k", 640, 768)
    file = lora_file(tmp_path / "lora.safetensors", keys)
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", CHECKPOINTS["sd1"]))
    fitted = fit_lora(file, checkpoint)
    assert [module.target.layer for module in fitted.modules] == [
        "down_blocks.1.attentions.0.transformer_blocks.0.attn2.to_k"
    ]
    assert set(fitted.unused) == set(keys) - set(low_rank(_ATTENTION, 0, 0))
    assert (fitted.applied, file.total_keys) == (3, len(keys))


def test_family_without_a_table_of_layers_takes_no_lora(tmp_path: Path) -> None:
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", CHECKPOINTS["sd1"]))

    def bare(of: IdentifiedCheckpoint) -> Architecture:
        return msgspec.structs.replace(checkpoint.make_architecture(of), lora_layers=None)

    without = replace(checkpoint, make_architecture=bare)
    file = lora_file(tmp_path / "lora.safetensors", low_rank(_ATTENTION, 640, 768))
    assert fit_lora(file, checkpoint).unused == ()
    with pytest.raises(EngineError) as caught:
        fit_lora(file, without)
    assert caught.value.code is ErrorCode.LORA_MISMATCH


def test_file_of_embeddings_alone_fits(tmp_path: Path) -> None:
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", CHECKPOINTS["sd1"]))
    keys = {"bundle_emb.word.string_to_param.*": (4, 768)}
    fitted = fit_lora(lora_file(tmp_path / "lora.safetensors", keys), checkpoint)
    assert (fitted.modules, fitted.unused, fitted.applied) == ((), (), 0)


def test_factors_of_a_layer_of_unknown_kind_do_not_tell_the_family(tmp_path: Path) -> None:
    # The factors of (IA)3 show no width.
    file = lora_file(
        tmp_path / "x.safetensors", {f"{_ATTENTION}.weight": (640,), f"{_ATTENTION}.on_input": ()}
    )
    assert purpose_of(file).families == ()
