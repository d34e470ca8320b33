"""Components of a diffusers folder of FLUX.2 klein, with sizes checked against `config.json`."""

from functools import partial

from engine.api.sentences import sentence
from engine.checkpoints.diffusers_configs import (
    Flux2Constants,
    Flux2File,
    Flux2VaeConstants,
    unusual,
)
from engine.checkpoints.diffusers_folder import FolderPart
from engine.families.checkpoint import Component, ComponentSource
from engine.families.flux2.keys import KEY_LAYOUT
from engine.families.flux2.sizes import flux2_config
from engine.families.shared.keys.shapes import check_claims, require_usual
from engine.families.shared.qwen3.folder import qwen3_source
from engine.families.shared.stable_diffusion.folder_parts import FolderSource, vae_source
from engine.graphs.flux2 import AXES

_ADVICE = sentence("Choose a model with the usual network of FLUX.2 klein.")


def _transformer_source(part: FolderPart) -> FolderSource:
    """Read the transformer of a folder, and check its configuration. Raises EngineError."""
    path, stated = part.index.path, part.config(Flux2File)
    file = path.parent / "config.json"
    require_usual(file, unusual(stated, Flux2Constants), _ADVICE)
    named = KEY_LAYOUT.canonical(Component.DENOISER, part.index.tensors, path)
    config = flux2_config(named.weights, path)
    check_claims(
        file,
        (
            ("in_channels", stated.in_channels, config.in_channels),
            ("num_layers", stated.num_layers, config.double_blocks),
            ("num_single_layers", stated.num_single_layers, config.single_blocks),
            ("attention_head_dim", stated.attention_head_dim, config.head_width),
            ("num_attention_heads", stated.num_attention_heads, config.heads),
            ("joint_attention_dim", stated.joint_attention_dim, config.context_width),
            ("mlp_ratio", int(stated.mlp_ratio * config.width), config.mlp_width),
            ("axes_dims_rope", stated.axes_dims_rope, (config.head_width // AXES,) * AXES),
        ),
    )
    return FolderSource(ComponentSource(Component.DENOISER, config, named.weights), named.ignored)


def _vae_source(part: FolderPart) -> FolderSource:
    """Read the VAE of a folder, and check its configuration. Raises EngineError."""
    file = part.index.path.parent / "config.json"
    require_usual(file, unusual(part.config(Flux2VaeConstants), Flux2VaeConstants), _ADVICE)
    return vae_source(part)


FOLDER_READERS = {
    Component.TEXT_ENCODER: partial(qwen3_source, Component.TEXT_ENCODER, keys=KEY_LAYOUT),
    Component.DENOISER: _transformer_source,
    Component.VAE: _vae_source,
}
