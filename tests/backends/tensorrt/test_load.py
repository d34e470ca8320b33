"""Loading takes an artifact: an engine is never built behind a load."""

from pathlib import Path

import pytest

from backends.base import Artifact, Backend, BackendError, Device, RunCancelled
from backends.nvidia_tensorrt import TensorRtBackend
from backends.nvidia_tensorrt_rtx import TensorRtRtxBackend
from engine.cancel import CancelToken
from tests.backends.samples import NeverCancelled, Target, ignore, sample_graph

BACKENDS = (TensorRtBackend(), TensorRtRtxBackend())
every_backend = pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: backend.name)
NO_CARD = Device("nvidia", "0", "a card that is not there", unusable="it is not there")


@every_backend
def test_a_graph_without_an_artifact_is_refused(backend: Backend, tmp_path: Path) -> None:
    graph = sample_graph(Target(backend, NO_CARD), tmp_path)
    with pytest.raises(BackendError, match="only what was compiled"):
        backend.load(graph, None, NO_CARD, ignore, NeverCancelled())


@every_backend
def test_a_load_that_was_stopped_before_is_cancelled(backend: Backend, tmp_path: Path) -> None:
    token = CancelToken()
    token.cancel()
    graph = sample_graph(Target(backend, NO_CARD), tmp_path)
    for artifact in (None, Artifact(tmp_path)):
        with pytest.raises(RunCancelled):
            backend.load(graph, artifact, NO_CARD, ignore, token)
