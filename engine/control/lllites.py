"""ControlNet-LLLites for a checkpoint: the embedding of a map, and inputs of the denoiser."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from backends.base import Array, DType
from engine.compile.network import Network
from engine.control.control_model import ControlModel, map_dimensions
from engine.control.fitting import other_sizes, require_family
from engine.control.network import ControlNetwork, LlliteSizes
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.shared.component_network import config_of
from engine.families.shared.unet.original_names import original_layers
from engine.graphs.lllite import (
    DOWN,
    MAP,
    MID,
    SHIFT,
    UP,
    WEIGHTS,
    LlliteLayers,
    LlliteModule,
    lllite_embedding,
)
from engine.graphs.operators import GraphBuilder
from engine.graphs.unet import UNetConfig
from engine.weights.sources import as_source
from engine.weights.weight_set import WeightSet


@dataclass(frozen=True, slots=True, eq=False)
class LlliteModel(ControlModel):
    """A ControlNet-LLLite for one checkpoint: its modules by the layers that they act on."""

    modules: Mapping[str, LlliteModule]

    @classmethod
    def fitted(
        cls, network: ControlNetwork, sizes: LlliteSizes, checkpoint: IdentifiedCheckpoint
    ) -> "LlliteModel":
        """Return the model of a network that leads a checkpoint.

        Raises EngineError(CHECKPOINT_MISMATCH) for a checkpoint of another family or other sizes.
        """
        require_family(network, checkpoint)
        known = _layers_by_name(checkpoint)
        modules: dict[str, LlliteModule] = {}
        unet = config_of(checkpoint, Component.DENOISER, UNetConfig)
        for module in sizes.modules:
            layer = known.get(module.layer)
            if layer is None or not _fits(network, module, layer, checkpoint, unet):
                raise other_sizes(network, checkpoint)
            modules[layer] = msgspec.structs.replace(module, layer=layer)
        return cls(network, checkpoint, WeightSet(network.digest, network.weights), modules)

    def map_size(self, height: int, width: int) -> tuple[int, int]:
        """Return the height and width of the map, in pixels, for a picture's."""
        part = max(module.downscale for module in self.modules.values())
        return -(-height // part) * part, -(-width // part) * part

    def embedding(self, height: int, width: int, *, maps: int = 1) -> Network:
        """Return the network that runs once per picture, for a picture size in pixels.

        Its input `map` is float32 [1, 3, *map_size] in [0, 1], RGB; its outputs are what
        `LlliteInputs.of_maps` takes.
        """
        modules, cells = tuple(self.modules.values()), self._cells_to_keep(height, width)
        dimensions = map_dimensions(*self.map_size(height, width))

        def emit(g: GraphBuilder) -> None:
            lllite_embedding(g, modules, cells)

        return self.kept((height, width), self.network_of("control_lllite", emit, dimensions))

    def denoising(
        self,
        height: int,
        width: int,
        *,
        contexts: int = 1,
        tokens: int = 1,
        rows: int = 1,
    ) -> None:
        """Return None: the modules run within the denoiser."""

    def _cells_to_keep(self, height: int, width: int) -> dict[int, tuple[int, int]]:
        """Return the rows and columns of levels for which the map has too many cells."""
        mapped = self.map_size(height, width)
        found: dict[int, tuple[int, int]] = {}
        for part in {module.downscale for module in self.modules.values()}:
            rows, columns = -(-height // part), -(-width // part)
            if (rows, columns) != (mapped[0] // part, mapped[1] // part):
                found[part] = rows, columns
        return found


@dataclass(frozen=True, slots=True, eq=False)
class LlliteInputs:
    """Several ControlNet-LLLites side by side, as inputs of one denoiser.

    `layers` is what the denoiser's graph is told: `NetworkChanges.lllite` of the checkpoint.
    """

    models: tuple[LlliteModel, ...]
    layers: LlliteLayers
    _factors: dict[str, Array] = field(default_factory=dict[str, Array], init=False)

    @classmethod
    def of(cls, models: Sequence[LlliteModel]) -> "LlliteInputs":
        """Return the inputs of these networks, which lead the same checkpoint."""
        unet = config_of(models[0].checkpoint, Component.DENOISER, UNetConfig)
        names = sorted({layer for model in models for layer in model.modules})
        layers = LlliteLayers(
            {name: _level(name, unet) for name in names}, sum(map(_columns, models))
        )
        return cls(tuple(models), layers)

    @property
    def factors(self) -> Mapping[str, Array]:
        """The factors of all modules by the names of inputs, float32, read at their first use."""
        if not self._factors:
            for name in self.layers.levels:
                self._factors.update(_factors(name, self.models, self.layers.columns))
        return self._factors

    def of_maps(self, embedded: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
        """Return the embeddings of all maps as inputs, from the outputs of each `embedding`."""
        found: dict[str, Array] = {}
        for layer in self.layers.levels:
            name = f"{layer}{MAP}"
            parts = [outputs.get(name) for outputs in embedded]
            rows = next(part.shape[:3] for part in parts if part is not None)
            whole = np.zeros((*rows, self.layers.columns), np.float32)
            for start, model, part in zip(self._starts, self.models, parts, strict=True):
                if part is not None:
                    whole[..., start : start + part.shape[3]] = part
                    # The column by which a module's last bias is added.
                    whole[..., start + _columns(model) - 1] = 1
            found[name] = whole
        return found

    def weights(self, of_networks: Sequence[Sequence[float]]) -> dict[str, Array]:
        """Return the input of weights, from those of each network for each context."""
        contexts = len(of_networks[0])
        found = np.zeros((contexts, 1, self.layers.columns), np.float32)
        for start, model, row in zip(self._starts, self.models, of_networks, strict=True):
            found[:, 0, start : start + _columns(model)] = np.asarray(row, np.float32)[:, None]
        return {WEIGHTS: found}

    @property
    def _starts(self) -> list[int]:
        return [sum(map(_columns, self.models[:number])) for number in range(len(self.models))]


def _columns(model: LlliteModel) -> int:
    """Return the columns of a network: its widest module's, and one for the last bias."""
    return max(module.inner for module in model.modules.values()) + 1


def _factors(layer: str, models: Sequence[LlliteModel], columns: int) -> dict[str, Array]:
    """Return the factors of all modules of a layer, side by side."""
    width = max(
        model.network.weights[f"{model.modules[layer].name}.up.0.weight"].shape[0]
        for model in models
        if layer in model.modules
    )
    down, up = np.zeros((width, columns), np.float32), np.zeros((columns, width), np.float32)
    shift, mid = np.zeros(columns, np.float32), np.zeros((columns, columns), np.float32)
    start = 0
    for model in models:
        if layer in model.modules:
            module = model.modules[layer]
            end, last = start + module.inner, start + _columns(model) - 1
            down[:, start:end] = _read(model, module, "down.0.weight").T
            shift[start:end] = _read(model, module, "down.0.bias")
            # Columns after those of the map's embedding.
            of_input = _read(model, module, "mid.0.weight")[:, -module.inner :]
            mid[start:end, start:end] = of_input.T
            up[start:end] = _read(model, module, "up.0.weight").T
            up[last] = _read(model, module, "up.0.bias")
        start += _columns(model)
    parts = {DOWN: down, SHIFT: shift, MID: mid, UP: up}
    return {f"{layer}{part}": array for part, array in parts.items()}


def _read(model: LlliteModel, module: LlliteModule, part: str) -> Array:
    return as_source(model.network.weights[f"{module.name}.{part}"]).read_as(DType.F32)


def _layers_by_name(checkpoint: IdentifiedCheckpoint) -> dict[str, str]:
    """Return the denoiser's layers by the names that files give them, without the prefix."""
    weights = checkpoint.components[Component.DENOISER].weights
    layers = {name.rpartition(".")[0] for name in weights}
    found = {layer.replace(".", "_"): layer for layer in layers}
    originals = original_layers(layers).items()
    return found | {original.replace(".", "_"): layer for layer, original in originals}


def _fits(
    network: ControlNetwork,
    module: LlliteModule,
    layer: str,
    checkpoint: IdentifiedCheckpoint,
    unet: UNetConfig,
) -> bool:
    """Tell whether a module fits the layer that it acts on."""
    weight = checkpoint.components[Component.DENOISER].weights[f"{layer}.weight"]
    width = network.weights[f"{module.name}.down.0.weight"].shape[1]
    part = checkpoint.latent.downscale << _level(layer, unet)
    crosses = ".attn2." in layer and not layer.endswith("to_q")
    return weight.shape[1] == width and module.downscale == part and not crosses


def _level(layer: str, unet: UNetConfig) -> int:
    """Return the number of times that the image of a layer was halved."""
    block, _, rest = layer.partition(".")
    last = len(unet.down) - 1
    if block == "mid_block":
        return last
    number = int(rest.partition(".")[0])
    return number if block == "down_blocks" else last - number
