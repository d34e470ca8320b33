"""Families of latent diffusion with a UNet: reading their files and joining the parts.

A family is a `LatentDiffusion` with its constants and a test that recognises its UNet. All other
facts are read from the file, so pruned, distilled, inpainting and small variants need no code of
their own.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from engine.api.request import CheckpointOverride
from engine.api.sentences import NO_WORDS, Sentence, sentence
from engine.api.values import ConventionName, PredictionType
from engine.checkpoints.diffusers_configs import VaeFile
from engine.checkpoints.diffusers_folder import (
    DiffusersFolder,
    ReadIndex,
)
from engine.checkpoints.index import TensorIndex, combined_digest
from engine.checkpoints.sidecars import cards_of
from engine.families.checkpoint import (
    Component,
    ComponentSource,
    DenoiserFacts,
    IdentifiedCheckpoint,
    Parts,
    TextFacts,
    VaeFacts,
)
from engine.families.family import Family
from engine.families.foreign_kind import ForeignKind, LonePart
from engine.families.hints import LearntHints
from engine.families.latents import LatentFormat
from engine.families.listing import Listing
from engine.families.shared.clip.sizes import ClipTextFacts, clip_text_config
from engine.families.shared.clip.text_use import TextUse
from engine.families.shared.clip.vocabulary import require_words
from engine.families.shared.keys.layout import CanonicalWeights
from engine.families.shared.kl_vae.sizes import vae_config
from engine.families.shared.kl_vae.tiny_vaes import read_tiny_vae
from engine.families.shared.stable_diffusion.architecture import (
    StableDiffusion,
    StableDiffusionMaker,
)
from engine.families.shared.stable_diffusion.distillation import learnt_hints
from engine.families.shared.stable_diffusion.edm import statistics_of_file, usual_levels
from engine.families.shared.stable_diffusion.evidence import described, left_out
from engine.families.shared.stable_diffusion.fitting import (
    DOWNSCALE,
    require_fitting_text,
    require_fitting_vae,
    require_same_factor,
)
from engine.families.shared.stable_diffusion.folder_parts import (
    folder_source,
    sample_size,
    tokenizer_of_folder,
)
from engine.families.shared.stable_diffusion.key_layout import KEY_LAYOUT, LABELS
from engine.families.shared.stable_diffusion.latent_spaces import LatentSpace
from engine.families.shared.stable_diffusion.lora_signs import LoraSigns
from engine.families.shared.stable_diffusion.merging import with_override, with_part
from engine.families.shared.stable_diffusion.pipelines import draws_after_text, is_for_sdxl
from engine.families.shared.stable_diffusion.training import (
    Training,
    training_of_file,
    training_of_folder,
)
from engine.families.shared.stable_diffusion.vae_facts import (
    LATENT_CHANNELS,
    configuration_that_fits_f16,
    name_that_fits_f16,
    statistics_of_folder,
    tiny_latents,
    usual_latents,
    words_of_vae,
)
from engine.families.shared.unet.changes import whole_unet_config
from engine.families.shared.unet.sizes import UNetFacts
from engine.families.shared.unet.unet_signs import UNetSigns, unet_signs, what_rules_out
from engine.families.shared.unet.variants import require_known_additions, variant_of
from engine.graphs.clip_text import ClipTextConfig
from engine.graphs.tiny_vae import TinyVaeConfig
from engine.graphs.unet import UNetConfig
from engine.graphs.vae import VaeConfig

# The subfolders of a diffusers folder that are read, each with its component.
SUBFOLDERS: Mapping[str, Component] = {
    "unet": Component.DENOISER,
    "text_encoder": Component.TEXT_ENCODER,
    "text_encoder_2": Component.TEXT_ENCODER_2,
    "vae": Component.VAE,
}
_LONE_PARTS = {
    LonePart.VAE: (Component.VAE,),
    LonePart.TINY_VAE: (Component.VAE,),
    LonePart.CLIP_TEXT_ENCODER: (Component.TEXT_ENCODER, Component.TEXT_ENCODER_2),
}
# The use of OpenCLIP bigG in SDXL and its refiner, and of CLIP ViT-L in SDXL.
SDXL_TEXT = TextUse(
    clip_skip=2,
    final_norm=False,
    zero_padded=frozenset({Component.TEXT_ENCODER_2}),
    zeroes_empty=frozenset(ConventionName),
)


@dataclass(frozen=True, slots=True)
class LatentDiffusion(Family):
    """A family of latent diffusion with a UNet, given by its constants."""

    labels: ClassVar[Mapping[Component, Sentence]] = LABELS
    subfolders: ClassVar[Mapping[str, Component]] = SUBFOLDERS

    name: str
    title: str
    # Matches the beginning of base models of this family on cards, in lower case.
    base_models: re.Pattern[str]
    # Tells whether a UNet is of this family.
    has_unet: Callable[[UNetSigns], bool]
    # The text encoders whose outputs stand side by side in the UNet's context.
    text_encoders: Mapping[Component, ClipTextFacts]
    unet: UNetFacts
    latents: LatentSpace
    default_size: int
    # The commonly known name if longer than the title; see `Family`.
    full_title: str = ""
    about: Sentence = NO_WORDS
    # The latent space for denoisers trained as in EDM, if another than `latents`.
    edm_latents: LatentSpace | None = None
    # ModelSpec's names for the usual variant, trained to predict noise and v.
    modelspec: tuple[str, str] = ("", "")
    # The default size for denoisers that predict v, if another than `default_size`.
    v_default_size: int | None = None
    # True if the usual VAE's activations exceed float16's range (diffusers' `force_upcast`).
    vae_overflows_f16: bool = False
    # True if the UNet's transformers project by convolution, not by linear layers.
    convolutional: bool = False
    # True if some of the family's files predict v without stating it.
    hides_prediction: bool = False
    # The constants for running the family's checkpoints.
    architecture: StableDiffusion = field(default_factory=StableDiffusion)
    # The use of the text encoders, from the number of layers of the first one.
    text: Callable[[int], TextUse] = lambda _: TextUse()
    # Guesses the training from a UNet's weights, if the file does not state it.
    guess: Callable[[ComponentSource], Training | None] = lambda _: None
    # The signs of LoRA files for the family; None where no file shows its family.
    lora: LoraSigns | None = None
    # Returns the name of a UNet's sizes, such as of a pruned one; empty for the usual sizes.
    sizes_name: Callable[[UNetConfig], str] = lambda _: ""

    @property
    def time_ids(self) -> int:
        """The number of the UNet's time ids; 0 for a UNet without time ids and pooled text."""
        return self.architecture.time_ids.count if self.architecture.time_ids else 0

    def recognise(self, listing: Listing) -> str | None:
        """Describe the UNet of a file of this family; None for all other files."""
        signs = unet_signs(listing.text)
        return signs.words if signs and self.has_unet(signs) else None

    def holds_denoiser(self, listing: Listing) -> bool:
        """Tell whether a file holds a whole UNet for pictures, of any family."""
        return unet_signs(listing.text) is not None

    def rule_out(self, listing: Listing) -> Sentence | None:
        """Return the reason a file's UNet cannot be of this family; None where it may be."""
        return what_rules_out(
            listing.text, convolutional=self.convolutional, adds_time_ids=bool(self.time_ids)
        )

    def runs_pipeline(self, pipeline: str) -> bool:
        """Tell whether the diffusers pipeline class `pipeline` runs the family's checkpoints."""
        return draws_after_text(pipeline) and is_for_sdxl(pipeline) == bool(self.time_ids)

    def matches_base_model(self, base_model: str) -> bool:
        """Tell whether `base_model`, the base model on a checkpoint's card, names this family."""
        return self.base_models.match(base_model) is not None

    def lora_evidence(self, listing: str) -> str | None:
        """Return the evidence that a LoRA file is for this family; None for other files."""
        return self.lora.evidence(listing) if self.lora else None

    def modelspec_architecture(self, checkpoint: IdentifiedCheckpoint) -> str:
        """Return ModelSpec's name for the checkpoint's architecture; empty where it has none."""
        noise, v = self.modelspec
        names: dict[PredictionType, str] = {PredictionType.EPSILON: noise, PredictionType.V: v}
        doubtful = checkpoint.parts.denoiser.unstated is not None and noise != v
        usual = checkpoint.variant == "base" and not doubtful
        return names.get(checkpoint.prediction, "") if usual else ""

    def learnt_hints(
        self, checkpoint: IdentifiedCheckpoint, folder: DiffusersFolder | None
    ) -> LearntHints | None:
        """Return the defaults for checkpoints distilled or trained by levels; None for others."""
        return learnt_hints(checkpoint, folder.scheduler if folder else None)

    def require_tokenizers(self, checkpoint: IdentifiedCheckpoint) -> None:
        """Raise EngineError for a text encoder with its own vocabulary and no tokenizer."""
        require_words(checkpoint)

    def lone_parts(self, listing: Listing, kind: ForeignKind | None) -> tuple[Component, ...]:
        """List the components that a file with a lone VAE or CLIP text encoder could supply."""
        return _LONE_PARTS.get(kind.part, ()) if kind and kind.part else ()

    def read_lone_part(self, component: Component, path: Path, read: ReadIndex) -> Parts | None:
        """Read a tiny autoencoder as a VAE; return None for all other files."""
        if component is not Component.VAE:
            return None
        return read_tiny_vae(path, read, self.latents)

    def takes_from(self, giver: Family, component: Component) -> bool:
        """Tell whether a checkpoint of the family `giver` may supply a component.

        A VAE must have the same latent space. A text encoder may come from any family, because its
        sizes are checked later.
        """
        match component:
            case Component.DENOISER:
                return giver is self
            case Component.VAE:
                return isinstance(giver, LatentDiffusion) and giver.latents is self.latents
            case _:
                return True

    def suits_file_name(self, component: Component, name: str) -> bool:
        """Tell whether the name of a file with a lone VAE suggests this family.

        VAEs of SD and SDXL have the same shapes, so only "xl" in the name shows the difference.
        """
        if component is not Component.VAE:
            return True
        return ("xl" in name.casefold()) == bool(self.time_ids)

    def with_part(self, parts: Parts, component: Component, other: Parts, path: Path) -> Parts:
        """Return `parts` with a component of `other` and the facts of `other` about it."""
        if component is Component.VAE:
            require_same_factor(parts, other)
        return with_part(parts, component, other, path)

    def with_override(self, parts: Parts, override: CheckpointOverride) -> Parts:
        """Return `parts` with the prediction type that the user states, if any."""
        return with_override(parts, override)

    @property
    def components(self) -> tuple[Component, ...]:
        """The components of a whole checkpoint, in the order they are used."""
        return (*self.text_encoders, Component.DENOISER, Component.VAE)

    def components_of(self, index: TensorIndex) -> tuple[Component, ...]:
        """List the components in a single file, by its keys."""
        return tuple(KEY_LAYOUT.sort(index.tensors, index.path).components)

    def read_file(self, index: TensorIndex, wanted: frozenset[Component]) -> Parts:
        """Read the wanted components of a file, in the original layout or with diffusers' names."""
        texts = [component for component in self.text_encoders if component in wanted]
        lone = texts[0] if len(texts) == 1 else Component.TEXT_ENCODER
        keys = KEY_LAYOUT.sort(index.tensors, index.path, lone)

        def config_of(component: Component, named: CanonicalWeights) -> object:
            return self._config(component, named, index.path)

        in_order = (component for component in self.components if component in wanted)
        sources, ignored = KEY_LAYOUT.sources(keys, in_order, config_of, index.path)
        foreign = [part for part in keys.components if part in wanted - {*self.components}]
        ignored += sum(len(keys.components[part]) for part in foreign)
        return Parts(
            sources,
            index.digest,
            (
                *described(sources),
                *(left_out(part, self.title) for part in foreign),
            ),
            ignored,
            self._denoiser_facts(index, sources.get(Component.DENOISER)),
            VaeFacts(fits_f16=name_that_fits_f16(index.path) if Component.VAE in sources else None),
        )

    def _denoiser_facts(self, index: TensorIndex, unet: ComponentSource | None) -> DenoiserFacts:
        training = training_of_file(index, lambda: self.guess(unet) if unet else None)
        cards = cards_of(index) if unet else ()
        side = next((card.side for card in cards if card.side), None)
        asks = self.hides_prediction and not training.is_stated
        return DenoiserFacts(
            prediction=training.prediction,
            reason=training.evidence,
            zero_terminal_snr=training.zero_terminal_snr,
            sample_size=side and side // DOWNSCALE,
            levels=training.levels,
            statistics=statistics_of_file(index),
            unstated=index.state if asks else None,
            cards=cards,
        )

    def read_folder(self, folder: DiffusersFolder) -> Parts:
        """Read every component of a diffusers folder."""
        parts = {SUBFOLDERS[name]: part for name, part in folder.parts.items()}
        parts = {component: parts[component] for component in self.components if component in parts}
        vae = parts[Component.VAE].config(VaeFile) if Component.VAE in parts else None
        found = [folder_source(component, part, vae) for component, part in parts.items()]
        sources = {part.source.component: part.source for part in found}
        training = training_of_folder(folder.scheduler, folder.path)
        return Parts(
            sources,
            combined_digest(*(part.index.digest for part in parts.values())),
            described(sources),
            sum(part.ignored for part in found),
            DenoiserFacts(
                prediction=training.prediction,
                reason=training.evidence,
                zero_terminal_snr=training.zero_terminal_snr,
                sample_size=sample_size(parts.get(Component.DENOISER)),
                levels=training.levels,
                statistics=statistics_of_folder(vae),
            ),
            VaeFacts(
                vae.scaling_factor if vae else None,
                vae.shift_factor if vae else None,
                configuration_that_fits_f16(vae),
            ),
            # The refiner has only `tokenizer_2`, which differs from `tokenizer` in its padding.
            TextFacts(tokenizer_of_folder(folder, "tokenizer", "tokenizer_2")),
        )

    def assemble(self, path: Path, parts: Parts) -> IdentifiedCheckpoint:
        """Make a checkpoint of parts. Raises EngineError where they do not fit together."""
        unet, vae = _unet_and_vae(parts)
        channels = unet.out_channels if unet else vae.latent_channels if vae else LATENT_CHANNELS
        if unet:
            require_known_additions(unet, path, self.title, adds_sizes=bool(self.time_ids))
            require_fitting_text(parts, unet, tuple(self.text_encoders), self.time_ids)
        if vae:
            require_fitting_vae(vae, channels)
        downscale = vae.downscale if vae else DOWNSCALE
        return IdentifiedCheckpoint(
            path=path,
            family=self.name,
            variant=variant_of(unet, path, self.title, self.sizes_name) if unet else "base",
            latent=self._latent_format(parts, channels, downscale),
            default_size=self._default_size(parts, downscale),
            missing=tuple(part for part in self.components if part not in parts.sources),
            evidence=(
                *parts.evidence,
                *(words_of_vae(parts) if self.vae_overflows_f16 else ()),
                *((self._conclusion(parts),) if unet else ()),
            ),
            parts=parts,
            make_architecture=StableDiffusionMaker(
                self.architecture,
                text=self.text(self._text_layers(parts)),
                levels=parts.denoiser.levels or usual_levels(parts.denoiser.prediction),
                vae_overflows_f16=self._overflows(parts, vae),
            ),
        )

    def _overflows(self, parts: Parts, vae: VaeConfig | TinyVaeConfig | None) -> bool:
        """Tell whether the VAE must not compute in float16."""
        large = self.vae_overflows_f16 and isinstance(vae, VaeConfig)
        return large and not parts.vae.fits_f16

    def _latent_format(self, parts: Parts, channels: int, downscale: int) -> LatentFormat:
        trained_by_levels = parts.denoiser.prediction is PredictionType.EDM and self.edm_latents
        space = trained_by_levels or self.latents
        if isinstance(_unet_and_vae(parts)[1], TinyVaeConfig):
            return tiny_latents(space, self.latents, channels, downscale)
        return usual_latents(parts, space, self.latents, channels, downscale)

    def _default_size(self, parts: Parts, downscale: int) -> int:
        predicts_v = parts.denoiser.prediction is PredictionType.V
        usual = (predicts_v and self.v_default_size) or self.default_size
        return parts.denoiser.sample_size * downscale if parts.denoiser.sample_size else usual

    def _conclusion(self, parts: Parts) -> Sentence:
        return sentence("{family}, {why}", family=self.title, why=parts.denoiser.words)

    def _text_layers(self, parts: Parts) -> int:
        first = parts.sources.get(next(iter(self.text_encoders)))
        return first.config.layers if first and isinstance(first.config, ClipTextConfig) else 0

    def _config(self, component: Component, named: CanonicalWeights, path: Path) -> object:
        match component:
            case Component.DENOISER:
                return whole_unet_config(named.weights, self.unet, path)
            case Component.VAE:
                return vae_config(named.weights, path)
            case _:
                return clip_text_config(named.weights, path, self.text_encoders[component])


def _unet_and_vae(parts: Parts) -> tuple[UNetConfig | None, VaeConfig | TinyVaeConfig | None]:
    unet = parts.sources.get(Component.DENOISER)
    vae = parts.sources.get(Component.VAE)
    return (
        unet.config if unet and isinstance(unet.config, UNetConfig) else None,
        vae.config if vae and isinstance(vae.config, VaeConfig | TinyVaeConfig) else None,
    )
