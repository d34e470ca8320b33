"""One network built by TensorRT-RTX for a card that is not present."""

import os
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import msgspec
from onnx import ModelProto, helper

from backends.base import BackendError, Graph, OperatorSet, Precision, ShapeProfile, TensorSpec
from backends.forms import AttentionForm, GeluForm, GroupNormForm, UpsamplingForm
from backends.tensorrt.build import BuildOptions, ParsedGraph, build_engine
from backends.tensorrt.forms import operators
from benchmarks.child import Answer
from benchmarks.measure import PrivateMemoryPeak
from engine.compile.network import Network
from engine.families import identify
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.shared.clip.network import text_encoder
from engine.graphs.operators import GraphBuilder
from engine.weights.binding import bind, element_type

UNET, DECODER, ENCODER, TEXT = "UNet", "VAE decoder", "VAE encoder", "text encoder"
_SIZE = 512
_NETWORKS: Mapping[str, Callable[[IdentifiedCheckpoint], Network]] = {
    UNET: lambda checkpoint: checkpoint.architecture.denoiser.network(_SIZE, _SIZE),
    DECODER: lambda checkpoint: checkpoint.architecture.autoencoder.decoder(_SIZE, _SIZE),
    ENCODER: lambda checkpoint: checkpoint.architecture.autoencoder.encoder(_SIZE, _SIZE),
    TEXT: text_encoder,
}
# The operator forms that the backends declare, and variants with one form changed.
DECLARED, EVERYWHERE = "as declared", "attention of one operator everywhere"
FORMS: Mapping[str, Callable[[OperatorSet], OperatorSet]] = {
    DECLARED: lambda declared: declared,
    "attention written out": lambda declared: msgspec.structs.replace(
        declared, attention=AttentionForm.PRIMITIVE
    ),
    EVERYWHERE: lambda declared: msgspec.structs.replace(declared, attention_kernels=None),
    "MultiHeadAttention": lambda declared: msgspec.structs.replace(
        declared, attention=AttentionForm.MULTI_HEAD
    ),
    "InstanceNormalization": lambda declared: msgspec.structs.replace(
        declared, group_norm=GroupNormForm.INSTANCE
    ),
    "Gelu written out": lambda declared: msgspec.structs.replace(declared, gelu=GeluForm.ERF),
    "doubling by ConvTranspose": lambda declared: msgspec.structs.replace(
        declared, upsampling=UpsamplingForm.TRANSPOSED
    ),
}


class _NobodyAsks:
    """A `Cancellation` that is never requested."""

    def is_set(self) -> bool:
        return False

    def calling(self, stop: Callable[[], None]) -> AbstractContextManager[None]:
        return nullcontext()


class TensorRtEngine:
    """A network of a checkpoint as a graph; each task builds one engine for all the app's sizes."""

    def __init__(self, checkpoint: str, network: str, precision: str, forms: str) -> None:
        self._module: Any = import_module("tensorrt_rtx")
        wanted = _NETWORKS[network](identify(Path(checkpoint)))
        self._profile = ShapeProfile(dict(wanted.dimensions))
        self._graph = _graph(wanted, FORMS[forms](operators()), Precision(precision))

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Build an engine for card `task` ("SM89").

        Options: `streaming` lets weights stay off the card, `refittable` lets them be replaced,
        `inputs` makes the kernels of linear layers and convolutions inputs of the network.
        """
        graph = kernels_as_inputs(self._graph) if options.get("inputs") else self._graph
        layers = Counter(x.type.name for x in ParsedGraph(self._module, graph).layers)
        how = BuildOptions(
            (task,),
            weight_streaming=options.get("streaming", False),
            refittable=options.get("refittable", False),
        )
        began, worked = perf_counter(), process_time()
        with PrivateMemoryPeak(os.getpid()) as memory:
            try:
                engine = build_engine(
                    self._module, graph, self._profile, how, lambda _: None, _NobodyAsks()
                )
            except BackendError as error:
                engine, refused = None, str(error)
            else:
                refused = ""
        return {
            "seconds": perf_counter() - began,
            "processor_s": process_time() - worked,
            "peak_bytes": memory.peak_bytes,
            "engine_bytes": 0 if engine is None else engine.nbytes,
            "weight_bytes": sum(ref.nbytes for ref in graph.weights.values()),
            "layers": layers.total(),
            "attentions": layers["ATTENTION_INPUT"],
            "refused": refused,
        }


def kernels_as_inputs(graph: Graph) -> Graph:
    """Return the graph with its weights of two dimensions and more as inputs of the network."""
    moved = {name: ref for name, ref in graph.weights.items() if len(ref.shape) > 1}
    model = ModelProto.FromString(graph.model)
    kept = [tensor for tensor in model.graph.initializer if tensor.name not in moved]
    model.graph.input.extend(
        helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
        for tensor in model.graph.initializer
        if tensor.name in moved
    )
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    inputs = (TensorSpec(name, ref.dtype, ref.shape) for name, ref in moved.items())
    return msgspec.structs.replace(
        graph,
        model=model.SerializeToString(),
        weights={name: ref for name, ref in graph.weights.items() if name not in moved},
        inputs=(*graph.inputs, *inputs),
    )


def _graph(network: Network, forms: OperatorSet, precision: Precision) -> Graph:
    element = element_type(network.weights.stored_type, forms, precision)
    g = GraphBuilder(network.name, network.weights, forms, element, precision)
    network.emit(g)
    return g.build(bind(g.used, element))
