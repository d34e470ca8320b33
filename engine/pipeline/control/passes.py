"""The control layers of a pass of denoising."""

from engine.pipeline.control.acting import acting_steps
from engine.pipeline.control.layers import ReadLayers
from engine.pipeline.control.running import ControlPass
from engine.pipeline.denoise.passes import DenoisingPass, PassStart


def control_pass(layers: ReadLayers, one: DenoisingPass) -> ControlPass | None:
    """Return the layers that lead a pass; None for none, and for a refiner, which none fits.

    Raises EngineError(CHECKPOINT_MISMATCH) for a checkpoint that a network does not fit.
    """
    if not layers.acting or one.begins_with is PassStart.HANDOVER:
        return None
    return ControlPass.of(layers, one, acting_steps(one.request, one.denoising))
