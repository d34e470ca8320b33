"""The sections `shapes`, `blob` and `compilers`, on networks of a few thousand weights."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportMissingTypeStubs=false
# (the runtimes ship no complete types)

import importlib
import json
from functools import partial
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from backends.base import Graph, OperatorSet, Precision
from backends.cpu import CpuBackend
from benchmarks import networks
from benchmarks.child import PeerError
from benchmarks.peers import compilers as tools
from benchmarks.peers.openvino_blob import FRESH, IMPORT, SIZE, SPEED, OpenVinoBlob
from benchmarks.sections.setting import Setting
from engine.graphs.unet import unet
from engine.graphs.vae import vae_decoder
from tests.backends.samples import NeverCancelled, ignore, relative_error
from tests.graphs.networks import SMALL_VAE, graph_in_memory, random_weights, small_unet, wanted
from tests.tiny_checkpoint import write_checkpoint

# Modules that the package's names of functions hide.
shapes: Any = importlib.import_module("benchmarks.sections.shapes")
compilers: Any = importlib.import_module("benchmarks.sections.compilers")
PLAIN = OperatorSet(opset=17)
EMIT = partial(unet, config=small_unet(), halves_evenly=True)
SIZES = {"batch": 1, "height": 8, "width": 8, "contexts": 2, "tokens": 5}
NEVER = NeverCancelled()


def setting(folder: Path) -> Setting:
    return Setting(
        folder, Path("python"), quick=True, starter=None, tree=None, say=lambda _text: None
    )


def result(graph: Graph, feeds: dict[str, Any]) -> Any:
    backend = CpuBackend()
    session = backend.load(graph, None, backend.probe()[0], ignore, NEVER)
    return session.run(feeds)[graph.outputs[0].name]


# --- shapes ---


def test_the_networks_have_the_shapes_of_sd_15() -> None:
    """Parameters as published: 859.52 million in the UNet, 49.49 in the decoder."""
    counts = [
        sum(prod(ref.shape) for ref in wanted(emit).values())
        for emit in (
            partial(unet, config=shapes.sd_unet(1)),
            partial(vae_decoder, config=shapes.sd_vae(1)),
        )
    ]
    assert counts == [859_520_964, 49_490_199]


def test_a_graph_of_one_size_computes_the_same_and_takes_no_other() -> None:
    graph = graph_in_memory(EMIT, random_weights(EMIT), PLAIN)
    fixed = shapes.fixed(graph, SIZES)
    needed = [spec.shape for spec in fixed.inputs if not spec.optional]
    assert needed == [(1, 4, 8, 8), (1, 32), (2, 5, 24)]
    assert all(isinstance(side, int) for spec in fixed.inputs for side in spec.shape)
    feeds = networks.random_feeds(graph, SIZES)
    np.testing.assert_allclose(result(fixed, feeds), result(graph, feeds), rtol=1e-4, atol=1e-5)
    with pytest.raises(Exception, match=r"has shape \(1, 4, 16, 8\)"):
        result(fixed, networks.random_feeds(graph, SIZES | {"height": 16}))


def test_dynamic_and_static_take_turns_at_each_size(tmp_path: Path) -> None:
    work = shapes.Work("small", EMIT, ((64, 1), (128, 2)))
    backend, device = shapes.usable("cpu", Precision.F32)
    rows = shapes.compare(setting(tmp_path), backend, device, Precision.F32, work)
    assert [row[0] for row, _ in rows] == ["cpu f32, small, 64x64, 1", "cpu f32, small, 128x128, 2"]
    for row, ratio in rows:
        assert len(row) == 9
        assert all(number > 0 for number in row[1:])
        assert row[4] == ratio


def test_a_runtime_without_the_precision_is_not_measured() -> None:
    assert shapes.usable("cpu", Precision.BF16) is None
    assert shapes.usable("no such backend", Precision.F32) is None


# --- blob ---


@pytest.mark.skipif(find_spec("openvino") is None, reason="openvino is not installed")
def test_a_stored_blob_computes_the_same_as_a_fresh_compile(tmp_path: Path) -> None:
    checkpoint = str(write_checkpoint(tmp_path / "tiny"))
    sizes = {"batch": 1, "height": 4, "width": 4}
    saved: dict[str, Path] = {}
    for way in (FRESH, IMPORT, SPEED, SIZE):
        OpenVinoBlob(checkpoint, networks.DECODER, "f32", way, str(tmp_path))  # which stores
        peer = OpenVinoBlob(checkpoint, networks.DECODER, "f32", way, str(tmp_path))
        saved[way] = tmp_path / f"{way}.npy"
        assert peer.answer("run", {"sizes": sizes, "save": str(saved[way])})["seconds"] > 0
        facts = peer.answer("describe", {"way": way})
        json.dumps(facts)
        # What is stored without weights is not taken again: constants in memory have no file.
        assert facts["from_cache"] is (way == SPEED)
        assert (facts["stored_bytes"] > 10_000) is (way != FRESH)
        assert any(layer.startswith("Convolution|") for layer in facts["layers"])
    for way in (IMPORT, SPEED, SIZE):
        np.testing.assert_allclose(np.load(saved[way]), np.load(saved[FRESH]), rtol=1e-4, atol=1e-5)


# --- compilers ---


def test_the_plain_file_has_no_shape_arithmetic_and_the_same_numbers(tmp_path: Path) -> None:
    import onnxruntime as ort

    emit = partial(vae_decoder, config=SMALL_VAE)
    graph = graph_in_memory(emit, random_weights(emit), PLAIN)
    sizes = {"batch": 1, "height": 4, "width": 4}
    path = tools.plain_file(graph, sizes, tmp_path / "plain.onnx")
    nodes = onnx.load(path).graph.node
    assert not {"Shape", "Gather"} & {node.op_type for node in nodes}
    assert {node.domain for node in nodes} == {""}
    feeds = networks.random_feeds(graph, sizes)
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    (found,) = session.run(None, dict(feeds))
    assert relative_error(np.asarray(found), result(graph, feeds)) < 1e-5


def test_each_tool_is_prepared_and_its_packages_weighed() -> None:
    for tool in (tools.REFERENCE, "OpenVINO f32"):
        assert tools.installed(tool)
        assert 10e6 < tools.installed_bytes(tool) < 500e6


def test_a_missing_or_slow_tool_has_a_row_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere(tool: str) -> bool:
        return tool == tools.REFERENCE

    def late(*_: object) -> object:
        raise PeerError("the process ended with status -24\n")

    monkeypatch.setattr(compilers, "installed", nowhere)
    monkeypatch.setattr(compilers, "started", late)
    monkeypatch.setattr(compilers, "_measured", lambda *_: {})  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    (table, _) = compilers.compilers(setting(tmp_path)).tables
    labels = [row[0] for row in table.rows]
    assert labels[0] == f"{tools.REFERENCE}: no result within 240 s of processor time"
    assert labels[1:] == [f"{tool}: not installed" for tool in list(tools.PACKAGES)[1:]]
    assert {len(row) for row in table.rows} == {len(table.columns)}
