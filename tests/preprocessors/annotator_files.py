"""Files of weights as the tools store them, with small random numbers."""

from functools import partial
from pathlib import Path

import numpy as np

from backends.base import Array, Precision
from backends.cpu import CpuBackend
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.graphs.annotators.depth_anything import DepthAnythingConfig, depth_anything
from engine.graphs.annotators.hed import hed
from engine.graphs.annotators.line_drawing import line_drawing
from engine.graphs.annotators.pidinet import PidinetConfig, pidinet
from engine.preprocessors.annotators import (
    AnnotatorKind,
    LoadedAnnotator,
    load_annotator,
    read_annotator,
)
from engine.weights.working_copies import WorkingCopies
from tests.graphs.networks import Emit, random_weights

# Twelve layers, as the least of the published ones, but narrow.
SMALL_DEPTH = DepthAnythingConfig(
    width=64,
    heads=1,
    mlp_width=96,
    layers=12,
    taps=(3, 6, 9, 12),
    necks=(8, 8, 12, 16),
    fusion_width=16,
    head_width=8,
)
EMITTED: dict[AnnotatorKind, Emit] = {
    AnnotatorKind.HED: hed,
    AnnotatorKind.LINE_DRAWING: line_drawing,
    AnnotatorKind.PIDINET: partial(pidinet, config=PidinetConfig(converted=False)),
    AnnotatorKind.DEPTH_ANYTHING: partial(depth_anything, config=SMALL_DEPTH),
}
PATCHES = 37


def stored(kind: AnnotatorKind) -> dict[str, Array]:
    """The weights of a file by their names in it."""
    arrays = random_weights(EMITTED[kind])
    if kind is AnnotatorKind.PIDINET:
        return {f"module.{name}": array for name, array in arrays.items()}
    if kind is AnnotatorKind.DEPTH_ANYTHING:
        shape = (1, 1 + PATCHES**2, SMALL_DEPTH.width)
        drawn = np.random.default_rng(1).standard_normal(shape, np.float32)
        return arrays | {"backbone.embeddings.position_embeddings": drawn}
    return arrays


def loaded(path: Path) -> LoadedAnnotator:
    """The network of a file on the processor."""
    backend = CpuBackend()
    copies = WorkingCopies(path.parent / "copies")
    compiler = Compiler(backend, backend.probe()[0], copies)
    assert Precision.F32 in backend.probe()[0].precisions
    return load_annotator(read_annotator(path), compiler, CancelToken())
