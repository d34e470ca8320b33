"""The control layers of a pass of denoising."""

from engine.pipeline.control.layers import ReadLayers
from engine.pipeline.control.running import ControlPass
from engine.pipeline.control.strengths import StepCount
from engine.pipeline.denoise.passes import DenoisingPass, PassStart
from engine.sampling.samplers import SAMPLERS


def control_pass(layers: ReadLayers, one: DenoisingPass) -> ControlPass | None:
    """Return the layers that lead a pass; None for none, and for a refiner, which none fits.

    Raises EngineError(CHECKPOINT_MISMATCH) for a checkpoint that a network does not fit.
    """
    if not layers.acting or one.begins_with is PassStart.HANDOVER:
        return None
    evaluations = SAMPLERS[one.request.sampler].evaluations
    return ControlPass.of(layers, one, StepCount(one.denoising.steps, evaluations))
