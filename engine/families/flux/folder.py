"""Components of a diffusers folder of Flux.1, with sizes checked against `config.json`."""

from functools import partial

from engine.api.sentences import sentence
from engine.checkpoints.diffusers_configs import FluxConstants, FluxFile, unusual
from engine.checkpoints.diffusers_folder import FolderPart
from engine.families.checkpoint import Component, ComponentSource
from engine.families.flux.keys import KEY_LAYOUT
from engine.families.flux.sizes import flux_config
from engine.families.shared.flux.folder import block_claims
from engine.families.shared.keys.shapes import check_claims, require_usual
from engine.families.shared.stable_diffusion.folder_parts import (
    FolderSource,
    clip_text_source,
    vae_source,
)
from engine.families.shared.t5.folder import t5_source


def _transformer_source(part: FolderPart) -> FolderSource:
    """Read the transformer of a folder, and check its configuration. Raises EngineError."""
    path, stated = part.index.path, part.config(FluxFile)
    file = path.parent / "config.json"
    advice = sentence("Choose a model with Flux.1's usual network.")
    require_usual(file, unusual(stated, FluxConstants), advice)
    named = KEY_LAYOUT.canonical(Component.DENOISER, part.index.tensors, path)
    config = flux_config(named.weights, path, stated.axes_dims_rope)
    check_claims(
        file,
        (
            *block_claims(stated, config),
            ("pooled_projection_dim", stated.pooled_projection_dim, config.pooled_width),
            ("guidance_embeds", stated.guidance_embeds, config.takes_guidance),
            ("axes_dims_rope", sum(stated.axes_dims_rope), config.head_width),
        ),
    )
    source = ComponentSource(Component.DENOISER, config, named.weights)
    return FolderSource(source, named.ignored)


FOLDER_READERS = {
    Component.TEXT_ENCODER: partial(clip_text_source, Component.TEXT_ENCODER),
    Component.TEXT_ENCODER_2: partial(t5_source, Component.TEXT_ENCODER_2, keys=KEY_LAYOUT),
    Component.DENOISER: _transformer_source,
    Component.VAE: vae_source,
}
