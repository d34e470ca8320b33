"""Reading the components of Flux.1's single files."""

from collections.abc import Mapping
from pathlib import Path

from engine.api.sentences import Sentence, sentence
from engine.checkpoints.index import TensorIndex
from engine.families.base import Component, ComponentSource
from engine.families.flux.keys import BARE, FLUX_KEYS, LABELS, PREFIXES, UNUSED
from engine.families.flux.sizes import flux_config
from engine.families.shared.clip.keys import CLIP_KEYS
from engine.families.shared.clip.sizes import ClipTextFacts, clip_text_config
from engine.families.shared.keys.layout import CanonicalWeights, KeyLayout, SortedKeys
from engine.families.shared.kl_vae.keys import KL_VAE_KEYS
from engine.families.shared.kl_vae.sizes import vae_config
from engine.families.shared.stable_diffusion import evidence
from engine.families.shared.t5.keys import T5_KEYS
from engine.families.shared.t5.sizes import t5_config
from engine.graphs.flux import FluxConfig
from engine.graphs.t5 import T5Config
from engine.weights.sources import StoredWeight

NORM_GROUPS = 32
KEY_LAYOUT = KeyLayout(
    labels=LABELS,
    networks={
        Component.TEXT_ENCODER: CLIP_KEYS,
        Component.TEXT_ENCODER_2: T5_KEYS,
        Component.DENOISER: FLUX_KEYS,
        Component.VAE: KL_VAE_KEYS,
    },
    prefixes=PREFIXES,
    bare=BARE,
    unused=UNUSED,
)


def sorted_keys(index: TensorIndex) -> SortedKeys:
    """Sort the tensors of a file by component. Raises EngineError(CHECKPOINT_CORRUPT)."""
    return KEY_LAYOUT.sort(index.tensors, index.path)


def read_components(
    index: TensorIndex, wanted: frozenset[Component]
) -> tuple[dict[Component, ComponentSource], int]:
    """Return the wanted components that a file has, and the number of tensors outside them.

    Raises EngineError as `KeyLayout.canonical` does, and for inconsistent shapes.
    """

    def config_of(component: Component, named: CanonicalWeights) -> object:
        return _config(component, named.weights, index.path)

    in_order = (one for one in LABELS if one in wanted)
    return KEY_LAYOUT.sources(sorted_keys(index), in_order, config_of, index.path)


def described(sources: Mapping[Component, ComponentSource]) -> tuple[Sentence, ...]:
    """Return a description of each component, from its configuration."""
    found: list[Sentence] = []
    for component, source in sources.items():
        config = source.config
        if isinstance(config, FluxConfig):
            found.append(
                sentence(
                    "transformer {width} wide with {double} double and {single} single blocks",
                    width=config.width,
                    double=config.double_blocks,
                    single=config.single_blocks,
                )
            )
        elif isinstance(config, T5Config):
            found.append(
                sentence(
                    "T5 text encoder, {layers} layers {width} wide",
                    layers=config.layers,
                    width=config.width,
                )
            )
        else:
            found += evidence.described({component: source})
    return tuple(found)


def _config(component: Component, weights: Mapping[str, StoredWeight], path: Path) -> object:
    match component:
        case Component.DENOISER:
            return flux_config(weights, path)
        case Component.VAE:
            return vae_config(weights, NORM_GROUPS, path)
        case Component.TEXT_ENCODER:
            return clip_text_config(weights, ClipTextFacts(), path)
        case Component.TEXT_ENCODER_2:
            return t5_config(weights, path)
