"""The memory of upscalers: counts held to their graphs, and what runtimes do with them."""

from pathlib import Path

import msgspec
import pytest

from backends.base import DType, OperatorSet, Precision, WorkingMemory
from engine.graphs.operators import GraphBuilder
from engine.upscalers.network import Emit, UpscalerNetwork
from engine.upscalers.reading import read_upscaler
from engine.upscalers.tile_plan import Computing, TilePlan, peak_bytes, plan_tiles
from tests.checkpoints.arrays import write_arrays
from tests.graphs.live_results import LiveResults, live_results
from tests.graphs.networks import random_weights
from tests.thinned import thinned
from tests.upscalers.published import PUBLISHED

SIDE = 64
PLAN, SHAPE = TilePlan(512, 176), (3, SIDE, SIDE)
ARENA, KEEPING = WorkingMemory(empties=True), WorkingMemory()


def network(folder: Path, emit: Emit) -> UpscalerNetwork:
    path = folder / "x4.safetensors"
    write_arrays(path, random_weights(emit))
    return read_upscaler(path).network


def live(network: UpscalerNetwork, emit: Emit) -> LiveResults:
    g = GraphBuilder("", network.weights, OperatorSet(opset=20), DType.F32, Precision.F32)
    emit(g)
    return live_results(g.build({}).model, {"height": SIDE, "width": SIDE})


@pytest.mark.parametrize("name", thinned(PUBLISHED, ["SwinIR", "RealPLKSR"]))
def test_numbers_of_an_upscaler_are_those_its_graph_needs_at_once(
    tmp_path: Path, name: str
) -> None:
    read = network(tmp_path, PUBLISHED[name])
    pixels, tail = SIDE**2 * DType.F32.itemsize, read.tail
    whole = live(read, tail.body if tail is not None else read.emit)
    assert read.numbers == pytest.approx(whole.at_once / pixels, rel=0.02)
    if tail is not None:
        assert tail.numbers == pytest.approx(live(read, tail.emit).at_once / pixels, rel=0.02)


def test_results_ahead_of_a_swin_ir_are_masks_with_the_bias_of_each_shifted_layer(
    tmp_path: Path,
) -> None:
    read = network(tmp_path, PUBLISHED["SwinIR"])
    pixels = SIDE**2 * DType.F32.itemsize
    assert read.ahead == pytest.approx(live(read, read.emit).ahead / pixels, rel=0.3)
    keeping = msgspec.structs.replace(KEEPING, computes_ahead=True)
    more = peak(read, keeping) - peak(read, KEEPING)
    assert more == read.ahead * pixels
    assert plan_tiles(read, 4 << 30, memory=keeping).side < plan_tiles(read, 4 << 30).side


def test_an_arena_that_is_emptied_needs_less_than_one_that_keeps(tmp_path: Path) -> None:
    read = network(tmp_path, PUBLISHED["Real-ESRGAN"])
    assert peak(read, ARENA) < peak(read, KEEPING)
    assert peak(read, msgspec.structs.replace(ARENA, share=3)) > peak(read, ARENA)
    assert (
        peak(read, msgspec.structs.replace(ARENA, session_bytes=10**9)) - peak(read, ARENA)
        > 9 * 10**8
    )


def peak(network: UpscalerNetwork, memory: WorkingMemory) -> int:
    return peak_bytes(network, PLAN, SHAPE, Computing(memory=memory))
