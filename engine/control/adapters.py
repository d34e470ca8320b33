"""T2I-Adapters for a checkpoint."""

from collections.abc import Mapping
from dataclasses import dataclass

from backends.base import Array
from engine.api.limits import MIN_SIDE
from engine.compile.network import Network
from engine.compile.shapes import offered
from engine.control.control_model import ControlModel, map_dimensions
from engine.control.fitting import other_sizes, require_family
from engine.control.network import ControlNetwork
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.shared.component_network import config_of
from engine.families.shared.unet.denoiser import row_dimensions
from engine.graphs.t2i_adapter import IMAGE, AdapterConfig, adapter_residuals, t2i_adapter
from engine.graphs.unet import ADAPTER, UNetConfig
from engine.weights.weight_set import WeightSet

_MAX_SIDE = 2048


@dataclass(frozen=True, slots=True, eq=False)
class AdapterModel(ControlModel):
    """The networks of a T2I-Adapter for one checkpoint.

    `embedding` runs once per map; what `denoising` does at a step has no weights.
    """

    config: AdapterConfig

    @classmethod
    def fitted(
        cls, network: ControlNetwork, config: AdapterConfig, checkpoint: IdentifiedCheckpoint
    ) -> "AdapterModel":
        """Return the model of an adapter that leads a checkpoint.

        Raises EngineError(CHECKPOINT_MISMATCH) for a checkpoint of another family or other sizes.
        """
        require_family(network, checkpoint)
        unet = config_of(checkpoint, Component.DENOISER, UNetConfig)
        widths = [block.width for block in config.blocks]
        known = [block.width for block in unet.down]
        # SDXL's last one is for its middle, which is as wide as its last level.
        if widths not in (known, [*known, known[-1]]):
            raise other_sizes(network, checkpoint)
        return cls(network, checkpoint, WeightSet(network.digest, network.weights), config)

    @property
    def cell(self) -> int:
        """The side in pixels of a cell of the first image, by which `denoising` counts sizes."""
        return self.config.unshuffle

    def map_size(self, height: int, width: int) -> tuple[int, int]:
        """Return the height and width of the map, in pixels, for a picture's."""
        part = self.config.unshuffle
        return -(-height // part) * part, -(-width // part) * part

    def embedding(self, height: int, width: int, *, maps: int = 1) -> Network:
        """Return the network that runs once per picture, for a picture size in pixels.

        Its input `map` is float32 [1, 3, *map_size] in [0, 1], RGB; its outputs adapter.0 and so on
        are the images to add at each level, float32 [1, channels, ...].
        """
        config, sides = self.config, self.map_size(height, width)
        dimensions = map_dimensions(*sides)
        made = self.network_of("control_adapter", lambda g: t2i_adapter(g, config), dimensions)
        return self.kept(sides, made)

    def denoising(
        self,
        height: int,
        width: int,
        *,
        contexts: int = 1,
        tokens: int = 1,
        rows: int = 1,
    ) -> Network:
        """Return the network that weights and adds the images, for a picture size in pixels.

        Its inputs are those of `adapter_residuals`.
        """
        config, sides = self.config, {"height": height, "width": width}
        dimensions = {
            name: offered(MIN_SIDE // self.cell, -(-side // self.cell), _MAX_SIDE // self.cell)
            for name, side in sides.items()
        }
        made = Network(
            "control",
            lambda g: adapter_residuals(g, config),
            WeightSet("", {}),
            dimensions | row_dimensions(contexts),
            self.network.name,
        )
        return self.kept((height, width, contexts), made)

    def embedded(self, made: Mapping[str, Array]) -> dict[str, Array]:
        """Return the outputs of `embedding` as inputs of `denoising`."""
        return {name.replace(ADAPTER, IMAGE, 1): array for name, array in made.items()}
