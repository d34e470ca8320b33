"""Components of a diffusers folder of Z-Image, with sizes checked against `config.json`."""

from functools import partial

from engine.api.sentences import sentence
from engine.checkpoints.diffusers_configs import ZImageConstants, ZImageFile, unusual
from engine.checkpoints.diffusers_folder import FolderPart
from engine.families.checkpoint import Component, ComponentSource
from engine.families.shared.keys.shapes import check_claims, require_usual
from engine.families.shared.qwen3.folder import qwen3_source
from engine.families.shared.stable_diffusion.folder_parts import FolderSource, vae_source
from engine.families.zimage.keys import KEY_LAYOUT
from engine.families.zimage.sizes import zimage_config


def _transformer_source(part: FolderPart) -> FolderSource:
    """Read the transformer of a folder, and check its configuration. Raises EngineError."""
    path, stated = part.index.path, part.config(ZImageFile)
    file = path.parent / "config.json"
    advice = sentence("Choose a model with Z-Image's usual network.")
    require_usual(file, unusual(stated, ZImageConstants), advice)
    named = KEY_LAYOUT.canonical(Component.DENOISER, part.index.tensors, path)
    config = zimage_config(named.weights, path, stated.axes_dims)
    check_claims(
        file,
        (
            ("in_channels", stated.in_channels, config.channels),
            ("dim", stated.dim, config.width),
            ("n_layers", stated.n_layers, config.layers),
            ("n_refiner_layers", stated.n_refiner_layers, config.refiners),
            ("n_heads", stated.n_heads, config.heads),
            ("n_kv_heads", stated.n_kv_heads, config.heads),
            ("cap_feat_dim", stated.cap_feat_dim, config.context_width),
            ("axes_dims", sum(stated.axes_dims), config.head_width),
        ),
    )
    source = ComponentSource(Component.DENOISER, config, named.weights)
    return FolderSource(source, named.ignored)


FOLDER_READERS = {
    Component.TEXT_ENCODER: partial(qwen3_source, Component.TEXT_ENCODER, keys=KEY_LAYOUT),
    Component.DENOISER: _transformer_source,
    Component.VAE: vae_source,
}
