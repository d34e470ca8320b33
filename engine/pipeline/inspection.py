"""What a checkpoint is, as data for a person."""

from engine.api.checkpoints import CheckpointInfo, ComponentInfo
from engine.families.base import Component, IdentifiedCheckpoint
from engine.pipeline.resolve import suggested_settings


def inspect(checkpoint: IdentifiedCheckpoint, sha256: str | None = None) -> CheckpointInfo:
    """Everything that is known of it, the hash of its file among it; reads nothing."""
    return CheckpointInfo(
        path=str(checkpoint.path),
        family=checkpoint.family,
        variant=checkpoint.variant,
        prediction=checkpoint.prediction.value,
        default_size=checkpoint.default_size,
        components=tuple(
            _component(checkpoint, component)
            for component in Component
            if component in checkpoint.components
        ),
        missing=tuple(component.value for component in checkpoint.missing),
        evidence=checkpoint.evidence,
        ignored_keys=checkpoint.ignored_keys,
        digest=checkpoint.digest,
        sha256=sha256,
        tokenizer=str(checkpoint.tokenizer) if checkpoint.tokenizer else None,
        suggested=suggested_settings(checkpoint),
    )


def _component(checkpoint: IdentifiedCheckpoint, component: Component) -> ComponentInfo:
    weights = checkpoint.components[component].weights.values()
    return ComponentInfo(
        name=component.value,
        parameters=sum(ref.elements for ref in weights),
        bytes=sum(ref.nbytes for ref in weights),
        precisions=tuple(sorted({ref.dtype.value.lower() for ref in weights})),
    )
