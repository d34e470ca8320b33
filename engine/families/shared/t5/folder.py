"""The T5 text encoder of a diffusers folder, with sizes checked against `config.json`."""

from engine.api.sentences import sentence
from engine.checkpoints.diffusers_configs import T5Constants, T5File, unusual
from engine.checkpoints.diffusers_folder import FolderPart
from engine.families.checkpoint import Component, ComponentSource
from engine.families.shared.keys.layout import KeyLayout
from engine.families.shared.keys.shapes import check_claims, require_usual
from engine.families.shared.stable_diffusion.folder_parts import FolderSource
from engine.families.shared.t5.sizes import t5_config

_ADVICE = sentence("Choose a model with T5 v1.1 as its text encoder.")


def t5_source(component: Component, part: FolderPart, keys: KeyLayout) -> FolderSource:
    """Read the T5 encoder of a folder by the family's `keys`. Raises EngineError."""
    path, stated = part.index.path, part.config(T5File)
    file = path.parent / "config.json"
    require_usual(file, unusual(stated, T5Constants), _ADVICE)
    named = keys.canonical(component, part.index.tensors, path)
    config = t5_config(named.weights, path, stated.layer_norm_epsilon)
    check_claims(
        file,
        (
            ("vocab_size", stated.vocab_size, config.vocabulary),
            ("d_model", stated.d_model, config.width),
            ("d_kv", stated.d_kv, config.head_width),
            ("d_ff", stated.d_ff, config.mlp_width),
            ("num_heads", stated.num_heads, config.heads),
            ("num_layers", stated.num_layers, config.layers),
            (
                "relative_attention_num_buckets",
                stated.relative_attention_num_buckets,
                config.buckets,
            ),
        ),
    )
    return FolderSource(ComponentSource(component, config, named.weights), named.ignored)
