"""ControlNets beside diffusers', read from the files that it saves and in the original layout."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from diffusers.loaders.single_file_utils import convert_controlnet_checkpoint  # noqa: E402

from backends.base import Array, DType, FileSlice  # noqa: E402
from engine.control.control_nets import ControlNetModel  # noqa: E402
from engine.control.model import control_model  # noqa: E402
from engine.control.network import ControlNetSizes, ControlNetwork  # noqa: E402
from engine.control.reading import read_control_network  # noqa: E402
from engine.control.sizes import control_net_config  # noqa: E402
from engine.families import identify  # noqa: E402
from engine.families.shared.unet.sizes import UNetFacts  # noqa: E402
from engine.graphs import control_net as graphs  # noqa: E402
from engine.graphs.control_net import ControlNetConfig  # noqa: E402
from engine.graphs.t2i_adapter import AdapterConfig, t2i_adapter  # noqa: E402
from engine.graphs.unet import size_embedding  # noqa: E402
from engine.weights.sources import as_sources  # noqa: E402
from tests.backends.samples import Target, relative_error  # noqa: E402
from tests.checkpoints.arrays import write_arrays  # noqa: E402
from tests.control.layouts import original_adapter, original_control_net  # noqa: E402
from tests.control.small import as_they_are  # noqa: E402
from tests.oracle.control_modules import (  # noqa: E402
    KINDS,
    UNIONS,
    control_net_module,
    randomised,
    union_module,
)
from tests.oracle.networks import (  # noqa: E402
    TOLERANCES,
    float32_targets,
    label,
    normal,
    run,
    thinned_targets,
)
from tests.oracle.sdxl_folder import PROJECTED, WAVES  # noqa: E402

# The UNet's own tests have the other precisions and element types.
FLOAT32 = float32_targets()
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
        return [output.numpy() for output in every]

    def ours(self, weights: dict[str, Array], target: Target):
        """Return the outputs of our two networks."""
        config, union = self.config, self.config.union
        maps, feeds = {"map": self.maps}, self.feeds
        if union:
            maps |= graphs.map_inputs(union, self.kinds, self.weights)
            feeds["kinds_embedding"] = graphs.kinds_embedding(union, self.kinds)
        feeds |= _run(target, weights, graphs.map_embedding, config, maps)
        everywhere = as_they_are(config, 2, self.cells)
        made = _run(target, weights, graphs.control_net, config, feeds | everywhere)
        return [made[f"control.{i}"] for i in range(len(config.widths))]


def _run(target: Target, weights, emit, config, feeds) -> dict[str, Array]:
    return run(target, lambda g: emit(g, config), weights, feeds)


def check(target: Target, module, network: ControlNetwork, steps: list[Step]) -> None:
    weights = {
        name: source.read_as(DType.F32) for name, source in as_sources(network.weights).items()
    }
    check_weights(target, module, weights, steps)


def check_weights(target: Target, module, weights: dict[str, Array], steps: list[Step]) -> None:
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


def sizes_of(network: ControlNetwork) -> ControlNetConfig:
    assert isinstance(network.sizes, ControlNetSizes)
    return network.sizes.config


def with_context(config: ControlNetConfig) -> ControlNetConfig:
    """The sizes as a checkpoint completes them: one without attention does not show the text's."""
    width = config.encoder.context_width or 24
    return msgspec.structs.replace(
        config, encoder=msgspec.structs.replace(config.encoder, context_width=width)
    )


@thinned_targets("kind", KINDS, FLOAT32)
def test_a_control_net_equals_diffusers(target: Target, kind: str, tmp_path: Path) -> None:
    module = control_net_module(kind)
    network = folder_of(tmp_path, module)
    config = with_context(sizes_of(network))
    check(target, module, network, [Step(config, size) for size in ((16, 16), (9, 14))])


@thinned_targets("kinds", UNIONS, FLOAT32)
def test_a_union_equals_diffusers(target: Target, kinds: int, tmp_path: Path) -> None:
    module = union_module(kinds)
    network = folder_of(tmp_path, module)
    config = sizes_of(network)
    steps = [
        Step(config, (8, 12), (3,), (1.0,)),
        Step(config, (8, 8), (kinds - 1, 0), (0.8, 0.3)),
        Step(config, (8, 8), (2, 4, 1), (1.0, 1.0, 0.5)),
    ]
    check(target, module, network, steps)


def state_of(module) -> dict[str, Array]:
    return {name: tensor.numpy() for name, tensor in module.state_dict().items()}


def as_diffusers_converts(named: dict[str, Array], module) -> dict[str, Array]:
    """Return the tensors of a file in the original layout by diffusers' own conversion."""
    tensors = {name: torch.from_numpy(array) for name, array in named.items()}
    found = convert_controlnet_checkpoint(tensors, dict(module.config))
    return {name: tensor.numpy() for name, tensor in found.items() if tensor is not None}


@pytest.mark.parametrize("prefix", ["", "control_model."])
@pytest.mark.parametrize("kind", ["SD 1", "SD 2"])
def test_the_original_layout_is_read_as_by_diffusers(
    kind: str, prefix: str, tmp_path: Path
) -> None:
    module = control_net_module(kind)
    named = original_control_net(state_of(module), prefix)
    write_arrays(tmp_path / "network.safetensors", named)
    network = read_control_network(tmp_path / "network.safetensors")
    theirs = as_diffusers_converts(named, module)
    ours = {name: source.read_as(DType.F32) for name, source in as_sources(network.weights).items()}
    assert ours.keys() == theirs.keys()
    assert all(np.array_equal(ours[name], array) for name, array in theirs.items())


def test_a_pickled_file_is_read_as_the_module(tmp_path: Path) -> None:
    module = control_net_module("SD 1")
    named = original_control_net(dict(module.state_dict()), "control_model.")
    torch.save(named, tmp_path / "network.pth")
    network = read_control_network(tmp_path / "network.pth")
    state = state_of(module)
    ours = {name: source.read_as(DType.F32) for name, source in as_sources(network.weights).items()}
    assert ours.keys() == state.keys()
    assert all(np.array_equal(ours[name], array) for name, array in state.items())


def with_factors(state: dict[str, Array], rank: int = 4) -> tuple[dict, dict]:
    """A control-LoRA in Stability's layout, and what ComfyUI makes of it with these weights.

    ComfyUI's `ControlLoraOps` adds mm(up, down), both flattened, in the weight's shape; biases and
    norms are the file's.
    """
    random, lora, made = np.random.default_rng(4), {}, {}
    for name, array in original_control_net(state).items():
        own = name.startswith(("zero_convs", "middle_block_out", "input_hint_block"))
        if own or array.ndim == 1:
            lora[name] = made[name] = array if own else 1.1 * array
            continue
        layer, square = name.removesuffix(".weight"), (1,) * (array.ndim - 2)
        scale = np.float32(0.3 / np.sqrt(rank * array[0].size))
        up = random.standard_normal((len(array), rank, *square), np.float32)
        down = scale * random.standard_normal((rank, *array.shape[1:]), np.float32)
        lora |= {f"{layer}.up": up, f"{layer}.down": down}
        product = torch.mm(
            torch.from_numpy(up).flatten(start_dim=1), torch.from_numpy(down).flatten(start_dim=1)
        )
        made[name] = array + product.numpy().reshape(array.shape)
    return lora | {"lora_controlnet": np.zeros(1, np.float32)}, made


def test_a_control_lora_equals_comfyuis_arithmetic(tmp_path: Path) -> None:
    module = control_net_module("SD 1")
    state = state_of(module)
    unet = diffusers.UNet2DConditionModel(
        **KINDS["SD 1"], up_block_types=("UpBlock2D", *("CrossAttnUpBlock2D",) * 2)
    )
    unet.load_state_dict(
        {name: torch.from_numpy(state[name]) for name in unet.state_dict() if name in state},
        strict=False,
    )
    unet.save_pretrained(tmp_path / "a" / "unet")
    lora, made = with_factors(state)
    write_arrays(tmp_path / "lora.safetensors", lora)
    network = read_control_network(tmp_path / "lora.safetensors")
    model = control_model(network, identify(tmp_path / "a"))
    assert isinstance(model, ControlNetModel)
    theirs = as_diffusers_converts(made, module)
    module.load_state_dict({name: torch.from_numpy(array) for name, array in theirs.items()})
    whole = msgspec.structs.replace(network, weights=dict(model.denoising(64, 64).weights))
    target = next(target for target in FLOAT32 if target.backend.name == "cpu")
    check(target, module, whole, [Step(model.config, (8, 12))])


ADAPTERS = {
    "full": {"channels": (32, 64, 96, 96), "num_res_blocks": 2},
    "full, grey": {"channels": (32, 64, 96, 96), "in_channels": 1},
    "SDXL": {
        "channels": (32, 64, 96, 96),
        "downscale_factor": 16,
        "adapter_type": "full_adapter_xl",
    },
    "light": {
        "channels": (32, 64, 96),
        "num_res_blocks": 4,
        "adapter_type": "light_adapter",
    },
}


@every_target
@pytest.mark.parametrize("kind", ADAPTERS)
def test_an_adapter_equals_diffusers(target: Target, kind: str, tmp_path: Path) -> None:
    module = randomised(diffusers.T2IAdapter(**ADAPTERS[kind]))
    network = folder_of(tmp_path, module)
    config = network.sizes
    assert isinstance(config, AdapterConfig)
    weights = {
        name: source.read_as(DType.F32) for name, source in as_sources(network.weights).items()
    }
    for cells in ((8, 8), (5, 9)):
        sides = (side * config.unshuffle for side in cells)
        maps = np.random.default_rng(5).random((1, 1, *sides), np.float32)
        grey = np.repeat(maps, 3, axis=1)
        with torch.no_grad():
            expected = module(torch.from_numpy(maps if config.map_channels == 1 else grey))
        made = _run(target, weights, t2i_adapter, config, {"map": grey})
        assert len(made) == len(expected)
        for level, theirs in enumerate(expected):
            ours = made[f"adapter.{level}"]
            assert ours.shape == theirs.shape
            allowed = TOLERANCES[target.backend.name, target.precision]
            assert relative_error(ours, theirs.numpy()) <= allowed


@pytest.mark.parametrize("kind", ADAPTERS)
def test_an_original_adapter_is_read_as_diffusers_saves_it(kind: str, tmp_path: Path) -> None:
    module = randomised(diffusers.T2IAdapter(**ADAPTERS[kind]))
    state = state_of(module)
    write_arrays(tmp_path / "network.safetensors", original_adapter(state))
    network = read_control_network(tmp_path / "network.safetensors")
    assert network.sizes == folder_of(tmp_path / "folder", module).sizes
    ours = {name: source.read_as(DType.F32) for name, source in as_sources(network.weights).items()}
    assert ours.keys() == state.keys()
    assert all(np.array_equal(ours[name], array) for name, array in state.items())


# --- full size ---


@pytest.mark.slow
def test_sd15s_control_net_equals_diffusers() -> None:
    torch.manual_seed(0)
    module = randomised(diffusers.ControlNetModel(cross_attention_dim=768))
    weights = state_of(module)
    config = control_net_config(_slices(weights), UNetFacts(heads=8), Path("network"))
    target = next(target for target in FLOAT32 if target.backend.name == "cpu")
    check_weights(target, module, weights, [Step(config, (16, 16))])


def _slices(weights: dict[str, Array]) -> dict[str, FileSlice]:
    """The weights as if they were in a file, for reading their sizes."""
    return {
        name: FileSlice(Path("network"), 0, DType.F32, array.shape)
        for name, array in weights.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["full_adapter", "full_adapter_xl", "light_adapter"])
def test_full_size_adapters_equal_diffusers(kind: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    sizes: dict = {"adapter_type": kind}
    if kind == "full_adapter_xl":
        sizes["downscale_factor"] = 16
    if kind == "light_adapter":
        sizes |= {"channels": (320, 640, 1280), "num_res_blocks": 4}
    module = randomised(diffusers.T2IAdapter(**sizes))
    network = folder_of(tmp_path, module)
    config = network.sizes
    assert isinstance(config, AdapterConfig)
    maps = np.random.default_rng(5).random((1, 3, 128, 192), np.float32)
    with torch.no_grad():
        expected = module(torch.from_numpy(maps))
    target = next(target for target in FLOAT32 if target.backend.name == "cpu")
    made = _run(target, state_of(module), t2i_adapter, config, {"map": maps})
    for level, theirs in enumerate(expected):
        assert relative_error(made[f"adapter.{level}"], theirs.numpy()) <= 1e-5
