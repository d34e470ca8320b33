"""ControlNets beside diffusers', read from the files that it saves and in the original layout."""
# pyright: basic
# torch, diffusers and transformers are absent from the environment that is type-checked.

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from backends.base import Array, DType, Precision  # noqa: E402
from engine.control.network import ControlNetwork  # noqa: E402
from engine.control.reading import read_control_network  # noqa: E402
from engine.graphs import control_net as graphs  # noqa: E402
from engine.graphs.control_net import ControlNetConfig  # noqa: E402
from engine.graphs.unet import size_embedding  # noqa: E402
from engine.weights.sources import as_sources  # noqa: E402
from tests.backends.samples import Target, relative_error  # noqa: E402
from tests.graphs.networks import graph_in_memory, wanted  # noqa: E402
from tests.oracle.control_modules import (  # noqa: E402
    KINDS,
    UNIONS,
    control_net_module,
    union_module,
)
from tests.oracle.networks import TOLERANCES, label, normal, targets  # noqa: E402
from tests.oracle.sdxl_folder import PROJECTED, WAVES  # noqa: E402

# The UNet's own tests have the other precisions and element types.
FLOAT32 = [one for one in targets() if one.precision is Precision.F32 and one.element is DType.F32]
every_target = pytest.mark.parametrize("target", FLOAT32, ids=label)
TIMESTEP = 731.25
SIZES = (1024.0, 768.0, 0.0, 16.0, 512.0, 1536.0)


@dataclass(frozen=True)
class Step:
    """The inputs of one evaluation: two contexts of one picture, and the maps of the picture."""

    config: ControlNetConfig
    cells: tuple[int, int]
    kinds: tuple[int, ...] = ()
    weights: tuple[float, ...] = ()

    @property
    def maps(self) -> Array:
        sides = (side * self.config.downscale for side in self.cells)
        count = max(1, len(self.kinds))
        return np.random.default_rng(5).random((count, 3, *sides), np.float32)

    @property
    def feeds(self) -> dict[str, Array]:
        encoder = self.config.encoder
        feeds = {
            "sample": normal(1, encoder.in_channels, *self.cells, seed=1),
            "timestep_embedding": size_embedding([TIMESTEP], encoder.down[0].width)[None],
            "context": normal(2, 77, encoder.context_width, seed=2),
        }
        if encoder.added_width:
            waves = np.stack([size_embedding(SIZES, WAVES)] * 2)
            feeds["added"] = np.concatenate([normal(2, PROJECTED, seed=3), waves], axis=1)
        return feeds

    def theirs(self, module) -> list[Array]:
        """Return the outputs of diffusers' module for the same inputs, with both contexts."""
        feeds, union = self.feeds, self.config.union
        sample = torch.from_numpy(np.repeat(feeds["sample"], 2, axis=0))
        maps = torch.from_numpy(self.maps)
        told: dict = {"controlnet_cond": maps}
        if "added" in feeds:
            pooled = torch.from_numpy(feeds["added"][:, :PROJECTED])
            times = torch.tensor([SIZES] * 2)
            told["added_cond_kwargs"] = {"text_embeds": pooled, "time_ids": times}
        if union:
            types = torch.zeros(2, union.kinds)
            types[:, list(self.kinds)] = 1
            told |= {
                "controlnet_cond": list(maps[:, None].repeat(1, 2, 1, 1, 1)),
                "control_type": types,
                "control_type_idx": list(self.kinds),
                "conditioning_scale": list(self.weights),
            }
        context = torch.from_numpy(feeds["context"])
        dtype = next(module.parameters()).dtype
        with torch.no_grad():
            found = module(sample.to(dtype), torch.tensor(TIMESTEP), context.to(dtype), **told)
        every = (*found.down_block_res_samples, found.mid_block_res_sample)
        return [one.numpy() for one in every]

    def ours(self, weights: dict[str, Array], target: Target):
        """Return the outputs of our two networks."""
        config, union = self.config, self.config.union
        maps, feeds = {"map": self.maps}, self.feeds
        if union:
            maps |= graphs.map_inputs(union, self.kinds, self.weights)
            feeds["kinds_embedding"] = graphs.kinds_embedding(union, self.kinds)
        feeds |= _run(target, weights, graphs.map_embedding, config, maps)
        made = _run(target, weights, graphs.control_net, config, feeds)
        return [made[f"control.{i}"] for i in range(len(config.widths))]


def _run(target: Target, weights, emit, config: ControlNetConfig, feeds) -> dict[str, Array]:
    operators = target.backend.operators(target.device)

    def emitted(g) -> None:
        emit(g, config)

    used = {name: weights[name] for name in wanted(emitted)}
    graph = graph_in_memory(emitted, used, operators, target.element, target.precision)
    session = target.load(graph)
    made = session.run(feeds)
    session.close()
    return made


def check(target: Target, module, network: ControlNetwork, steps: list[Step]) -> None:
    weights = {name: one.read_as(DType.F32) for name, one in as_sources(network.weights).items()}
    for step in steps:
        expected = step.theirs(module)
        found = step.ours(weights, target)
        assert len(found) == len(expected)
        for ours, theirs in zip(found, expected, strict=True):
            whole = np.broadcast_to(theirs, ours.shape)
            assert relative_error(ours, whole) <= TOLERANCES[target.backend.name, target.precision]


def folder_of(path: Path, module) -> ControlNetwork:
    module.save_pretrained(path)
    return read_control_network(path)


def with_context(config: ControlNetConfig) -> ControlNetConfig:
    """The sizes as a checkpoint completes them: one without attention does not show the text's."""
    width = config.encoder.context_width or 24
    return replace(config, encoder=replace(config.encoder, context_width=width))


@every_target
@pytest.mark.parametrize("kind", KINDS)
def test_a_control_net_equals_diffusers(target: Target, kind: str, tmp_path: Path) -> None:
    module = control_net_module(kind)
    network = folder_of(tmp_path, module)
    config = with_context(network.sizes.config)
    check(target, module, network, [Step(config, size) for size in ((16, 16), (9, 14))])


@every_target
@pytest.mark.parametrize("kinds", UNIONS)
def test_a_union_equals_diffusers(target: Target, kinds: int, tmp_path: Path) -> None:
    module = union_module(kinds)
    network = folder_of(tmp_path, module)
    config = network.sizes.config
    steps = [
        Step(config, (8, 12), (3,), (1.0,)),
        Step(config, (8, 8), (kinds - 1, 0), (0.8, 0.3)),
        Step(config, (8, 8), (2, 4, 1), (1.0, 1.0, 0.5)),
    ]
    check(target, module, network, steps)
