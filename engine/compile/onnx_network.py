"""ONNX files as networks, which every device prepares as it does ours."""

from functools import partial

from engine.checkpoints.onnx.model import OnnxModel
from engine.compile.network import Network
from engine.graphs.onnx_graph import onnx_graph
from engine.weights.weight_set import WeightSet


def onnx_network(model: OnnxModel) -> Network:
    """Return the network of a file's graph. It is to be loaded in float32."""
    weights = WeightSet(model.digest, model.weights)
    return Network("onnx", partial(onnx_graph, model=model), weights, checkpoint=model.name)
