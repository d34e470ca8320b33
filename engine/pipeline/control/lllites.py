"""ControlNet-LLLites among control layers: they act within the denoiser, whose graph knows them."""

from collections.abc import Mapping, Sequence

import msgspec

from backends.base import Array
from engine.api.values import ConventionName
from engine.control.control_model import ControlModel
from engine.control.lllites import LlliteInputs, LlliteModel
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.pipeline.control.layers import ReadLayers
from engine.pipeline.job_checkpoints import JobCheckpoints


class PassLllites(msgspec.Struct, frozen=True, eq=False):
    """The ControlNet-LLLites of a pass: their places among its control layers, and their inputs."""

    places: tuple[int, ...]
    inputs: LlliteInputs

    @classmethod
    def of(cls, models: Sequence[ControlModel]) -> "PassLllites | None":
        """Return those among the models of a pass; None for none."""
        found = [
            (place, model) for place, model in enumerate(models) if isinstance(model, LlliteModel)
        ]
        if not found:
            return None
        return cls(
            tuple(place for place, _ in found), LlliteInputs.of([model for _, model in found])
        )

    def embedded(self, embeddings: Sequence[Mapping[str, Array]]) -> list[Mapping[str, Array]]:
        """Return the embeddings of their maps, of those of all layers."""
        return [embeddings[place] for place in self.places]


def with_control_inputs(
    checkpoints: JobCheckpoints, layers: ReadLayers, tool: ConventionName
) -> JobCheckpoints:
    """Return checkpoints whose denoisers, but the refiner's, have inputs for these layers.

    ControlNet-LLLites act within a UNet; transformers take residuals of control networks. They are
    the same if no layer needs either.
    """
    models = [layers.model(layer.network, checkpoints.first, tool) for layer in layers.acting]
    lllites = PassLllites.of(models)
    residuals = tuple(dict.fromkeys(model.residuals for model in models if model.residuals))
    if lllites is None and not residuals:
        return checkpoints
    lllite = lllites.inputs.layers if lllites else None

    def led(checkpoint: IdentifiedCheckpoint) -> IdentifiedCheckpoint:
        return checkpoint.with_changes(
            msgspec.structs.replace(checkpoint.changes, lllite=lllite, residuals=residuals)
        )

    return checkpoints.with_each(led, refiner=False)
