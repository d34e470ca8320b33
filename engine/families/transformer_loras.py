"""Rules that recognise LoRA files for transformers, by names and sizes of layers.

Names are those of kohya's sd-scripts and musubi-tuner (the original layouts) and of diffusers, in
the spelling of `engine.lora.listing`. Specific rows come before general ones.

References: ComfyUI `comfy/lora.py` (`model_lora_keys_unet`), InvokeAI
`backend/model_manager/configs/lora.py`, diffusers `loaders/lora_conversion_utils.py`.
"""

import re

import msgspec


class TransformerLora(msgspec.Struct, frozen=True):
    """A family's title as in "a LoRA for Flux.1", and the rule that its listings match.

    `text` is in all listings that match `pattern`, and is found faster. `families` are the names of
    the families here that such a file may be for; without any, its family is not run.
    """

    title: str
    text: str
    pattern: re.Pattern[str]
    families: tuple[str, ...] = ()

    def matches(self, listing: str) -> bool:
        """Return True if a listing is of this family; earlier rows take precedence."""
        return self.text in listing and self.pattern.search(listing) is not None


def _row(title: str, text: str, pattern: str, *families: str) -> TransformerLora:
    return TransformerLora(title, text, re.compile(pattern), families)


_STREAMS = r"(?:double|single)_blocks_\d+_"
_SINGLE = r"single_transformer_blocks_\d+_"
_JOINT = r"(?<!single_)transformer_blocks_\d+_attn_(?:add_[qkv]_proj|to_add_out)"
# A block that is in no block of a UNet.
_BLOCK = r"(?<!single_)(?<!\d_)transformer_blocks_\d+"
_LAYER = r"(?:layers|noise_refiner|context_refiner)_\d+"
_FLUX = ("flux1", "chroma")
# Flux.2 has at most 8 blocks with two streams, Flux.1 and Chroma have 19.
_DEEP = r"(?:[89]|1[0-8])"
_FIRST = r"[\n_]blocks_\d+_"
# Several families share names and sizes.
_SHARED = "Flux.1, Chroma, Flux.2, Qwen-Image or HunyuanVideo"
WITH_MAP = "Flux.1 with a map beside the latent (Canny or Depth)"
# Layers of Flux.1's blocks that those of Chroma and Flux.2 lack.
_MODULATION = r"(?:mod|modulation)_lin "

TRANSFORMER_LORAS = (
    _row("a ControlNet", "\ncontrolnet_", r"\ncontrolnet_"),
    _row("Stable Cascade", "lora_prior_", r"\nlora_prior_(?:unet|te)_"),
    _row("Stable Cascade", "_channelwise_", r"_blocks_\d+_\d+_channelwise_"),
    # Transformers with two streams.
    _row("Chroma", "distilled_guidance_layer_", r"distilled_guidance_layer_", "chroma"),
    _row("Flux.2", "_stream_modulation_", r"(?:double|single)_stream_modulation_", "flux2"),
    _row("Flux.2", "to_qkv_mlp_proj ", r"to_qkv_mlp_proj ", "flux2"),
    _row("Flux.2", "attn_to_out ", rf"{_SINGLE}attn_to_out ", "flux2"),
    _row("Flux.2", "linear_", rf"{_BLOCK}_ff_(?:context_)?linear_(?:in|out) ", "flux2"),
    _row("HunyuanVideo", "_mlp_fc", rf"{_STREAMS}(?:img|txt)_mlp_fc[12] "),
    _row("HunyuanVideo", "_linear ", rf"{_STREAMS}(?:img_mod|txt_mod|modulation)_linear "),
    _row("HunyuanVideo", "token_refiner_", r"(?:individual|context_embedder)_token_refiner_"),
    # A control-LoRA's input has a map beside the latent, and norms of its own.
    _row(WITH_MAP, "img_in ", r"img_in \[\d+,128\]", "flux1"),
    _row(WITH_MAP, "x_embedder ", r"\n\S*(?<!context_)x_embedder \[\d+,128\]", "flux1"),
    # Flux.1 is 3072 wide in all its sizes; two sizes of Flux.2 are wider, and its MLPs have gates.
    _row("Flux.2", "le_blocks_", rf"{_STREAMS}(?:img|txt)_attn_proj \[(?:4096|6144),", "flux2"),
    _row("Flux.2", "le_blocks_", rf"{_STREAMS}linear2 \[(?:4096|6144),", "flux2"),
    _row("Flux.2", "_linear2 ", rf"{_STREAMS}linear2 \[3072,12288\]", "flux2"),
    _row("Flux.2", "_linear1 ", rf"{_STREAMS}linear1 \[(?:27648|36864|55296),", "flux2"),
    _row("Flux.2", "_mlp_0 ", rf"{_STREAMS}(?:img|txt)_mlp_0 \[(?:18432|24576|36864),", "flux2"),
    _row("Flux.1", "le_blocks_", rf"{_STREAMS}processor_", "flux1"),
    # Chroma takes all of such a file but the modulations, which it has not.
    _row("Flux.1", "_lin", rf"{_STREAMS}(?:img_|txt_)?{_MODULATION}", *_FLUX),
    _row("Flux.1 or Chroma", "le_blocks_", rf"{_STREAMS}(?:(?:img|txt)_mlp|linear[12] )", *_FLUX),
    _row("Flux.1 or Chroma", "double_", rf"double_blocks_{_DEEP}_(?:img|txt)_attn_", *_FLUX),
    _row(
        "Flux.1, Chroma or Flux.2", "le_blocks_", rf"{_STREAMS}(?:img_|txt_|norm_)", *_FLUX, "flux2"
    ),
    _row("Qwen-Image", "_mod_1 ", r"transformer_blocks_\d+_(?:img|txt)_mod_1 "),
    _row("Qwen-Image", "_mlp_net_", r"transformer_blocks_\d+_(?:img|txt)_mlp_net_\d"),
    # Flux.1 has 19 blocks with two streams.
    _row(
        "Qwen-Image",
        "_attn_",
        r"(?<!single_)transformer_blocks_(?:19|[2-5]\d)_attn_(?:add_[qkv]_proj|to_add_out) \[3072,",
    ),
    _row("AuraFlow", "_blocks_", r"joint_transformer_blocks_\d+_"),
    _row("AuraFlow", "le_layers_", r"(?:double|single)_layers_\d+_"),
    _row("Flux.1", "single_", rf"{_SINGLE}norm_linear ", *_FLUX),
    _row(
        "Flux.1 or Chroma",
        "single_",
        rf"{_SINGLE}(?:proj_mlp|proj_out|attn_to_[qkv]) ",
        *_FLUX,
    ),
    _row("SD 3", "joint_blocks_", r"joint_blocks_\d+_(?:x|context)_block_", "sd3"),
    _row("SD 3", "add_", rf"{_JOINT} \[(?:1536|2432|\?),", "sd3"),
    _row("SD 3", "_attn", rf"{_BLOCK}_attn2?_(?:to_[qkv]|to_out_0) \[(?:1536|2432),", "sd3"),
    _row(
        "Flux.1, Chroma, Qwen-Image or HunyuanVideo",
        "_attn_",
        rf"(?<!single_)transformer_blocks_{_DEEP}_attn_\w+ \[3072,",
        *_FLUX,
    ),
    _row(_SHARED, "add_", rf"{_JOINT} \[3072,", *_FLUX, "flux2"),
    _row(_SHARED, "_attn_to_", rf"{_BLOCK}_attn_(?:to_[qkv]|to_out_0) \[3072,", *_FLUX, "flux2"),
    _row("HiDream", "_stream_blocks_", r"(?:double|single)_stream_blocks_\d+_"),
    # Transformers with one stream.
    # Lumina 2's queries, keys and values together are as wide as Z-Image.
    _row("Lumina 2", "_attention_", rf"{_LAYER}_attention_(?:qkv|out) \[(?:2304|3840|6912),2304\]"),
    _row("Lumina 2", "_attn_to_", rf"{_LAYER}_attn_to_[qkv] "),
    _row("Lumina 2", "_feed_forward_", rf"{_LAYER}_feed_forward_w[123] \[(?:2304,|\d+,2304\])"),
    _row("Z-Image", "_attention_", rf"{_LAYER}_attention_to_(?:[qkv]|out) ", "zimage"),
    _row("Z-Image", "_attention_", rf"{_LAYER}_attention_(?:qkv|out|to_out_0) ", "zimage"),
    _row("Z-Image", "_feed_forward_", rf"{_LAYER}_feed_forward_w[123] ", "zimage"),
    _row("Wan", "_attn_", rf"{_FIRST}(?:self_attn|cross_attn)_(?:[qkvo]|[kv]_img) "),
    _row("Wan", "_ffn_", rf"{_FIRST}ffn_(?:[02]|net_0_proj|net_2) "),
    _row("Wan", "_attn", rf"{_FIRST}attn[12]_(?:to_[qkv]|to_out_0) \[(?:1536|3072|5120),"),
    _row("Anima or Cosmos", "_attn_", rf"{_FIRST}(?:self|cross)_attn_(?:[qkv]|output)_proj "),
    _row("Krea 2", "_attn_gate ", rf"{_FIRST}attn_gate \[6144,"),
    _row("LTX", "audio_", r"transformer_blocks_\d+_(?:audio_|video_to_audio_)"),
    _row("LTX", "transformer_", rf"{_BLOCK}_attn[12]_to_[qkv] \[(?:2048|4096),"),
    _row("PixArt", "transformer_", rf"{_BLOCK}_attn[12]_to_[qkv] \[1152,"),
    _row("PixArt", "_attn_", rf"{_FIRST}(?:attn_qkv|cross_attn_(?:q_linear|kv_linear)) "),
    _row("Sana", "transformer_", rf"{_BLOCK}_attn[12]_to_[qkv] \[2240,"),
    _row("CogVideoX", "transformer_", rf"{_BLOCK}_attn1_to_[qkv] \[(?:1920|3072),"),
    _row("Hunyuan-DiT", "_attn", rf"{_FIRST}attn[12]_(?:Wqkv|kv_proj|to_[qkv]) \[\d+,1408\]"),
    _row("Mochi", "_attn_", rf"{_FIRST}attn_(?:qkv_[xy]|proj_[xy]) "),
    _row("Anima", "llm_adapter_", r"llm_adapter_blocks_\d+_"),
    _row(
        "a T5 text encoder",
        "encoder_block_",
        r"encoder_block_\d+_layer_\d_(?:SelfAttention|DenseReluDense)_",
        *_FLUX,
        "sd3",
    ),
)
