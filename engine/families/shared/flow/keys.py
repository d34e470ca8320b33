"""Names and prefixes of components that families with a transformer have in common."""

from collections.abc import Mapping

from engine.api.sentences import Sentence, as_it_is, sentence
from engine.families.checkpoint import Component

# Text encoders come before these in a family's own.
LABELS: Mapping[Component, Sentence] = {
    Component.DENOISER: sentence("denoiser (transformer)"),
    Component.VAE: as_it_is("VAE"),
}
PREFIXES: Mapping[str, Component] = {
    "model.diffusion_model.": Component.DENOISER,
    "diffusion_model.": Component.DENOISER,
    "vae.": Component.VAE,
    "first_stage_model.": Component.VAE,
}
