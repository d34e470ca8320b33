"""Reading the components of Flux.1's single files."""

from engine.api.sentences import Sentence, sentence
from engine.families.base import Component
from engine.families.flux.keys import BARE, LABELS, PREFIXES, UNUSED
from engine.families.flux.sizes import flux_config
from engine.families.shared.clip.keys import CLIP_KEYS
from engine.families.shared.clip.sizes import clip_text_config
from engine.families.shared.flux.keys import FLUX_KEYS
from engine.families.shared.keys.layout import KeyLayout
from engine.families.shared.kl_vae.keys import KL_VAE_KEYS
from engine.families.shared.kl_vae.sizes import vae_config
from engine.families.shared.t5.keys import T5_KEYS
from engine.families.shared.t5.sizes import t5_config
from engine.graphs.flux import FluxConfig

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

SIZES = {
    Component.TEXT_ENCODER: clip_text_config,
    Component.TEXT_ENCODER_2: t5_config,
    Component.DENOISER: flux_config,
    Component.VAE: vae_config,
}


def transformer_words(config: FluxConfig) -> Sentence:
    """Describe a transformer."""
    return sentence(
        "transformer {width} wide with {double} double and {single} single blocks",
        width=config.width,
        double=config.double_blocks,
        single=config.single_blocks,
    )
