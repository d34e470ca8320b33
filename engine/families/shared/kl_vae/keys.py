"""The keys of an AutoencoderKL: canonical are diffusers' names; the original layout is renamed."""

import re
from collections.abc import Collection
from pathlib import Path

from engine.families.shared.keys.layout import NetworkKeys, Rename
from engine.families.shared.keys.numbering import Numbering
from engine.weights.stored import StoredWeight

_RESNET = r"resnets\.\d+\.(norm[12]|conv[12]|conv_shortcut)"
_GRAMMAR = re.compile(
    r"(quant_conv|post_quant_conv|(encoder|decoder)\.(conv_in|conv_out|conv_norm_out"
    r"|mid_block\.attentions\.0\.(group_norm|to_q|to_k|to_v|to_out\.0)"
    rf"|((down|up)_blocks\.\d+|mid_block)\.{_RESNET}"
    r"|down_blocks\.\d+\.downsamplers\.0\.conv|up_blocks\.\d+\.upsamplers\.0\.conv"
    r"))\.(weight|bias)|bn\.running_(mean|var)"
)
_MODULES = (
    (re.compile(r"\.down\.(\d+)\.block\.(\d+)\."), r".down_blocks.\1.resnets.\2."),
    (re.compile(r"\.down\.(\d+)\.downsample\."), r".down_blocks.\1.downsamplers.0."),
    (re.compile(r"\.up\.(\d+)\.block\.(\d+)\."), r".up_blocks.\1.resnets.\2."),
    (re.compile(r"\.up\.(\d+)\.upsample\."), r".up_blocks.\1.upsamplers.0."),
    (re.compile(r"\.mid\.block_1\."), ".mid_block.resnets.0."),
    (re.compile(r"\.mid\.block_2\."), ".mid_block.resnets.1."),
    (re.compile(r"\.mid\.attn_1\."), ".mid_block.attentions.0."),
    (re.compile(r"coder\.norm_out\."), "coder.conv_norm_out."),
    (re.compile(r"\.nin_shortcut\."), ".conv_shortcut."),
    # FLUX.2's authors count these convolutions as parts of the sides.
    (re.compile(r"^encoder\.quant_conv\."), "quant_conv."),
    (re.compile(r"^decoder\.post_quant_conv\."), "post_quant_conv."),
)
# The names of attention layers in the original layout, and in diffusers before 0.15.
_ATTENTION_LEAF = re.compile(
    r"(?<=\.mid_block\.attentions\.0\.)(norm|q|k|v|proj_out|query|key|value|proj_attn)(?=\.)"
)
_ATTENTION_LEAVES = {
    "norm": "group_norm",
    "q": "to_q",
    "query": "to_q",
    "k": "to_k",
    "key": "to_k",
    "v": "to_v",
    "value": "to_v",
    "proj_out": "to_out.0",
    "proj_attn": "to_out.0",
}
_UP = re.compile(r"^decoder\.up\.(\d+)\.")


def _renaming(names: Collection[str], path: Path) -> Rename:
    levels = Numbering(names, path).count("decoder.up")

    def from_lowest(match: re.Match[str]) -> str:
        # The original numbers the decoder's levels by resolution, diffusers by running order.
        return f"decoder.up.{levels - 1 - int(match[1])}."

    def rename(name: str) -> str:
        name = _UP.sub(from_lowest, name)
        for pattern, replacement in _MODULES:
            name = pattern.sub(replacement, name)
        return _ATTENTION_LEAF.sub(lambda leaf: _ATTENTION_LEAVES[leaf[1]], name)

    return rename


def _shaped(name: str, tensor: StoredWeight) -> StoredWeight:
    """Reshape attention's 1x1 convolutions in the original layout to linear layers."""
    is_linear = ".attentions.0.to_" in name and len(tensor.shape) == 4
    return tensor.reshaped(tensor.shape[:2]) if is_linear and tensor.shape[2:] == (1, 1) else tensor


KL_VAE_KEYS = NetworkKeys(
    grammar=_GRAMMAR,
    leftovers=re.compile(r"(loss|model_ema)\.|bn\.num_batches_tracked$"),
    renaming=_renaming,
    shaped=_shaped,
)
