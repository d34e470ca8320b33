"""Components of a diffusers folder of Chroma, with sizes checked against `config.json`."""

from functools import partial

from engine.api.sentences import sentence
from engine.checkpoints.diffusers_configs import ChromaFile, FluxConstants, unusual
from engine.checkpoints.diffusers_folder import FolderPart
from engine.families.checkpoint import Component, ComponentSource
from engine.families.chroma.keys import KEY_LAYOUT
from engine.families.chroma.sizes import chroma_config
from engine.families.shared.flux.folder import block_claims
from engine.families.shared.keys.shapes import check_claims, require_usual
from engine.families.shared.stable_diffusion.folder_parts import FolderSource, vae_source
from engine.families.shared.t5.folder import t5_source


def _transformer_source(part: FolderPart) -> FolderSource:
    path, stated = part.index.path, part.config(ChromaFile)
    file = path.parent / "config.json"
    advice = sentence("Choose a model with Chroma's usual network.")
    require_usual(file, unusual(stated, FluxConstants), advice)
    named = KEY_LAYOUT.canonical(Component.DENOISER, part.index.tensors, path)
    config = chroma_config(named.weights, path, stated.axes_dims_rope)
    check_claims(
        file,
        (
            *block_claims(stated, config),
            ("approximator_num_channels", stated.approximator_num_channels, config.waves),
            ("approximator_layers", stated.approximator_layers, config.approximator_layers),
            ("axes_dims_rope", sum(stated.axes_dims_rope), config.head_width),
        ),
    )
    return FolderSource(ComponentSource(Component.DENOISER, config, named.weights), named.ignored)


FOLDER_READERS = {
    Component.TEXT_ENCODER: partial(t5_source, Component.TEXT_ENCODER, keys=KEY_LAYOUT),
    Component.DENOISER: _transformer_source,
    Component.VAE: vae_source,
}
