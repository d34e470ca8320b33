"""The interface of control networks to the pipeline: their networks for one checkpoint."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from backends.base import Array
from engine.api.control_rules import ControlRules
from engine.api.preprocessors import ControlKind
from engine.api.values import ConventionName
from engine.compile.network import Network
from engine.control.adapters import AdapterModel
from engine.control.control_nets import ControlNetModel
from engine.control.flux_nets import FluxNetModel
from engine.control.lllites import LlliteModel
from engine.control.network import ControlNetwork, LlliteSizes, Sd3NetSizes
from engine.control.sd3_nets import Sd3NetModel
from engine.families.base import IdentifiedCheckpoint
from engine.families.latents import EncodedImage
from engine.families.patches import ComponentPatches
from engine.graphs.control_residuals import ResidualForm
from engine.graphs.flux_control import FluxControlConfig
from engine.graphs.t2i_adapter import AdapterConfig


class ControlModel(Protocol):
    """The networks of a control network for one checkpoint; the same objects each time."""

    @property
    def network(self) -> ControlNetwork:
        """The control network as it was read."""
        ...

    @property
    def cell(self) -> int:
        """The side in pixels of a cell, by which `denoising` counts heights and widths."""
        ...

    @property
    def residuals(self) -> ResidualForm | None:
        """The form of residuals for which the denoiser has inputs of their own; None for none."""
        ...

    def size_inputs(self, height: int, width: int) -> dict[str, Array]:
        """Return inputs of `denoising` by the size in pixels of what the denoiser sees."""
        ...

    def map_size(self, height: int, width: int) -> tuple[int, int]:
        """Return the height and width of the map, in pixels, for a picture's."""
        ...

    def embedding(self, height: int, width: int, *, maps: int = ...) -> Network:
        """Return the network that runs once per picture, for a picture size in pixels.

        Its inputs are those of `shown` and `map_inputs`.
        """
        ...

    def shown(self, maps: Array, kinds: Sequence[ControlKind]) -> dict[str, Array]:
        """Return maps float32 [maps, 3, *map_size] in [0, 1], RGB, as inputs of `embedding`."""
        ...

    def embedded(self, made: Mapping[str, Array]) -> dict[str, Array]:
        """Return the outputs of `embedding` as inputs of `denoising`."""
        ...

    def drawn(self, made: Mapping[str, Array]) -> EncodedImage | None:
        """Return the latent of a map if a tool draws it from the seed, by `embedding`'s outputs."""
        ...

    def denoising(
        self,
        height: int,
        width: int,
        *,
        contexts: int = ...,
        tokens: int = ...,
        rows: int = ...,
    ) -> Network | None:
        """Return the network that runs at each step; None for one within the denoiser."""
        ...

    def with_loras(self, loras: ComponentPatches | None) -> "ControlModel":
        """Return the model for the checkpoint whose denoiser LoRAs change so; itself mostly."""
        ...

    def map_inputs(
        self, kinds: Sequence[ControlKind], weights: Sequence[float]
    ) -> dict[str, Array]:
        """Return the inputs of `embedding` that tell a union the kind of each map."""
        ...

    def step_inputs(self, kinds: Sequence[ControlKind]) -> dict[str, Array]:
        """Return the inputs of `denoising` that tell a union the kinds of its maps."""
        ...

    def sees_prompt_alone(self, rules: ControlRules) -> bool:
        """Tell whether the network sees the prompt also where the denoiser sees the negative."""
        ...


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
