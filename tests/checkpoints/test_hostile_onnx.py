"""ONNX files made to harm or to take memory are refused before anything runs."""

import random
import tracemalloc
from pathlib import Path

import pytest

from engine.checkpoints.onnx import wire
from engine.checkpoints.onnx.reading import read_onnx
from engine.errors import EngineError
from tests.checkpoints import hostile_onnx
from tests.checkpoints.hostile_onnx import MEMORY_BYTES, WHOLE
from tests.checkpoints.onnx_files import small_network, write
from tests.thinned import thinned

# The words by which some are refused: others would mean that they are refused for another reason.
REASONS = {
    "operators of another domain": "'com.microsoft'",
    "an operator of nobody": "'RunScript' is not run here",
    "an operator that draws": "'RandomNormalLike' is not run here",
    "numbers in another file": "in other files",
    "a loop": "graphs within its graph",
    "a hidden graph": "graphs within its graph",
    "graphs in graphs": "graphs within its graph",
    "a function": "functions of its own",
    "a cycle": "'y' is read before it is computed",
    "a value made twice": "'c' is computed twice",
    "a negative side": "no possible size",
    "sides that overflow": "no possible size",
    "weights of texts": "of an unknown type",
    "an old set of operators": "operator set 6",
    "a future set of operators": "operator set 99",
    "a constant of texts": "of texts",
    "a script": "no known type",
    "nodes without end": "far more entries",
    "fields without end": "far more entries",
}


# Two to six seconds each, beside quick ones of their kinds.
LARGE = {
    *("a large attribute", "an input of many sides", "names without end", "fields without end"),
    "numbers in packed rows",
}


@pytest.mark.parametrize("name", thinned(WHOLE, WHOLE.keys() - LARGE))
def test_a_hostile_file_is_refused_in_little_memory(name: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.onnx"
    path.write_bytes(WHOLE[name]())
    tracemalloc.start()
    try:
        with pytest.raises(EngineError, match=REASONS.get(name, ".")) as refused:
            read_onnx(path)
        assert tracemalloc.get_traced_memory()[1] < MEMORY_BYTES
    finally:
        tracemalloc.stop()
    assert refused.value.advice


def test_weights_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.onnx"
    hostile_onnx.sound_but_large(path)
    tracemalloc.start()
    try:
        found = read_onnx(path)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
    weights = found.weights["w"]
    assert weights.nbytes == 1 << 30
    assert weights.offset + weights.nbytes == path.stat().st_size


def test_any_damage_is_found_or_harmless(tmp_path: Path) -> None:
    """A file with wrong bytes, or cut short, is refused with a reason or read."""
    sound, drawn = small_network().SerializeToString(), random.Random(7)
    path = tmp_path / "damaged.onnx"
    refused = 0
    for _ in range(500):
        damaged = bytearray(sound)
        # Weights are most of the file, and any bytes are numbers.
        places = [*range(400), *range(len(sound) - 300, len(sound))]
        for place in drawn.sample(places, drawn.choice((1, 2, 5))):
            damaged[place] = drawn.randrange(256)
        path.write_bytes(damaged[: drawn.choice((len(sound), drawn.randrange(len(sound))))])
        try:
            read_onnx(path)
        except EngineError:
            refused += 1
    assert 160 < refused < 500


def test_the_bound_leaves_room_for_large_networks(tmp_path: Path) -> None:
    made = small_network()
    last = made.graph.node.pop()
    for number in range(5000):
        added = made.graph.node.add(op_type="Relu", name=f"/backbone/layers.{number}/Relu")
        added.input.append("r" if number == 0 else f"/backbone/layers.{number - 1}/output")
        added.output.append(f"/backbone/layers.{number}/output")
    last.input[0] = "/backbone/layers.4999/output"
    made.graph.node.append(last)
    assert len(read_onnx(write(tmp_path / "deep.onnx", made)).nodes) > 5000
    assert wire.MOST_FIELDS > 4 * 5000
