"""The keys of Chroma's files, in lodestones' layout, ComfyUI's and diffusers'.

Layers of the blocks are Flux.1's; the approximator's are renamed to diffusers'.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

import msgspec

from engine.api.sentences import Sentence, sentence
from engine.families.checkpoint import Component
from engine.families.shared.flow import keys as flow
from engine.families.shared.flux.keys import FLUX_KEYS
from engine.families.shared.keys.layout import KeyLayout, Rename
from engine.families.shared.kl_vae.keys import KL_VAE_KEYS
from engine.families.shared.t5.keys import T5_BEGINNINGS, T5_KEYS

_APPROXIMATOR = (
    r"distilled_guidance_layer\.(in_proj|out_proj|layers\.\d+\.linear_[12])\.(weight|bias)"
    r"|distilled_guidance_layer\.norms\.\d+\.weight"
)
_LAYERS = {".in_layer.": ".linear_1.", ".out_layer.": ".linear_2.", ".scale": ".weight"}
_LAYER = re.compile(r"\.in_layer\.|\.out_layer\.|\.scale$")


def _renaming(names: Collection[str], path: Path) -> Rename:
    def rename(name: str) -> str:
        if not name.startswith("distilled_guidance_layer."):
            return name
        return _LAYER.sub(lambda match: _LAYERS[match[0]], name)

    return rename


CHROMA_KEYS = msgspec.structs.replace(
    FLUX_KEYS,
    grammar=re.compile(f"{FLUX_KEYS.grammar.pattern}|{_APPROXIMATOR}"),
    # Files that were made with Flux.1's own layers keep a table of them that nothing reads.
    leftovers=re.compile(rf"{FLUX_KEYS.leftovers.pattern}|__index_timestep_zero__$"),
    renaming=_renaming,
)
LABELS: Mapping[Component, Sentence] = {
    Component.TEXT_ENCODER: sentence("text encoder (T5-XXL)"),
    **flow.LABELS,
}
KEY_LAYOUT = KeyLayout(
    labels=LABELS,
    networks={
        Component.TEXT_ENCODER: T5_KEYS,
        Component.DENOISER: CHROMA_KEYS,
        Component.VAE: KL_VAE_KEYS,
    },
    prefixes={
        **flow.PREFIXES,
        "text_encoders.t5xxl.transformer.": Component.TEXT_ENCODER,
        "text_encoder.": Component.TEXT_ENCODER,
    },
    bare=(
        (
            Component.DENOISER,
            re.compile(
                r"(img_in|txt_in|distilled_guidance_layer|double_blocks|single_blocks|final_layer"
                r"|x_embedder|context_embedder|(single_)?transformer_blocks|norm_out|proj_out)\."
            ),
        ),
        (Component.TEXT_ENCODER, T5_BEGINNINGS),
        (Component.VAE, re.compile(r"(encoder|decoder)\.")),
    ),
    unused=re.compile(r"(scaled_fp8|logit_scale|__index_timestep_zero__)$"),
)
