"""Each name that a LoRA file has for a layer leads to that layer's weight, in each family."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.checkpoints.files import read_index
from engine.families import Component, IdentifiedCheckpoint, identify
from engine.lora.layers import LayerTable, Target
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.families.listings import PRUNED_SDXL, SD1, UNET, Listing
from tests.text.lora_cases import LAYERS, TEXT_LAYER

TEXT, TEXT_2, DENOISER = Component.TEXT_ENCODER, Component.TEXT_ENCODER_2, Component.DENOISER

WHOLES: dict[str, Listing] = {
    "sd1": listings.original(),
    "sd1 inpainting": listings.original(replace(SD1, in_channels=9)),
    "small": listings.original(listings.SMALL_UNET, listings.SMALL_VAE, listings.SMALL_CLIP),
    "sd2": listings.sd2(),
    "sdxl": listings.sdxl(),
    "sdxl_refiner": listings.sdxl_refiner(),
    **{name: listings.sdxl(sizes) for name, sizes in PRUNED_SDXL.items()},
}


def table_of(checkpoint: IdentifiedCheckpoint) -> LayerTable:
    table = checkpoint.architecture.lora_layers
    assert table is not None
    return table


def only(targets: tuple[Target, ...]) -> Target:
    (target,) = targets
    return target


@pytest.mark.parametrize("name", WHOLES)
def test_original_names_of_unet_layers_lead_to_their_weights(name: str, tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "x.safetensors", WHOLES[name])
    checkpoint, stored = identify(path), read_index(path).tensors
    table, weights = table_of(checkpoint), checkpoint.components[DENOISER].weights
    layers = [key.removesuffix(".weight") for key in WHOLES[name] if key.endswith(".weight")]
    for layer in (key.removeprefix(UNET) for key in layers if key.startswith(UNET)):
        target = only(table.find("lora_unet_" + layer.replace(".", "_")))
        assert target.component == DENOISER
        assert weights[f"{target.layer}.weight"] == stored[f"{UNET}{layer}.weight"]


@pytest.mark.parametrize("name", WHOLES)
def test_canonical_names_of_layers_lead_to_their_weights(name: str, tmp_path: Path) -> None:
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", WHOLES[name]))
    table = table_of(checkpoint)
    texts = [encoder for encoder in (TEXT, TEXT_2) if encoder in checkpoint.components]
    prefixes = {DENOISER: "lora_unet_", texts[0]: "lora_te_"}
    prefixes |= dict(zip(texts, ("lora_te1_", "lora_te2_"), strict=False)) if texts[1:] else {}
    for component, prefix in prefixes.items():
        for weight in checkpoint.components[component].weights:
            layer = weight.removesuffix(".weight")
            if layer != weight:
                target = only(table.find(prefix + layer.replace(".", "_")))
                assert (target.component, target.layer) == (component, layer)


def test_fused_projections_lead_to_query_key_and_value(tmp_path: Path) -> None:
    table = table_of(identify(write_sparse(tmp_path / "x.safetensors", listings.sdxl())))
    targets = table.find("lora_te2_transformer_resblocks_3_attn_in_proj")
    attention = "text_model.encoder.layers.3.self_attn"
    assert [(target.component, target.layer, target.part) for target in targets] == [
        (TEXT_2, f"{attention}.q_proj", (0, 1280)),
        (TEXT_2, f"{attention}.k_proj", (1280, 2560)),
        (TEXT_2, f"{attention}.v_proj", (2560, 3840)),
    ]


@pytest.mark.parametrize(
    ("spelling", "layer"),
    [
        ("transformer.resblocks.5.attn.out_proj", "text_model.encoder.layers.5.self_attn.out_proj"),
        ("transformer.resblocks.5.mlp.c_fc", "text_model.encoder.layers.5.mlp.fc1"),
        ("transformer.resblocks.5.mlp.c_proj", "text_model.encoder.layers.5.mlp.fc2"),
        ("transformer.resblocks.5.ln_2", "text_model.encoder.layers.5.layer_norm2"),
        ("encoder.layers.5.mlp.fc1", "text_model.encoder.layers.5.mlp.fc1"),
        ("ln_final", "text_model.final_layer_norm"),
    ],
)
@pytest.mark.parametrize("prefix", ["lora_te_", "lora_te1_", "text_encoder."])
def test_other_names_of_text_layers_lead_to_the_canonical_one(
    prefix: str, spelling: str, layer: str, tmp_path: Path
) -> None:
    table = table_of(identify(write_sparse(tmp_path / "x.safetensors", listings.sd2())))
    assert only(table.find(prefix + spelling)).layer == layer


# Beginnings that trainers and tools put before a UNet's layers: OneTrainer writes dots with
# `lora_unet` and `diffusion_model`, its earlier versions `unet`; kohya's OFT has a name of its own.
_BEGINNINGS = (
    "lora_unet_",
    "lora_unet.",
    "unet.",
    "diffusion_model.",
    "model.diffusion_model.",
    "base_model.model.",
    "base_model.model.unet.",
    "lycoris_",
    "lycoris_unet_",
    "oft_unet_",
    "",
)
_LAYERS = {
    "input_blocks.4.1.transformer_blocks.1.attn2.to_k": (
        "down_blocks.1.attentions.0.transformer_blocks.1.attn2.to_k"
    ),
    "input_blocks.3.0.op": "down_blocks.0.downsamplers.0.conv",
    "output_blocks.2.2.conv": "up_blocks.0.upsamplers.0.conv",
    "middle_block.2.out_layers.3": "mid_block.resnets.1.conv2",
    "label_emb.0.0": "add_embedding.linear_1",
    "up_blocks.2.resnets.2.conv_shortcut": "up_blocks.2.resnets.2.conv_shortcut",
    "mid_block.attentions.0.transformer_blocks.3.attn1.to_out": (
        "mid_block.attentions.0.transformer_blocks.3.attn1.to_out.0"
    ),
    "mid_block.attentions.0.transformer_blocks.3.attn1.processor.to_q": (
        "mid_block.attentions.0.transformer_blocks.3.attn1.to_q"
    ),
}
_TEXT_BEGINNINGS = {
    "lora_te1_": TEXT,
    "lora_te1.": TEXT,
    "text_encoder.": TEXT,
    "text_encoders.clip_l.transformer.": TEXT,
    "clip_l.": TEXT,
    "lycoris_": TEXT,
    "lora_te2_": TEXT_2,
    "text_encoder_2.": TEXT_2,
    "text_encoders.clip_g.transformer.": TEXT_2,
    "clip_g.": TEXT_2,
}


@pytest.fixture(scope="module")
def sdxl(tmp_path_factory: pytest.TempPathFactory) -> LayerTable:
    path = tmp_path_factory.mktemp("sdxl") / "x.safetensors"
    return table_of(identify(write_sparse(path, listings.sdxl())))


@pytest.mark.parametrize("layer", _LAYERS)
@pytest.mark.parametrize("beginning", _BEGINNINGS)
def test_beginnings_of_unet_layers(beginning: str, layer: str, sdxl: LayerTable) -> None:
    target = only(sdxl.find(beginning + layer))
    assert (target.component, target.layer) == (DENOISER, _LAYERS[layer])


@pytest.mark.parametrize("beginning", _TEXT_BEGINNINGS)
def test_beginnings_of_text_layers(beginning: str, sdxl: LayerTable) -> None:
    layer = "text_model.encoder.layers.7.self_attn.v_proj"
    target = only(sdxl.find(beginning + layer))
    assert (target.component, target.layer) == (_TEXT_BEGINNINGS[beginning], layer)


@pytest.mark.parametrize(
    "layer",
    [
        "",
        "lora_unet_",
        "lora_te3_text_model_encoder_layers_7_self_attn_v_proj",
        "first_stage_model",
    ],
)
def test_unknown_layers_have_no_target(layer: str, sdxl: LayerTable) -> None:
    assert sdxl.find(layer) == ()


def test_layers_of_the_second_encoder_are_not_the_first_ones(sdxl: LayerTable) -> None:
    # CLIP ViT-L has 12 layers, bigG 32.
    layer = "text_model_encoder_layers_20_mlp_fc1"
    assert sdxl.find(f"lora_te1_{layer}") == ()
    assert only(sdxl.find(f"lora_te2_{layer}")).component == TEXT_2


def test_projection_stored_transposed_is_a_layer(sdxl: LayerTable) -> None:
    target = only(sdxl.find("lora_te2_text_projection"))
    assert (target.component, target.layer, target.shape) == (
        TEXT_2,
        "text_projection",
        (1280, 1280),
    )
    assert target.transposed
    assert target.name("weight") == "text_projection"
    assert only(sdxl.find("text_encoder_2.text_projection")) == target


# --- A1111's names, whose parts single out layers ---


def test_layers_have_a1111s_names(tmp_path: Path) -> None:
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", WHOLES["sd1"]))
    name = checkpoint.architecture.lora_element
    for original, layer in LAYERS.items():
        assert name(DENOISER.value, layer) == original
    assert name(TEXT.value, "text_model.encoder.layers.0.mlp.fc1") == TEXT_LAYER


def test_text_encoders_have_the_names_of_openclip_where_a1111_runs_it(tmp_path: Path) -> None:
    layer = "text_model.encoder.layers.3"
    sdxl = identify(write_sparse(tmp_path / "xl.safetensors", WHOLES["sdxl"])).architecture
    first = sdxl.lora_element(TEXT.value, f"{layer}.self_attn.q_proj")
    assert first == "0_transformer_text_model_encoder_layers_3_self_attn_q_proj"
    second = "1_model_transformer_resblocks_3_"
    names = {"self_attn.q_proj": "attn_q_proj", "mlp.fc1": "mlp_c_fc", "mlp.fc2": "mlp_c_proj"}
    for ours, original in names.items():
        assert sdxl.lora_element(TEXT_2.value, f"{layer}.{ours}") == second + original
    sd2 = identify(write_sparse(tmp_path / "2.safetensors", WHOLES["sd2"])).architecture
    found = sd2.lora_element(TEXT.value, f"{layer}.mlp.fc1")
    assert found == "model_transformer_resblocks_3_mlp_c_fc"
