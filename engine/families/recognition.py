"""What a file is, if not a checkpoint of a family we run: rules over the listing of its tensors.

A user who picks the wrong file is told what it is. Each rule is a row: literals, one of which the
listing must hold, and patterns, all of which it must match. The rows exclude each other, so their
order does not matter; the tests hold them to that.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from backends.base import FileSlice
from engine.families.base import Component


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file that is no checkpoint for this version."""

    # With its article, as the object of "this is".
    title: str
    any_of: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...] = ()
    none_of: tuple[str, ...] = ()
    # Whether it is a checkpoint, of another family.
    is_checkpoint: bool = False
    # For a file with a single component: which one it can supply, or which of two.
    supplies: tuple[Component, ...] = ()

    def matches(self, text: str) -> bool:
        """Whether a listing is of this kind."""
        return (
            any(sign in text for sign in self.any_of)
            and not any(sign in text for sign in self.none_of)
            and all(pattern.search(text) for pattern in self.patterns)
        )


def listing(tensors: Mapping[str, FileSlice]) -> str:
    """The tensors as text, one `name [shape]` a line, each between two line ends."""
    lines = (f"{name} {list(tensor.shape)}" for name, tensor in tensors.items())
    return "\n" + "\n".join(lines).replace(", ", ",") + "\n"


def recognise(text: str) -> Kind | None:
    """The kind a listing is of, or None."""
    return next((kind for kind in KINDS if kind.matches(text)), None)


# Patterns begin with a literal: that is what makes searching a listing of 200 kB fast.
_FEW_VECTORS = re.compile(r"\A(\n[^\n]* \[(\d+,)?(768|1024|1280|2048|4096)\]){1,3}\n\Z")

_UNET = ("attn2.to_k.weight [",)
# In Hugging Face's names and OpenCLIP's.
_CLIP = ("token_embedding.weight [",)
_VAE = ("decoder.conv_in.weight [",)
_CONTROLNET = (
    "input_hint_block.",
    "controlnet_cond_embedding.",
    "controlnet_blocks.",
    "controlnet_down_blocks.",
    "lora_controlnet",
)
_MOTION = ("motion_modules.",)
_LORA = (
    ".lora_down.weight [",
    ".lora_A.",
    ".lora.down.weight [",
    "_lora.down.weight [",
    ".lora_linear_layer.down.",
)
# LoHa, LoKr, Diag-OFT and BOFT, (IA)^3, GLoRA and whole differences, as LyCORIS names them.
_LYCORIS = (
    ".hada_w1_a [",
    ".lokr_w1",
    ".oft_blocks [",
    ".oft_diag [",
    ".on_input [",
    ".a1.weight [",
    ".diff [",
)
_TRANSFORMERS = ("double_blocks.0.", "joint_blocks.0.", "transformer_blocks.0.attn.")

KINDS = (
    Kind("a LoRA", _LORA, none_of=("lora_controlnet",)),
    Kind("a LyCORIS LoRA", _LYCORIS, none_of=_LORA),
    Kind("a textual inversion embedding", (" [",), (_FEW_VECTORS,)),
    Kind("a ControlNet", _CONTROLNET),
    Kind("a T2I adapter", ("\nadapter.body.0.", "\nbody.0.in_conv.")),
    Kind("an IP-Adapter", ("\nip_adapter.", "\nimage_proj.")),
    Kind("an AnimateDiff motion module", _MOTION),
    Kind("an upscaler", ("RRDB_trunk.", "body.0.rdb1.", "sub.0.RDB1.", "conv_before_upsample.")),
    Kind(
        "an SD 3 checkpoint",
        (
            "joint_blocks.0.x_block.attn.qkv.weight [",
            "\ntransformer_blocks.0.attn.add_k_proj.weight [",
        ),
        none_of=(*_CONTROLNET, "single_transformer_blocks."),
        is_checkpoint=True,
    ),
    Kind(
        "a Flux checkpoint",
        (
            "double_blocks.0.img_attn.qkv.weight [",
            "single_transformer_blocks.0.attn.to_q.weight [",
        ),
        none_of=(*_CONTROLNET, "double_stream_modulation_img.", "distilled_guidance_layer."),
        is_checkpoint=True,
    ),
    Kind("a Flux.2 checkpoint", ("double_stream_modulation_img.lin.",), is_checkpoint=True),
    # As `comfy/model_detection.py` tells these.
    Kind(
        "a Stable Cascade checkpoint",
        ("clip_txt_mapper.weight [", "clip_mapper.weight ["),
        is_checkpoint=True,
    ),
    Kind("an AuraFlow checkpoint", ("double_layers.0.attn.w1q.weight [",), is_checkpoint=True),
    Kind("a Hunyuan-DiT checkpoint", ("mlp_t5.0.weight [",), is_checkpoint=True),
    Kind(
        "a Stable Video Diffusion checkpoint",
        ("time_stack.0.attn1.to_q.weight [", "temporal_transformer_blocks.0.attn1.to_q.weight ["),
        is_checkpoint=True,
    ),
    Kind("a Chroma checkpoint", ("distilled_guidance_layer.norms.",), is_checkpoint=True),
    Kind(
        "a VAE",
        _VAE,
        none_of=_UNET + _CLIP + _TRANSFORMERS,
        supplies=(Component.VAE,),
    ),
    Kind(
        "a CLIP text encoder",
        _CLIP,
        none_of=_UNET + _VAE + _TRANSFORMERS,
        supplies=(Component.TEXT_ENCODER, Component.TEXT_ENCODER_2),
    ),
    Kind("a T5 text encoder", ("\nencoder.block.0.layer.0.SelfAttention.q.weight [",)),
    Kind(
        "a tiny VAE (TAESD)",
        ("coder.layers.0.weight [", "\ntaesd_decoder.1.", "\n3.conv.0.weight ["),
        none_of=_UNET,
        supplies=(Component.VAE,),
    ),
)
