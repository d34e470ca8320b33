"""Describes a checkpoint as data, for showing to a person."""

from collections.abc import Sequence

from engine.api.checkpoints import CheckpointCard, CheckpointInfo, ComponentInfo, Gap
from engine.api.sentences import Sentence, sentence
from engine.checkpoints.sidecars import Card
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.pipeline.resolve import suggested_settings
from engine.weights.int8_rows import Int8Rows
from engine.weights.sources import Weight, stored_bytes


def inspect(
    checkpoint: IdentifiedCheckpoint, sha256: str | None = None, gaps: Sequence[Gap] = ()
) -> CheckpointInfo:
    """Describe a checkpoint, with its file's hash and its gaps if known; reads no file."""
    stranger, parts = _about_another_file(checkpoint, sha256), checkpoint.components
    return CheckpointInfo(
        path=str(checkpoint.path),
        family=checkpoint.family,
        variant=checkpoint.variant,
        prediction=checkpoint.prediction.value,
        default_size=checkpoint.default_size,
        components=tuple(
            _component(checkpoint, component) for component in Component if component in parts
        ),
        missing=tuple(component.value for component in checkpoint.missing),
        evidence=(*checkpoint.evidence, *stranger),
        ignored_keys=checkpoint.ignored_keys,
        digest=checkpoint.digest,
        sha256=sha256,
        tokenizer=str(checkpoint.tokenizer) if checkpoint.tokenizer else None,
        suggested=suggested_settings(checkpoint),
        gaps=tuple(gaps),
        card=_card(checkpoint.parts.denoiser.cards),
        override=checkpoint.override,
        prediction_is_stated=checkpoint.parts.denoiser.unstated is None,
        features=checkpoint.architecture.features,
    )


def _card(cards: Sequence[Card]) -> CheckpointCard:
    """Merge the model cards of a checkpoint: each field is from the first card that has it."""
    return CheckpointCard(
        title=next((card.title for card in cards if card.title), ""),
        base_model=next((card.base_model for card in cards if card.base_model), ""),
        trained_words=next((card.trained_words for card in cards if card.trained_words), ()),
        notes=next((card.notes for card in cards if card.notes), ""),
    )


def _about_another_file(
    checkpoint: IdentifiedCheckpoint, sha256: str | None
) -> tuple[Sentence, ...]:
    """Return a remark for each card whose hashes do not include this file's."""
    cards = (card for card in checkpoint.parts.denoiser.cards if card.hashes)
    return tuple(
        sentence("{card} is about another file: it names another SHA-256", card=card.source)
        for card in cards
        if sha256 is not None and sha256 not in card.hashes
    )


def _component(checkpoint: IdentifiedCheckpoint, component: Component) -> ComponentInfo:
    weights = checkpoint.components[component].weights.values()
    return ComponentInfo(
        name=component.value,
        parameters=sum(ref.elements for ref in weights),
        bytes=sum(stored_bytes(ref) for ref in weights),
        precisions=tuple(sorted({_precision(ref) for ref in weights})),
    )


def _precision(weight: Weight) -> str:
    """Return the name that people have for a type of numbers."""
    return "int8" if isinstance(weight, Int8Rows) else weight.dtype.value.lower()
