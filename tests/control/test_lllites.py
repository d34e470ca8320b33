"""ControlNet-LLLites: their modules as kohya's own compute, their files and their inputs."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from backends.base import Array, DType
from backends.cpu import CpuBackend
from engine.api.preprocessors import ControlKind
from engine.api.values import ErrorCode
from engine.control.lllite_files import PREFIX
from engine.control.lllites import LlliteInputs, LlliteModel
from engine.control.model import control_model
from engine.control.network import ControlForm
from engine.control.reading import read_control_network
from engine.errors import EngineError
from engine.families import Component, identify
from engine.graphs.lllite import MAP, LlliteLayers, LlliteModule, LlliteWriter, lllite_embedding
from engine.graphs.operators import GraphBuilder
from engine.graphs.unet import unet
from engine.graphs.unet_changes import NO_CHANGES, NetworkChanges
from engine.weights.sources import as_source
from tests.backends.samples import Target, relative_error
from tests.checkpoints.arrays import write_arrays
from tests.control.freeze_lllite import FROZEN
from tests.control.lllite_sample import (
    CELLS,
    EMBEDDED,
    INNER,
    KERNELS,
    WIDTH,
    module_weights,
    picture_map,
    tokens,
)
from tests.control.small import small_checkpoint, small_unet, wider
from tests.graphs.networks import Emit, graph_in_memory

SDXL = wider(small_unet(linear=True, added=40), 2048)
# A layer of the second level, which has half the cells.
NAME = "lllite_unet_input_blocks_4_1_transformer_blocks_0_attn1_to_q"
LAYER = "down_blocks.1.attentions.0.transformer_blocks.0.attn1.to_q"
OTHER = "lllite_unet_middle_block_1_transformer_blocks_0_attn2_to_q"


def run(emit: Emit, weights: dict[str, Array], feeds: dict[str, Array]) -> dict[str, Array]:
    backend = CpuBackend()
    target = Target(backend, backend.probe()[0])
    graph = graph_in_memory(emit, weights, backend.operators(target.device))
    session = target.load(graph)
    try:
        return session.run(feeds)
    finally:
        session.close()


def module(depth: int) -> LlliteModule:
    widths = (EMBEDDED // 2,) * (len(KERNELS[depth]) - 1) + (EMBEDDED,)
    return LlliteModule("sample", "layer", KERNELS[depth], widths, INNER)


@pytest.mark.parametrize("depth", KERNELS)
def test_a_module_equals_kohyas(depth: int) -> None:
    weights, lllite = module_weights(depth, "sample."), module(depth)
    embed = partial(lllite_embedding, modules=[lllite], cells={})
    used = ("conditioning", "mid.")
    of_map = {name: array for name, array in weights.items() if any(part in name for part in used)}
    embedded = run(embed, of_map, {"map": picture_map(depth)})
    assert embedded[f"layer{MAP}"].shape == (1, *CELLS, INNER)
    layers = LlliteLayers({"layer": 0}, INNER + 1)

    def emit(g: GraphBuilder) -> None:
        x = g.input("x", DType.F32, ("contexts", "tokens", WIDTH))
        changed = LlliteWriter(g, layers).input_of(x, "layer", WIDTH)
        g.output(changed, "changed", DType.F32, ("contexts", "tokens", WIDTH))

    feeds = {"x": tokens(), **_inputs(weights, embedded[f"layer{MAP}"])}
    changed = run(emit, {}, feeds)["changed"]
    assert relative_error(changed, np.load(FROZEN)[str(depth)]) < 1e-5


def _inputs(weights: dict[str, Array], embedded: Array) -> dict[str, Array]:
    ones = np.ones((1, *CELLS, 1), np.float32)
    down = np.zeros((WIDTH, INNER + 1), np.float32)
    down[:, :INNER] = weights["sample.down.0.weight"].T
    mid = np.zeros((INNER + 1,) * 2, np.float32)
    mid[:INNER, :INNER] = weights["sample.mid.0.weight"][:, EMBEDDED:].T
    return {
        "layer.lllite_down": down,
        "layer.lllite_shift": np.append(weights["sample.down.0.bias"], np.float32(0)),
        "layer.lllite_mid": mid,
        "layer.lllite_up": np.vstack(
            [weights["sample.up.0.weight"].T, weights["sample.up.0.bias"]]
        ),
        "layer.lllite_map": np.concatenate([embedded, ones], axis=3),
        "lllite_weights": np.ones((2, 1, INNER + 1), np.float32),
    }


def file_of(path: Path, *names: str, seed: int = 0) -> Path:
    """A file with modules of these names, whose layers have the second level's width."""
    arrays: dict[str, Array] = {}
    for name in names:
        arrays |= module_weights(2, f"{name}.", 64, seed)
    write_arrays(path, arrays)
    return path


def model_of(folder: Path, *names: str, seed: int = 0) -> LlliteModel:
    path = file_of(folder / f"{seed}.safetensors", *names, seed=seed)
    unet = folder / "a"
    checkpoint = identify(unet) if unet.exists() else small_checkpoint(unet, SDXL)
    model = control_model(read_control_network(path), checkpoint)
    assert isinstance(model, LlliteModel)
    return model


def test_a_file_is_recognised_by_its_modules(tmp_path: Path) -> None:
    path = file_of(tmp_path / "controllllite_v01032064e_sdxl_canny.safetensors", NAME, OTHER)
    network = read_control_network(path)
    assert (network.form, network.family) == (ControlForm.LLLITE, "sdxl")
    assert network.kind is ControlKind.CANNY


def test_modules_are_found_by_the_layers_of_the_checkpoint(tmp_path: Path) -> None:
    model = model_of(tmp_path, NAME, OTHER)
    middle = "mid_block.attentions.0.transformer_blocks.0.attn2.to_q"
    assert model.modules.keys() == {LAYER, middle}
    inputs = LlliteInputs.of([model])
    assert inputs.layers == LlliteLayers({LAYER: 1, middle: 1}, INNER + 1)
    assert model.denoising(64, 64) is None
    assert model.map_size(72, 64) == (80, 64)


@pytest.mark.parametrize("tensor", ["conv_in.weight", f"{PREFIX}input_blocks_4_0.down.0.weight"])
def test_a_module_elsewhere_is_refused(tmp_path: Path, tensor: str) -> None:
    arrays = module_weights(2, f"{NAME}.") | {tensor: np.zeros((2, 2), np.float32)}
    write_arrays(tmp_path / "a.safetensors", arrays)
    with pytest.raises(EngineError) as caught:
        read_control_network(tmp_path / "a.safetensors")
    assert caught.value.code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY


@pytest.mark.parametrize("part", ["mid.0.weight", "up.0.bias", "conditioning1.2.weight"])
def test_a_missing_part_of_a_module_is_named(tmp_path: Path, part: str) -> None:
    arrays = module_weights(2, f"{NAME}.")
    del arrays[f"{NAME}.{part}"]
    write_arrays(tmp_path / "a.safetensors", arrays)
    with pytest.raises(EngineError, match="_to_q"):
        read_control_network(tmp_path / "a.safetensors")


def test_a_module_of_another_level_is_refused(tmp_path: Path) -> None:
    arrays = module_weights(3, f"{NAME}.", 64)
    write_arrays(tmp_path / "a.safetensors", arrays)
    network = read_control_network(tmp_path / "a.safetensors")
    with pytest.raises(EngineError, match="other sizes") as caught:
        control_model(network, small_checkpoint(tmp_path / "a", SDXL))
    assert caught.value.code is ErrorCode.CHECKPOINT_MISMATCH


def denoised(model: LlliteModel, inputs: LlliteInputs | None, more: dict[str, Array]) -> Array:
    """The prediction for a picture of 72 x 64 pixels, whose second level has 5 x 4 cells."""
    weights = {
        name: as_source(weight).read_as(DType.F32)
        for name, weight in model.checkpoint.components[Component.DENOISER].weights.items()
    }
    random = np.random.default_rng(5)
    feeds = {
        "sample": random.standard_normal((1, 4, 9, 8), np.float32),
        "timestep_embedding": random.standard_normal((1, 32), np.float32),
        "context": random.standard_normal((2, 77, 2048), np.float32),
        "added": random.standard_normal((2, 40), np.float32),
    }
    changes = NetworkChanges(lllite=inputs.layers) if inputs else NO_CHANGES

    def emit(g: GraphBuilder) -> None:
        unet(g, SDXL, changes=changes)

    return run(emit, weights, feeds | more)["prediction"]


def embedded(model: LlliteModel, height: int, width: int) -> dict[str, Array]:
    network = model.embedding(height, width)
    used = {
        name: weight.read_as(DType.F32)
        for name, weight in network.weights.items()
        if ".down." not in name and ".up." not in name
    }
    image = np.random.default_rng(6).random((1, 3, *model.map_size(height, width)), np.float32)
    return run(network.emit, used, {"map": image})


def test_networks_side_by_side_act_as_their_weights_say(tmp_path: Path) -> None:
    models = [model_of(tmp_path, NAME, OTHER), model_of(tmp_path, NAME, seed=1)]
    maps = [embedded(model, 72, 64) for model in models]
    assert maps[1][f"{LAYER}{MAP}"].shape == (1, 5, 4, INNER)

    def made(chosen: list[int], weights: list[list[float]]) -> Array:
        inputs = LlliteInputs.of([models[i] for i in chosen])
        more = {**inputs.factors, **inputs.of_maps([maps[i] for i in chosen])}
        return denoised(models[0], inputs, more | inputs.weights(weights))

    plain = denoised(models[0], None, {})
    assert relative_error(made([0, 1], [[0, 0], [0, 0]]), plain) < 1e-6
    alone = made([1], [[1, 1]])
    assert relative_error(alone, plain) > 1e-3
    assert relative_error(made([0, 1], [[0, 0], [1, 1]]), alone) < 1e-6
    # A context without a weight is as if there were no network.
    both = made([0, 1], [[1, 0], [0.5, 0]])
    assert relative_error(both[1], plain[1]) < 1e-6
    assert relative_error(both[0], plain[0]) > 1e-3
