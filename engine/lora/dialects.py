"""The spellings of keys in LoRA files, each split into a layer and a canonical part.

A key is a layer's name, as the trainer spells it, and the name of a part of the change to that
layer. Only the parts are renamed here; the layers' names are looked up in a family's `LayerTable`.

References: kohya's sd-scripts (`networks/lora.py`), LyCORIS (`lycoris/modules`), PEFT
(`get_peft_model_state_dict`), diffusers (`utils/state_dict_utils.py`), ComfyUI
(`comfy/weight_adapter`), OneTrainer (`modules/util/convert_lora_util.py`), AI-toolkit
(`toolkit/network_mixins.py`), SimpleTuner (`helpers/training/lora_format.py`).
"""

import re

import msgspec

# The canonical parts, named as by kohya and LyCORIS, whose spelling is canonical.
PARTS = frozenset(
    {
        "lora_up.weight", "lora_up.bias", "lora_down.weight", "lora_mid.weight", "alpha",
        "dora_scale", "lora_magnitude_vector", "reshape_weight",
        "hada_w1_a", "hada_w1_b", "hada_w2_a", "hada_w2_b", "hada_t1", "hada_t2",
        "lokr_w1", "lokr_w1_a", "lokr_w1_b", "lokr_w2", "lokr_w2_a", "lokr_w2_b", "lokr_t1",
        "lokr_t2",
        "oft_blocks", "oft_diag", "oft_R.weight", "oft_R.scaled_oft", "boft_R", "boft_s",
        "rescale", "constraint",
        "a1.weight", "a2.weight", "b1.weight", "b2.weight", "bm.weight",
        "diff", "diff_b", "set_weight", "w_norm", "b_norm",
        "weight", "on_input", "ia3_l",
        "scalar", "bias_indices", "bias_values", "bias_size",
        "lora_embedding_A", "lora_embedding_B",
    }
)  # fmt: skip
# The beginning of a layer's name in files that PEFT itself writes.
PEFT_PREFIX = "base_model.model."
# DoRA's magnitudes: LyCORIS's, of outputs or of inputs, and PEFT's, which are always of outputs.
MAGNITUDES = ("dora_scale", "lora_magnitude_vector")
# AI-toolkit's name for the magnitudes of outputs.
_RENAMED = {"magnitude": "lora_magnitude_vector"}
# The last word of many keys of other parts, so it is looked for last.
_WEIGHT = "weight"
_WHOLE = PARTS - {_WEIGHT}

# A part of a low-rank change after PEFT, which may name the adapter: `.lora_A.default.weight`.
_PEFT = re.compile(r"(?P<layer>.+)\.lora_(?P<side>[AB])(?:\.[^.]+)??(?P<kind>\.weight|\.bias)?")
_SIDES = {"A": "lora_down", "B": "lora_up", "down": "lora_down", "up": "lora_up"}
# Diffusers: `.lora.down.weight`, `.to_q_lora.down.weight`, `.lora_linear_layer.up.weight`.
_DIFFUSERS = re.compile(
    r"(?P<layer>.+?)(?:\.lora|_lora|\.lora_linear_layer)\.(?P<side>down|up)\.weight"
)
# xlabs, whose attention's processors have a change for each of two streams.
_XLABS = re.compile(r"(?P<layer>.+\.processor\.\w+_lora[12])\.(?P<side>down|up)\.weight")
_MAGNITUDE = re.compile(r"(?P<layer>.+)\.lora_magnitude_vector(?:\.[^.]+)??(?:\.weight)?")
# Kohya's parts without the last word, as some converters write them, or with PEFT's adapter.
_SHORT = re.compile(r"(?P<layer>.+)\.lora_(?P<side>up|down)(?:\.default\.weight)?")
# Norms of queries and keys that control-LoRAs of Flux.1 replace: Black Forest Labs', and those that
# diffusers saves (`convert_lora_bfl_control` in ComfyUI's `comfy/lora_convert.py`).
_NORM = re.compile(
    r"(?P<layer>.+\.(?:query|key)_norm)\.scale"
    r"|(?P<own>.+transformer_blocks\.\d+\.attn\.norm_(?:added_)?[qk])\.weight"
)
# PEFT may name the adapter in the parts of other types, too: `.hada_w1_a.default`.
_NAMED = re.compile(
    r"(?P<layer>.+)\.(?P<part>(?:hada|lokr|oft|boft|ia3|lora_embedding)_\w+)\.[^.]+(?:\.weight)?"
)


class SplitKey(msgspec.Struct, frozen=True):
    """A key's layer, as the file spells it, prefix included, and its canonical part."""

    layer: str
    part: str


def split_key(key: str) -> SplitKey | None:
    """Split a key into its layer and its part; None for a key of no known part."""
    for words in (2, 1):
        layer, *part = key.rsplit(".", words)
        if layer and len(part) == words and ".".join(part) in _WHOLE:
            return SplitKey(layer, ".".join(part))
    if match := _PEFT.fullmatch(key):
        return _known(match["layer"], _SIDES[match["side"]] + (match["kind"] or ".weight"))
    if match := _DIFFUSERS.fullmatch(key) or _XLABS.fullmatch(key) or _SHORT.fullmatch(key):
        return _known(match["layer"], f"{_SIDES[match['side']]}.weight")
    if match := _MAGNITUDE.fullmatch(key):
        return _known(match["layer"], "lora_magnitude_vector")
    if match := _NAMED.fullmatch(key):
        part = match["part"]
        return _known(match["layer"], part if part in PARTS else f"{part}.weight")
    if match := _NORM.fullmatch(key):
        return SplitKey(match["layer"] or match["own"], "set_weight")
    layer, dot, word = key.rpartition(".")
    part = _WEIGHT if word == _WEIGHT else _RENAMED.get(word)
    return SplitKey(layer, part) if dot and layer and part else None


def _known(layer: str, part: str) -> SplitKey | None:
    return SplitKey(layer, part) if part in PARTS else None
