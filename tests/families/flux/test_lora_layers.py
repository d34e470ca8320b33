"""The layers of Flux.1 are found by each dialect's names, and joined ones change their parts."""

from pathlib import Path
from typing import Any

import pytest

from engine.families import IdentifiedCheckpoint, identify
from engine.lora.layers import LayerTable
from engine.text.lora_blocks import BlockWeights, block_weights, with_elements
from engine.text.lora_presets import BlockPresets
from tests.families.flux.test_pictures import write_checkpoint
from tests.text.lora_cases import FLUX_LAYERS, FLUX_WEIGHTS
from tests.text.test_frozen_lora_tags import FROZEN

_DOUBLE, _SINGLE = "transformer_blocks.0", "single_transformer_blocks.0"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> IdentifiedCheckpoint:
    return identify(write_checkpoint(tmp_path_factory.mktemp("flux") / "tiny.safetensors"))


def layers(checkpoint: IdentifiedCheckpoint) -> LayerTable:
    table = checkpoint.architecture.lora_layers
    assert table is not None
    return table


@pytest.mark.parametrize(
    ("name", "layer"),
    [
        ("lora_unet_img_in", "x_embedder"),
        ("lora_unet_txt_in", "context_embedder"),
        ("lora_unet_time_in_in_layer", "time_text_embed.timestep_embedder.linear_1"),
        ("lora_unet_vector_in_out_layer", "time_text_embed.text_embedder.linear_2"),
        ("lora_unet_guidance_in_in_layer", "time_text_embed.guidance_embedder.linear_1"),
        ("lora_unet_final_layer_linear", "proj_out"),
        ("lora_unet_double_blocks_0_img_mod_lin", f"{_DOUBLE}.norm1.linear"),
        ("lora_unet_double_blocks_0_txt_mlp_2", f"{_DOUBLE}.ff_context.net.2"),
        ("diffusion_model.double_blocks.0.txt_attn.proj", f"{_DOUBLE}.attn.to_add_out"),
        ("lora_unet_single_blocks_0_linear2", f"{_SINGLE}.proj_out"),
        ("lora_unet_single_blocks_0_modulation_lin", f"{_SINGLE}.norm.linear"),
        ("single_blocks.0.processor.proj", f"{_SINGLE}.proj_out"),
        ("double_blocks.0.processor.proj_lora1", f"{_DOUBLE}.attn.to_out.0"),
        ("transformer.transformer_blocks.0.attn.add_k_proj", f"{_DOUBLE}.attn.add_k_proj"),
        # OMI's layout numbers the parts of joined layers.
        ("transformer.img_in.proj", "x_embedder"),
        *(
            (f"transformer.double_blocks.0.img_attn.qkv.{place}", f"{_DOUBLE}.attn.to_{part}")
            for place, part in enumerate("qkv")
        ),
        ("transformer.double_blocks.0.txt_attn.qkv.1", f"{_DOUBLE}.attn.add_k_proj"),
        ("transformer.single_blocks.0.linear1.2", f"{_SINGLE}.attn.to_v"),
        ("transformer.single_blocks.0.linear1.3", f"{_SINGLE}.proj_mlp"),
        ("clip_l.text_model.encoder.layers.0.mlp.fc1", "text_model.encoder.layers.0.mlp.fc1"),
        ("t5.encoder.block.1.layer.0.SelfAttention.q", "encoder.block.1.layer.0.q"),
        ("lora_transformer_single_transformer_blocks_0_proj_mlp", f"{_SINGLE}.proj_mlp"),
        ("lora_te1_text_model_encoder_layers_0_mlp_fc1", "text_model.encoder.layers.0.mlp.fc1"),
        *(
            (f"{te}_encoder_block_1_layer_0_SelfAttention_q", "encoder.block.1.layer.0.q")
            for te in ("lora_te2", "lora_te3")
        ),
    ],
)
def test_a_layer_is_found_by_the_names_of_trainers(
    checkpoint: IdentifiedCheckpoint, name: str, layer: str
) -> None:
    (target,) = layers(checkpoint).find(name)
    assert (target.layer, target.rows, target.part) == (_known(layer), None, None)


def _known(layer: str) -> str:
    return layer.replace("layer.0.q", "layer.0.SelfAttention.q")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        (
            "lora_unet_double_blocks_0_txt_attn_qkv",
            [(f"{_DOUBLE}.attn.add_{part}_proj", 64) for part in "qkv"],
        ),
        (
            "double_blocks.0.processor.qkv_lora1",
            [(f"{_DOUBLE}.attn.to_{part}", 64) for part in "qkv"],
        ),
        (
            "lora_unet_single_blocks_0_linear1",
            [*((f"{_SINGLE}.attn.to_{part}", 64) for part in "qkv"), (f"{_SINGLE}.proj_mlp", 256)],
        ),
        ("single_blocks.0.processor.qkv", [(f"{_SINGLE}.attn.to_{part}", 64) for part in "qkv"]),
        # The halves of the last modulation are in opposite order in the two layouts.
        (
            "lora_unet_final_layer_adaLN_modulation_1",
            [("norm_out.shift", 64), ("norm_out.scale", 64)],
        ),
        ("transformer.norm_out.linear", [("norm_out.scale", 64), ("norm_out.shift", 64)]),
    ],
)
def test_a_joined_layer_changes_its_parts_in_order(
    checkpoint: IdentifiedCheckpoint, name: str, parts: list[tuple[str, int]]
) -> None:
    found = layers(checkpoint).find(name)
    assert [target.layer for target in found] == [layer for layer, _ in parts]
    begin = 0
    for target, (_, rows) in zip(found, parts, strict=True):
        assert target.part == (begin, begin + rows)
        begin += rows


def test_every_weight_of_the_blocks_has_a_name_in_both_layouts(
    checkpoint: IdentifiedCheckpoint,
) -> None:
    table = layers(checkpoint).layers["denoiser"]
    matrices = {target.layer for targets in table.values() for target in targets}
    original = {
        target.layer
        for name, targets in table.items()
        if name.startswith(("double_blocks", "single_blocks")) and "processor" not in name
        for target in targets
    }
    blocks = {
        matrix for matrix in matrices if "blocks" in matrix and "norm_" not in matrix.split(".")[-1]
    }
    assert blocks
    assert blocks <= original


def test_a_file_without_a_text_encoder_has_no_layers_of_it(tmp_path: Path) -> None:
    from tests.families.flux.files import write_transformer

    write_transformer(tmp_path / "bare.safetensors")
    assert set(layers(identify(tmp_path / "bare.safetensors")).layers) == {"denoiser"}


@pytest.mark.parametrize("row", FROZEN["flux"], ids=lambda row: row[0] or "none")
def test_weights_by_block_are_those_of_lora_block_weight(
    checkpoint: IdentifiedCheckpoint, row: list[Any]
) -> None:
    rules, factors = row
    weights = block_weights(FLUX_WEIGHTS)
    assert isinstance(weights, BlockWeights)
    presets = BlockPresets({}, {"MINE": rules})
    blocks = with_elements(weights, "MINE", presets) if rules else weights
    assert isinstance(blocks, BlockWeights)
    of = checkpoint.architecture
    places = FLUX_LAYERS.values()
    ours = [blocks.factor(of.lora_block(*place), of.lora_element(*place)) for place in places]
    assert ours == factors
