"""Rules that recognise LoRA files for families that are not run, by names and sizes of layers.

Names are those of kohya's sd-scripts and musubi-tuner (the original layouts) and of diffusers, in
the spelling of `engine.lora.listing`. Specific rows come before general ones.

References: ComfyUI `comfy/lora.py` (`model_lora_keys_unet`), InvokeAI
`backend/model_manager/configs/lora.py`, diffusers `loaders/lora_conversion_utils.py`.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OtherLora:
    """A family's title as in "a LoRA for Flux.1", and the pattern that its listings match."""

    title: str
    pattern: re.Pattern[str]


def _row(title: str, pattern: str) -> OtherLora:
    return OtherLora(title, re.compile(pattern))


_STREAMS = r"(?:double|single)_blocks_\d+_"
_SINGLE = r"single_transformer_blocks_\d+_"
_JOINT = r"(?<!single_)transformer_blocks_\d+_attn_(?:add_[qkv]_proj|to_add_out)"
# A block that is in no block of a UNet.
_BLOCK = r"(?<!single_)(?<!\d_)transformer_blocks_\d+"

OTHER_LORAS = (
    _row("Stable Cascade", r"\nlora_prior_(?:unet|te)_|_blocks_\d+_\d+_channelwise_"),
    # Transformers with two streams.
    _row("Chroma", r"distilled_guidance_layer_"),
    _row(
        "Flux.2", r"double_stream_modulation_|to_qkv_mlp_proj |_ff_(?:context_)?linear_(?:in|out) "
    ),
    _row(
        "HunyuanVideo", rf"{_STREAMS}(?:img|txt)_mlp_fc[12] |{_STREAMS}\w*mod(?:ulation)?_linear "
    ),
    _row("HunyuanVideo", r"individual_token_refiner_|context_embedder_token_refiner_"),
    # Flux.1 is 3072 wide in all its sizes; two sizes of Flux.2 are wider.
    _row("Flux.2", r"double_blocks_\d+_(?:img|txt)_attn_proj \[(?:4096|6144),"),
    _row("Flux.2", r"single_blocks_\d+_linear2 \[(?:4096|6144),"),
    _row("Flux.1", rf"{_STREAMS}(?:img_|txt_|linear[12] |modulation_lin |norm_|processor_)"),
    _row(
        "Qwen-Image",
        r"transformer_blocks_\d+_(?:(?:img|txt)_mod_1|(?:img|txt)_mlp_net_\d)|"
        r"transformer_blocks_(?:19|[2-5]\d)_attn_(?:add_[qkv]_proj|to_add_out) \[3072,",
    ),
    _row("AuraFlow", r"(?:joint_transformer_blocks|double_layers|single_layers)_\d+_"),
    _row("Flux.1", rf"{_SINGLE}(?:proj_mlp|proj_out|norm_linear|attn_to_[qkv]) "),
    _row("SD 3", r"joint_blocks_\d+_(?:x|context)_block_"),
    _row("SD 3", rf"{_JOINT} \[(?:1536|2432|\?),"),
    _row("Flux.1 or Qwen-Image", rf"{_JOINT} \[3072,"),
    _row("Flux.1 or Qwen-Image", rf"{_BLOCK}_attn_(?:to_[qkv]|to_out_0) \[3072,"),
    _row("HiDream", r"(?:double|single)_stream_blocks_\d+_"),
    # Transformers with one stream.
    _row("Z-Image", r"layers_\d+_attention_(?:qkv|out|to_[qkv]|to_out_0) \[(?:3840|11520),"),
    _row("Z-Image", r"layers_\d+_feed_forward_w[123] \[(?:3840|10240),"),
    _row("Lumina 2", r"layers_\d+_(?:attention_(?:qkv|out)|attn_to_[qkv]|feed_forward_w[123]) "),
    _row("Wan", r"[\n_]blocks_\d+_(?:self_attn|cross_attn)_(?:[qkvo]|[kv]_img) "),
    _row("Wan", r"[\n_]blocks_\d+_(?:ffn_[02]|ffn_net_\d_\w+|ffn_net_2) "),
    _row("Wan", r"[\n_]blocks_\d+_attn[12]_(?:to_[qkv]|to_out_0) \[(?:1536|3072|5120),"),
    _row("Anima or Cosmos", r"[\n_]blocks_\d+_(?:self|cross)_attn_(?:[qkv]|output)_proj "),
    _row("Krea 2", r"[\n_]blocks_\d+_attn_gate \[6144,"),
    _row("LTX", r"transformer_blocks_\d+_(?:audio_|video_to_audio_)"),
    _row("LTX", rf"{_BLOCK}_attn[12]_to_[qkv] \[(?:2048|4096),"),
    _row("PixArt", rf"{_BLOCK}_attn[12]_to_[qkv] \[1152,"),
    _row("PixArt", r"[\n_]blocks_\d+_(?:attn_qkv|cross_attn_(?:q_linear|kv_linear)) "),
    _row("Sana", rf"{_BLOCK}_attn[12]_to_[qkv] \[2240,"),
    _row("CogVideoX", rf"{_BLOCK}_attn1_to_[qkv] \[(?:1920|3072),"),
    _row("Hunyuan-DiT", r"[\n_]blocks_\d+_attn[12]_(?:Wqkv|kv_proj|to_[qkv]) \[\d+,1408\]"),
    _row("Mochi", r"[\n_]blocks_\d+_attn_(?:qkv_[xy]|proj_[xy]) "),
    _row("Anima", r"llm_adapter_blocks_\d+_"),
    _row("a T5 text encoder", r"encoder_block_\d+_layer_\d_(?:SelfAttention|DenseReluDense)_"),
)
