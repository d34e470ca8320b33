"""Facts and checks of checkpoints with a transformer, a VAE and text encoders."""

from collections.abc import Mapping

from engine.api.sentences import Sentence, sentence
from engine.api.values import PredictionType
from engine.families.checkpoint import Component, DenoiserFacts, Parts
from engine.families.shared.stable_diffusion.fitting import transformer_misfit
from engine.graphs.tiny_vae import TinyVaeConfig
from engine.graphs.vae import VaeConfig

FLOW_FACTS = DenoiserFacts(
    prediction=PredictionType.FLOW, reason=sentence("all of its family are trained so")
)
_Labels = Mapping[Component, Sentence]


def config_in(parts: Parts, component: Component) -> object:
    """Return the configuration of a component; None where it is missing."""
    source = parts.sources.get(component)
    return source.config if source else None


def require_fitting_latents(parts: Parts, channels: int, labels: _Labels) -> None:
    """Require a VAE for latents with `channels` channels.

    Raises EngineError(CHECKPOINT_MISMATCH).
    """
    vae = config_in(parts, Component.VAE)
    if isinstance(vae, VaeConfig | TinyVaeConfig) and vae.latent_channels != channels:
        found = sentence("for {channels} latent channels", channels=vae.latent_channels)
        needed = sentence("one for {channels}", channels=channels)
        raise transformer_misfit(labels, Component.VAE, found, needed)


def require_width(component: Component, labels: _Labels, width: int | None, needed: int) -> None:
    """Require that a text encoder's states are `needed` wide; None: it is missing.

    Raises EngineError(CHECKPOINT_MISMATCH).
    """
    if width not in (None, needed):
        found = sentence("{width} wide", width=width)
        raise transformer_misfit(
            labels, component, found, sentence("one {width} wide", width=needed)
        )
