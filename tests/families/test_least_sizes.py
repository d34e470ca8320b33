"""The smallest runs of the flow families' transformers, by which their weights are packed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backends.base import DType, Graph, Precision, Session, size_of
from backends.cpu import CpuBackend
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.families import identify
from engine.families.shared.flow.denoiser import ReferenceSizes
from engine.memory.plan import WeightPlacement
from engine.weights.working_copies import WorkingCopies
from tests.checkpoints.gguf_files import write_gguf
from tests.families.flow_models import MODELS
from tests.families.flux import files as flux
from tests.families.flux.test_gguf import SIZES
from tests.families.gguf_parts import stored_as
from tests.families.test_gguf import write_transformer

# The heights and widths of two reference pictures in cells.
SHOWN: ReferenceSizes = ((8, 6), (4, 4))


class _Told(CpuBackend):
    """The processor, which keeps the least sizes that it is told of."""

    sizes: Mapping[str, int]

    def load(self, graph: Graph, *others: Any) -> Session:  # pyright: ignore[reportIncompatibleMethodOverride]
        self.sizes = graph.least_sizes
        return super().load(graph, *others)


def write(folder: Path, family: str) -> Path:
    if family in MODELS:
        model = MODELS[family]
        return write_transformer(folder / f"{model.name}.gguf", model, DType.Q4_0)
    stored = stored_as(flux.drawn(flux.original(SIZES)), DType.Q4_0)
    return write_gguf(folder / "flux1-dev-kontext.gguf", stored, {"general.architecture": "flux"})


@pytest.mark.parametrize(
    ("family", "references"),
    [*((family, ()) for family in MODELS), ("flux", SHOWN), ("flux2", SHOWN)],
)
def test_the_smallest_run_predicts_the_smallest_picture(
    family: str, references: ReferenceSizes, tmp_path: Path
) -> None:
    denoiser = identify(write(tmp_path, family)).architecture.denoiser
    network = denoiser.network(96, 64, contexts=2, tokens=77, rows=2, references=references)
    backend = _Told()
    given = network, Precision.F32, WeightPlacement.WORKING_COPY
    compiler = Compiler(backend, backend.probe()[0], WorkingCopies(tmp_path / "cache"))
    session = compiler.load(*given, lambda _done, _total: None, CancelToken())
    feeds = {
        spec.name: np.zeros([size_of(n, backend.sizes) for n in spec.shape], spec.dtype.numpy)
        for spec in session.inputs
    }
    batch, _, *cells = session.run(feeds)["prediction"].shape
    assert (batch, *cells) == (1, 2, 2)
