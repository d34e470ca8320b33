"""The Qwen3 text encoder of a diffusers folder, with sizes checked against `config.json`."""

from engine.api.sentences import sentence
from engine.checkpoints.diffusers_configs import Qwen3Constants, Qwen3File, unusual
from engine.checkpoints.diffusers_folder import FolderPart
from engine.families.checkpoint import Component, ComponentSource
from engine.families.shared.keys.layout import KeyLayout
from engine.families.shared.keys.shapes import check_claims, require_usual
from engine.families.shared.qwen3.sizes import qwen3_config
from engine.families.shared.stable_diffusion.folder_parts import FolderSource

_ADVICE = sentence("Choose a model with Qwen3 as its text encoder.")


def qwen3_source(component: Component, part: FolderPart, keys: KeyLayout) -> FolderSource:
    """Read the Qwen3 decoder of a folder by the family's `keys`. Raises EngineError."""
    path, stated = part.index.path, part.config(Qwen3File)
    file = path.parent / "config.json"
    require_usual(file, unusual(stated, Qwen3Constants), _ADVICE)
    named = keys.canonical(component, part.index.tensors, path)
    base = stated.rope_theta or (stated.rope_parameters or {}).get("rope_theta")
    bases = (float(base),) if isinstance(base, int | float) else ()
    config = qwen3_config(named.weights, path, stated.rms_norm_eps, *bases)
    check_claims(
        file,
        (
            ("vocab_size", stated.vocab_size, config.vocabulary),
            ("hidden_size", stated.hidden_size, config.width),
            ("head_dim", stated.head_dim, config.head_width),
            ("intermediate_size", stated.intermediate_size, config.mlp_width),
            ("num_attention_heads", stated.num_attention_heads, config.heads),
            ("num_key_value_heads", stated.num_key_value_heads, config.key_heads),
            ("num_hidden_layers", stated.num_hidden_layers, config.layers),
        ),
    )
    return FolderSource(ComponentSource(component, config, named.weights), named.ignored)
