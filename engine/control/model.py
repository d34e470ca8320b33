"""Fitting a control network to a checkpoint, by its kind."""

from engine.api.values import ConventionName
from engine.control.adapters import AdapterModel
from engine.control.control_model import ControlModel
from engine.control.control_nets import ControlNetModel
from engine.control.flux_nets import FluxNetModel
from engine.control.lllites import LlliteModel
from engine.control.network import ControlNetwork, LlliteSizes, Sd3NetSizes
from engine.control.sd3_nets import Sd3NetModel
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.graphs.flux_control import FluxControlConfig
from engine.graphs.t2i_adapter import AdapterConfig


def control_model(
    network: ControlNetwork,
    checkpoint: IdentifiedCheckpoint,
    tool: ConventionName = ConventionName.A1111,
) -> ControlModel:
    """Return the networks of a control network that leads a checkpoint, as in a tool.

    Raises EngineError(CHECKPOINT_MISMATCH) for a checkpoint of another family or other sizes.
    """
    if isinstance(network.sizes, AdapterConfig):
        return AdapterModel.fitted(network, network.sizes, checkpoint)
    if isinstance(network.sizes, FluxControlConfig):
        return FluxNetModel.fitted(network, network.sizes, checkpoint)
    if isinstance(network.sizes, Sd3NetSizes):
        return Sd3NetModel.fitted(network, network.sizes, checkpoint, tool)
    if isinstance(network.sizes, LlliteSizes):
        return LlliteModel.fitted(network, network.sizes, checkpoint)
    return ControlNetModel.fitted(network, checkpoint)
