"""Each dialect's keys are split into the layer as spelled and the canonical part."""

import pytest

from engine.lora.dialects import PARTS, SplitKey, split_key

# The layer and the part of each key, by the trainers and converters that write such keys.
KEYS = {
    # kohya, Civitai's trainer, AI-toolkit, InvokeAI.
    "lora_unet_mid_block_attentions_0_proj_in.lora_up.weight": (
        "lora_unet_mid_block_attentions_0_proj_in",
        "lora_up.weight",
    ),
    "lora_te_text_model_encoder_layers_0_mlp_fc1.alpha": (
        "lora_te_text_model_encoder_layers_0_mlp_fc1",
        "alpha",
    ),
    "lora_unet_x.lora_mid.weight": ("lora_unet_x", "lora_mid.weight"),
    "lora_unet_x.dora_scale": ("lora_unet_x", "dora_scale"),
    "oft_unet_x.oft_blocks": ("oft_unet_x", "oft_blocks"),
    # Diffusers, from the first layout to the present one.
    "unet.a.attn1.processor.to_q_lora.down.weight": (
        "unet.a.attn1.processor.to_q",
        "lora_down.weight",
    ),
    "unet.a.attn1.to_out.0.lora.up.weight": ("unet.a.attn1.to_out.0", "lora_up.weight"),
    "text_encoder.b.q_proj.lora_linear_layer.up.weight": (
        "text_encoder.b.q_proj",
        "lora_up.weight",
    ),
    "unet.a.to_k.lora_A.weight": ("unet.a.to_k", "lora_down.weight"),
    "unet.a.to_k.lora_magnitude_vector": ("unet.a.to_k", "lora_magnitude_vector"),
    "unet.a.to_k.lora_magnitude_vector.weight": ("unet.a.to_k", "lora_magnitude_vector"),
    "unet.a.to_k.alpha": ("unet.a.to_k", "alpha"),
    # PEFT.
    "base_model.model.a.lora_B.weight": ("base_model.model.a", "lora_up.weight"),
    "base_model.model.a.lora_A.default.weight": (
        "base_model.model.a",
        "lora_down.weight",
    ),
    "base_model.model.a.lora_B.default_0.bias": ("base_model.model.a", "lora_up.bias"),
    "a.to_k.lora_A": ("a.to_k", "lora_down.weight"),
    "a.to_k.lora_down.default.weight": ("a.to_k", "lora_down.weight"),
    "a.to_k.lora_magnitude_vector.default.weight": ("a.to_k", "lora_magnitude_vector"),
    "a.to_k.hada_w1_a.default": ("a.to_k", "hada_w1_a"),
    "a.to_k.oft_R.default.weight": ("a.to_k", "oft_R.weight"),
    # OneTrainer.
    "lora_unet.down_blocks.1.resnets.0.conv1.lora_down.weight": (
        "lora_unet.down_blocks.1.resnets.0.conv1",
        "lora_down.weight",
    ),
    "lora_unet_x.oft_R.weight": ("lora_unet_x", "oft_R.weight"),
    "lora_unet_x.oft_R.scaled_oft": ("lora_unet_x", "oft_R.scaled_oft"),
    # AI-toolkit.
    "lora_unet_x.magnitude": ("lora_unet_x", "lora_magnitude_vector"),
    # LyCORIS.
    "lycoris_x.lokr_w2_a": ("lycoris_x", "lokr_w2_a"),
    "lycoris_x.hada_t1": ("lycoris_x", "hada_t1"),
    "lora_unet_x.a1.weight": ("lora_unet_x", "a1.weight"),
    "lora_unet_x.on_input": ("lora_unet_x", "on_input"),
    "lora_unet_x.weight": ("lora_unet_x", "weight"),
    "lora_unet_x.diff_b": ("lora_unet_x", "diff_b"),
    "lora_unet_x.w_norm": ("lora_unet_x", "w_norm"),
    # ComfyUI.
    "diffusion_model.x.set_weight": ("diffusion_model.x", "set_weight"),
    "diffusion_model.x.reshape_weight": ("diffusion_model.x", "reshape_weight"),
}


@pytest.mark.parametrize("key", KEYS)
def test_keys_are_split(key: str) -> None:
    assert split_key(key) == SplitKey(*KEYS[key])
    assert KEYS[key][1] in PARTS


@pytest.mark.parametrize(
    "key",
    [
        "",
        "weight",
        "alpha",
        ".alpha",
        "lora_unet_x",
        "x.lora_A.bias",
        "input_blocks.1.0.in_layers.2.up",
        "lllite_unet_x.down.0.bias",
    ],
)
def test_other_keys_have_no_part(key: str) -> None:
    assert split_key(key) is None
