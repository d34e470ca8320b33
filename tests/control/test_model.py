"""A control network's networks for a checkpoint: which it fits, their inputs, their weights."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from app.paths import starter_checkpoint
from backends.base import DType
from engine.api.preprocessors import ControlKind
from engine.api.values import ErrorCode
from engine.control.control_nets import ControlNetModel
from engine.control.model import control_model
from engine.control.network import ControlNetSizes, ControlNetwork
from engine.control.reading import read_control_network
from engine.errors import EngineError
from engine.families import identify
from engine.families.patches import ComponentPatches
from engine.graphs.control_net import ControlNetConfig, UnionConfig
from engine.graphs.unet import UNetConfig
from engine.weights.patched import FullDifference
from engine.weights.sources import as_source
from tests.checkpoints.arrays import write_arrays
from tests.control.layouts import original_control_net
from tests.control.small import (
    WIDTHS,
    adapter_arrays,
    control_net_arrays,
    small_checkpoint,
    small_control_net,
    small_unet,
    wider,
    write_unet,
)
from tests.control.test_reading import control_lora
from tests.weights.files import write_sources


def network_of(folder: Path, config: ControlNetConfig | None = None) -> ControlNetwork:
    arrays = control_net_arrays(config or small_control_net())
    write_arrays(folder / "network.safetensors", arrays)
    return read_control_network(folder / "network.safetensors")


def test_networks_are_the_same_objects_each_time(tmp_path: Path) -> None:
    model = control_model(network_of(tmp_path), small_checkpoint(tmp_path / "a"))
    first, again = (model.denoising(64, 64, contexts=2, tokens=77) for _ in range(2))
    assert first is again
    assert first is not model.denoising(64, 128)
    embedding = model.embedding(64, 64)
    assert embedding is model.embedding(64, 64)
    assert first is not None
    assert embedding is not None
    assert first.name != embedding.name


def test_a_file_takes_heads_and_norms_from_the_checkpoint(tmp_path: Path) -> None:
    checkpoint = small_checkpoint(
        tmp_path / "a", msgspec.structs.replace(small_unet(), norm_groups=16)
    )
    model = control_model(network_of(tmp_path), checkpoint)
    assert isinstance(model, ControlNetModel)
    encoder = model.config.encoder
    assert encoder.norm_groups == 16
    assert {block.heads for block in encoder.down} == {8}


@pytest.mark.parametrize(
    ("unet", "words"),
    [
        (wider(small_unet(linear=True), 1024), "is a ControlNet for SD 1.x, but a is of SD 2.x"),
        (wider(small_unet(), 48), "is for a UNet of other sizes than that of a"),
        (
            msgspec.structs.replace(
                small_unet(),
                down=tuple(
                    msgspec.structs.replace(level, depths=(1,)) for level in small_unet().down
                ),
                up=tuple(
                    msgspec.structs.replace(level, depths=(1, 1)) for level in small_unet().up
                ),
            ),
            "is for a UNet of other sizes than that of a",
        ),
    ],
)
def test_a_network_for_another_checkpoint_is_refused(
    tmp_path: Path, unet: UNetConfig, words: str
) -> None:
    with pytest.raises(EngineError, match=words) as caught:
        control_model(network_of(tmp_path), small_checkpoint(tmp_path / "a", unet))
    assert caught.value.code is ErrorCode.CHECKPOINT_MISMATCH


def test_the_starter_is_said_to_follow_no_pictures(tmp_path: Path) -> None:
    network = network_of(tmp_path)
    with pytest.raises(EngineError, match="No control network fits safelight-starter") as caught:
        control_model(network, identify(starter_checkpoint()))
    assert caught.value.code is ErrorCode.CHECKPOINT_MISMATCH
    assert "another model" in caught.value.hint


def test_a_control_lora_borrows_the_checkpoints_weights(tmp_path: Path) -> None:
    lora = control_lora(control_net_arrays(small_control_net()))
    write_arrays(tmp_path / "lora.safetensors", lora)
    network = read_control_network(tmp_path / "lora.safetensors")
    own = write_unet(tmp_path / "a", small_unet())

    model = control_model(network, identify(tmp_path / "a"))
    assert isinstance(model, ControlNetModel)
    step = model.denoising(64, 64)
    name = "down_blocks.0.resnets.0.conv1.weight"
    up, down = (lora[f"input_blocks.1.0.in_layers.2.{part}"] for part in ("up", "down"))
    change = (up.reshape(len(up), -1) @ down.reshape(len(down), -1)).reshape(own[name].shape)
    found = step.weights[name].read_as(DType.F32)
    assert np.allclose(found, own[name] + change, rtol=1e-5, atol=1e-5)
    # What the file has whole is its own.
    bias = lora["input_blocks.1.0.in_layers.2.bias"]
    assert np.array_equal(
        step.weights["down_blocks.0.resnets.0.conv1.bias"].read_as(DType.F32), bias
    )


def test_loras_of_the_denoiser_change_what_a_control_lora_borrows(tmp_path: Path) -> None:
    arrays = control_net_arrays(small_control_net())
    write_arrays(tmp_path / "lora.safetensors", control_lora(arrays))
    write_arrays(tmp_path / "net.safetensors", original_control_net(arrays))
    checkpoint = small_checkpoint(tmp_path / "a")
    lora, net = (
        control_model(read_control_network(tmp_path / f"{name}.safetensors"), checkpoint)
        for name in ("lora", "net")
    )
    name, bias = "down_blocks.0.resnets.0.conv1.weight", "down_blocks.0.resnets.0.conv1.bias"
    ones = np.ones((WIDTHS[0], WIDTHS[0], 3, 3), np.float32)
    sources = write_sources(tmp_path / "ones.safetensors", {"ones": ones})
    change = FullDifference(as_source(sources["ones"]), 2.0)
    patches = ComponentPatches("ones", {name: (change,)})
    assert net.with_loras(patches) is net
    assert lora.with_loras(None) is lora
    before, after = lora.denoising(64, 64), lora.with_loras(patches).denoising(64, 64)
    assert before is not None
    assert after is not None
    found, own = (network.weights[name].read_as(DType.F32) for network in (after, before))
    assert np.allclose(found, own + 2, rtol=1e-5, atol=1e-5)
    first, second = (network.weights[bias].read_as(DType.F32) for network in (before, after))
    assert np.array_equal(first, second)
    assert before.weights.digest() != after.weights.digest()


def test_a_file_of_differences_is_added_to_the_checkpoints_weights(tmp_path: Path) -> None:
    arrays = control_net_arrays(small_control_net())
    write_arrays(tmp_path / "diff.safetensors", arrays | {"difference": np.zeros(1, np.float32)})
    network = read_control_network(tmp_path / "diff.safetensors")
    own = write_unet(tmp_path / "a", small_unet())

    model = control_model(network, identify(tmp_path / "a"))
    step = model.denoising(64, 64)
    assert step is not None
    found = {name: weight.read_as(DType.F32) for name, weight in step.weights.items()}
    for name, array in arrays.items():
        expected = array + own[name] if name in own else array
        assert np.allclose(found[name], expected, rtol=1e-6, atol=1e-6), name


def test_a_control_lora_for_another_unet_is_refused(tmp_path: Path) -> None:
    lora = control_lora(control_net_arrays(small_control_net()))
    write_arrays(tmp_path / "lora.safetensors", lora)
    network = read_control_network(tmp_path / "lora.safetensors")
    with pytest.raises(EngineError, match="other sizes"):
        control_model(network, small_checkpoint(tmp_path / "a", wider(small_unet(), 48)))


def test_an_adapters_weights_run_once_per_picture(tmp_path: Path) -> None:
    write_arrays(tmp_path / "adapter.safetensors", adapter_arrays())
    network = read_control_network(tmp_path / "adapter.safetensors")
    model = control_model(network, small_checkpoint(tmp_path / "a"))
    step = model.denoising(64, 64)
    assert step is not None
    assert not step.weights
    assert step is model.denoising(64, 64)
    embedding = model.embedding(64, 64)
    assert embedding is not None
    assert embedding.weights
    assert model.map_size(60, 64) == (64, 64)
    assert model.embedding(60, 64) is embedding


def union_of(network: ControlNetwork, kinds: int) -> ControlNetwork:
    assert isinstance(network.sizes, ControlNetSizes)
    config = msgspec.structs.replace(network.sizes.config, union=UnionConfig(kinds, 4, 1))
    return msgspec.structs.replace(
        network, sizes=msgspec.structs.replace(network.sizes, config=config)
    )


def test_a_union_is_told_the_kinds_of_its_maps(tmp_path: Path) -> None:
    network = union_of(network_of(tmp_path), 6)
    assert ControlKind.SEG in network.kinds
    assert ControlKind.TILE not in network.kinds
    model = control_model(network, small_checkpoint(tmp_path / "a"))
    both = [ControlKind.DEPTH, ControlKind.LINEART]
    inputs = model.map_inputs(both, [0.5, 1.0])
    assert inputs["kinds"].tolist() == [[0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0]]
    assert inputs["map_weights"].tolist() == [0.5, 1.0]
    # The weight of a single map is that of the outputs.
    assert model.map_inputs(both[:1], [0.5])["map_weights"].tolist() == [1.0]
    (waves,) = model.step_inputs(both)["kinds_embedding"].reshape(1, 6, 4)
    assert [bool(row[2:].any()) for row in waves] == [False, True, False, True, False, False]


def test_a_kind_that_a_union_was_not_trained_on_is_refused(tmp_path: Path) -> None:
    network = union_of(network_of(tmp_path), 6)
    model = control_model(network, small_checkpoint(tmp_path / "a"))
    with pytest.raises(EngineError, match="tile") as caught:
        model.map_inputs([ControlKind.TILE], [1.0])
    assert caught.value.code is ErrorCode.REQUEST_INVALID
