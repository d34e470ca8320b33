"""The keys of CLIP text encoders. Canonical are Hugging Face's, with the prefix `text_model.`."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

import msgspec

from engine.families.shared.clip.open_clip import hugging_face_names, is_open_clip
from engine.families.shared.keys.layout import NetworkKeys, Rename
from engine.weights.stored import StoredWeight

_CLIP = (
    r"text_model\.(embeddings\.(token|position)_embedding\.weight|(final_layer_norm"
    r"|encoder\.layers\.\d+\.(self_attn\.(q|k|v|out)_proj|layer_norm[12]|mlp\.fc[12])"
    r")\.(weight|bias))"
)
_VISION = r"vision_model\.|visual_projection\.|visual\."


def _renaming(names: Collection[str], path: Path) -> Rename:
    # transformers before 5 and most files use text_model., transformers 5 and some merges do not.
    begins = ("text_model.", "text_projection")
    return lambda name: name if name.startswith(begins) else f"text_model.{name}"


def _unpacked(tensors: Mapping[str, StoredWeight], path: Path) -> Mapping[str, StoredWeight]:
    return hugging_face_names(tensors, path) if is_open_clip(tensors) else tensors


# An encoder without pooled output: only the states of its layers are used.
CLIP_KEYS = NetworkKeys(
    grammar=re.compile(_CLIP),
    leftovers=re.compile(
        r"(text_model\.)?(embeddings\.position_ids|text_projection(\.|$)|logit_scale|attn_mask)"
        rf"|{_VISION}"
    ),
    renaming=_renaming,
    unpacked=_unpacked,
)
# An encoder with a projected pooled output, too. OpenCLIP stores the projection transposed, under a
# name without `.weight`.
PROJECTED_CLIP_KEYS = msgspec.structs.replace(
    CLIP_KEYS,
    grammar=re.compile(rf"{_CLIP}|text_projection(\.weight)?"),
    leftovers=re.compile(
        rf"(text_model\.)?(embeddings\.position_ids|logit_scale|attn_mask)|{_VISION}"
    ),
)
