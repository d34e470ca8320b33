"""Reading the components of Z-Image's single files."""

from collections.abc import Mapping
from pathlib import Path

from engine.api.sentences import Sentence, sentence
from engine.checkpoints.index import TensorIndex
from engine.families.base import Component, ComponentSource
from engine.families.shared.keys.layout import CanonicalWeights, KeyLayout, SortedKeys
from engine.families.shared.kl_vae.keys import KL_VAE_KEYS
from engine.families.shared.kl_vae.sizes import vae_config
from engine.families.shared.qwen3.keys import QWEN3_KEYS
from engine.families.shared.qwen3.sizes import qwen3_config
from engine.families.shared.stable_diffusion import evidence
from engine.families.zimage.keys import BARE, LABELS, PREFIXES, UNUSED, ZIMAGE_KEYS
from engine.families.zimage.sizes import zimage_config
from engine.graphs.qwen3 import Qwen3Config
from engine.graphs.zimage import ZImageConfig
from engine.weights.sources import StoredWeight

NORM_GROUPS = 32
KEY_LAYOUT = KeyLayout(
    labels=LABELS,
    networks={
        Component.TEXT_ENCODER: QWEN3_KEYS,
        Component.DENOISER: ZIMAGE_KEYS,
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
        if isinstance(config, ZImageConfig):
            found.append(
                sentence(
                    "transformer {width} wide with {layers} layers",
                    width=config.width,
                    layers=config.layers,
                )
            )
        elif isinstance(config, Qwen3Config):
            found.append(
                sentence(
                    "Qwen3 text encoder, {layers} layers {width} wide",
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
            return zimage_config(weights, path)
        case Component.VAE:
            return vae_config(weights, NORM_GROUPS, path)
        case _:
            return qwen3_config(weights, path)
