"""The control layers of a pass of denoising."""

from engine.pipeline.control.acting import acting_steps
from engine.pipeline.control.layers import ReadLayers
from engine.pipeline.control.running import ControlPass
from engine.pipeline.denoise.passes import DenoisingPass, PassStart
from engine.pipeline.vae.networks import VaeNetworks


def control_pass(layers: ReadLayers, one: DenoisingPass, vae: VaeNetworks) -> ControlPass | None:
    """Return the layers that lead a pass; None for none, and for a refiner, which none fits.

    `vae` has the networks that encode pictures of its size.
    Raises EngineError(CHECKPOINT_MISMATCH) for a checkpoint that a network does not fit.
    """
    if not layers.acting or one.begins_with is PassStart.HANDOVER:
        return None
    return ControlPass.of(layers, one, acting_steps(one.request, one.denoising), vae)
